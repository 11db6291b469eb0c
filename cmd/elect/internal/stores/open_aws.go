package stores

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/dynamodecider"
	"github.com/cloudelect/cloudelect/s3decider"
)

func openS3(ctx context.Context, loc Location) (*Store, error) {
	cfg, err := loadAWS(ctx, loc)
	if err != nil {
		return nil, err
	}
	w := newWire(cfg)
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.HTTPClient = w
		if loc.Endpoint != "" {
			o.BaseEndpoint = &loc.Endpoint
		}
		// Few services but Amazon's have a host name for every bucket. An access
		// point has nothing but one.
		o.UsePathStyle = loc.PathStyle == "true" ||
			loc.PathStyle == "" && o.BaseEndpoint != nil && !strings.HasPrefix(loc.Bucket, "arn:")
	})
	loc.Region = client.Options().Region
	if err := checkAWS(ctx, cfg, service{"S3", "AWS_ENDPOINT_URL_S3", rightS3, loc, client.Options().BaseEndpoint}); err != nil {
		return nil, err
	}
	interval, _ := time.ParseDuration(loc.WriteInterval) // Parse has looked; "" is none
	decider := s3decider.NewDecider(client, loc.Bucket, loc.Name, &s3decider.Options{MinWriteInterval: interval})
	return &Store{Location: loc, Decider: decider, close: w.close}, nil
}

func openDynamoDB(ctx context.Context, loc Location) (*Store, error) {
	cfg, err := loadAWS(ctx, loc)
	if err != nil {
		return nil, err
	}
	w := newWire(cfg)
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.HTTPClient = w
		if loc.Endpoint != "" {
			o.BaseEndpoint = &loc.Endpoint
		}
	})
	loc.Region = client.Options().Region
	if err := checkAWS(ctx, cfg, service{"DynamoDB", "AWS_ENDPOINT_URL_DYNAMODB", rightDynamoDB, loc, client.Options().BaseEndpoint}); err != nil {
		return nil, err
	}
	return &Store{
		Location: loc,
		Decider:  dynamodecider.NewDecider(client, loc.Table, loc.Name, nil),
		close:    w.close,
		prepare:  func(ctx context.Context) error { return dynamodecider.CreateTable(ctx, client, loc.Table) },
	}, nil
}

// wire carries the requests of one client, which shares its connections with
// nobody. It follows no redirects: the SDK reads out of S3's, which have no
// Location, where the bucket is.
type wire struct{ transport *http.Transport }

// newWire takes over what the environment says about certificates (AWS_CA_BUNDLE).
func newWire(cfg aws.Config) wire {
	from, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		from = awshttp.NewBuildableClient()
	}
	return wire{from.GetTransport()}
}

// Do sends one request.
func (w wire) Do(r *http.Request) (*http.Response, error) { return w.transport.RoundTrip(r) }

func (w wire) close() error {
	w.transport.CloseIdleConnections()
	return nil
}
