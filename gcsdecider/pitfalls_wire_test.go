package gcsdecider

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// DistributedLock#226, sethvargo/vault-on-gke#14: what is released by deleting it
// depends on soft delete, on versions and on a condition that is honoured. A
// reign begins, goes on and ends with uploads alone.
func TestPitfall_NothingIsDeleted(t *testing.T) {
	e, way := newEmulator(t), newWay(t, nil)
	d := NewDecider(emulatorClient(t, e.Server, way), testBucket, testObject, &Options{MinWriteInterval: noLimit})
	for range 2 {
		l, err := core.Config{LeaderID: "a", TermLength: time.Hour, ManualRenew: true, Decider: d}.Campaign(context.Background())
		must(t, err)
		must(t, l.SaveCheckpoint(context.Background(), []byte("x")))
		must(t, l.Resign(context.Background()))
	}
	for _, r := range way.Requests() {
		if r.Method != http.MethodGet && (r.Method != http.MethodPost || !strings.Contains(r.Query, "ifGenerationMatch=")) {
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

// google-cloud-go#11519, #11845: ErrObjectNotExist came wrapped from one version on,
// and what compared it with == took "nothing is stored" for a failure. Whoever made the
// client, by whichever API it reads: a missing object is absent.
func TestPitfall_MissingObjectThroughAnyClient(t *testing.T) {
	for name, body := range map[string]string{
		"text": "No such object: " + testBucket + "/x",
		"JSON": apiError(404, "notFound", "No such object: "+testBucket+"/x"),
		"XML":  "<?xml version='1.0' encoding='UTF-8'?><Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>",
	} {
		w := newWire(t, refusal(http.StatusNotFound, body))
		for whose, d := range map[string]*Decider{"our client": w.decider(t, nil), "a client made elsewhere": plainDecider(t, w)} {
			if e, err := d.ReadCurrent(context.Background()); err != nil || !e.Absent() || e.Token == nil {
				t.Errorf("%s, %s: %+v, %v; want an absent entry", name, whose, e, err)
			}
		}
	}
}
