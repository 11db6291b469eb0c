// Package verify holds what the compiler and the linters cannot know about this
// repository: who may import whom, that every package says what it is, that the
// links in the documentation lead somewhere, that the Go code in it is tested and
// the tests it names exist, and what must not appear at all.
//
// Each check reads the source tree as text or syntax and reports what it found
// as file:line: message. None of them builds anything, so they see the files of
// every platform and work while the code does not compile.
//
// internal/verify/cmd runs them all for `make verify`; core's deps_test.go runs
// the import check for `go test`. The package itself uses the standard library
// only, so that core's tests do not depend on anything more than core does.
package verify
