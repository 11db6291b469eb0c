package dynamodecider

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds goroutines that a call has left behind.
func TestMain(m *testing.M) {
	serveIfAsked()
	goleak.VerifyTestMain(m)
}
