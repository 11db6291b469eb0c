package legrpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"google.golang.org/grpc/resolver"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// TestFollowsTheLeaderWithinOnePoll, through renewals, vacancies and a deletion.
func TestFollowsTheLeaderWithinOnePoll(t *testing.T) {
	play(t, nil, nil, func(s *scene) {
		s.expect("nothing is stored", "~nobody leads: nothing is stored")
		for _, step := range []struct {
			name string
			play func()
			want []string
		}{
			{"the first leader", func() { s.leads("a") }, []string{"[a.example:443]"}},
			{"a renewal", func() { s.leads("a") }, nil},
			{"a change of leader", func() { s.leads("b") }, []string{"[b.example:443]"}},
			{"nothing new", func() {}, nil},
			{"it moves", func() { s.leads("b", func(e *entry.RaceEntry) { e.HostPort = []string{"[::1]:1", "b:2"} }) }, []string{"[[::1]:1,b:2]"}},
			{"it resigns", func() { s.store.Lead("", term) }, []string{"[]", "~nobody leads: the last leader has resigned"}},
			{"another version of that", func() { s.store.Lead("", term) }, nil},
			{"c", func() { s.leads("c") }, []string{"[c.example:443]"}},
			{"c has finished", func() { s.leads("c", func(e *entry.RaceEntry) { e.Held = true }) }, []string{"[]", `~"c" has finished, and nobody may follow before 20`}},
			{"d", func() { s.leads("d") }, []string{"[d.example:443]"}},
			{"deleted", func() { s.store.Delete() }, []string{"[]", "~nothing is stored"}},
			{"e", func() { s.leads("e") }, []string{"[e.example:443]"}},
		} {
			step.play()
			time.Sleep(poll)
			s.expect(step.name, step.want...)
		}
		if reads, writes := s.store.Requests(); reads != 13 || writes != 0 {
			t.Errorf("%d reads and %d writes in 12 polls", reads, writes)
		}
	})
}

// TestErrorsOfTheStore do not matter until the term is over; then calls must not go to
// what may be an ex-leader.
func TestErrorsOfTheStore(t *testing.T) {
	play(t, nil, func(s *scene) { s.leads("a") }, func(s *scene) {
		s.expect("a leads", "[a.example:443]")
		s.store.FailNext(1000, errors.New("503 Slow Down"))
		time.Sleep(over - poll/2 - 1) // to just before the end of the term
		s.expect("within the term")
		if n := s.log.count("the election cannot be read"); n != 1 {
			t.Errorf("logged %d times that the store fails, want once", n)
		}
		time.Sleep(2 * time.Nanosecond)
		s.expect("after it", "[]", `~the term of "a" is over, and who leads now is not known: 503 Slow Down`)
		time.Sleep(time.Minute)
		s.expect("much later")
		s.store.FailNext(0, nil)
		time.Sleep(poll)
		s.expect("reads work, and find the same", `~the term of "a" is over, and nobody has followed`)
		s.leads("a")
		time.Sleep(poll)
		s.expect("the store is back", "[a.example:443]")
		s.store.FailNext(1, core.ErrBroken)
		time.Sleep(poll)
		s.store.FailNext(1, core.ErrBadEntry)
		time.Sleep(poll)
		s.expect("single errors of any kind")
	})
}

// TestALeaderThatRenewsNoMore is left when its term is over, though the store answers.
func TestALeaderThatRenewsNoMore(t *testing.T) {
	play(t, nil, func(s *scene) { s.leads("a") }, func(s *scene) {
		s.expect("a leads", "[a.example:443]")
		time.Sleep(4 * poll)
		s.leads("a") // seen 4.5 s from now at the latest
		time.Sleep(poll/2 + over - 1)
		s.expect("within the renewed term")
		time.Sleep(2 * time.Nanosecond)
		s.expect("after it", "[]", `~the term of "a" is over, and nobody has followed`)
		time.Sleep(time.Minute)
		s.expect("nothing happens")
		s.leads("a")
		time.Sleep(poll)
		s.expect("it is back", "[a.example:443]")
	})
}

// TestATermThatIsOverInTheStoresTime: who comes late does not wait out the term again.
func TestATermThatIsOverInTheStoresTime(t *testing.T) {
	for _, tc := range []struct {
		age  time.Duration // of the entry when it is first read
		want []string      // at once
		left time.Duration // from the first read; 0: it is over
	}{
		{0, []string{"[a.example:443]"}, over},
		{4 * time.Second, []string{"[a.example:443]"}, 6*time.Second + term/40 + time.Second},
		{11 * time.Second, []string{"[a.example:443]"}, 250 * time.Millisecond},
		{12 * time.Second, []string{`~the term of "a" is over, by the store's own clock`}, 0},
		{24 * time.Hour, []string{`~the term of "a" is over, by the store's own clock`}, 0},
	} {
		t.Run(tc.age.String(), func(t *testing.T) {
			play(t, &legrpc.Options{PollInterval: time.Hour}, func(s *scene) {
				s.store.SetClock(clocks.DefaultClock())
				now := time.Now() // a full second in a bubble
				s.leads("a", func(e *entry.RaceEntry) { e.SentBy = now })
				time.Sleep(tc.age)
			}, func(s *scene) {
				var first, rest []string
				if tc.left > poll/2 || tc.left == 0 {
					s.expect("at once", tc.want...)
				} else {
					first = tc.want
				}
				if tc.left == 0 {
					return
				}
				if d := tc.left - poll/2; d > 0 {
					time.Sleep(d - 1)
					s.expect("just before the end")
				}
				time.Sleep(2 * time.Nanosecond)
				rest = []string{"[]", "~is over, and nobody has followed"}
				s.expect("at the end", append(first, rest...)...)
			})
		})
	}
}

// TestTheTermByBothClocks: a host that slept leaves the leader as soon as it looks at
// its wall clock; one whose wall clock is set back does not stay longer.
func TestTheTermByBothClocks(t *testing.T) {
	for name, tc := range map[string]struct{ step, stays time.Duration }{
		"ahead": {over, term / 8}, "back": {-time.Hour, over - poll/2},
	} {
		t.Run(name, func(t *testing.T) {
			var clock *skewclock.Clock
			play(t, nil, func(s *scene) {
				clock = skewclock.New(clocks.DefaultClock(), nil)
				s.opts = legrpc.Options{PollInterval: time.Hour, Clock: clock}
				s.leads("a")
			}, func(s *scene) {
				s.expect("a leads", "[a.example:443]")
				clock.Step(tc.step)
				time.Sleep(tc.stays + term/8)
				want := []string{"[]", "~is over, and nobody has followed"}
				if name == "ahead" { // what it knew was old by then: it had to ask
					want = []string{"[]", "~is over, and who leads now is not known: no answer yet", "~is over, and nobody has followed"}
				}
				s.expect("its term is over", want...)
			})
		})
	}
}

// TestAddresses: what cannot be dialled is told, in words that help.
func TestAddresses(t *testing.T) {
	for _, tc := range []struct {
		give []string
		want string
		log  string
	}{
		{nil, `~the leader "a" gives no address: set HostPort in its core.Config`, ""},
		{[]string{}, `~gives no address`, ""},
		{[]string{"host"}, `~the leader "a" gives the address "host": not host:port: missing port in address`, ""},
		{[]string{"::1:80"}, `~"::1:80": not host:port: too many colons in address`, ""},
		{[]string{":80"}, `~":80": it has no host`, ""},
		{[]string{"h:"}, `~port "" is neither a number`, ""},
		{[]string{"h:0"}, `~port "0" is neither a number`, ""},
		{[]string{"h:70000"}, `~port "70000" is neither a number`, ""},
		{[]string{"h h:80"}, `~there is a space`, ""},
		{[]string{"0.0.0.0:80"}, `~that is where a server listens`, ""},
		{[]string{"[::]:80"}, `~that is where a server listens`, ""},
		{[]string{"[::%lo]:80"}, `~that is where a server listens`, ""},
		{[]string{"[::ffff:0.0.0.0]:80"}, `~that is where a server listens`, ""},
		{[]string{"0:80"}, `~that is where a server listens`, ""},
		{[]string{"0x0.0:80"}, `~that is where a server listens`, ""},
		{[]string{"127.0.0.1%lo:80"}, `~"127.0.0.1%lo" is neither a name nor an IP address`, ""},
		{[]string{"h/x:80"}, `~"h/x" is neither a name nor an IP address`, ""},
		{[]string{"127.0.0.1:+80"}, `~port "+80" is neither a number`, ""},
		{[]string{"127.0.0.1:-80"}, `~port "-80" is neither a number`, ""},
		{[]string{"[fe80::1%eth0]:80", "0c1f9e7a1b2d:http"}, `[[fe80::1%eth0]:80,0c1f9e7a1b2d:http]`, ""},
		{[]string{""}, `~the address "": not host:port`, ""},
		{[]string{"host", "h:80", ":1", "i:81"}, `[h:80,i:81]`, `\"host\": not host:port`},
	} {
		play(t, nil, func(s *scene) {
			s.leads("a", func(e *entry.RaceEntry) { e.HostPort = tc.give })
		}, func(s *scene) {
			s.expect(fmt.Sprint(tc.give), tc.want)
			s.leads("a", func(e *entry.RaceEntry) { e.HostPort = tc.give })
			time.Sleep(poll)
			s.expect("the same in a renewal")
			if tc.log != "" && s.log.count(tc.log) != 1 {
				t.Errorf("%q: not logged once: %s", tc.give, s.log.text.String())
			}
			s.leads("b")
			time.Sleep(poll)
			s.leads("a", func(e *entry.RaceEntry) { e.HostPort = tc.give })
			s.take()
			time.Sleep(poll)
			if told := s.take(); !strings.HasPrefix(told[0], "[") {
				t.Errorf("%q after a good leader: told %q first, and goes on to the old one", tc.give, told[0])
			}
		})
	}
}

// TestServiceConfig comes from ConnectionParams, changes with them, stays while nobody
// leads, and a bad one breaks nothing.
func TestServiceConfig(t *testing.T) {
	with := func(params string) func(e *entry.RaceEntry) {
		return func(e *entry.RaceEntry) { e.ConnectionParams = []byte(params) }
	}
	play(t, nil, func(s *scene) { s.leads("a", with(`{"name":"one"}`)) }, func(s *scene) {
		s.expect("the first", "[a.example:443 one]")
		for _, step := range []struct {
			name string
			play func()
			want []string
		}{
			{"a renewal", func() { s.leads("a", with(`{"name":"one"}`)) }, nil},
			{"another leader with the same", func() { s.leads("b", with(`{"name":"one"}`)) }, []string{"[b.example:443 one]"}},
			{"it resigns", func() { s.store.Lead("", term) }, []string{"[ one]", "~nobody leads"}},
			{"and wins again", func() { s.leads("b", with(`{"name":"one"}`)) }, []string{"[b.example:443 one]"}},
			{"another config", func() { s.leads("b", with(`{"name":"two"}`)) }, []string{"[b.example:443 two]"}},
			{"both change", func() { s.leads("c", with(`{"name":"three"}`)) }, []string{"[ two]", "[c.example:443 three]"}},
			{"a bad one", func() { s.leads("c", with(`{"name"`)) }, []string{"[c.example:443]"}},
			{"again", func() { s.leads("c", with(`{"name"`)) }, nil},
			{"a good one", func() { s.leads("c", with(`{"name":"four"}`)) }, []string{"[c.example:443 four]"}},
			{"none", func() { s.leads("c", with("")) }, []string{"[c.example:443]"}},
			{"blank", func() { s.leads("c", with(" \n")) }, []string{"[c.example:443]"}},
		} {
			step.play()
			time.Sleep(poll)
			s.expect(step.name, step.want...)
		}
		if n := s.log.count("are no service config"); n != 1 {
			t.Errorf("the bad one was logged %d times", n)
		}
	})
}

// TestResolveNowReadsAtOnce, but not more often than every 100 ms.
func TestResolveNowReadsAtOnce(t *testing.T) {
	play(t, &legrpc.Options{PollInterval: time.Hour}, func(s *scene) { s.leads("a") }, func(s *scene) {
		s.expect("a leads", "[a.example:443]")
		s.leads("b")
		s.ResolveNow(resolver.ResolveNowOptions{})
		s.expect("at once", "[b.example:443]")
		before, _ := s.store.Requests()
		for range 1000 {
			s.ResolveNow(resolver.ResolveNowOptions{})
			time.Sleep(time.Millisecond)
		}
		if after, _ := s.store.Requests(); after-before > 11 || after-before < 9 {
			t.Errorf("%d reads in a second", after-before)
		}
	})
}

// TestAChannelThatTakesNothing is told again with every renewal.
func TestAChannelThatTakesNothing(t *testing.T) {
	play(t, nil, func(s *scene) { s.leads("a"); s.bad = true }, func(s *scene) {
		s.expect("at first", "[a.example:443]")
		s.leads("a")
		time.Sleep(poll)
		s.expect("again", "[a.example:443]")
		s.channel.mu.Lock()
		s.bad = false
		s.channel.mu.Unlock()
		s.leads("a")
		time.Sleep(poll)
		s.expect("until it does", "[a.example:443]")
		s.leads("a")
		time.Sleep(poll)
		s.expect("and then no more")
	})
}

// TestOpen is called again until it succeeds, with a context that ends with the resolver.
func TestOpen(t *testing.T) {
	var opened context.Context
	var names []string
	var s *scene
	opts := &legrpc.Options{PollInterval: poll, Open: func(ctx context.Context, name string) (core.RaceDecider, error) {
		opened = ctx
		names = append(names, name)
		switch len(names) {
		case 1:
			return nil, errors.New("no credentials")
		case 2:
			return nil, nil
		case 3:
			time.Sleep(20 * time.Second) // whatever its context says
		}
		return s.store, nil
	}}
	play(t, opts, func(its *scene) { s = its; s.leads("a") }, func(s *scene) {
		s.expect("the first", "~the leader is not known: its store cannot be opened: no credentials")
		time.Sleep(poll)
		s.expect("the second", "~Options.Open returned neither a store nor an error")
		time.Sleep(6 * poll)
		s.expect("one that hangs", "~no answer from the store within 5s")
		time.Sleep(15 * poll)
		if got := s.take(); got[len(got)-1] != "[a.example:443]" {
			t.Errorf("told %q", got)
		}
		time.Sleep(poll)
		if len(names) != 3 || names[0] != "jobs/nightly" {
			t.Errorf("opened %q", names)
		}
		if opened.Err() != nil {
			t.Error("Open's context has ended while the resolver runs")
		}
		s.Close()
		if opened.Err() == nil {
			t.Error("Open's context goes on")
		}
	})
}

// TestCloseDuringARequest that hangs waits for the resolver's goroutine only.
func TestCloseDuringARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := legrpc.NewBuilder(&legrpc.Options{Open: func(ctx context.Context, _ string) (core.RaceDecider, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.Build(target("leaderelection:///x"), new(channel), resolver.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		start := time.Now()
		r.Close()
		if passed := time.Since(start); passed != 0 {
			t.Errorf("Close took %v", passed)
		}
	})
}

// TestBuilderRefuses what can never work, without a panic.
func TestBuilderRefuses(t *testing.T) {
	open := func(context.Context, string) (core.RaceDecider, error) { return nil, errors.New("not to be opened") }
	for name, opts := range map[string]*legrpc.Options{
		"Options.Open is nil":             nil,
		"Open is nil":                     {},
		"PollInterval is -1ns":            {Open: open, PollInterval: -1},
		"PollInterval is 2562047h47m16.8": {Open: open, PollInterval: 1<<63 - 1},
	} {
		if b, err := legrpc.NewBuilder(opts); !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), name) || b != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	b, err := legrpc.NewBuilder(&legrpc.Options{Open: open, Clock: (*skewclock.Clock)(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if b.Scheme() != "leaderelection" {
		t.Errorf("scheme %q", b.Scheme())
	}
	for give, want := range map[string]string{
		"leaderelection://jobs":      `"jobs" is taken for a host; write leaderelection:///NAME`,
		"leaderelection://jobs/a":    `"jobs" is taken for a host`,
		"leaderelection:jobs":        "there is no slash",
		"leaderelection:":            "name is empty",
		"leaderelection:///":         "name is empty",
		"leaderelection:///a?b":      "has to be written %3F",
		"leaderelection:///a#b":      "has to be written %3F",
		"leaderelection:///a%0Ab":    "control characters",
		"leaderelection:///%FF":      "not UTF-8",
		"leaderelection:///a%3Fb%23": "",
	} {
		r, err := b.Build(target(give), new(channel), resolver.BuildOptions{})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", give, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", give, err, want)
		}
		if err == nil {
			r.Close()
		}
	}
}
