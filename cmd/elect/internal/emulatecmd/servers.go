package emulatecmd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/dynamodecider"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/s3"
)

// servers are the running emulators.
type servers struct {
	ready  ready
	closes []func()
}

// close ends them, and returns when nothing of them is left.
func (s *servers) close() {
	for _, end := range s.closes {
		end()
	}
}

// start starts what o asks for, or nothing.
func start(ctx context.Context, o options) (*servers, error) {
	s := new(servers)
	place := o.addr
	for _, kind := range kinds {
		if !o.wants(kind) {
			continue
		}
		var err error
		switch kind {
		case kindGCS:
			err = s.startGCS(place, o.buckets)
		case kindS3:
			err = s.startS3(place, o.buckets)
		case kindDynamoDB:
			err = s.startDynamoDB(ctx, place, o.tables)
		}
		if err != nil {
			s.close()
			return nil, explain(err)
		}
		place = next(place)
	}
	return s, nil
}

func (s *servers) startGCS(addr string, buckets []string) error {
	server, err := gcs.Start(&gcs.Options{Addr: addr, Buckets: buckets})
	if err != nil {
		return err
	}
	s.closes = append(s.closes, server.Close)
	s.ready.Host, s.ready.URL, s.ready.Buckets = server.Endpoint(), server.URL(), buckets
	return nil
}

func (s *servers) startS3(addr string, buckets []string) error {
	server, err := s3.Start(&s3.Options{Addr: addr, Buckets: buckets})
	if err != nil {
		return err
	}
	s.closes = append(s.closes, server.Close)
	s.ready.S3, s.ready.PathStyle, s.ready.Buckets = server.URL(), true, buckets
	s.ready.credentials()
	return nil
}

func (s *servers) startDynamoDB(ctx context.Context, addr string, tables []string) error {
	server, err := dynamodb.Start(&dynamodb.Options{Addr: addr})
	if err != nil {
		return err
	}
	s.closes = append(s.closes, server.Close)
	own := &http.Transport{}
	defer own.CloseIdleConnections()
	for _, table := range tables { // as elect init does
		if err := dynamodecider.CreateTable(ctx, server.Client(&http.Client{Transport: own}), table); err != nil {
			return cliutil.Exit(cliutil.ExitInternal, "emulate: %w", err)
		}
	}
	s.ready.DynamoDB, s.ready.Tables = server.URL(), tables
	s.ready.credentials()
	return nil
}

func (r *ready) credentials() { r.KeyID, r.Secret, r.Region = keyID, secret, region }

// next is the address for the next emulator: the port after this one's, unless
// any will do. An address that is none is found out by who listens on it.
func next(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if n, convErr := strconv.Atoi(port); err == nil && convErr == nil && n > 0 {
		return net.JoinHostPort(host, strconv.Itoa(n+1))
	}
	return addr
}

// explain gives an error of an emulator its exit code.
func explain(err error) error {
	var (
		known *cliutil.ExitError
		busy  *net.OpError
		wrong *net.AddrError
	)
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &busy) && !errors.As(err, &wrong):
		return cliutil.Exit(cliutil.ExitInternal, "emulate: the port cannot be had: %w: choose another port with --addr (the emulators take the ports from there on), or 0 for free ones", err)
	}
	return cliutil.Usage("--addr: %w", err)
}
