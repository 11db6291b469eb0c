// Package identity makes up a name for a process that stands for an election:
// one that no other process has, and that tells a person where it runs.
//
//	lambda/nightly/$LATEST/2026/01/31/[$LATEST]f77ff5e4026c45bd/V2Z3H6...
//	cloud-run-job/nightly/nightly-x7k2p/0/0/QW4TB5...
//	host/build-7/4711/ZK3XQ2...
//
// The last part is random. The platforms' own names are not enough: two hosts
// may bear one name, a process id comes back after a restart, and the attempts
// of a task share everything but a number.
//
// # When to draw it
//
// The random part is drawn when New is called, never before. Call it when the
// work begins, not while the process initialises: where a platform starts
// processes from a snapshot of an initialised one, as Lambda's SnapStart does,
// all of them have what was drawn before the snapshot (see "Handling uniqueness
// with Lambda SnapStart" in the AWS Lambda Developer Guide). A program that has
// to, calls New once more after it was restored; a LeaderID is fixed for one
// call of core only. lambdaleader draws it in the first invocation.
package identity

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
)

// New returns a LeaderID for this process, with a random part of 130 bits that
// is drawn now: every call returns another one. It fits core's Config.LeaderID.
func New() string {
	host, _ := os.Hostname() // without one, the name says so, and is still unique
	return Name(os.Getenv, host, os.Getpid(), rand.Text())
}

// Name is New without its inputs: a pure function of the environment, the
// host's name, the process id, and the random part. Parts that are absent
// are "-", characters that are awkward in logs and keys are "_", and of a
// part with more than 150 bytes the end is kept.
func Name(getenv func(string) string, hostname string, pid int, random string) string {
	platform, parts := where(getenv, hostname, pid)
	name := platform
	for _, part := range append(parts, random) {
		name += "/" + tidy(part)
	}
	return name
}

// where tells the platform from the variables that it documents, and returns
// what they say. A Lambda function or a Cloud Run task is never taken for what
// it might run on.
func where(getenv func(string) string, hostname string, pid int) (platform string, parts []string) {
	get := func(names ...string) (values []string) {
		for _, name := range names {
			values = append(values, getenv(name))
		}
		return values
	}
	switch {
	// AWS Lambda Developer Guide, "Defined runtime environment variables": all
	// three are reserved. The log stream is one execution environment's; functions
	// with SnapStart have none.
	case getenv("AWS_LAMBDA_FUNCTION_NAME") != "":
		return "lambda", get("AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_LOG_STREAM_NAME")
	// Cloud Run, "Container runtime contract", environment variables for jobs.
	case getenv("CLOUD_RUN_JOB") != "":
		return "cloud-run-job", get("CLOUD_RUN_JOB", "CLOUD_RUN_EXECUTION", "CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_ATTEMPT")
	// The same page, for worker pools.
	case getenv("CLOUD_RUN_WORKER_POOL") != "":
		return "cloud-run-worker-pool", append(get("CLOUD_RUN_WORKER_POOL", "CLOUD_RUN_WORKER_POOL_REVISION"), hostname)
	// Kubernetes, "Accessing the Kubernetes API from a Pod": every container has
	// this one. HOSTNAME is the pod's name ("Container environment"), but the node's
	// with hostNetwork; POD_NAME and POD_NAMESPACE are what manifests usually call
	// metadata.name and metadata.namespace of the downward API. This comes before
	// K_SERVICE, which Knative sets in pods, too.
	case getenv("KUBERNETES_SERVICE_HOST") != "":
		return "kubernetes", []string{first(getenv("POD_NAMESPACE"), "-"), first(getenv("POD_NAME"), getenv("HOSTNAME"), hostname)}
	// The container runtime contract again, for services; Cloud Run functions are
	// services, and Cloud Functions have both variables as well. The instance's id
	// is known to the metadata server only, and asking that is I/O.
	case getenv("K_SERVICE") != "":
		return "cloud-run", append(get("K_SERVICE", "K_REVISION"), hostname)
	}
	return "host", []string{hostname, strconv.Itoa(pid)}
}

// first returns the first of its arguments that is not empty.
func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// maxPart keeps a name of five parts below the 1024 bytes that core allows.
const maxPart = 150

// tidy makes a part short and printable. What tells instances apart is mostly
// at the end of their names.
func tidy(part string) string {
	if part == "" {
		return "-"
	}
	part = part[max(len(part)-maxPart, 0):]
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("-_.:/$[]@", r):
			return r
		}
		return '_'
	}, part)
}
