//go:build unix

package demo

import (
	"os/exec"
	"testing"
	"time"
)

func TestIsStopped(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill() // stopped or not
		_ = cmd.Wait()
	}()
	at := hostNow()
	if isStopped(cmd.Process, at) {
		t.Fatal("a process that runs is said to be stopped")
	}
	if err := freeze(cmd.Process); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !isStopped(cmd.Process, at); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a process that was stopped is said to run")
		}
	}
	if !isStopped(cmd.Process, at) {
		t.Error("asking has changed the answer")
	}
}
