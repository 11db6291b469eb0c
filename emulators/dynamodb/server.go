package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Options are what may be chosen about a [Server]. Nil or the zero value: a free
// port of 127.0.0.1 and no table.
type Options struct {
	// Addr is the host and port to listen on; "": "127.0.0.1:0", a free port.
	// Only loopback addresses are accepted: the server checks no credentials.
	Addr string
	// Tables are created before the first request: the name of each, and the
	// name of its partition key, which is a string.
	Tables map[string]string
}

// Server is a running emulator. Its methods may be called from any goroutine.
type Server struct {
	http  *httptest.Server
	front *front
	local *sdk.Client // reaches front without the network
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
	s := &Server{front: newFront()}
	s.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: s.front}}
	s.local = s.Client(s.front)
	for name, key := range opts.Tables {
		if err := s.CreateTable(name, key); err != nil {
			listener.Close()
			return nil, err
		}
	}
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
		return nil, fmt.Errorf("dynamodb: address %q: %w; give host:port", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("dynamodb: address %q is not a loopback address; the emulator checks no credentials and must not be reachable from elsewhere: use 127.0.0.1, ::1 or localhost", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("dynamodb: listen on %s: %w", addr, err)
	}
	return listener, nil
}

// URL is the root of the server, "http://127.0.0.1:port", without a slash at
// the end: the endpoint for clients, and what a proxy in front of it is pointed at.
func (s *Server) URL() string { return "http://" + s.http.Listener.Addr().String() }

// Endpoint is the server's host:port.
func (s *Server) Endpoint() string { return s.http.Listener.Addr().String() }

// Client returns an SDK client for this server, with a region and credentials
// that mean nothing. It sends its requests through over; nil: the SDK's default, which
// keeps connections open when the test has ended.
func (s *Server) Client(over sdk.HTTPClient, more ...func(*sdk.Options)) *sdk.Client {
	return sdk.New(sdk.Options{
		Region:       "local",
		BaseEndpoint: aws.String(s.URL()),
		Credentials:  credentials.NewStaticCredentialsProvider("emulator", "emulator", ""),
		HTTPClient:   over,
	}, more...)
}

// CreateTable creates a table whose partition key is a string attribute of that
// name, and which has no sort key.
func (s *Server) CreateTable(name, partitionKey string) error {
	_, err := s.local.CreateTable(context.Background(), &sdk.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: &partitionKey, AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: &partitionKey, KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		return fmt.Errorf("dynamodb: create table %q: %w", name, err)
	}
	return nil
}

// Plant stores an item as a foreign writer would: unconditionally, in place of
// whatever has its key. The table must exist.
func (s *Server) Plant(table string, item map[string]types.AttributeValue) error {
	_, err := s.local.PutItem(context.Background(), &sdk.PutItemInput{TableName: &table, Item: item})
	if err != nil {
		return fmt.Errorf("dynamodb: plant in %s: %w", table, err)
	}
	return nil
}

// Item returns the item with that key now, nil if there is none.
func (s *Server) Item(table string, key map[string]types.AttributeValue) (map[string]types.AttributeValue, error) {
	out, err := s.local.GetItem(context.Background(), &sdk.GetItemInput{TableName: &table, Key: key})
	if err != nil {
		return nil, fmt.Errorf("dynamodb: read from %s: %w", table, err)
	}
	return out.Item, nil
}

// Delete removes an item, as an operator would by hand. It is fine if there is none.
func (s *Server) Delete(table string, key map[string]types.AttributeValue) error {
	_, err := s.local.DeleteItem(context.Background(), &sdk.DeleteItemInput{TableName: &table, Key: key})
	if err != nil {
		return fmt.Errorf("dynamodb: delete from %s: %w", table, err)
	}
	return nil
}

// DeleteTable removes a table with all its items. The error is a
// *types.ResourceNotFoundException when it was not there.
func (s *Server) DeleteTable(name string) error {
	if name == "" {
		return errors.New("dynamodb: delete table: the name is empty")
	}
	if _, err := s.local.DeleteTable(context.Background(), &sdk.DeleteTableInput{TableName: &name}); err != nil {
		return fmt.Errorf("dynamodb: delete table %s: %w", name, err)
	}
	return nil
}

// Close lets the requests that are being served finish, closes every connection
// and returns when no goroutine of the server is left. It may be called
// more than once.
func (s *Server) Close() { s.close.Do(s.http.Close) }
