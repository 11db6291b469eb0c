package badstore_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/emulators/badstore"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/s3"
)

// client writes and reads one record with a store's own SDK.
type client interface {
	// write stores content on the condition that the version is when; "": that
	// nothing is there. It returns the new version, "" if the answer has none.
	write(when, content string) (version string, err error)
	// read returns "" for a record that is not there.
	read() (content, version string, err error)
}

var creds = credentials.NewStaticCredentialsProvider("KEY", "secret", "")

type gcsClient struct{ object *storage.ObjectHandle }

func (c gcsClient) write(when, content string) (string, error) {
	cond := storage.Conditions{DoesNotExist: true}
	if when != "" {
		generation, err := strconv.ParseInt(when, 10, 64)
		if err != nil {
			return "", err
		}
		cond = storage.Conditions{GenerationMatch: generation}
	}
	w := c.object.If(cond).NewWriter(context.Background())
	w.ChunkSize = 0
	_, _ = io.WriteString(w, content) // Close tells
	if err := w.Close(); err != nil {
		return "", err
	}
	return text(w.Attrs().Generation), nil
}

func (c gcsClient) read() (string, string, error) {
	r, err := c.object.NewReader(context.Background())
	if errors.Is(err, storage.ErrObjectNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), text(r.Attrs.Generation), err
}

func text(generation int64) string {
	if generation == 0 {
		return ""
	}
	return strconv.FormatInt(generation, 10)
}

type s3Client struct{ *awss3.Client }

func (c s3Client) write(when, content string) (string, error) {
	in := &awss3.PutObjectInput{Bucket: aws.String("b"), Key: aws.String("k"), Body: strings.NewReader(content)}
	if when == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &when
	}
	out, err := c.PutObject(context.Background(), in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

func (c s3Client) read() (string, string, error) {
	out, err := c.GetObject(context.Background(), &awss3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
	if err != nil {
		if strings.Contains(err.Error(), "NoSuchKey") {
			return "", "", nil
		}
		return "", "", err
	}
	defer out.Body.Close()
	b, err := io.ReadAll(out.Body)
	return string(b), aws.ToString(out.ETag), err
}

// dynamoClient writes with UpdateItem, or with PutItem, whose conditions look the same.
type dynamoClient struct {
	*awsdynamodb.Client
	put bool
}

func (c dynamoClient) write(when, content string) (string, error) {
	value := &types.AttributeValueMemberS{Value: content}
	condition, values := aws.String("attribute_not_exists(id)"), map[string]types.AttributeValue{}
	if when != "" {
		condition, values[":w"] = aws.String("#c = :w"), &types.AttributeValueMemberS{Value: when}
	}
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "k"}}
	if c.put {
		key["content"] = value
		in := &awsdynamodb.PutItemInput{TableName: aws.String("t"), Item: key, ConditionExpression: condition}
		if when != "" {
			in.ExpressionAttributeValues, in.ExpressionAttributeNames = values, map[string]string{"#c": "content"}
		}
		_, err := c.PutItem(context.Background(), in)
		return content, err
	}
	values[":c"] = value
	_, err := c.UpdateItem(context.Background(), &awsdynamodb.UpdateItemInput{
		TableName: aws.String("t"), Key: key, ConditionExpression: condition, UpdateExpression: aws.String("SET #c = :c"),
		ExpressionAttributeNames: map[string]string{"#c": "content"}, ExpressionAttributeValues: values,
	})
	return content, err
}

func (c dynamoClient) read() (string, string, error) {
	out, err := c.GetItem(context.Background(), &awsdynamodb.GetItemInput{TableName: aws.String("t"), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "k"}}})
	if err != nil || out.Item == nil {
		return "", "", err
	}
	content, ok := out.Item["content"].(*types.AttributeValueMemberS)
	if !ok {
		return "present", "", nil
	}
	return content.Value, content.Value, nil
}

// store starts a bad store of each dialect and returns clients that go through it.
func store(t *testing.T, name string, m badstore.Mistake) (client, *badstore.Proxy) {
	t.Helper()
	var root string
	var dialect badstore.Dialect
	switch name {
	case "gcs":
		server, err := gcs.Start(&gcs.Options{Buckets: []string{"b"}})
		must(t, err)
		t.Cleanup(server.Close)
		root, dialect = server.URL(), badstore.GCS
	case "s3":
		server, err := s3.Start(&s3.Options{Buckets: []string{"b"}})
		must(t, err)
		t.Cleanup(server.Close)
		root, dialect = server.URL(), badstore.S3
	default:
		server, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"t": "id"}})
		must(t, err)
		t.Cleanup(server.Close)
		root, dialect = server.URL(), badstore.DynamoDB
	}
	proxy, err := badstore.Listen(root, dialect, m)
	must(t, err)
	t.Cleanup(proxy.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	over, url := &http.Client{Transport: transport}, proxy.URL()
	switch dialect {
	case badstore.GCS:
		c, err := storage.NewClient(context.Background(), option.WithEndpoint(url+"/storage/v1/"), option.WithoutAuthentication(), option.WithHTTPClient(over))
		must(t, err)
		t.Cleanup(func() { c.Close() })
		return gcsClient{c.Bucket("b").Object("k")}, proxy
	case badstore.S3:
		return s3Client{awss3.New(awss3.Options{BaseEndpoint: &url, UsePathStyle: true, Region: "r", Credentials: creds, HTTPClient: over,
			RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired, Retryer: aws.NopRetryer{}})}, proxy
	}
	return dynamoClient{awsdynamodb.New(awsdynamodb.Options{BaseEndpoint: &url, Region: "r", Credentials: creds, HTTPClient: over,
		Retryer: aws.NopRetryer{}}), name == "dynamodb, put"}, proxy
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
