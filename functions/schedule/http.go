package schedule

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// Handler runs work for the slot that a request names, as slot says (from
// CloudScheduler, say), and answers as a scheduler that tries again on errors
// needs it:
//
//   - 200: the slot needs no further trigger. The body says what became of it.
//   - 400: the request names no slot.
//   - 503 with Retry-After: somebody is at work; if that one is killed, or
//     fails, a later try runs the slot.
//   - 500: the work failed, or nothing could be learned. With Skip a slot whose work
//     failed is answered with 200 at the next try.
//
// Without slot or work, and with a Config that Validate refuses, every request is
// answered with 500 and the reason, which is logged (Election.Logger) by Handler,
// once.
//
// A panic of work goes on to the server, which logs it and closes the connection.
func (c Config) Handler(slot func(*http.Request) (Slot, error), work Work) http.Handler {
	if err := c.serves(slot, work); err != nil {
		if l := c.Election.Logger; l != nil {
			l.Error("no slot can be served", "error", err.Error())
		}
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := slot(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		res, err := c.Run(r.Context(), s, work)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case res.Outcome == Running:
			seconds := int64(max(min(res.RetryAfter, time.Hour), time.Second)+time.Second-1) / int64(time.Second)
			w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
			http.Error(w, res.String(), http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, res)
		}
	})
}

// serves says why there is nothing that a handler could do.
func (c Config) serves(slot func(*http.Request) (Slot, error), work Work) error {
	err := c.Validate()
	if slot == nil {
		err = errors.Join(err, fmt.Errorf("%w: there is no function that finds a request's slot", core.ErrInvalidConfig))
	}
	if work == nil {
		err = errors.Join(err, fmt.Errorf("%w: there is no work to run", core.ErrInvalidConfig))
	}
	return err
}
