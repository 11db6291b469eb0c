package core_test

import "testing"

// HAMi#2480: names were compared by their beginning, so that node-1 took itself
// for node-10. Here a name is one's own as a whole or not at all, even where
// Reclaim makes it a proof.
func TestPitfall_NamesThatBeginAlike(t *testing.T) {
	for _, names := range [][2]string{{"node-1", "node-10"}, {"node-10", "node-1"}, {"a", "A"}, {"a", "a "}, {"a", " a"}, {"é", "e\u0301"}} {
		bubble(t, func(t *testing.T, w *world) {
			w.store.Lead(names[0], term)
			h := w.host(names[1], nil)
			h.Reclaim = true
			l, err := h.TryAcquire(t.Context())
			wantHeld(t, l, err)
			h.LeaderID = names[0]
			l, err = h.TryAcquire(t.Context())
			if err != nil {
				t.Fatalf("Reclaim of one's own name: %v", err)
			}
			resign(t, l)
		})
	}
}
