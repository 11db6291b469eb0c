package dynamodecider

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// plainStore makes the store behind it one of those that are compatible so far:
// it leaves the item out of failures, tells no table status, and knows no
// transactions.
type plainStore struct{ next http.RoundTripper }

func (p plainStore) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); strings.HasPrefix(operation, "Transact") {
		if r.Body != nil {
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}
		body := refusal("UnknownOperationException", "")
		return &http.Response{StatusCode: 400, Header: http.Header{"Content-Type": {jsonType}}, Request: r,
			ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}, nil
	}
	response, err := p.next.RoundTrip(r)
	if err != nil || response.StatusCode == http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	var fields map[string]any
	if err := json.NewDecoder(response.Body).Decode(&fields); err != nil {
		return nil, err
	}
	delete(fields, "Item")
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return response, nil
}

// retrying is a client with the SDK's own policy, without its pauses.
func retrying(over dynamodb.HTTPClient, root string) *dynamodb.Client {
	return clientOver(over, root, func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
			s.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
}
