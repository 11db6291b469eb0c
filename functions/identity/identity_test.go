package identity_test

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/identity"
)

func TestName(t *testing.T) {
	long := strings.Repeat("x", 5000)
	tests := []struct {
		name string
		why  string
		env  map[string]string
		want string
	}{
		{"lambda", "the guide's example of a log stream",
			map[string]string{"AWS_LAMBDA_FUNCTION_NAME": "nightly", "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
				"AWS_LAMBDA_LOG_STREAM_NAME": "2016/12/02/[$LATEST]f77ff5e4026c45bda9a9ebcec6bc9cad"},
			"lambda/nightly/$LATEST/2016/12/02/[$LATEST]f77ff5e4026c45bda9a9ebcec6bc9cad/RANDOM"},
		{"lambda with SnapStart", "it has no log stream's name",
			map[string]string{"AWS_LAMBDA_FUNCTION_NAME": "nightly", "AWS_LAMBDA_FUNCTION_VERSION": "7"},
			"lambda/nightly/7/-/RANDOM"},
		{"cloud run job", "the contract's examples",
			map[string]string{"CLOUD_RUN_JOB": "hello-world", "CLOUD_RUN_EXECUTION": "hello-world-abc",
				"CLOUD_RUN_TASK_INDEX": "0", "CLOUD_RUN_TASK_ATTEMPT": "2"},
			"cloud-run-job/hello-world/hello-world-abc/0/2/RANDOM"},
		{"cloud run service", "the contract's examples",
			map[string]string{"K_SERVICE": "hello-world", "K_REVISION": "hello-world.1", "K_CONFIGURATION": "hello-world"},
			"cloud-run/hello-world/hello-world.1/box/RANDOM"},
		{"cloud run worker pool", "the contract's examples",
			map[string]string{"CLOUD_RUN_WORKER_POOL": "hello-world", "CLOUD_RUN_WORKER_POOL_REVISION": "hello-world.1"},
			"cloud-run-worker-pool/hello-world/hello-world.1/box/RANDOM"},
		{"kubernetes", "HOSTNAME is the pod's name",
			map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "web-5d8c7-x2x9z"},
			"kubernetes/-/web-5d8c7-x2x9z/RANDOM"},
		{"kubernetes, downward API", "with hostNetwork HOSTNAME is the node's",
			map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "node-1", "POD_NAME": "web-0", "POD_NAMESPACE": "prod"},
			"kubernetes/prod/web-0/RANDOM"},
		{"kubernetes without HOSTNAME", "the kernel's name is the same",
			map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
			"kubernetes/-/box/RANDOM"},
		{"knative", "its pods have K_SERVICE, too, and a name of their own",
			map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "K_SERVICE": "hello", "HOSTNAME": "hello-00001-deployment-1"},
			"kubernetes/-/hello-00001-deployment-1/RANDOM"},
		{"host", "nothing is known", nil, "host/box/4711/RANDOM"},
		{"hostile", "what ends up in logs and queries has no spaces, quotes or line ends",
			map[string]string{"CLOUD_RUN_JOB": "a b\n\"c\"\x00é\xff", "CLOUD_RUN_EXECUTION": "'; drop"},
			"cloud-run-job/a_b__c____/___drop/-/-/RANDOM"},
		{"too long", "the end tells instances apart",
			map[string]string{"AWS_LAMBDA_FUNCTION_NAME": long, "AWS_LAMBDA_FUNCTION_VERSION": long, "AWS_LAMBDA_LOG_STREAM_NAME": long + "end"},
			"lambda/" + long[:150] + "/" + long[:150] + "/" + long[:147] + "end/RANDOM"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := identity.Name(func(k string) string { return tt.env[k] }, "box", 4711, "RANDOM")
			if got != tt.want {
				t.Errorf("Name = %q\n     want %q: %s", got, tt.want, tt.why)
			}
			mustBeAllowed(t, got)
		})
	}
}

// Whatever a platform says, core accepts the name.
func TestNameAlwaysFits(t *testing.T) {
	wide := strings.Repeat("\U0001F600", 500)
	for _, value := range []string{"", wide, wide[1:], strings.Repeat("\xff", 3000)} {
		for _, platform := range []string{"AWS_LAMBDA_FUNCTION_NAME", "CLOUD_RUN_JOB", "CLOUD_RUN_WORKER_POOL", "KUBERNETES_SERVICE_HOST", "K_SERVICE", "NONE"} {
			name := identity.Name(func(k string) string {
				if isPlatform(k) && k != platform {
					return ""
				}
				return value + "v"
			}, value, -1, value)
			mustBeAllowed(t, name)
		}
	}
}

func isPlatform(k string) bool {
	switch k {
	case "AWS_LAMBDA_FUNCTION_NAME", "CLOUD_RUN_JOB", "CLOUD_RUN_WORKER_POOL", "KUBERNETES_SERVICE_HOST", "K_SERVICE":
		return true
	}
	return false
}

func mustBeAllowed(t *testing.T, name string) {
	t.Helper()
	if err := (core.Config{LeaderID: name, Decider: memory.NewDecider()}).Validate(); err != nil {
		t.Errorf("core refuses %q: %v", name, err)
	}
	for _, r := range name {
		if r > unicode.MaxASCII || !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '"' || r == '\'' {
			t.Errorf("%q has %q in it", name, r)
		}
	}
}

// Every call draws anew: that is how a restored snapshot gets a name of its own.
func TestNewIsUnique(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		name := identity.New()
		if seen[name] {
			t.Fatalf("%q came twice", name)
		}
		seen[name] = true
		mustBeAllowed(t, name)
	}
}

// New says where this process runs, whatever that is.
func TestNewReadsTheEnvironment(t *testing.T) {
	for _, k := range []string{"CLOUD_RUN_JOB", "CLOUD_RUN_WORKER_POOL", "KUBERNETES_SERVICE_HOST", "K_SERVICE"} {
		if os.Getenv(k) != "" {
			t.Setenv(k, "")
		}
	}
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "")
	if name := identity.New(); !strings.HasPrefix(name, "host/") {
		t.Errorf("outside of every platform the name is %q", name)
	}
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "nightly")
	t.Setenv("AWS_LAMBDA_FUNCTION_VERSION", "3")
	t.Setenv("AWS_LAMBDA_LOG_STREAM_NAME", "s")
	if name := identity.New(); !strings.HasPrefix(name, "lambda/nightly/3/s/") {
		t.Errorf("in Lambda the name is %q", name)
	}
}
