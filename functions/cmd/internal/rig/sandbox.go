package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Sandbox is a Lambda execution environment: the emulator, and the function in it.
type Sandbox struct {
	*Process
	url     string
	pidFile string
	closed  string // a file that says so to a function that is about to begin
}

// Answer is how an invocation ended. The emulator answers a timeout with status 200
// and a sentence.
type Answer struct {
	Text         string // as it came
	Status       int
	Outcome      string `json:"outcome"`
	Slot         string `json:"slot"`
	By           string `json:"by"`
	FencingToken int64  `json:"fencing_token"`
	Leader       string `json:"leader"`
	RetryAfter   string `json:"retry_after"`
	ErrorType    string `json:"errorType"`
	ErrorMessage string `json:"errorMessage"`
}

// StartSandbox runs the function in the file worker under the emulator. It is
// initialised by the first invocation. timeout is the function's, in whole seconds.
func StartSandbox(ctx context.Context, emulator, dir, name, worker string, timeout time.Duration, env ...string) (*Sandbox, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	s := &Sandbox{url: "http://" + ports[0] + "/2015-03-31/functions/function/invocations", pidFile: filepath.Join(dir, name+".pid"), closed: filepath.Join(dir, name+".closed")}
	// The emulator does not say which process is the function's, so it says so itself.
	// It begins only if the sandbox is open after that: whoever closes it either finds
	// the number, or is seen.
	bootstrap := filepath.Join(dir, name+".sh")
	script := fmt.Sprintf("#!/bin/sh\nset -e\necho $$ >'%s.new'\nmv '%s.new' '%s'\n[ ! -e '%s' ]\nexec '%s'\n",
		s.pidFile, s.pidFile, s.pidFile, s.closed, worker)
	if err := os.WriteFile(bootstrap, []byte(script), 0o700); err != nil {
		return nil, fmt.Errorf("rig: %w", err)
	}
	env = append(env, "AWS_LAMBDA_FUNCTION_NAME="+name, "AWS_LAMBDA_FUNCTION_TIMEOUT="+strconv.Itoa(int(timeout.Seconds())))
	s.Process, err = Start(name, env, emulator, "--log-level", "error",
		"--runtime-interface-emulator-address", ports[0], "--runtime-api-address", ports[1], bootstrap)
	if err != nil {
		return nil, err
	}
	for { // until it listens
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", ports[0])
		if err == nil {
			return s, conn.Close()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.gone:
			return nil, fmt.Errorf("rig: the emulator ended: %q", s.Lines())
		case <-ctx.Done():
			s.Close()
			return nil, fmt.Errorf("rig: the emulator does not listen: %w", context.Cause(ctx))
		}
	}
}

// Invoke sends an event and returns how the invocation ended. The error is for the
// emulator, or the sandbox, being gone.
func (s *Sandbox) Invoke(ctx context.Context, event string) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(event))
	if err != nil {
		return Answer{}, fmt.Errorf("rig: %w", err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Answer{}, fmt.Errorf("rig: invoke %s: %w", s.Name, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("rig: invoke %s: %w", s.Name, err)
	}
	a := Answer{Text: strings.TrimSpace(string(body)), Status: resp.StatusCode}
	_ = json.Unmarshal(body, &a) // a timeout's sentence is no JSON, and has no outcome
	return a, nil
}

// Freeze stops the function as the platform does, in the middle of whatever it does.
func (s *Sandbox) Freeze() error { return s.signal(sigStop) }

// Thaw lets it go on.
func (s *Sandbox) Thaw() error { return s.signal(sigCont) }

// Kill ends the sandbox without a word to anybody.
func (s *Sandbox) Kill() error {
	err := os.WriteFile(s.closed, nil, 0o600)
	s.Process.Close() // first, so that it does not begin another one
	return errors.Join(err, s.signal(sigKill))
}

// Close is Kill for one that may not have begun.
func (s *Sandbox) Close() { _ = s.Kill() }

func (s *Sandbox) signal(sig syscall.Signal) error {
	b, err := os.ReadFile(s.pidFile)
	if err != nil {
		return fmt.Errorf("rig: %s has no process yet: %w", s.Name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return fmt.Errorf("rig: %s: %w", s.Name, err)
	}
	if err := send(pid, sig); err != nil {
		return fmt.Errorf("rig: %s: signal %v: %w", s.Name, sig, err)
	}
	return nil
}

// freePorts returns loopback addresses that nobody listens on.
func freePorts(n int) ([]string, error) {
	var found []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("rig: look for a free port: %w", err)
		}
		defer l.Close()
		found = append(found, l.Addr().String())
	}
	return found, nil
}
