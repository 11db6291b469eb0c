package badstore_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/emulators/badstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// TestMistakes does the same with every bad store: what each breaks, and that it
// keeps the rest.
func TestMistakes(t *testing.T) {
	for _, name := range []string{"gcs", "s3", "dynamodb", "dynamodb, put"} {
		for _, m := range append(badstore.Mistakes(), badstore.None) {
			t.Run(name+", "+m.String(), func(t *testing.T) {
				t.Parallel()
				c, proxy := store(t, name, m)
				if content, _, err := c.read(); err != nil || content != "" {
					t.Fatalf("nothing is there, and a read shows %q, %v", content, err)
				}
				one, err := c.write("", "one")
				must(t, err)
				_, err = c.write("", "again")
				if want := m == badstore.IgnoreCreate; (err == nil) != want {
					t.Errorf("a second creation: %v", err)
				}
				content, version, err := c.read()
				must(t, err)
				switch want := map[bool]string{false: "one", true: "again"}[m == badstore.IgnoreCreate]; {
				case m == badstore.CacheReads && content == "":
				case m == badstore.OmitVersion && version == "" && content != "":
				case content != want || version == "":
					t.Errorf("read %q of version %q", content, version)
				}
				if m == badstore.IgnoreCreate || m == badstore.OmitVersion {
					return // there is no version to go on with, or another one
				}
				_, err = c.write(one, "two")
				if want := m != badstore.DenyOverwrite; (err == nil) != want {
					t.Errorf("an overwrite: %v", err)
				}
				_, err = c.write(one, "three")
				if want := m == badstore.IgnoreOverwrite || m == badstore.KeepOld; (err == nil) != want {
					t.Errorf("an overwrite of an old version: %v", err)
				}
				content, _, err = c.read()
				want := map[badstore.Mistake]string{badstore.IgnoreOverwrite: "three", badstore.KeepOld: "one",
					badstore.DenyOverwrite: "one", badstore.CacheReads: ""}
				if w, ok := want[m]; err != nil || content != w && (ok || content != "two") {
					t.Errorf("at last a read shows %q, %v", content, err)
				}
				for _, r := range proxy.Requests() {
					if !strings.Contains(r.Key, "k") || r.Kind == badstore.Other || r.Status == 0 {
						t.Errorf("not understood: %+v", r)
					}
				}
			})
		}
	}
}

// TestRacers: of writers that meet all are told that they have won.
func TestRacers(t *testing.T) {
	for _, name := range []string{"gcs", "s3", "dynamodb", "dynamodb, put"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := store(t, name, badstore.RacersWin)
			race := func(when string) (won int) {
				var wg sync.WaitGroup
				var mu sync.Mutex
				for _, content := range []string{"a" + when, "b" + when} {
					wg.Go(func() {
						if _, err := c.write(when, content); err == nil {
							mu.Lock()
							won++
							mu.Unlock()
						}
					})
				}
				wg.Wait()
				return won
			}
			most, when := 0, ""
			for range 50 { // they have to meet
				if most = max(most, race(when)); most == 2 {
					return
				}
				_, version, err := c.read()
				must(t, err)
				when = version
			}
			t.Error("50 races had one winner each")
		})
	}
}

func TestWhatCannotStart(t *testing.T) {
	for _, c := range []struct {
		target  string
		dialect badstore.Dialect
		mistake badstore.Mistake
	}{
		{"127.0.0.1:1", badstore.S3, badstore.KeepOld}, {"http://127.0.0.1:1/x", badstore.S3, badstore.KeepOld},
		{"http://127.0.0.1:1", 0, badstore.KeepOld}, {"http://127.0.0.1:1", 9, badstore.KeepOld},
		{"http://127.0.0.1:1", badstore.S3, -1}, {"http://127.0.0.1:1", badstore.S3, 99},
	} {
		if p, err := badstore.Listen(c.target, c.dialect, c.mistake); err == nil {
			p.Close()
			t.Errorf("%+v: started", c)
		} else if !strings.HasPrefix(err.Error(), "badstore: ") {
			t.Error(err)
		}
	}
}

// TestNobodyBehind: an honest failure, and requests that no dialect knows pass.
func TestNobodyBehind(t *testing.T) {
	for _, d := range []badstore.Dialect{badstore.GCS, badstore.S3, badstore.DynamoDB} {
		proxy, err := badstore.Listen("http://127.0.0.1:1", d, badstore.OmitVersion)
		must(t, err)
		defer proxy.Close()
		response, err := http.Post(proxy.URL()+"/", "text/plain", bytes.NewReader([]byte("{")))
		must(t, err)
		response.Body.Close()
		if response.StatusCode != http.StatusBadGateway || proxy.Requests()[0].Kind != badstore.Other {
			t.Errorf("%v: %d, %+v", d, response.StatusCode, proxy.Requests())
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
