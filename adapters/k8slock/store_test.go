package k8slock_test

import (
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/cloudelect/cloudelect/adapters/k8slock"
	"github.com/cloudelect/cloudelect/dynamodecider"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
)

// Over HTTP, in real time: one leads, a release hands over, and a crash does.
func TestOverAStore(t *testing.T) {
	server, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := server.Client(&http.Client{Transport: transport})
	opts := &k8slock.Options{LeaseDuration: 10 * time.Second, RenewDeadline: 6 * time.Second, RetryPeriod: 300 * time.Millisecond}
	w := newWorld(t)
	start := func(identity string, release bool) *elector {
		d := dynamodecider.NewDecider(client, "elections", "job", nil)
		return w.runWith(w.lock(d, identity, opts), leaderelection.LeaderElectionConfig{
			LeaseDuration: opts.LeaseDuration, RenewDeadline: opts.RenewDeadline, RetryPeriod: opts.RetryPeriod, ReleaseOnCancel: release})
	}
	a := start("a", true)
	w.leader(0)
	b := start("b", false)
	a.stop()
	if r := w.leader(1); r.who != "b" {
		t.Errorf("%v leads", r)
	}
	c := start("c", true)
	b.stop() // as a crash
	if r := w.leader(2); r.who != "c" {
		t.Errorf("%v leads", r)
	}
	c.stop()
	e, err := dynamodecider.NewDecider(client, "elections", "job", nil).ReadCurrent(t.Context())
	if err != nil || e.FencingToken != w.past()[2].token || !e.Vacant() && e.LeaderID != "c" { // a slow machine may miss the release
		t.Errorf("at the end: %+v, %v", e, err)
	}
}
