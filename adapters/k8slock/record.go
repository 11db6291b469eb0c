package k8slock

import (
	"encoding/json"
	"fmt"
	"time"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/cloudelect/cloudelect/core/entry"
)

// kept is what a LeaderElectionRecord has and an entry has not. It is stored as
// the member "k8slock" of ConnectionParams.
type kept struct {
	AcquireTime       time.Time `json:"acquireTime,omitzero"`
	RenewTime         time.Time `json:"renewTime,omitzero"`
	LeaderTransitions int       `json:"leaderTransitions"`
	Strategy          string    `json:"strategy,omitempty"`
	PreferredHolder   string    `json:"preferredHolder,omitempty"`
}

// keep returns params with what the entry itself has no place for.
func keep(r *resourcelock.LeaderElectionRecord, params []byte) ([]byte, error) {
	own, err := json.Marshal(kept{
		AcquireTime: r.AcquireTime.UTC(), RenewTime: r.RenewTime.UTC(), LeaderTransitions: r.LeaderTransitions,
		Strategy: string(r.Strategy), PreferredHolder: r.PreferredHolder,
	})
	if err != nil {
		return nil, fmt.Errorf("k8slock: the record cannot be stored: %w", err)
	}
	return connectionParams(params, own)
}

// keptIn returns what keep stored, if e is an entry of a lock's. Whatever else
// ConnectionParams holds is nobody's mistake.
func keptIn(e *entry.RaceEntry) (kept, bool) {
	var members struct {
		Own *kept `json:"k8slock"`
	}
	if json.Unmarshal(e.ConnectionParams, &members) != nil || members.Own == nil {
		return kept{}, false
	}
	return *members.Own, true
}

// recordOf shows an entry to client-go. own tells whether this lock wrote it:
// others wait out a lease with the margin for the rate of clocks, in whole
// seconds, as core's candidates do.
func recordOf(e *entry.RaceEntry, holder string, own bool) *resourcelock.LeaderElectionRecord {
	k, ok := keptIn(e)
	if !ok { // a candidate of core's: it has no AcquireTime and counts no transitions
		k.RenewTime = e.TermExpiry.Add(-e.TermLength).UTC()
	}
	lease := e.TermLength
	if !own {
		lease = withMargin(lease)
	}
	return &resourcelock.LeaderElectionRecord{
		HolderIdentity:       holder,
		LeaseDurationSeconds: int((lease + time.Second - 1) / time.Second),
		AcquireTime:          meta.NewTime(k.AcquireTime),
		RenewTime:            meta.NewTime(k.RenewTime),
		LeaderTransitions:    k.LeaderTransitions,
		Strategy:             coordination.CoordinatedLeaseStrategy(k.Strategy),
		PreferredHolder:      k.PreferredHolder,
	}
}

// withMargin covers a leader whose clock is slow by 1/41 and an observer whose
// clock is fast by as much: the margin of core's observed proof.
func withMargin(term time.Duration) time.Duration { return term + term/20 }

// raw is what client-go compares to see whether a version is new. The record alone
// would not do: its times are in whole seconds there.
func raw(r *resourcelock.LeaderElectionRecord, e *entry.RaceEntry) ([]byte, error) {
	return json.Marshal(struct {
		*resourcelock.LeaderElectionRecord
		ElectionNumber entry.ElectionNumber `json:"electionNumber"`
		Nonce          string               `json:"nonce"`
	}{r, e.ElectionNumber, e.Nonce})
}
