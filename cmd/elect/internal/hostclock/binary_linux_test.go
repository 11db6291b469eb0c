package hostclock_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/cloudelect/cloudelect/cmd/elect/internal/cli" // so that a change of elect runs this again
	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/hostclock"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
)

// TestBinary: what a user sees of hosts whose clocks are an hour off, with processes of
// the real program, on the three emulators that it brings along.
func TestBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("builds elect, and waits for terms to end")
	}
	b := build(t)
	var all sync.WaitGroup
	for i, c := range []struct{ crashed, fresh time.Duration }{{0, time.Hour}, {time.Hour, -time.Hour}} {
		for _, scheme := range []string{"gs", "s3", "dynamodb"} {
			h := &host{binary: b, t: t, url: fmt.Sprintf("%s://elections/e%d", scheme, i), crashed: c.crashed, fresh: c.fresh}
			all.Go(func() {
				if err := h.play(); err != nil {
					t.Errorf("%s, crashed ahead by %v, fresh by %v: %v", h.url, h.crashed, h.fresh, err)
				}
			})
		}
	}
	all.Wait()
}

// binary is a chaos build of elect, and the emulators that it runs against.
type binary struct {
	path string
	env  []string
}

func build(t *testing.T) *binary {
	t.Helper()
	b := &binary{path: filepath.Join(t.TempDir(), "elect"), env: os.Environ()}
	cmd := exec.Command("go", "build", "-tags", "chaos", "-o", b.path, "github.com/cloudelect/cloudelect/cmd/elect")
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no go command to build elect with")
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	emulators := b.elect(0, "emulate", "--json")
	out, err := emulators.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := emulators.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = emulators.Process.Signal(syscall.SIGTERM)
		_ = emulators.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var says map[string]any
	if err = errors.Join(err, json.Unmarshal(line, &says)); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	for _, name := range []string{"STORAGE_EMULATOR_HOST", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		value, ok := says[strings.ToLower(name)].(string)
		if !ok {
			t.Fatalf("elect emulate says no %s: %s", name, line)
		}
		b.env = append(b.env, name+"="+value)
	}
	return b
}

// elect is the program on a host whose clock is ahead.
func (b *binary) elect(ahead time.Duration, args ...string) *exec.Cmd {
	cmd := exec.Command(b.path, args...)
	cmd.Env = append(b.env[:len(b.env):len(b.env)], hostclock.OffsetVar+"="+ahead.String())
	return cmd
}

// host plays one election. Its own clock, which is the emulators', is right.
type host struct {
	*binary
	t              *testing.T
	url            string
	crashed, fresh time.Duration // whose clock is ahead by how much
}

// term of both leaders, and what a candidate with it allows for servers that differ.
const (
	term = 10 * time.Second
	skew = time.Second
)

func (h *host) play() error {
	crashed, err := h.run(h.crashed, "crashed", "--", "sleep", "600")
	if err != nil {
		return err
	}
	// A running term is nobody's, however often a fresh process asks.
	before, err := h.await("crashed", 0)
	for tries := 0; err == nil && (tries < 3 || *before.ElectionNumber < 2); tries++ {
		var code int
		if code, err = h.once("exit 0"); err == nil && code != cliutil.ExitNotElected {
			err = fmt.Errorf("a fresh process ended with %d while another led, want %d", code, cliutil.ExitNotElected)
		}
		if err == nil {
			before, err = h.status()
		}
		if err == nil && before.LeaderID != "crashed" {
			err = fmt.Errorf("%+v is stored, want the first leader's", before)
		}
	}
	if err != nil {
		return err
	}
	crashed.end(os.Kill)

	fresh, won, err := h.take()
	if err != nil {
		return err
	}
	st, err := h.await("fresh", *won.ElectionNumber+2) // it renews
	if err != nil {
		return err
	}
	if *st.FencingToken != *before.FencingToken+1 || *st.FencingToken != *won.FencingToken {
		return fmt.Errorf("fencing tokens %d, then %d and %d", *before.FencingToken, *won.FencingToken, *st.FencingToken)
	}
	fresh.end(syscall.SIGTERM)
	if st, err = h.status(); err == nil && st.State != statuscmd.Vacant {
		err = fmt.Errorf("after it has ended: %+v, want vacant", st)
	}
	return err
}

// process is an elect run.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	code  int // once it has ended
}

// end sends a signal, if it is not too late, and waits.
func (p *process) end(sig os.Signal) {
	_ = p.cmd.Process.Signal(sig)
	<-p.ended
}

// run starts elect run, which ends with the test at the latest.
func (h *host) run(ahead time.Duration, id string, args ...string) (*process, error) {
	cmd := h.elect(ahead, append([]string{"run", "--store", h.url, "--id", id, "--term", term.String(), "--renew", "1s"}, args...)...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // the exit code says more
		p.code = cmd.ProcessState.ExitCode()
	}()
	h.t.Cleanup(func() { p.end(os.Kill) })
	return p, nil
}

// once lets a fresh process ask once, and returns its exit code.
func (h *host) once(script string) (int, error) {
	p, err := h.run(h.fresh, "fresh", "--once", "--", "sh", "-c", script)
	if err != nil {
		return 0, err
	}
	<-p.ended
	return p.code, nil
}

// take lets fresh processes ask once each, until one wins, and returns it.
func (h *host) take() (*process, statuscmd.State, error) {
	told := filepath.Join(h.t.TempDir(), "started")
	for {
		old, err := h.status()
		if err != nil {
			return nil, old, err
		}
		over := old.SentBy.Add(term)
		due := over.Add(term/40 + skew)
		asked := time.Now()
		p, err := h.run(h.fresh, "fresh", "--once", "--", "sh", "-c", `date +%s%N >"$0.part" && mv "$0.part" "$0" && exec sleep 600`, told)
		if err != nil {
			return nil, old, err
		}
		for {
			if text, err := os.ReadFile(told); err == nil {
				ns, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
				if started := time.Unix(0, ns); err == nil && started.Before(due) {
					err = fmt.Errorf("COMMAND ran at %v, and the term before it was over at %v, for certain at %v", started, over, due)
				}
				won, statusErr := h.await("fresh", 0)
				return p, won, errors.Join(err, statusErr)
			}
			select {
			case <-p.ended:
				if p.code == cliutil.ExitNotElected && asked.After(due.Add(time.Second)) { // the store's time is whole seconds
					return nil, old, fmt.Errorf("at %v a term was not taken that was over at %v: %+v", asked, over, old)
				}
				if p.code != cliutil.ExitNotElected && p.code != cliutil.ExitUnavailable {
					return nil, old, fmt.Errorf("elect run --once ended with %d", p.code)
				}
			case <-time.After(10 * time.Millisecond):
				continue
			}
			break
		}
	}
}

// await looks until id leads and has written so often.
func (h *host) await(id string, number int64) (statuscmd.State, error) {
	for end := time.Now().Add(2 * time.Minute); ; {
		st, err := h.status()
		if err != nil || st.LeaderID == id && *st.ElectionNumber >= number {
			return st, err
		}
		if time.Now().After(end) {
			return st, fmt.Errorf("in vain waited for %s to write version %d: %+v", id, number, st)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// status is what elect status shows on the fresh process's host, whose numbers have to be
// right whatever its clock says.
func (h *host) status() (statuscmd.State, error) {
	var st statuscmd.State
	var stderr bytes.Buffer
	cmd := h.elect(h.fresh, "status", "--store", h.url, "--json")
	cmd.Stderr = &stderr
	asked := time.Now()
	out, err := cmd.Output()
	answered := time.Now()
	if err == nil {
		err = json.Unmarshal(out, &st)
	}
	if err != nil || st.ClockOffsetMS == nil {
		return st, fmt.Errorf("status: %w: %s%s", err, out, stderr.Bytes())
	}
	side := map[bool]string{true: statuscmd.ClockAhead, false: statuscmd.ClockBehind}[h.fresh > 0]
	offset := time.Duration(*st.ClockOffsetMS) * time.Millisecond
	if off := h.fresh - offset; st.LocalClock != side || off.Abs() > time.Second+answered.Sub(asked) || offset.Abs() > h.fresh.Abs() || !strings.Contains(st.ClockWarning, "this host's clock is "+side) {
		return st, fmt.Errorf("status says that the clock is off by %v, not %v: %s", offset, h.fresh, out)
	}
	if st.TimeLeftMS == nil {
		return st, nil
	}
	left, end := time.Duration(*st.TimeLeftMS)*time.Millisecond, st.SentBy.Add(term)
	least, most := min(end.Sub(answered), term), min(end.Sub(asked)+time.Second, term)
	if st.TimeLeftBy != statuscmd.ByStore || left < least.Truncate(time.Millisecond)-time.Millisecond || left > most {
		return st, fmt.Errorf("status says that %v are left by the %s clock, want %v to %v: %s", left, st.TimeLeftBy, least, most, out)
	}
	return st, nil
}
