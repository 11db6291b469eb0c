package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
	"github.com/cloudelect/cloudelect/s3decider"
)

// Stores are the emulators of all three stores, and what is stored in them.
type Stores struct {
	*Process
	// Env is what a program has to be told to use them.
	Env                       []string
	dynamoURL, s3URL, gcsHost string
}

// Container is the bucket and the table in Stores.
const Container = "elections"

// StartStores runs `elect emulate`. elect is the path of the tool.
func StartStores(ctx context.Context, elect string) (*Stores, error) {
	p, err := Start("elect emulate", nil, elect, "emulate", "--json", "--bucket", Container, "--table", Container)
	if err != nil {
		return nil, err
	}
	line, err := p.Await(ctx, "JSON", func(line string) bool { return strings.HasPrefix(line, "{") })
	var says struct {
		GCS    string `json:"storage_emulator_host"`
		S3     string `json:"aws_endpoint_url_s3"`
		Dynamo string `json:"aws_endpoint_url_dynamodb"`
		Key    string `json:"aws_access_key_id"`
		Secret string `json:"aws_secret_access_key"`
		Region string `json:"aws_region"`
	}
	if err = errors.Join(err, json.Unmarshal([]byte(line), &says)); err != nil {
		p.Close()
		return nil, fmt.Errorf("rig: elect emulate: %w", err)
	}
	return &Stores{Process: p, dynamoURL: says.Dynamo, s3URL: says.S3, gcsHost: says.GCS, Env: []string{
		"STORAGE_EMULATOR_HOST=" + says.GCS, "AWS_ENDPOINT_URL_S3=" + says.S3, "AWS_ENDPOINT_URL_DYNAMODB=" + says.Dynamo,
		"AWS_ACCESS_KEY_ID=" + says.Key, "AWS_SECRET_ACCESS_KEY=" + says.Secret, "AWS_REGION=" + says.Region,
		"AWS_EC2_METADATA_DISABLED=true",
	}}, nil
}

// ErrNothing: there is no such election yet.
var ErrNothing = errors.New("rig: nothing is stored")

// Entry is what an election's entry says of who leads.
type Entry struct {
	LeaderID   string    `json:"leader_id"`   // empty: nobody
	TermExpiry time.Time `json:"term_expiry"` // by the leader's clock
}

// Leader is the LeaderID in an election's entry now.
func (s *Stores) Leader(ctx context.Context, election string) (string, error) {
	e, err := s.Entry(ctx, election)
	return e.LeaderID, err
}

// Entry is what is stored of an election, read without any of the code that is on
// trial; the zero Entry, if nothing is. The election is a URL, as in STORE.
func (s *Stores) Entry(ctx context.Context, election string) (e Entry, err error) {
	scheme, container, name := split(election)
	switch scheme {
	case "dynamodb":
		out, err := s.dynamo().GetItem(ctx, &dynamodb.GetItemInput{TableName: &container, ConsistentRead: aws.Bool(true),
			Key: map[string]types.AttributeValue{"election": &types.AttributeValueMemberS{Value: name}}})
		if err != nil {
			return e, fmt.Errorf("rig: %s: %w", election, err)
		}
		e.LeaderID = text(out.Item["leader_id"])
		e.TermExpiry, _ = time.Parse(time.RFC3339Nano, text(out.Item["term_expiry"]))
		return e, nil
	case "s3":
		err = getJSON(ctx, s.s3URL+"/"+container+"/"+name, &e)
	default:
		err = getJSON(ctx, s.gcs(container, name), &e)
	}
	if errors.Is(err, ErrNothing) {
		err = nil
	}
	return e, err
}

// Records are what was stored of the slots of an election, in the order of fencing
// tokens.
func (s *Stores) Records(ctx context.Context, election string) ([]store.Record, error) {
	scheme, container, name := split(election)
	var records []store.Record
	var journal []byte
	var err error
	switch scheme {
	case "dynamodb":
		records, err = s.items(ctx, container, name+"/done/")
	case "s3":
		var content *s3decider.Fenced
		content, err = s3decider.NewFencedObject(s.s3(), container, name+store.JournalSuffix, nil).Read(ctx)
		if err == nil {
			journal = content.Data
		}
	default:
		journal, err = get(ctx, s.gcs(container, name+store.JournalSuffix))
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNothing) {
		return nil, nil
	}
	if err == nil && scheme != "dynamodb" {
		records, err = store.Parse(journal)
	}
	sort.Slice(records, func(i, j int) bool { return records[i].FencingToken < records[j].FencingToken })
	return records, err
}

func (s *Stores) items(ctx context.Context, table, prefix string) ([]store.Record, error) {
	out, err := s.dynamo().Scan(ctx, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("rig: scan %s: %w", table, err)
	}
	var records []store.Record
	for _, item := range out.Items {
		if !strings.HasPrefix(text(item["election"]), prefix) {
			continue
		}
		r := store.Record{Slot: text(item["slot"]), LeaderID: text(item["leader_id"])}
		if n, ok := item["fencing_token"].(*types.AttributeValueMemberN); ok {
			r.FencingToken, _ = strconv.ParseInt(n.Value, 10, 64)
		}
		r.DoneAt, _ = time.Parse(time.RFC3339Nano, text(item["done_at"]))
		records = append(records, r)
	}
	return records, nil
}

func (s *Stores) dynamo() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{BaseEndpoint: &s.dynamoURL, Region: "local", Credentials: anybody()})
}

func (s *Stores) s3() *s3.Client {
	return s3.New(s3.Options{BaseEndpoint: &s.s3URL, UsePathStyle: true, Region: "local", Credentials: anybody()})
}

func anybody() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider("anybody", "secret", "")
}

func (s *Stores) gcs(bucket, object string) string {
	return "http://" + strings.TrimPrefix(s.gcsHost, "http://") + "/storage/v1/b/" + bucket + "/o/" + url.PathEscape(object) + "?alt=media"
}

func split(election string) (scheme, container, name string) {
	scheme, rest, _ := strings.Cut(election, "://")
	container, name, _ = strings.Cut(rest, "/")
	return scheme, container, name
}

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func getJSON(ctx context.Context, url string, v any) error {
	b, err := get(ctx, url)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

func get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("rig: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("rig: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("rig: %s: %w", url, err)
	case resp.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%w: %s", ErrNothing, url)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("rig: %s: %s", url, resp.Status)
	}
	return b, nil
}
