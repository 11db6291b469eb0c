package legrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

const (
	term = 10 * time.Second
	poll = time.Second
	// over is when a term is over for those who only look on.
	over = term + term/20
)

// channel stands for a gRPC channel: it notes what a resolver tells it.
type channel struct {
	mu   sync.Mutex
	told []string
	bad  bool // it takes nothing
}

func (c *channel) UpdateState(s resolver.State) error {
	var addrs []string
	for _, a := range s.Addresses {
		addrs = append(addrs, a.Addr)
	}
	for _, e := range s.Endpoints {
		if len(s.Endpoints) != 1 || len(e.Addresses) != len(addrs) {
			addrs = append(addrs, fmt.Sprintf("(%d endpoints)", len(s.Endpoints)))
		}
	}
	text := strings.Join(addrs, ",")
	if s.ServiceConfig != nil {
		text += fmt.Sprint(" ", s.ServiceConfig.Config)
	}
	c.note("[" + text + "]")
	if c.bad || len(addrs) == 0 {
		return errors.New("bad resolver state")
	}
	return nil
}

func (c *channel) note(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, s)
}

// take returns what was told since the last call.
func (c *channel) take() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.told
	c.told = nil
	return told
}

func (c *channel) ReportError(err error)          { c.note(err.Error()) }
func (*channel) NewAddress(as []resolver.Address) { panic("not to be used any more") }
func (*channel) ParseServiceConfig(s string) *serviceconfig.ParseResult {
	var v struct{ Name string }
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return &serviceconfig.ParseResult{Err: err}
	}
	return &serviceconfig.ParseResult{Config: config{name: v.Name}}
}

type config struct {
	serviceconfig.Config
	name string
}

func (c config) String() string { return c.name }

// scene is one channel that follows one election.
type scene struct {
	*channel
	resolver.Resolver
	t     *testing.T
	opts  legrpc.Options
	store *memory.Decider
	log   *lines
}

// play runs f with a channel that has begun to follow an election, in a bubble.
func play(t *testing.T, opts *legrpc.Options, before func(s *scene), f func(s *scene)) {
	t.Helper()
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		s := &scene{channel: new(channel), t: t, store: memory.NewDecider(), log: new(lines)}
		s.opts.PollInterval = poll
		if opts != nil {
			s.opts = *opts
		}
		if before != nil {
			before(s)
		}
		o := s.opts
		if o.Open == nil {
			o.Open = func(_ context.Context, name string) (core.RaceDecider, error) { return s.store, nil }
		}
		o.Logger = slog.New(slog.NewTextHandler(s.log, nil))
		b, err := legrpc.NewBuilder(&o)
		if err != nil {
			t.Fatal(err)
		}
		s.Resolver, err = b.Build(target("leaderelection:///jobs/nightly"), s.channel, resolver.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(poll / 2) // reads are at full seconds
		f(s)
		s.Close()
		s.take()
		time.Sleep(10 * over)
		if told := s.take(); len(told) > 0 {
			t.Errorf("told %q after Close", told)
		}
	})
}

func target(s string) resolver.Target {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return resolver.Target{URL: *u}
}

// leads writes an entry as a leader with this address does.
func (s *scene) leads(id string, change ...func(e *entry.RaceEntry)) {
	e := s.store.Lead(id, term)
	e.HostPort = []string{id + ".example:443"}
	for _, c := range change {
		c(&e)
	}
	s.store.Plant(e)
}

// expect compares what the channel was told since the last call. A want that begins
// with ~ is what the text contains.
func (s *scene) expect(what string, want ...string) {
	s.t.Helper()
	got := s.take()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		part, contains := strings.CutPrefix(want[i], "~")
		ok = got[i] == want[i] || contains && strings.Contains(got[i], part)
	}
	if !ok {
		s.t.Errorf("%s: the channel was told\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	for _, g := range got {
		if !strings.HasPrefix(g, "[") && !strings.Contains(g, `"jobs/nightly"`) {
			s.t.Errorf("%s: the error %q does not name the election", what, g)
		}
	}
}

// lines is what was logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// count is how many lines contain this.
func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}
