package legrpc

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrNotLeader is what a Gate says that has no leadership to ask.
var ErrNotLeader = errors.New("legrpc: this server does not lead")

// The reasons in the ErrorInfo of the errors of this package, whose domain is Scheme.
const (
	// ReasonNotLeader: the server does not lead; nothing was run. The code is
	// Unavailable, so that a retry policy sends the call again.
	ReasonNotLeader = "NOT_LEADER"
	// ReasonLeadershipLost: the leadership ended while the call ran. What it did until
	// then is done. The code is Aborted: whether to begin again is the caller's to say.
	ReasonLeadershipLost = "LEADERSHIP_LOST"
)

// NotLeader tells whether a server refused the call because it does not lead: nothing
// was run, and the call may be sent again whatever it does.
func NotLeader(err error) bool { return hasReason(err, ReasonNotLeader) }

// LeadershipLost tells whether a call was ended because its server's leadership
// did: it may have had effects.
func LeadershipLost(err error) bool { return hasReason(err, ReasonLeadershipLost) }

func hasReason(err error, reason string) bool {
	s, ok := status.FromError(err)
	return ok && slices.ContainsFunc(s.Details(), func(d any) bool {
		info, ok := d.(*errdetails.ErrorInfo)
		return ok && info.GetDomain() == Scheme && info.GetReason() == reason
	})
}

// refused is the error of a call that was not begun.
func refused(why error) error {
	return failure(codes.Unavailable, ReasonNotLeader, "legrpc: refused, nothing was run: "+why.Error())
}

// ended is the error of a call whose handler returned err after its context had
// ended: of the leadership's end, if it was that.
func ended(call, bound context.Context, err error) error {
	if err == nil || call.Err() != nil || bound.Err() == nil {
		return err
	}
	if code := status.FromContextError(err).Code(); code != codes.Canceled && status.Code(err) != codes.Canceled && !errors.Is(err, context.Cause(bound)) {
		return err // the handler has something else to say
	}
	return lost(context.Cause(bound))
}

func lost(why error) error {
	return failure(codes.Aborted, ReasonLeadershipLost, "legrpc: ended by the end of this server's leadership: "+why.Error())
}

func failure(code codes.Code, reason, text string) error {
	s := status.New(code, text)
	if detailed, err := s.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: Scheme}); err == nil {
		s = detailed
	}
	return s.Err()
}
