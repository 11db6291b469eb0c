package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/smithy-go/logging"
)

// loadAWS reads the ordinary AWS configuration: the environment, the shared files,
// and where credentials are to come from. It asks nobody for any.
func loadAWS(ctx context.Context, loc Location) (aws.Config, error) {
	// The SDK's own warnings would spoil what scripts read from standard error.
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if region := loc.region(); region != "" {
		options = append(options, config.WithRegion(region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, fmt.Errorf("the AWS configuration cannot be used: %w: see to the AWS_ variables (AWS_PROFILE?) and to ~/.aws/config", err)
	}
	return cfg, nil
}

// region is what the URL says about it: an ARN does, too.
func (l Location) region() string {
	if parts := strings.Split(l.Bucket+l.Table, ":"); l.Region == "" && len(parts) > 3 && parts[0] == "arn" {
		return parts[3]
	}
	return l.Region
}

// service is what checkAWS has to know about a client.
type service struct {
	name, endpointVar, right string
	loc                      Location // with the client's region
	endpoint                 *string  // the client's; nil: Amazon's own
}

// amazonRegion is the form of all regions of AWS, in all its partitions.
var amazonRegion = regexp.MustCompile(`^[a-z]+(-[a-z]+)+-[0-9]+$`)

// checkAWS finds what the SDK would only complain about at the first request, in
// words of its own.
func checkAWS(ctx context.Context, cfg aws.Config, s service) error {
	endpoint := aws.ToString(s.endpoint)
	custom := s.endpoint != nil
	switch fault := endpointFault(endpoint); {
	case custom && fault != "":
		return fmt.Errorf("the endpoint of %s, %.80q, %s: correct %s, AWS_ENDPOINT_URL or endpoint_url in ~/.aws/config: write https://HOST",
			s.name, password.ReplaceAllString(endpoint, "//...@"), fault, s.endpointVar)
	case s.loc.Region == "" && custom:
		return fmt.Errorf("the region is missing: requests are signed for one: set AWS_REGION, or write %s (for an emulator any will do, like us-east-1)", s.loc.in("REGION"))
	case s.loc.Region == "":
		return fmt.Errorf("the region is missing: set AWS_REGION (or region in ~/.aws/config), or write %s", s.loc.in("eu-central-1"))
	case !custom && !amazonRegion.MatchString(s.loc.Region):
		return fmt.Errorf("region %.80q is none of Amazon's: correct AWS_REGION, or write %s", s.loc.Region, s.right)
	}
	return checkCredentials(ctx, cfg, custom && loopback(endpoint), endpoint)
}

// in is the URL with a region.
func (l Location) in(region string) string {
	l.Region = region
	return l.String()
}

// metadataPatience is how long a machine in EC2 may take to say who it is.
const metadataPatience = 10 * time.Second

// checkCredentials refuses when there are none. Where nothing else is configured the
// SDK asks EC2's metadata service as its last resort, so that is done here once; the SDK
// keeps the answer. All other sources are asked when the first request is signed,
// and may fail for a while.
func checkCredentials(ctx context.Context, cfg aws.Config, onLoopback bool, endpoint string) error {
	if !aws.IsCredentialsProvider(cfg.Credentials, (*ec2rolecreds.Provider)(nil)) {
		return nil
	}
	// What listens on a loopback address is not Amazon: the role of this machine,
	// if it has one, is none of its business.
	if onLoopback {
		return fmt.Errorf("there are no AWS credentials, and %s needs some: export those that it was set up with;"+
			" for an emulator that checks none: export AWS_ACCESS_KEY_ID=emulator AWS_SECRET_ACCESS_KEY=emulator", endpoint)
	}
	asked, cancel := context.WithTimeoutCause(ctx, metadataPatience, errors.New("the metadata service did not answer"))
	defer cancel()
	if _, err := cfg.Credentials.Retrieve(asked); err != nil && ctx.Err() == nil {
		return fmt.Errorf("there are no AWS credentials: export AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE,"+
			" or run it where a role gives them (nothing is configured, and EC2's metadata service does not help: %w)", err)
	}
	return nil
}

// loopback tells whether an endpoint is on this machine.
func loopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
