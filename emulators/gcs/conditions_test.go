package gcs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// race lets many writers overwrite the same version at once and returns the
// generations of those that were told they had.
func race(t *testing.T, writers int, object *storage.ObjectHandle, when storage.Conditions) (won []int64) {
	t.Helper()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		ready = make(chan struct{})
	)
	for n := range writers {
		wg.Go(func() {
			<-ready
			generation, err := write(context.Background(), object.If(when), fmt.Sprint("writer ", n))
			mu.Lock()
			defer mu.Unlock()
			var failed *googleapi.Error
			switch {
			case err == nil:
				won = append(won, generation)
			case errors.As(err, &failed) && failed.Code == http.StatusPreconditionFailed:
			default:
				t.Errorf("writer %d: neither won nor lost: %v", n, err)
			}
		})
	}
	close(ready)
	wg.Wait()
	return won
}

// One winner per version, and no generation comes twice: what a lease rests on.
func TestOneWinnerPerGeneration(t *testing.T) {
	const writers, rounds = 16, 30
	server := start(t, &gcs.Options{Buckets: []string{"b"}})
	object := client(t, option.WithEndpoint(server.ClientEndpoint()), option.WithoutAuthentication()).Bucket("b").Object("o")

	when := storage.Conditions{DoesNotExist: true}
	var last int64
	for round := range rounds {
		won := race(t, writers, object, when)
		if len(won) != 1 {
			t.Fatalf("round %d: %d writers overwrote generation %d: %v", round, len(won), last, won)
		}
		if won[0] <= last {
			t.Fatalf("round %d: generation %d after %d", round, won[0], last)
		}
		last = won[0]
		when = storage.Conditions{GenerationMatch: last}
	}
}

// Plant is fast enough for several writes in one microsecond; their
// generations must differ all the same, over deletion too.
func TestGenerationsNeverRepeat(t *testing.T) {
	server := start(t, &gcs.Options{Buckets: []string{"b"}})
	var last int64
	for n := range 3000 {
		if err := server.Plant("b", "o", []byte("x")); err != nil {
			t.Fatal(err)
		}
		_, generation, err := server.Contents("b", "o")
		if err != nil {
			t.Fatal(err)
		}
		if generation <= last {
			t.Fatalf("write %d has generation %d, the one before it had %d", n, generation, last)
		}
		last = generation
		if n%3 == 0 {
			if err := server.Delete("b", "o"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
