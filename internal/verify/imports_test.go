package verify

import (
	"fmt"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	const m = "example.com/m/"
	for _, tt := range []struct {
		name    string
		dir     string
		imports string
		bad     string // the import that is refused; "" if none
	}{
		{"core uses the standard library", "core", "context crypto/rand " + m + "core/entry", ""},
		{"core uses go-clocks", "core/skewclock", "github.com/vimeo/go-clocks github.com/vimeo/go-clocks/fake", ""},
		{"core uses another library", "core", "fmt golang.org/x/sync/errgroup", "golang.org/x/sync/errgroup"},
		{"a name that only begins like go-clocks", "core", "github.com/vimeo/go-clocksx", "github.com/vimeo/go-clocksx"},
		{"core uses a decider", "core/internal/sim", m + "gcsdecider", m + "gcsdecider"},
		{"core uses cgo", "core", "C", "C"},
		{"core uses these checks", "core", m + "internal/verify", m + "internal/verify"},
		{"a decider uses core and its SDK", "gcsdecider", m + "core cloud.google.com/go/storage google.golang.org/api/option", ""},
		{"a decider uses its own parts", "s3decider/internal/date", m + "s3decider/x github.com/aws/smithy-go", ""},
		{"a decider uses another's SDK", "s3decider", "cloud.google.com/go/storage", "cloud.google.com/go/storage"},
		{"a decider uses another decider", "dynamodecider", m + "core " + m + "s3decider", m + "s3decider"},
		{"a decider uses an emulator", "gcsdecider", m + "emulators/gcs", m + "emulators/gcs"},
		{"a new decider brings its SDK", "azuredecider", m + "core github.com/Azure/azure-sdk-for-go/sdk/storage/azblob", ""},
		{"an adapter bridges", "adapters/grpc", m + "core " + m + "functions/schedule google.golang.org/grpc/resolver", ""},
		{"an adapter uses another adapter", "adapters/grpc", m + "adapters/otel", m + "adapters/otel"},
		{"an adapter uses other functions", "adapters/gocron", m + "functions/lambda", m + "functions/lambda"},
		{"an adapter uses a decider", "adapters/gocron", m + "memorydecider", m + "memorydecider"},
		{"functions use core and a platform", "functions/lambda", m + "core " + m + "functions/schedule github.com/aws/aws-lambda-go/lambda", ""},
		{"functions use a decider", "functions/lambda", m + "core " + m + "dynamodecider", m + "dynamodecider"},
		{"a program adds a decider", "functions/cmd/cron", m + "functions/lambda " + m + "dynamodecider", ""},
		{"a program adds two deciders", "functions/cmd/cron", m + "dynamodecider " + m + "s3decider", m + "s3decider"},
		{"a program uses an adapter", "functions/cmd/cron", m + "adapters/otel", m + "adapters/otel"},
		{"emulators use libraries", "emulators/gcs", m + "emulators/netfault github.com/fsouza/fake-gcs-server/fakestorage", ""},
		{"emulators use core", "emulators/netfault", "net/http " + m + "core", m + "core"},
		{"the tool uses everything", "cmd/elect", m + "core " + m + "gcsdecider " + m + "emulators/gcs github.com/x/y", ""},
		{"these checks use a library", "internal/verify/cmd", m + "internal/verify golang.org/x/tools/go/packages", "golang.org/x/tools/go/packages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString("package p\n")
			var want []string
			for i, imp := range strings.Fields(tt.imports) {
				fmt.Fprintf(&text, "import _ %q\n", imp)
				if imp == tt.bad {
					want = []string{fmt.Sprintf("%s/p.go:%d: %s must not import %q: ", tt.dir, i+2, tt.dir, imp)}
				}
			}
			problems, err := Imports(tree(t, map[string]string{tt.dir + "/p.go": text.String()}))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, problems, want)
		})
	}
}

func TestImportsSeesEveryFile(t *testing.T) {
	const bad = "import _ \"github.com/x/y\"\n"
	problems, err := Imports(tree(t, map[string]string{
		"core/core.go":         "package core\n",
		"core/core_test.go":    "package core\n" + bad, // tests are free
		"core/time_windows.go": "package core\n" + bad,
		"core/tagged.go":       "//go:build race\n\npackage core\n" + bad,
		"functions/cmd/a/a.go": "package main\nimport _ \"example.com/m/s3decider\"\n",  // each program
		"functions/cmd/b/b.go": "package main\nimport _ \"example.com/m/gcsdecider\"\n", // has its own
		"stray/stray.go":       "package stray\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, problems, []string{
		"core/tagged.go:4: must not import",
		"core/time_windows.go:2: must not import",
		"stray/stray.go:1: not in the import table",
	})
}

func TestImportsOfBrokenCode(t *testing.T) {
	_, err := Imports(tree(t, map[string]string{"core/core.go": "package core\nimport fmt\n"}))
	if err == nil || !strings.Contains(err.Error(), "core.go:2") {
		t.Errorf("error %v; want one that names core.go:2", err)
	}
}
