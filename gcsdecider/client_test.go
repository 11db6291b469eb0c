package gcsdecider

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/storage"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/core"
)

// staticToken is a credential that needs nobody.
type staticToken struct{ err error }

func (s staticToken) Token(context.Context) (*auth.Token, error) {
	if s.err != nil {
		return nil, s.err
	}
	return &auth.Token{Value: "secret", Type: "Bearer", Expiry: time.Now().Add(time.Hour)}, nil
}

func withToken(err error) option.ClientOption {
	return option.WithAuthCredentials(auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: staticToken{err}}))
}

// TestNewClientOptions: what a caller's options say reaches the wire, on reads and
// on writes.
func TestNewClientOptions(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	for _, c := range []struct {
		name         string
		emulator     bool
		opts         []option.ClientOption
		header, want string
	}{
		{"credentials", false, []option.ClientOption{withToken(nil)}, "Authorization", "Bearer secret"},
		{"no authentication", false, []option.ClientOption{option.WithoutAuthentication()}, "Authorization", ""},
		{"quota project", false, []option.ClientOption{withToken(nil), option.WithQuotaProject("payer")}, "X-Goog-User-Project", "payer"},
		{"request reason", false, []option.ClientOption{withToken(nil), option.WithRequestReason("audit")}, "X-Goog-Request-Reason", "audit"},
		{"credentials are not for an emulator", true, []option.ClientOption{withToken(nil)}, "Authorization", ""},
		{"emulator", true, nil, "Authorization", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					content("42", sampleBody(t))(rw, r)
				} else {
					stored(43, "2025-01-02T03:04:06Z")(rw, r)
				}
			})
			opts := c.opts
			t.Setenv(emulatorVar, "")
			if c.emulator {
				t.Setenv(emulatorVar, w.Listener.Addr().String())
			} else {
				opts = append([]option.ClientOption{option.WithEndpoint(w.URL + "/storage/v1/")}, opts...)
			}
			d := NewDecider(newTestClient(t, opts...), testBucket, testObject, nil)
			e, err := d.ReadCurrent(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			e.ElectionNumber++
			token, err := d.WriteEntry(context.Background(), e)
			if err != nil {
				t.Fatal(err)
			}
			for _, dated := range []any{e.Token, token} {
				if dated.(core.DatedToken).StoreDate().IsZero() {
					t.Error("no date")
				}
			}
			seen := w.seen()
			if len(seen) != 2 {
				t.Fatalf("%d requests", len(seen))
			}
			for _, r := range seen {
				if got := r.header.Get(c.header); got != c.want {
					t.Errorf("%s %s: %s is %q, want %q", r.method, r.path, c.header, got, c.want)
				}
			}
			if seen[0].query.Get("alt") != "media" {
				t.Errorf("not a read of the JSON API: %s", seen[0].path)
			}
		})
	}
}

// TestNewClientKeepsTheCallersHTTPClient: theirs carries the requests and is
// not changed.
func TestNewClientKeepsTheCallersHTTPClient(t *testing.T) {
	w := newWire(t, content("42", sampleBody(t)))
	used := 0
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	own := &http.Client{Timeout: time.Minute, Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		used++
		return base.RoundTrip(r)
	})}
	client := newTestClient(t, option.WithoutAuthentication(), option.WithHTTPClient(own), option.WithEndpoint(w.URL+"/storage/v1/"))
	if _, err := NewDecider(client, testBucket, testObject, nil).ReadCurrent(context.Background()); err != nil {
		t.Fatal(err)
	}
	if used != 1 {
		t.Errorf("the caller's transport was used %d times", used)
	}
	if _, ours := own.Transport.(*dateTransport); ours {
		t.Error("the caller's client was changed")
	}
}

// TestNewClientXMLReads: an option of storage's own is honoured too.
func TestNewClientXMLReads(t *testing.T) {
	w := newWire(t, refusal(404, noBucketXML))
	d := NewDecider(newTestClient(t, append(w.options(t), storage.WithXMLReads())...), testBucket, testObject, nil)
	e, err := d.ReadCurrent(context.Background())
	// The client keeps nothing of an XML 404: the first write finds out.
	checkOutcome(t, read, absent, e, err)
	if path := w.seen()[0].path; path != "/"+testBucket+"/"+testObject {
		t.Errorf("read %s", path)
	}
}

// TestNewClientFaults: what cannot work is an error here already, or an unknown
// outcome when the credentials fail later.
func TestNewClientFaults(t *testing.T) {
	_, err := NewClient(context.Background(), option.WithoutAuthentication(), withToken(nil))
	if err == nil {
		t.Error("contradicting options are accepted")
	}
	refused := errors.New("the key is disabled")
	client := newTestClient(t, option.WithEndpoint("http://127.0.0.1:1/storage/v1/"), withToken(refused))
	for _, op := range []operation{read, create, overwrite} {
		e, err := ask(NewDecider(client, testBucket, testObject, nil), op)
		checkOutcome(t, op, unknown, e, err)
		if !errors.Is(err, refused) {
			t.Errorf("%v", err)
		}
	}
}
