package identity_test

import (
	"fmt"

	"github.com/cloudelect/cloudelect/functions/identity"
)

// Outside of a test, New does the same with the environment of the process and
// a random part.
func ExampleName() {
	env := map[string]string{
		"CLOUD_RUN_JOB": "nightly", "CLOUD_RUN_EXECUTION": "nightly-x7k2p",
		"CLOUD_RUN_TASK_INDEX": "3", "CLOUD_RUN_TASK_ATTEMPT": "0",
	}
	getenv := func(name string) string { return env[name] }
	fmt.Println(identity.Name(getenv, "localhost", 1, "QW4TB5"))
	// Output: cloud-run-job/nightly/nightly-x7k2p/3/0/QW4TB5
}
