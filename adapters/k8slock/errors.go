package k8slock

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// ErrNotRead is what Update and Create return when the lock knows no version
// to overwrite: none was read yet, or the last request failed. Nothing was sent;
// client-go reads and tries again.
var ErrNotRead = errors.New("k8slock: the current version is not known: it has to be read first")

// ErrRefused is what an Update is that the lock did not send because of what it
// knows: a lease of somebody else's that is not over, or a release that would
// open the election while somebody leads.
var ErrRefused = errors.New("k8slock: refused")

// ErrNotLeading is what Check returns when the lease is not, or not any more, this lock's.
var ErrNotLeading = errors.New("k8slock: not leading")

// lease is what the API server's errors would name.
var lease = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// statusError is an error of the API server's kind, by which client-go tells
// what happened, that also holds the decider's.
type statusError struct {
	*apierrors.StatusError
	cause error
}

func (e *statusError) Error() string { return e.StatusError.Error() }

// Unwrap returns the decider's error: errors.As finds its FailedAcquisitionErr.
func (e *statusError) Unwrap() error { return e.cause }

// foreign is why a lock does not go on from another library's entry: it says
// neither how long the reign was granted for nor what fencing tokens there were.
func foreign(e *entry.RaceEntry) error {
	return fmt.Errorf("the entry is one of %s, in a form of its own, for %q: this lock cannot take over from it; let a candidate of core's win this election and resign, or end that reign with elect break --version %q: %w",
		e.Foreign(), e.LeaderID, e.Token, core.ErrBadEntry)
}

func (l *Lock) notFound() error {
	return apierrors.NewNotFound(lease, l.opts.Name)
}

// failed turns a decider's error for a write into the one for client-go.
func (l *Lock) failed(creating bool, err error) error {
	var lost core.FailedAcquisitionErr
	switch {
	case !errors.As(err, &lost):
		return fmt.Errorf("k8slock: %s: %w", l.opts.Name, err)
	case creating:
		s := apierrors.NewAlreadyExists(lease, l.opts.Name)
		s.ErrStatus.Message = fmt.Sprintf("%s: %v", s.ErrStatus.Message, err)
		return &statusError{s, err}
	}
	return &statusError{apierrors.NewConflict(lease, l.opts.Name, err), err}
}
