package legrpc

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/ringhash"
	"google.golang.org/grpc/serviceconfig"

	"github.com/cloudelect/cloudelect/core/entry"
)

// DefaultServiceConfig is a ConnectionParams that lets calls survive a change of
// leader: they wait while nobody leads, as long as their deadline allows, and are
// sent again when a server refuses them or goes away. It retries every method: use
// it where each may be run twice. A client that starts before anybody has ever led
// needs it as well: grpc.WithDefaultServiceConfig.
const DefaultServiceConfig = `{"methodConfig": [{
	"name": [{}],
	"waitForReady": true,
	"retryPolicy": {
		"maxAttempts": 5,
		"initialBackoff": "0.5s", "maxBackoff": "10s", "backoffMultiplier": 2.5,
		"retryableStatusCodes": ["UNAVAILABLE"]
	}
}]}`

// channel is what a gRPC channel was told. Telling it the same again would make it
// look for new connections, so it is told changes only.
type channel struct {
	cc       resolver.ClientConn
	name     string
	log      *slog.Logger
	noConfig bool // the channel wants no service config from a resolver

	addrs  []string
	params []byte // what config was made of
	config *serviceconfig.ParseResult
	// fresh: the channel has taken what it was told last.
	fresh   bool
	kind    string // of why it has no address
	why     string
	warning string // the last one: a leader says the same in every renewal
}

// goTo makes the channel use these addresses of e's leader.
func (c *channel) goTo(addrs []string, e *entry.RaceEntry) {
	sameParams := bytes.Equal(c.params, e.ConnectionParams)
	if c.fresh && sameParams && slices.Equal(c.addrs, addrs) {
		return
	}
	if !sameParams {
		if len(c.addrs) > 0 && !slices.Equal(c.addrs, addrs) {
			// With another balancing policy gRPC would go on using the old connection
			// until there is a new one: an ex-leader's.
			c.update(nil)
		}
		c.params, c.config = slices.Clone(e.ConnectionParams), c.parse(e)
	}
	c.addrs, c.kind, c.why = addrs, "", ""
	c.log.Info("legrpc: following the leader", slog.String("leader", e.LeaderID),
		slog.Int64("fencing_token", e.FencingToken), slog.Any("addresses", addrs))
	err := c.update(addrs)
	c.fresh = err == nil
	if err != nil { // told again with the next renewal
		c.warn("the channel did not take the leader's addresses", err)
	}
}

// adopt takes the service config of e, by which there is nobody to go to: calls may
// have to wait. If e has none the last one stays.
func (c *channel) adopt(e *entry.RaceEntry) {
	if len(e.ConnectionParams) == 0 || bytes.Equal(c.params, e.ConnectionParams) {
		return
	}
	if len(c.addrs) > 0 { // before the balancing policy changes, as in goTo
		c.update(nil)
	}
	c.addrs, c.why = nil, ""
	c.params, c.config = slices.Clone(e.ConnectionParams), c.parse(e)
	c.update(nil)
}

// goNowhere takes all addresses from the channel; its calls fail with the error. It
// is logged when its kind changes.
func (c *channel) goNowhere(kind string, why error) {
	why = fmt.Errorf("legrpc: election %q: %w", c.name, why)
	if len(c.addrs) > 0 { // an error alone would not make it leave them
		c.update(nil)
	}
	if why.Error() == c.why {
		return
	}
	if kind != c.kind {
		level := slog.LevelWarn
		if c.kind != "" { // it had none before, for another reason
			level = slog.LevelInfo
		}
		c.log.Log(context.Background(), level, "legrpc: no leader to go to", slog.Any("error", why))
	}
	c.addrs, c.fresh, c.kind, c.why = nil, false, kind, why.Error()
	c.cc.ReportError(why)
}

func (c *channel) update(addrs []string) error {
	s := resolver.State{ServiceConfig: c.config}
	for _, a := range addrs {
		s.Addresses = append(s.Addresses, resolver.Address{Addr: a})
	}
	if server := (resolver.Endpoint{Addresses: slices.Clone(s.Addresses)}); len(addrs) > 0 || errorsOfResolver(c.params) {
		// All of them are one server, and so is none. Told of no endpoint at all the
		// policies have errors of their own for the calls, which some keep; told of an
		// empty one they let calls wait for what follows: the error, or a leader. The key
		// is for ring_hash by the channel's default, which would use the first address.
		s.Endpoints = []resolver.Endpoint{ringhash.SetHashKey(server, c.name)}
	}
	return c.cc.UpdateState(s)
}

// parse returns the service config in e, or nil if there is none that gRPC takes: the
// channel has its default then.
func (c *channel) parse(e *entry.RaceEntry) *serviceconfig.ParseResult {
	if c.noConfig || len(bytes.TrimSpace(e.ConnectionParams)) == 0 {
		return nil
	}
	parsed := c.cc.ParseServiceConfig(string(e.ConnectionParams))
	switch {
	case parsed == nil:
		return nil
	case parsed.Err != nil:
		c.warn("the leader's ConnectionParams are no service config, and are not used",
			fmt.Errorf("of %q: %w", e.LeaderID, parsed.Err))
		return nil
	}
	return parsed
}

// warn logs err, once in a row.
func (c *channel) warn(what string, err error) {
	if text := what + err.Error(); text != c.warning {
		c.warning = text
		c.log.Warn("legrpc: "+what, slog.Any("error", err))
	}
}
