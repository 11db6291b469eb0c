package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
	"github.com/cloudelect/cloudelect/core/memory"
)

func TestConformance(t *testing.T) {
	for name, open := range map[string]func(d *memory.Decider) core.RaceDecider{
		"plain": func(d *memory.Decider) core.RaceDecider { return d },
		"like GCS": func(d *memory.Decider) core.RaceDecider {
			d.OmitCurrent(true)
			return d.Limited(20 * time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			decidertest.Run(t, decidertest.Harness{New: func(decidertest.TB) decidertest.Record {
				store := memory.NewDecider()
				store.SetClock(clocks.DefaultClock())
				return decidertest.Record{
					Open:     func() core.RaceDecider { return open(store.Handle()) },
					LoseNext: func(d core.RaceDecider) { d.(interface{ LoseNext(n int) }).LoseNext(1) },
					Plant:    func(b []byte) error { store.PlantRaw(b); return nil },
					Delete:   func() error { store.Delete(); return nil },
					Deny: func() core.RaceDecider {
						d := store.Handle()
						d.FailNext(1<<30, fmt.Errorf("403 forbidden: %w", core.ErrBroken))
						return d
					},
				}
			}})
		})
	}
}
