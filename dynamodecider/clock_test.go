package dynamodecider

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// gated is a way to the emulator past a gate that looks at signatures, and a
// client with the SDK's own policy.
func (s *store) gated(t decidertest.TB) (*netfault.AWSGate, *netfault.Transport, *Decider) {
	t.Helper()
	base := &http.Transport{}
	gate := netfault.NewAWSGate(base)
	way, err := netfault.NewTransport(gate, nil)
	must(t, err)
	t.Cleanup(func() { way.Close(); base.CloseIdleConnections() })
	return gate, way, NewDecider(retrying(&http.Client{Transport: way}, s.URL()), testTable, testName, nil)
}

// TestWrongHostClock: a signature refused for its time is unknown, and the next
// request is signed with the store's time.
func TestWrongHostClock(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"slow host": 5 * time.Hour, "fast host": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := newEmulator(t)
			gate, way, d := s.gated(t)
			gate.SetClock(ahead)
			ctx := context.Background()

			// A write first: it is not repeated.
			_, err := d.WriteEntry(ctx, sampleEntry(absentToken(time.Time{})))
			checkOutcome(t, isUnknown, nil, err)
			if !strings.Contains(err.Error(), "clock") || len(way.Requests()) != 1 {
				t.Errorf("%d requests: %v", len(way.Requests()), err)
			}
			token, err := d.WriteEntry(ctx, sampleEntry(absentToken(time.Time{})))
			if err != nil {
				t.Fatalf("the SDK has not learned: %v", err)
			}
			if date := token.(core.DatedToken).StoreDate(); gate.Now().Sub(date).Abs() > time.Minute {
				t.Errorf("StoreDate is %v, the store's clock shows %v", date, gate.Now())
			}

			// A read repeats itself.
			_, way, fresh := s.gated(t)
			if _, err := fresh.ReadCurrent(ctx); err != nil {
				t.Errorf("%v after %v", err, way.Requests())
			}
		})
	}
}

// TestWrongHostClockCampaigns: an election goes on although the host's clock is
// hours off: the wall clock of the campaign is as wrong as that of the signatures.
func TestWrongHostClockCampaigns(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"slow host": 5 * time.Hour, "fast host": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := newEmulator(t)
			gate, _, d := s.gated(t)
			gate.SetClock(ahead)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			c := core.Config{Decider: d, LeaderID: "worker-1", TermLength: time.Minute, ManualRenew: true}
			l, err := c.Campaign(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Renew(ctx); err != nil {
				t.Error(err)
			}
			if err := l.Resign(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestExpiredCredentials are unknown: they come back when they are renewed.
func TestExpiredCredentials(t *testing.T) {
	gate, _, d := newEmulator(t).gated(t)
	gate.Expire("KEY")
	ctx := context.Background()
	for _, op := range []operation{opRead, opWrite} {
		e, err := ask(ctx, d, op)
		checkOutcome(t, isUnknown, e, err)
		if !strings.Contains(err.Error(), "expired") {
			t.Errorf("%v", err)
		}
	}
	gate.Restore("KEY")
	if _, err := d.WriteEntry(ctx, sampleEntry(absentToken(time.Time{}))); err != nil {
		t.Error(err)
	}
}

// TestWrongSignature: a wrong secret is broken. But while the answer's Date says
// that the time of the signature may be to blame, it is that which is tried first.
func TestWrongSignature(t *testing.T) {
	for _, body := range []string{refusal("InvalidSignatureException", wrongSecret), refusal("AccessDeniedException", deniedUpdate)} {
		for _, c := range []struct {
			name string
			date time.Time
			want outcome
		}{
			{"the same time", time.Now(), isBroken},
			{"another time", time.Now().Add(-3 * time.Hour), isUnknown},
		} {
			t.Run(c.name, func(t *testing.T) {
				w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
					saying(400, body)(dated{rw, c.date}, r)
				})
				own := &http.Transport{}
				defer own.CloseIdleConnections()
				d := NewDecider(retrying(&http.Client{Transport: own}, w.URL), testTable, testName, nil)
				e, err := ask(context.Background(), d, opWrite)
				checkOutcome(t, c.want, e, err)
				// The SDK has learned the time; if it is refused again, it was not that.
				if e, err = ask(context.Background(), d, opWrite); err != nil {
					checkOutcome(t, isBroken, e, err)
				}
			})
		}
	}
}

// dated gives answers another Date.
type dated struct {
	http.ResponseWriter
	date time.Time
}

func (d dated) WriteHeader(status int) {
	d.Header().Set("Date", d.date.UTC().Format(http.TimeFormat))
	d.ResponseWriter.WriteHeader(status)
}

// TestStoreDate: on every token the Date of the answer that brought it; none from a
// cache.
func TestStoreDate(t *testing.T) {
	lostBody := `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no","Item":` + sampleItem + `}`
	for _, age := range []string{"", "7"} {
		want := storeTime
		if age != "" {
			want = time.Time{}
		}
		dateIn := func(what string, token entry.LeaderToken) {
			t.Helper()
			if got := token.(core.DatedToken).StoreDate(); !got.Equal(want) {
				t.Errorf("Age %q: StoreDate of %s is %v, want %v", age, what, got, want)
			}
			if !token.CommitTS().IsZero() {
				t.Errorf("%s has a CommitTS that DynamoDB does not tell", what)
			}
		}
		answer := func(status int, body string) *Decider {
			return newWire(t, func(rw http.ResponseWriter, r *http.Request) {
				if age != "" {
					rw.Header().Set("Age", age)
				}
				saying(status, body)(rw, r)
			}).decider(t)
		}
		ctx := context.Background()
		for what, body := range map[string]string{"a read": `{"Item":` + sampleItem + `}`, "a read of nothing": `{}`, "a read of rubbish": `{"Item":{"election":{"S":"x"}}}`} {
			e, err := answer(200, body).ReadCurrent(ctx)
			if err != nil && !errors.Is(err, core.ErrBadEntry) {
				t.Fatal(err)
			}
			dateIn(what, e.Token)
		}
		token, err := answer(200, `{}`).WriteEntry(ctx, sampleEntry(absentToken(time.Time{})))
		if err != nil {
			t.Fatal(err)
		}
		dateIn("a write", token)
		_, err = answer(400, lostBody).WriteEntry(ctx, sampleEntry(absentToken(time.Time{})))
		var lost *core.LostRaceError
		if !errors.As(err, &lost) || lost.Current == nil {
			t.Fatalf("%v", err)
		}
		dateIn("a lost race", lost.Current.Token)
	}
}
