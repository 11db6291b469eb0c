package deploy_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const root = "../../../.."

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tree is a YAML or JSON file as maps and lists. Of CloudFormation's tags (!Sub) the
// text stays.
func tree(t *testing.T, name string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal(read(t, name), &out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// at follows keys into maps.
func at(t *testing.T, v any, keys ...string) any {
	t.Helper()
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok || m[k] == nil {
			t.Fatalf("there is no %s in %v, on the way %v", k, v, keys)
		}
		v = m[k]
	}
	return v
}

// actions are all of a policy's, each once.
func actions(t *testing.T, policy any) []string {
	t.Helper()
	found := map[string]bool{}
	for _, s := range at(t, policy, "Statement").([]any) {
		if at(t, s, "Effect") != "Allow" {
			t.Errorf("%v does not allow", s)
		}
		if r, _ := at(t, s, "Resource").(string); r == "*" {
			t.Errorf("%v is for everything", s)
		}
		switch a := at(t, s, "Action").(type) {
		case string:
			found[a] = true
		case []any:
			for _, a := range a {
				found[a.(string)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// What the programs send, which TestRequests in package worker has counted at the
// wire, and nothing else. s3:ListBucket is never sent: without it a missing object
// looks like a denied one.
var needed = map[string][]string{
	"dynamodb": {"dynamodb:ConditionCheckItem", "dynamodb:GetItem", "dynamodb:UpdateItem"},
	"s3":       {"s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject"},
}

// The policies grant what is needed, PROVIDERS.md explains each, and the template
// grants the same.
func TestPolicies(t *testing.T) {
	providers := string(read(t, "docs/PROVIDERS.md"))
	template := tree(t, "functions/cmd/lambda-worker/template.yaml")
	for kind, function := range map[string]string{"dynamodb": "DynamoDBWorker", "s3": "S3Worker"} {
		file := "functions/cmd/lambda-worker/policy-" + kind + ".json"
		var strict any
		if err := json.Unmarshal(read(t, file), &strict); err != nil {
			t.Fatal(err)
		}
		granted := actions(t, strict)
		if !slices.Equal(granted, needed[kind]) {
			t.Errorf("%s grants %q, want %q", file, granted, needed[kind])
		}
		policies := at(t, template, "Resources", function, "Properties", "Policies").([]any)
		if len(policies) != 1 {
			t.Fatalf("%s has %d policies, want one", function, len(policies))
		}
		if got := actions(t, policies[0]); !slices.Equal(got, granted) {
			t.Errorf("the template grants %s %q, want %q", function, got, granted)
		}
		for _, a := range granted {
			if !strings.Contains(providers, "| `"+a+"`") {
				t.Errorf("docs/PROVIDERS.md does not explain %s", a)
			}
		}
	}
	operations := string(read(t, "docs/OPERATIONS.md"))
	for _, p := range at(t, tree(t, "functions/cmd/job-worker/role.json"), "includedPermissions").([]any) {
		if !slices.Contains([]string{"storage.objects.create", "storage.objects.delete", "storage.objects.get", "storage.objects.list"}, p.(string)) {
			t.Errorf("role.json grants %s", p)
		}
		if !strings.Contains(operations, p.(string)) {
			t.Errorf("docs/OPERATIONS.md does not explain %s", p)
		}
	}
}

// Every function of the template is what DEPLOY.md builds, on the runtime it is built
// for, and has a slot in its event.
func TestTemplate(t *testing.T) {
	template := tree(t, "functions/cmd/lambda-worker/template.yaml")
	if got := at(t, template, "Globals", "Function", "Runtime"); got != "provided.al2023" {
		t.Errorf("Runtime %v", got)
	}
	functions := 0
	for name, r := range at(t, template, "Resources").(map[string]any) {
		if at(t, r, "Type") != "AWS::Serverless::Function" {
			if at(t, r, "DeletionPolicy") != "Retain" {
				t.Errorf("%s is deleted with the stack, and its elections with it", name)
			}
			continue
		}
		functions++
		input := at(t, r, "Properties", "Events", "Slots", "Properties", "Input").(string)
		if input != `{"time": "<aws.scheduler.scheduled-time>"}` {
			t.Errorf("the event of %s is %s, which names no slot", name, input)
		}
		variables(t, at(t, r, "Properties", "Environment", "Variables").(map[string]any), "lambda-worker")
	}
	if functions != 2 {
		t.Errorf("there are %d functions, want 2", functions)
	}
}

// The files for Google Cloud are of the form that their API wants.
func TestCloudRun(t *testing.T) {
	job := tree(t, "functions/cmd/job-worker/job.yaml")
	if at(t, job, "kind") != "Job" {
		t.Errorf("kind %v", at(t, job, "kind"))
	}
	containers := at(t, job, "spec", "template", "spec", "template", "spec", "containers").([]any)
	set := map[string]any{}
	for _, e := range at(t, containers[0], "env").([]any) {
		set[at(t, e, "name").(string)] = at(t, e, "value")
	}
	variables(t, set, "job-worker")
	scheduler := tree(t, "functions/cmd/job-worker/scheduler.yaml")
	name := at(t, job, "metadata", "name").(string)
	if uri := at(t, scheduler, "httpTarget", "uri").(string); !strings.HasSuffix(uri, "/jobs/"+name+":run") {
		t.Errorf("the scheduler starts %s, which is not the job %s", uri, name)
	}
}

// variables: each that is set is in the table of DEPLOY.md.
func variables(t *testing.T, set map[string]any, program string) {
	t.Helper()
	_, section, _ := strings.Cut(string(read(t, "docs/DEPLOY.md")), "### Variables of "+program)
	section, _, _ = strings.Cut(section, "\n## ")
	for name := range set {
		if !strings.Contains(section, "| `"+name+"`") {
			t.Errorf("docs/DEPLOY.md does not explain %s of %s", name, program)
		}
	}
	if set["STORE"] == nil {
		t.Errorf("%s is told no STORE", program)
	}
}

// All variables that the programs read are in the tables, and no others.
func TestVariables(t *testing.T) {
	reads := regexp.MustCompile(`r\.(?:Text|Duration|OneOf|Bool)\("([A-Z_]+)"`)
	row := regexp.MustCompile("(?m)^\\| `([A-Z_]+)`")
	for program, folder := range map[string]string{"lambda-worker": "worker", "job-worker": "job"} {
		files, err := filepath.Glob(filepath.Join(root, "functions/cmd/internal", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s, %v", folder, err)
		}
		known := map[string]bool{"STORE": true}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range reads.FindAllSubmatch(b, -1) {
				if name := string(m[1]); !strings.HasPrefix(name, "CHAOS_") && name != "CLOUD_RUN_EXECUTION" {
					known[name] = true
				}
			}
		}
		_, section, _ := strings.Cut(string(read(t, "docs/DEPLOY.md")), "### Variables of "+program)
		section, _, _ = strings.Cut(section, "\n## ")
		told := map[string]bool{}
		for _, m := range row.FindAllStringSubmatch(section, -1) {
			if !strings.HasPrefix(m[1], "AWS_") {
				told[m[1]] = true
			}
		}
		if !maps.Equal(known, told) {
			t.Errorf("%s reads %v, docs/DEPLOY.md tells of %v", program, slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(told)))
		}
	}
}
