package gcsdecider

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds goroutines that a call has left behind: the client starts
// several for each write. The emulator's imports start one before any test does.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }
