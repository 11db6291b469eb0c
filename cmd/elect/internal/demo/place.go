package demo

import (
	"context"
	"fmt"
	"os"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/s3"
	"github.com/cloudelect/cloudelect/gcsdecider"
)

// The stores that a demo can emulate.
const (
	kindGCS      = "gcs"
	kindS3       = "s3"
	kindDynamoDB = "dynamodb"
)

var kinds = []string{kindGCS, kindS3, kindDynamoDB}

const container = "elections" // the bucket, or the table

// place is where a demo's election is kept.
type place struct {
	what    string   // for people
	url     string   // as --store takes it
	environ []string // that workers need to get there
	close   func()
}

// emulate starts the emulator of a store.
func emulate(kind string) (*place, error) {
	switch kind {
	case kindS3:
		server, err := s3.Start(&s3.Options{Buckets: []string{container}})
		if err != nil {
			return nil, err
		}
		return &place{"one object in an emulated S3 bucket", onAWS("s3", server.URL()), strangerToAWS(), server.Close}, nil
	case kindDynamoDB:
		server, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{container: "election"}})
		if err != nil {
			return nil, err
		}
		return &place{"one item in an emulated DynamoDB table", onAWS("dynamodb", server.URL()), strangerToAWS(), server.Close}, nil
	}
	server, err := gcs.Start(&gcs.Options{Buckets: []string{container}})
	if err != nil {
		return nil, err
	}
	return &place{"one object in an emulated bucket", "gs://" + container + "/demo",
		[]string{"STORAGE_EMULATOR_HOST=" + server.Endpoint()}, server.Close}, nil
}

func onAWS(scheme, endpoint string) string {
	return fmt.Sprintf("%s://%s/demo?region=us-east-1&endpoint=%s", scheme, container, endpoint)
}

// strangerToAWS is an environment with credentials for an emulator, and without
// anything of the user's own, which may be in disorder, and is none of its business.
func strangerToAWS() []string {
	return []string{"AWS_ACCESS_KEY_ID=emulator", "AWS_SECRET_ACCESS_KEY=emulator", "AWS_SESSION_TOKEN=", "AWS_PROFILE=", "AWS_CA_BUNDLE=",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull}
}

// candidacy opens the election for a worker, and returns what ends that.
func candidacy(ctx context.Context, opener *stores.Opener, url string, p pace) (core.RaceDecider, func() error, error) {
	loc, err := stores.Parse(url)
	if err != nil {
		return nil, nil, err
	}
	if loc.Scheme != stores.SchemeGCS {
		s, err := opener.Open(ctx, url)
		if err != nil {
			return nil, nil, err
		}
		return s.Decider, s.Close, nil
	}
	// Only Cloud Storage limits writes, and only its emulator does not.
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		return nil, nil, err
	}
	return gcsdecider.NewDecider(client, loc.Bucket, loc.Name, &gcsdecider.Options{MinWriteInterval: p.minWrite}), client.Close, nil
}
