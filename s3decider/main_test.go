package s3decider

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds goroutines that a call has left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }
