package netfault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// What a client meets in place of an answer.
var (
	errReset = errors.New("netfault: connection reset before the request")
	errLost  = errors.New("netfault: connection cut after the request was applied")
)

// answer is a response, read in full.
type answer struct {
	*http.Response
	body []byte
}

// sender performs a request on the server.
type sender func(ctx context.Context) (*answer, error)

// carry takes one admitted request through its faults. client ends when whoever
// waits for the answer gives up; what is sent to the server does not depend on it.
func (i *Injector) carry(client context.Context, r *Request, p plan, send sender) (a *answer, err error) {
	defer func() {
		i.note(func() {
			r.Done = true
			if a != nil && client.Err() == nil {
				r.Status = a.StatusCode
			}
		})
	}()

	if d := p.total(Delay); d > 0 && !i.clock.SleepFor(i.life, d) {
		return nil, errClosed
	}
	if f, ok := p.find(Status, Reset, Hang); ok {
		switch f.Kind {
		case Reset:
			return nil, errReset
		case Hang:
			return nil, i.hang(client)
		}
		return i.finish(client, p, made(f, nil))
	}

	a, err = i.deliver(r, send)
	if _, twice := p.find(Duplicate); twice {
		a, err = i.deliver(r, send)
	}
	if err != nil {
		return nil, err
	}
	if f, ok := p.find(StatusAfter, LoseAnswer, HangAfter); ok {
		switch f.Kind {
		case LoseAnswer:
			if err := i.holdAnswer(client, p); err != nil {
				return nil, err
			}
			return nil, errLost
		case HangAfter:
			return nil, i.hang(client)
		}
		a = made(f, a.Header["Date"])
	}
	return i.finish(client, p, a)
}

// deliver sends the request once and notes what the server said.
func (i *Injector) deliver(r *Request, send sender) (*answer, error) {
	i.note(func() { r.Sent++ })
	a, err := send(i.life)
	i.note(func() {
		if err != nil {
			r.Err = err.Error()
		} else {
			r.ServerStatus = a.StatusCode
		}
	})
	return a, err
}

// finish delays and rewrites an answer that the client is going to get.
func (i *Injector) finish(client context.Context, p plan, a *answer) (*answer, error) {
	if err := i.holdAnswer(client, p); err != nil {
		return nil, err
	}
	a.shiftDate(i.clockAhead())
	for _, f := range p {
		switch f.Kind {
		case ShiftDate:
			a.shiftDate(f.For)
		case DropDate:
			a.Header.Del("Date")
		case AddAge:
			a.Header.Set("Age", strconv.FormatInt(int64(f.For.Seconds()), 10))
		}
	}
	return a, nil
}

func (i *Injector) holdAnswer(client context.Context, p plan) error {
	d := p.total(DelayAfter)
	if d == 0 {
		return nil
	}
	both, stop := i.untilEither(client)
	defer stop()
	if !i.clock.SleepFor(both, d) {
		return context.Cause(both)
	}
	return nil
}

// hang returns when the client has given up, or the injector is closed.
func (i *Injector) hang(client context.Context) error {
	both, stop := i.untilEither(client)
	defer stop()
	<-both.Done()
	return context.Cause(both)
}

// untilEither ends with the client or with the injector, and tells which.
func (i *Injector) untilEither(client context.Context) (context.Context, func()) {
	both, cancel := context.WithCancelCause(client)
	stop := context.AfterFunc(i.life, func() { cancel(errClosed) })
	return both, func() { stop(); cancel(nil) }
}

// made is the answer of a Status fault. Of the server's answer it keeps the date.
func made(f Fault, date []string) *answer {
	header := f.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if date != nil && header["Date"] == nil {
		header["Date"] = date
	}
	body := f.Body
	if body == nil {
		body = []byte(fmt.Sprintf("netfault: %s\n", f.effect()))
		if header["Content-Type"] == nil {
			header.Set("Content-Type", "text/plain; charset=utf-8")
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	return &answer{body: body, Response: &http.Response{
		Status:     fmt.Sprintf("%d %s", f.Status, http.StatusText(f.Status)),
		StatusCode: f.Status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: int64(len(body)),
	}}
}

// ask performs a request over a transport and reads the answer in full.
func ask(over http.RoundTripper, r *http.Request, body []byte) (*answer, error) {
	if body == nil {
		r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	} else {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.ContentLength = int64(len(body))
		r.TransferEncoding = nil
	}
	response, err := over.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("netfault: read the server's answer: %w", err)
	}
	return &answer{Response: response, body: content}, nil
}

// readBody takes a request's body, nil if it has none.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if closeErr := r.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("netfault: read the request's body: %w", err)
	}
	return body, nil
}
