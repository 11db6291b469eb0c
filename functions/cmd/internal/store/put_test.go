package store_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/netfault"
	"github.com/cloudelect/cloudelect/emulators/s3"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/dynamodbstore"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/gcsstore"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/s3store"
)

// kinds are the stores: where they are, and an emulator.
var kinds = []struct {
	name, election, variable string
	open                     store.Open
	start                    func() (url string, stop func(), err error)
}{
	{"gcs", "gs://elections/nightly", "STORAGE_EMULATOR_HOST", gcsstore.Open, func() (string, func(), error) {
		s, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
		if err != nil {
			return "", nil, err
		}
		return s.URL(), s.Close, nil
	}},
	{"s3", "s3://elections/nightly", "AWS_ENDPOINT_URL_S3", s3store.Open, func() (string, func(), error) {
		s, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
		if err != nil {
			return "", nil, err
		}
		return s.URL(), s.Close, nil
	}},
	{"dynamodb", "dynamodb://elections/nightly", "AWS_ENDPOINT_URL_DYNAMODB", dynamodbstore.Open, func() (string, func(), error) {
		s, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
		if err != nil {
			return "", nil, err
		}
		return s.URL(), s.Close, nil
	}},
}

// environment is one without an account, but for these.
func environment(t *testing.T, variables ...string) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "GOOGLE_") {
			t.Setenv(name, "")
		}
	}
	variables = append([]string{"AWS_CONFIG_FILE", os.DevNull, "AWS_SHARED_CREDENTIALS_FILE", os.DevNull,
		"AWS_EC2_METADATA_DISABLED", "true"}, variables...)
	for i := 0; i < len(variables); i += 2 {
		t.Setenv(variables[i], variables[i+1])
	}
}

// The store takes a record's write, and its answer is lost for ever: that is found out.
func TestAnswerLost(t *testing.T) {
	last := func(r *http.Request) bool { return !strings.Contains(r.URL.Path, store.JournalSuffix+".data-") }
	for _, k := range kinds {
		for name, fault := range map[string]netfault.Fault{
			"write":       {Kind: netfault.HangAfter, WritesOnly: true, Count: 1},
			"last write":  {Kind: netfault.HangAfter, WritesOnly: true, Count: 1, Match: last}, // of the journal: S3's data comes first
			"not applied": {Kind: netfault.Hang, WritesOnly: true, Count: 1, Match: last},
			"first":       {Kind: netfault.HangAfter, Count: 1},
		} {
			t.Run(k.name+"/"+name, func(t *testing.T) {
				url, stop, err := k.start()
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				net, err := netfault.Listen(url, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer net.Close()
				environment(t, "STORE", k.election, k.variable, net.URL(), "AWS_REGION", "local", "AWS_ACCESS_KEY_ID", "test", "AWS_SECRET_ACCESS_KEY", "test")
				s, err := k.open(t.Context(), settings.New(os.Getenv))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				l, err := core.Config{LeaderID: "a", Decider: s.Decider, TermLength: time.Hour}.TryAcquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := net.Inject(fault); err != nil {
					t.Fatal(err)
				}
				net.Reset()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				r := store.Record{Slot: "x", LeaderID: "a", FencingToken: l.FencingToken(), DoneAt: time.Now()}
				if stored, err := s.Put(ctx, l, 6*time.Second, r); !stored || err != nil {
					t.Errorf("stored: %v, %v; want that it is", stored, err)
				}
				met := false
				for _, request := range net.Requests() {
					met = met || request.Fault != ""
				}
				if !met {
					t.Error("no request met the fault")
				}
				r.DoneAt = r.DoneAt.Add(time.Second)
				if stored, err := s.Put(ctx, l, time.Hour, r); stored || err != nil {
					t.Errorf("another record of the slot, stored: %v, %v; want that it is not", stored, err)
				}
			})
		}
	}
}

// Without credentials the store is not asked at all, and what is said is what to set.
func TestNoCredentials(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			environment(t, "STORE", k.election, "AWS_REGION", "eu-central-1", "GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file", "STORAGE_EMULATOR_HOST", "")
			s, err := k.open(t.Context(), settings.New(os.Getenv))
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if says := err.Error(); !strings.Contains(says, "AWS_ACCESS_KEY_ID") && !strings.Contains(says, "GOOGLE_APPLICATION_CREDENTIALS") {
				t.Errorf("%v; want what to set", err)
			}
			if !errors.Is(err, core.ErrBroken) {
				t.Errorf("%v is not core.ErrBroken", err)
			}
		})
	}
}

// Without a region nothing can be signed.
func TestNoRegion(t *testing.T) {
	for _, k := range kinds[1:] {
		environment(t, "STORE", k.election, "AWS_ACCESS_KEY_ID", "test", "AWS_SECRET_ACCESS_KEY", "test")
		if _, err := k.open(t.Context(), settings.New(os.Getenv)); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "AWS_REGION") {
			t.Errorf("%s: %v; want a word about AWS_REGION", k.name, err)
		}
	}
}
