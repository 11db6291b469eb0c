package cliutil

import "runtime/debug"

// Version is the version of the module that this program was built from, as the go
// command has noted it; "(devel)" where it has not.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
