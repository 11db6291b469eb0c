package s3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
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
	store := s3mem.New()
	fake := gofakes3.New(store,
		gofakes3.WithTimeSkewLimit(0), // netfault refuses signatures, by a clock that tests can set
		gofakes3.WithLogger(gofakes3.DiscardLog()))
	s := &Server{addr: listener.Addr().String(), front: &front{store: store, handler: fake.Server()}}
	for _, bucket := range opts.Buckets {
		if err := s.CreateBucket(bucket); err != nil {
			listener.Close()
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
		return nil, fmt.Errorf("s3: address %q: %w; give host:port", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("s3: address %q is not a loopback address; the emulator checks no credentials and must not be reachable from elsewhere: use 127.0.0.1, ::1 or localhost", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("s3: listen on %s: %w", addr, err)
	}
	return listener, nil
}

// URL is the root of the server, "http://127.0.0.1:port", without a slash at
// the end: a client's BaseEndpoint, the value of AWS_ENDPOINT_URL_S3, and what a
// proxy in front is pointed at.
func (s *Server) URL() string { return "http://" + s.addr }

// CreateBucket creates a bucket without versioning. It is fine if the bucket exists.
func (s *Server) CreateBucket(name string) error {
	if name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("s3: bucket name %q is not valid: it must not be empty and has no slash", name)
	}
	err := s.front.store.CreateBucket(name)
	if err != nil && !gofakes3.IsAlreadyExists(err) {
		return fmt.Errorf("s3: create bucket %s: %w", name, err)
	}
	return nil
}

// SetVersioning turns versioning of a bucket on or off. In a versioned bucket a
// deletion leaves a delete marker.
func (s *Server) SetVersioning(bucket string, on bool) error {
	config := gofakes3.VersioningConfiguration{Status: gofakes3.VersioningSuspended}
	if on {
		config.Status = gofakes3.VersioningEnabled
	}
	if err := s.front.store.SetVersioningConfiguration(bucket, config); err != nil {
		return fmt.Errorf("s3: versioning of %s: %w", bucket, asNotExist(err))
	}
	return nil
}

// Plant stores content under a key as a foreign writer would: unconditionally.
// The bucket must exist.
func (s *Server) Plant(bucket, key string, content []byte) error {
	if key == "" {
		return errors.New("s3: plant: the key is empty")
	}
	return s.front.write(func() error {
		meta := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
		_, err := s.front.store.PutObject(bucket, key, meta, bytes.NewReader(content), int64(len(content)), nil)
		if err != nil {
			return fmt.Errorf("s3: plant %s/%s: %w", bucket, key, asNotExist(err))
		}
		return nil
	})
}

// Contents returns what is stored under a key now, and its ETag as it stands in
// the header, with its quotes. The error is an fs.ErrNotExist when there is no such
// key or no such bucket.
func (s *Server) Contents(bucket, key string) ([]byte, string, error) {
	object, err := s.front.store.GetObject(bucket, key, nil)
	if err != nil {
		return nil, "", fmt.Errorf("s3: read %s/%s: %w", bucket, key, asNotExist(err))
	}
	defer object.Contents.Close()
	content, err := io.ReadAll(object.Contents)
	if err != nil {
		return nil, "", fmt.Errorf("s3: read %s/%s: %w", bucket, key, err)
	}
	return content, gofakes3.FormatETag(object.Hash), nil
}

// Keys lists the keys of a bucket that begin with prefix, in their order.
func (s *Server) Keys(bucket, prefix string) ([]string, error) {
	list, err := s.front.store.ListBucket(bucket, nil, gofakes3.ListBucketPage{})
	if err != nil {
		return nil, fmt.Errorf("s3: list %s: %w", bucket, asNotExist(err))
	}
	var keys []string
	for _, item := range list.Contents {
		if strings.HasPrefix(item.Key, prefix) {
			keys = append(keys, item.Key)
		}
	}
	return keys, nil
}

// Delete removes an object, as an operator would by hand. The error is an
// fs.ErrNotExist when it was not there.
func (s *Server) Delete(bucket, key string) error {
	return s.front.write(func() error {
		_, err := s.front.store.HeadObject(bucket, key)
		if err == nil {
			_, err = s.front.store.DeleteObject(bucket, key)
		}
		if err != nil {
			return fmt.Errorf("s3: delete %s/%s: %w", bucket, key, asNotExist(err))
		}
		return nil
	})
}

// asNotExist lets callers ask with errors.Is for what is missing.
func asNotExist(err error) error {
	if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) || gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchBucket) {
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}

// Close lets the requests that are being served finish, closes every connection
// and returns when no goroutine of the server is left. It may be called more than
// once.
func (s *Server) Close() { s.close.Do(s.http.Close) }
