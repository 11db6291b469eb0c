package chaos

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// footprint is what a process holds on to.
type footprint struct{ goroutines, files int }

// own is the harness's. Reading the list of files opens one, always.
func own() footprint { return footprint{runtime.NumGoroutine(), handles("self")} }

// leaked waits for a while until there is no more than there was, and says what there
// is if there still is.
func leaked(before footprint, patience time.Duration) string {
	for waited := time.Duration(0); ; waited += glance {
		now := own()
		if now.goroutines <= before.goroutines && now.files <= before.files {
			return ""
		}
		if waited < patience {
			time.Sleep(glance)
			continue
		}
		var stacks bytes.Buffer
		if now.goroutines > before.goroutines {
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		}
		return fmt.Sprintf("the harness has %d goroutines and %d open files, and had %d and %d before: %s\n%.4000s",
			now.goroutines, now.files, before.goroutines, before.files, strings.Join(openFiles(), " "), stacks.String())
	}
}

func openFiles() (names []string) {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return nil
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			names = append(names, to)
		}
	}
	return names
}
