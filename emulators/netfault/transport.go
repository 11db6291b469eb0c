package netfault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

// Transport is an injector inside the client: an http.RoundTripper in front
// of another. A cut connection is an error that is a syscall.ECONNRESET (Reset)
// or an io.EOF (LoseAnswer), as net/http's own would be.
type Transport struct {
	*Injector
	base http.RoundTripper
}

// NewTransport puts an injector before base; nil: http.DefaultTransport. The
// caller ends it with [Transport.Close].
func NewTransport(base http.RoundTripper, opts *Options) (*Transport, error) {
	injector, err := newInjector(opts)
	if err != nil {
		return nil, err
	}
	if base == nil {
		base = http.DefaultTransport
	}
	return &Transport{Injector: injector, base: base}, nil
}

// RoundTrip implements http.RoundTripper. It returns when r's context ends; a
// request that is then still on its way arrives nevertheless.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readBody(r)
	if err == nil {
		err = r.Context().Err()
	}
	if err != nil {
		return nil, err
	}
	record, met, err := t.admit(r)
	if err != nil {
		return nil, err
	}

	type outcome struct {
		answer *answer
		err    error
	}
	done := make(chan outcome, 1)
	go func() { // owned by Close
		defer t.active.Done()
		a, err := t.carry(r.Context(), record, met, func(ctx context.Context) (*answer, error) {
			// The caller's values, but not its end.
			own, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
			defer cancel(nil)
			defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
			return ask(t.base, r.Clone(own), body)
		})
		done <- outcome{a, err}
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case o := <-done:
		if o.err != nil {
			return nil, asNetError(o.err)
		}
		return o.answer.response(r), nil
	}
}

// CloseIdleConnections passes on http.Client's call of that name.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Close fails the requests that hang or are delayed, and every later one, and
// returns when none is under way. The transport below stays open.
func (t *Transport) Close() { t.shut() }

func asNetError(err error) error {
	switch {
	case errors.Is(err, errReset):
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case errors.Is(err, errLost):
		return fmt.Errorf("%w: %w", err, io.EOF)
	}
	return err
}
