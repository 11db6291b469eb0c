// Package awsconfig is the ordinary configuration of the AWS SDK, refused at the start
// where it is without a region or without credentials: the SDK would say so at the first
// request only, which looks like a store that does not answer.
package awsconfig

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
)

// patience is how long a machine in EC2 may take to say who it is.
const patience = 10 * time.Second

// Load reads the environment and the shared files. Where neither names a source of
// credentials the SDK's last resort is EC2's metadata service, and that is asked here,
// once: the SDK keeps the answer. All other sources are asked when the first request is
// signed, and may fail for a while. What has to be set by a person Is core.ErrBroken.
func Load(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return cfg, store.Broken("the AWS configuration cannot be used: %w: see to the AWS_ variables (AWS_PROFILE?)", err)
	}
	if cfg.Region == "" {
		return cfg, store.Broken("there is no region: set AWS_REGION")
	}
	if !aws.IsCredentialsProvider(cfg.Credentials, (*ec2rolecreds.Provider)(nil)) {
		return cfg, nil
	}
	asked, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the metadata service did not answer"))
	defer cancel()
	if _, err := cfg.Credentials.Retrieve(asked); err != nil && ctx.Err() == nil {
		return cfg, store.Broken("there are no AWS credentials: give the task or the function a role,"+
			" or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (EC2's metadata service does not help: %w)", err)
	}
	return cfg, nil
}
