package netfault_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// stack is the real GCS client, a proxy, and the emulator.
type stack struct {
	server *gcs.Server
	proxy  *netfault.Proxy
	object *storage.ObjectHandle
	dates  *dates
}

// dates notes the Date of the last answer, as gcsdecider's own client does.
type dates struct {
	base *http.Transport
	last string
}

func (d *dates) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := d.base.RoundTrip(r)
	if err == nil {
		d.last = response.Header.Get("Date")
	}
	return response, err
}

func newStack(t *testing.T) *stack {
	t.Helper()
	server, err := gcs.Start(&gcs.Options{Buckets: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	proxy, err := netfault.Listen(server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	noted := &dates{base: &http.Transport{}}
	t.Cleanup(noted.base.CloseIdleConnections)
	client, err := storage.NewClient(context.Background(),
		option.WithEndpoint(proxy.URL()+"/storage/v1/"), option.WithHTTPClient(&http.Client{Transport: noted}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	client.SetRetry(storage.WithPolicy(storage.RetryNever))
	return &stack{server, proxy, client.Bucket("b").Object("dir/o"), noted}
}

func (s *stack) create(content string) error {
	w := s.object.If(storage.Conditions{DoesNotExist: true}).NewWriter(context.Background())
	w.ChunkSize = 0
	if _, err := io.WriteString(w, content); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}

func (s *stack) read() (string, error) {
	r, err := s.object.NewReader(context.Background())
	if err != nil {
		return "", err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	return string(content), err
}

func (s *stack) inject(t *testing.T, faults ...netfault.Fault) {
	t.Helper()
	if err := s.proxy.Inject(faults...); err != nil {
		t.Fatal(err)
	}
}

func status(err error) int {
	var failed *googleapi.Error
	if errors.As(err, &failed) {
		return failed.Code
	}
	return 0
}

func TestGCSThroughTheProxy(t *testing.T) {
	s := newStack(t)
	if err := s.create("x"); err != nil {
		t.Fatal(err)
	}
	if content, err := s.read(); err != nil || content != "x" {
		t.Errorf("read %q, %v", content, err)
	}
	all := s.proxy.Requests()
	if len(all) != 2 || !all[0].Write || all[1].Write {
		t.Errorf("a write and a read are %v", all)
	}
}

// A chunked upload goes on at the address that the server names: the proxy's again.
func TestGCSResumableUploadStaysOnTheProxy(t *testing.T) {
	s := newStack(t)
	w := s.object.NewWriter(context.Background())
	w.ChunkSize = googleapi.MinUploadChunkSize
	content := make([]byte, 2*googleapi.MinUploadChunkSize+1)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	stored, _, err := s.server.Contents("b", "dir/o")
	if err != nil || len(stored) != len(content) {
		t.Errorf("stored %d of %d bytes, %v", len(stored), len(content), err)
	}
	if all := s.proxy.Requests(); len(all) != 4 {
		t.Errorf("the start and three chunks are %d requests: %v", len(all), all)
	}
}

func TestGCSUploadWhoseAnswerIsLostIsStored(t *testing.T) {
	for _, fault := range []netfault.Fault{
		{Kind: netfault.LoseAnswer, WritesOnly: true, Count: 1},
		{Kind: netfault.StatusAfter, Status: 503, WritesOnly: true, Count: 1},
	} {
		s := newStack(t)
		s.inject(t, fault)
		if err := s.create("lost"); err == nil || status(err) != fault.Status {
			t.Errorf("%s: the writer was told %v", fault, err)
		}
		if content, err := s.read(); err != nil || content != "lost" {
			t.Errorf("%s: read back %q, %v", fault, content, err)
		}
	}
}

func TestGCSRefusedUploadLeavesNothing(t *testing.T) {
	for _, fault := range []netfault.Fault{
		{Kind: netfault.Status, Status: 429, WritesOnly: true, Count: 1},
		{Kind: netfault.Reset, WritesOnly: true, Count: 1},
	} {
		s := newStack(t)
		s.inject(t, fault)
		if err := s.create("refused"); err == nil || status(err) != fault.Status {
			t.Errorf("%s: the writer was told %v", fault, err)
		}
		if _, err := s.read(); !errors.Is(err, storage.ErrObjectNotExist) {
			t.Errorf("%s: read back: %v", fault, err)
		}
		if _, _, err := s.server.Contents("b", "dir/o"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: stored: %v", fault, err)
		}
	}
}

// A network that sends a conditional write twice turns its success into a failed condition.
func TestGCSDuplicatedCreateIsToldItFailed(t *testing.T) {
	s := newStack(t)
	s.inject(t, netfault.Fault{Kind: netfault.Duplicate, WritesOnly: true, Count: 1})
	if err := s.create("twice"); status(err) != http.StatusPreconditionFailed {
		t.Errorf("the writer was told %v", err)
	}
	if content, err := s.read(); err != nil || content != "twice" {
		t.Errorf("read back %q, %v", content, err)
	}
}

func TestGCSDateShiftIsVisible(t *testing.T) {
	s := newStack(t)
	if err := s.create("x"); err != nil {
		t.Fatal(err)
	}
	right, err := http.ParseTime(s.dates.last)
	if err != nil {
		t.Fatal(err)
	}
	s.inject(t, netfault.Fault{Kind: netfault.ShiftDate, For: -1000 * time.Hour})
	if _, err := s.read(); err != nil {
		t.Fatal(err)
	}
	wrong, err := http.ParseTime(s.dates.last)
	if err != nil || right.Sub(wrong) < 999*time.Hour || right.Sub(wrong) > 1000*time.Hour {
		t.Errorf("dates %v, then %v, %v", right, wrong, err)
	}
}
