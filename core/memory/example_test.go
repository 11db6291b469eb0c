package memory_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// A write names the version it replaces, so only one of two can win.
func Example() {
	ctx := context.Background()
	store := memory.NewDecider()

	seen, err := store.ReadCurrent(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("absent:", seen.Absent())

	write := func(id string) error {
		_, err := store.WriteEntry(ctx, &entry.RaceEntry{
			LeaderID:       id,
			TermLength:     15 * time.Second,
			TermExpiry:     time.Now().Add(15 * time.Second),
			ElectionNumber: seen.ElectionNumber + 1,
			FencingToken:   1,
			Nonce:          rand.Text(),
			Token:          seen.Token,
		})
		return err
	}
	fmt.Println("ann:", write("ann"))
	err = write("bob")
	fmt.Println("bob:", err)

	var lost *core.LostRaceError
	if errors.As(err, &lost) {
		fmt.Println("stored now:", lost.Current.LeaderID)
	}
	// Output:
	// absent: true
	// ann: <nil>
	// bob: core: lost the race: another write came first (stored now: leader "ann", election number 0)
	// stored now: ann
}

// Lead and Delete play the rest of the world.
func ExampleDecider_Lead() {
	store := memory.NewDecider()
	store.Lead("somebody else", time.Minute)

	e, ok := store.Stored()
	fmt.Println(e.LeaderID, e.ElectionNumber, ok)

	store.Delete()
	_, ok = store.Stored()
	fmt.Println(ok)
	// Output:
	// somebody else 0 true
	// false
}
