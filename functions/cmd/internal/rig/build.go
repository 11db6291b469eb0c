package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Emulator is the Lambda runtime interface emulator, pinned.
const Emulator = "github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@v0.0.0-20261030222936-bef5c4ba774d"

// Root is the folder of this module.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("rig: ask the go command for the module: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("rig: run this in the folder of the module")
	}
	return filepath.Dir(file), nil
}

// Install puts the emulator into build/ below root, unless it is there, and
// returns its path. Without a module cache that has it, it needs the network.
func Install(ctx context.Context, root string) (string, error) {
	path := filepath.Join(root, "build", "aws-lambda-rie")
	stamp := path + ".version"
	if at, err := os.ReadFile(stamp); err == nil && string(at) == Emulator {
		return path, nil
	}
	cmd := goCommand(ctx, "install", Emulator)
	cmd.Env = append(os.Environ(), "GOBIN="+filepath.Dir(path), "CGO_ENABLED=0", "GOFLAGS=")
	cmd.Dir = os.TempDir() // not of this module: its go.mod must not count
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("rig: install the Lambda runtime interface emulator: %w\n%s", err, out)
	}
	return path, os.WriteFile(stamp, []byte(Emulator), 0o644)
}

// Build compiles a program of this module as it is deployed, and returns its path in
// dir. More tags may be given: chaos.
func Build(ctx context.Context, root, dir, pkg string, tags ...string) (string, error) {
	path := filepath.Join(dir, strings.ReplaceAll(strings.Join(append([]string{pkg}, tags...), "-"), "/", "-"))
	cmd := goCommand(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
		"-tags", strings.Join(append([]string{"lambda.norpc"}, tags...), ","), "-o", path, "./"+pkg)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("rig: build %s: %w\n%s", pkg, err, out)
	}
	return path, nil
}

// goCommand is the go command, which is asked to stop when ctx ends: killed, it would
// leave its files and its compilers behind.
func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}
