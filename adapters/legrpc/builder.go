package legrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vimeo/go-clocks"
	"google.golang.org/grpc/resolver"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Scheme is the scheme of the targets: leaderelection:///NAME, with what is special in a
// URL percent-encoded (url.PathEscape).
const Scheme = "leaderelection"

// Options say how elections are followed. Open is needed.
type Options struct {
	// Open returns the store of the election with this name, which is what follows
	// leaderelection:/// with its percent-escapes decoded. It is called when a
	// channel begins to resolve: at its first call, and again after it was idle. If
	// it fails it is called again at the next poll. Its context ends when the channel
	// is closed or idle. Nothing is closed here: make clients outside, and
	// share them.
	Open func(ctx context.Context, name string) (core.RaceDecider, error)
	// Clock is where all time comes from; nil means the system's.
	Clock clocks.Clock
	// PollInterval is how often each channel reads, like that of core.WatchConfig:
	// 0 means a fifth of the term, at least 500 ms and at most 5 s. While somebody leads
	// it reads at least once per half of the term, however long this is.
	PollInterval time.Duration
	// Logger gets a line for each change of what the channel is told, and for
	// each service config and address that is of no use. nil: silent.
	Logger *slog.Logger
}

// NewBuilder returns a resolver for grpc.WithResolvers. It registers nothing
// globally, and may serve any number of channels. The error Is
// core.ErrInvalidConfig.
func NewBuilder(opts *Options) (resolver.Builder, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("legrpc: %w: %s", core.ErrInvalidConfig, fmt.Sprintf(format, args...)))
	}
	if opts == nil {
		opts = new(Options)
	}
	b := &builder{*opts}
	if b.Open == nil {
		fault("Options.Open is nil: there is no way from an election's name to its store")
	}
	if b.PollInterval < 0 || b.PollInterval > entry.MaxTermLength {
		fault("PollInterval is %v, not between 0 and %v", b.PollInterval, entry.MaxTermLength)
	}
	if null.Is(b.Clock) {
		b.Clock = clocks.DefaultClock()
	}
	if b.Logger == nil {
		b.Logger = slog.New(slog.DiscardHandler)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return b, nil
}

type builder struct{ Options }

func (*builder) Scheme() string { return Scheme }

// Build is called by gRPC. Nothing is read before it returns.
func (b *builder) Build(target resolver.Target, cc resolver.ClientConn, build resolver.BuildOptions) (resolver.Resolver, error) {
	name, err := electionOf(target)
	if err != nil {
		return nil, err
	}
	return follow(b.Options, name, cc, build), nil
}

// electionOf returns the election's name in the target.
func electionOf(target resolver.Target) (string, error) {
	u := target.URL
	name := strings.TrimPrefix(u.Path, "/")
	wrong := ""
	switch {
	case u.Host != "":
		wrong = fmt.Sprintf("%q is taken for a host", u.Host)
	case u.Opaque != "":
		wrong = "there is no slash"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		wrong = "a ? or # in the name has to be written %3F or %23"
	case name == "":
		wrong = "the election's name is empty"
	case !utf8.ValidString(name):
		wrong = fmt.Sprintf("the election's name %q is not UTF-8", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		wrong = fmt.Sprintf("the election's name %q has control characters", name)
	default:
		return name, nil
	}
	return "", fmt.Errorf("legrpc: target %q: %s; write %s:///NAME", u.String(), wrong, Scheme)
}
