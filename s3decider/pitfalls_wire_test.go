package s3decider

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// arrow-rs-object-store#852, ShedLock#3662, opendal#6741: a 409 says that another
// request is under way, not who has won. Taken for "exists already" everybody had
// lost and nobody led; taken for a failure everybody gave up. Here three
// candidates meet nothing but 409 for a while, and then one of them leads.
func TestPitfall_ConflictsLeaveOneLeader(t *testing.T) {
	e, way := newStore(t), newWay(t, nil)
	for _, code := range []string{"ConditionalRequestConflict", "OperationAborted"} {
		must(t, way.Inject(netfault.Fault{Kind: netfault.Status, Status: http.StatusConflict, WritesOnly: true, Count: 6,
			Header: http.Header{"Content-Type": {"application/xml"}}, Body: []byte(xmlError(code, "a conflicting operation is in progress"))}))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	won, gaveUp := make(chan *core.Leadership, 3), make(chan error, 3)
	for _, id := range []string{"a", "b", "c"} {
		go func() {
			l, err := core.Config{LeaderID: id, TermLength: time.Hour, RenewInterval: 50 * time.Millisecond,
				PollInterval: 20 * time.Millisecond, ManualRenew: true,
				Decider: NewDecider(newTestClient(t, e.URL(), way), testBucket, testKey, nil)}.Campaign(ctx)
			if err != nil {
				gaveUp <- err
				return
			}
			won <- l
		}()
	}
	var l *core.Leadership
	select {
	case l = <-won:
	case err := <-gaveUp:
		t.Fatalf("a candidate gave up: %v", err)
	}
	must(t, l.Check())
	if now, err := NewDecider(newTestClient(t, e.URL(), nil), testBucket, testKey, nil).ReadCurrent(ctx); err != nil || now.Nonce != l.Entry().Nonce {
		t.Errorf("stored: %+v, %v; want the leader's entry", now, err)
	}
	refused := 0
	for _, r := range way.Requests() {
		if r.Status == http.StatusConflict {
			refused++
		}
	}
	if refused != 12 {
		t.Errorf("%d writes met a 409, want 12", refused)
	}
	must(t, l.Resign(ctx)) // and the others follow, one after the other
	for range 2 {
		select {
		case next := <-won:
			must(t, next.Resign(ctx))
		case err := <-gaveUp:
			t.Fatalf("a candidate gave up: %v", err)
		}
	}
}

// cloudflare-docs#5469, litestream#1509, boto#3750: ETags that lost their quotes, that
// were said to be weak, that are no MD5 of anything. What names a version goes back
// as it came, from a read as from a write.
func TestPitfall_ETagsGoBackAsTheyCame(t *testing.T) {
	for _, etag := range []string{testETag, `"9a0364b9e99bb480dd25e1f0284c8555-2"`, `W/"9a0364b9"`, `9a0364b9`, `"a, b"`, `"*"`, `""`, `"ÿ"`} {
		w := newWire(t, stored(etag, sampleBody(t)))
		d := w.decider(t, nil)
		e, err := d.ReadCurrent(context.Background())
		must(t, err)
		token, err := d.WriteEntry(context.Background(), sampleEntry(e.Token))
		must(t, err)
		_, err = d.WriteEntry(context.Background(), sampleEntry(token))
		must(t, err)
		for _, r := range w.seen()[1:] {
			if got := r.header["If-Match"]; len(got) != 1 || got[0] != etag || r.header.Get("If-None-Match") != "" {
				t.Errorf("the ETag %s went back as %q", etag, got)
			}
		}
	}
}

// litestream#1509, minio#21677: stores that ignore If-Match on DELETE removed the
// lock of the next owner; rustfs#1610: what was deleted could not be created
// again; DistributedLock#226: it was not released at all. A reign begins, goes on
// and ends with uploads alone, so nobody needs s3:DeleteObject, either.
func TestPitfall_NothingIsDeleted(t *testing.T) {
	e, way := newStore(t), newWay(t, nil)
	d := NewDecider(newTestClient(t, e.URL(), way), testBucket, testKey, nil)
	for range 2 {
		l, err := core.Config{LeaderID: "a", TermLength: time.Hour, ManualRenew: true, Decider: d}.Campaign(context.Background())
		must(t, err)
		must(t, l.SaveCheckpoint(context.Background(), []byte("x")))
		must(t, l.Resign(context.Background()))
	}
	for _, r := range way.Requests() {
		if r.Method != http.MethodGet && r.Method != http.MethodPut {
			t.Errorf("sent: %v", r)
		}
	}
	if n := len(way.Requests()); n != 8 {
		t.Errorf("%d requests, want 2 reads and 6 writes", n)
	}
	if now, err := d.ReadCurrent(context.Background()); err != nil || now.Absent() || !now.Vacant() {
		t.Errorf("after a resignation: %+v, %v; want a vacant entry", now, err)
	}
}

// falcosidekick#1415, aws-sdk-go-v2#3469: whatever this store says about
// checksums, "not like this" is told apart from a lost race.
func TestPitfall_ChecksumsRefused(t *testing.T) {
	for _, message := range []string{
		"Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters",
		"The algorithm type you specified in x-amz-checksum- header is invalid.",
	} {
		_, err := ask(newWire(t, refusal(http.StatusBadRequest, xmlError("InvalidRequest", message))).decider(t, nil), create)
		if !errors.Is(err, core.ErrBroken) || errors.Is(err, core.ErrLostRace) {
			t.Errorf("%s: %v", message, err)
		}
	}
}
