package gcs

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// Options are what may be chosen about a [Server]. Nil or the zero value: a free
// port of 127.0.0.1 and no bucket.
type Options struct {
	// Addr is the host and port to listen on; "": "127.0.0.1:0", a free port.
	// Only loopback addresses are accepted: the server checks no credentials.
	Addr string
	// Buckets are created before the first request.
	Buckets []string
}

// Server is a running emulator. Its methods may be called from any goroutine.
type Server struct {
	http  *httptest.Server
	fake  *fakestorage.Server
	front *front
	addr  string
	close sync.Once
}

// Start starts an empty emulator. The caller ends it with [Server.Close].
func Start(opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	listener, err := listen(opts.Addr)
	if err != nil {
		return nil, err
	}
	addr := listener.Addr().String()
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener:  true, // ours is in front
		Scheme:      "http",
		PublicHost:  addr, // what XML reads are recognised by
		ExternalURL: "http://" + addr,
	})
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("gcs: start the emulator: %w", err)
	}
	s := &Server{fake: fake, addr: addr, front: newFront(fake, addr)}
	for _, bucket := range opts.Buckets {
		if err := s.CreateBucket(bucket); err != nil {
			listener.Close()
			fake.Stop()
			return nil, err
		}
	}
	s.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: s.front}}
	s.http.Start()
	return s, nil
}

// listen opens addr if, and only if, it is a loopback address.
func listen(addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("gcs: address %q: %w; give host:port", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("gcs: address %q is not a loopback address; the emulator checks no credentials and must not be reachable from elsewhere: use 127.0.0.1, ::1 or localhost", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("gcs: listen on %s: %w", addr, err)
	}
	return listener, nil
}

// URL is the root of the server, "http://127.0.0.1:port", without a slash at
// the end: what a proxy in front of it is pointed at.
func (s *Server) URL() string { return "http://" + s.addr }

// Endpoint is the server's host:port, the value for STORAGE_EMULATOR_HOST.
func (s *Server) Endpoint() string { return s.addr }

// ClientEndpoint is the value for the Go client's option.WithEndpoint: the root
// of the JSON API. Through a proxy it is the proxy's URL + "/storage/v1/".
func (s *Server) ClientEndpoint() string { return s.URL() + "/storage/v1/" }

// CreateBucket creates a bucket without object versioning. It is fine if the
// bucket exists.
func (s *Server) CreateBucket(name string) error {
	if name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("gcs: bucket name %q is not valid: it must not be empty and has no slash", name)
	}
	return s.front.write(func() error {
		if !s.front.hasBucket(name) { // the fake panics when it exists with other properties
			s.fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: name})
		}
		return nil
	})
}

// Plant stores content under a name as a foreign writer would: unconditionally,
// with a new generation. The bucket must exist.
func (s *Server) Plant(bucket, object string, content []byte) error {
	if object == "" {
		return errors.New("gcs: plant: the object name is empty")
	}
	return s.front.write(func() error {
		if !s.front.hasBucket(bucket) {
			return fmt.Errorf("gcs: plant %s/%s: no such bucket, create it first: %w", bucket, object, fs.ErrNotExist)
		}
		err := s.fake.CreateObjectStreaming(fakestorage.Object{
			ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucket, Name: object, ContentType: "application/octet-stream"},
			Content:     append([]byte(nil), content...),
		}.StreamingObject())
		if err != nil {
			return fmt.Errorf("gcs: plant %s/%s: %w", bucket, object, err)
		}
		return nil
	})
}

// Contents returns what is stored under a name now, and its generation. The
// error is an fs.ErrNotExist when there is no such object or no such bucket.
func (s *Server) Contents(bucket, object string) ([]byte, int64, error) {
	if !s.front.hasBucket(bucket) {
		return nil, 0, fmt.Errorf("gcs: read %s/%s: no such bucket: %w", bucket, object, fs.ErrNotExist)
	}
	obj, err := s.fake.GetObject(bucket, object)
	if err != nil {
		return nil, 0, fmt.Errorf("gcs: read %s/%s: %w", bucket, object, errors.Join(fs.ErrNotExist, err))
	}
	return append([]byte(nil), obj.Content...), obj.Generation, nil
}

// Delete removes an object, as an operator would by hand. The error is an
// fs.ErrNotExist when it was not there.
func (s *Server) Delete(bucket, object string) error {
	return s.front.write(func() error {
		if err := s.fake.Backend().DeleteObject(bucket, object); err != nil {
			return fmt.Errorf("gcs: delete %s/%s: %w", bucket, object, errors.Join(fs.ErrNotExist, err))
		}
		return nil
	})
}

// Close lets the requests that are being served finish, closes every connection
// and returns when no goroutine of the server is left. It may be called
// more than once.
func (s *Server) Close() {
	s.close.Do(func() {
		s.http.Close()
		s.fake.Stop()
	})
}
