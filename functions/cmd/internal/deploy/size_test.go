package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// switched is the variable that asks for tests with real processes; see package stage.
const switched = "CLOUDELECT_FUNCTIONS"

// Every megabyte is paid for with every cold start.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two programs")
	}
	for _, store := range []string{"dynamodb", "s3"} {
		path := filepath.Join(t.TempDir(), "bootstrap")
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", path, "./functions/cmd/lambda-worker/"+store)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("lambda-worker/%s: %.2f MB", store, float64(info.Size())/1e6)
		if info.Size() > 16e6 {
			t.Errorf("lambda-worker/%s has %d bytes, more than 16 MB", store, info.Size())
		}
	}
}

// A program carries the SDK of its own store and no other, however it comes by it.
func TestOneSDK(t *testing.T) {
	sdks := map[string]string{
		"dynamodb": "github.com/aws/aws-sdk-go-v2/service/dynamodb",
		"s3":       "github.com/aws/aws-sdk-go-v2/service/s3",
		"gcs":      "cloud.google.com/go/storage",
	}
	for _, program := range []string{"lambda-worker/dynamodb", "lambda-worker/s3", "job-worker/dynamodb", "job-worker/s3", "job-worker/gcs"} {
		cmd := exec.Command("go", "list", "-deps", "./functions/cmd/"+program)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		deps := "\n" + string(out)
		for store, sdk := range sdks {
			if has := strings.Contains(deps, "\n"+sdk+"\n"); has != (store == filepath.Base(program)) {
				t.Errorf("%s: the SDK of %s: %v", program, store, has)
			}
		}
		if strings.HasPrefix(program, "job") && strings.Contains(deps, "\ngithub.com/aws/aws-lambda-go") {
			t.Errorf("%s carries what only a Lambda function needs", program)
		}
	}
}
