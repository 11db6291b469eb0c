package stores

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const (
	rightS3 = "s3://BUCKET/KEY, like s3://my-bucket/elections/nightly?region=eu-central-1" +
		" (and for other services than Amazon's: &endpoint=https://HOST&path-style=true)"
	rightDynamoDB = "dynamodb://TABLE/ELECTION, like dynamodb://elections/nightly?region=eu-central-1" +
		" (and for other services than Amazon's: &endpoint=https://HOST)"
)

var (
	// s3Bucket is what the deciders take: compatible services and old buckets have
	// rules of their own, and Ceph has tenants ("tenant:bucket").
	s3Bucket      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*[A-Za-z0-9]$`)
	hostPort      = regexp.MustCompile(`:[0-9]+$`)
	accessPoint   = regexp.MustCompile(`^arn:[a-z0-9-]+:s3:[a-z0-9-]+:[0-9]+:accesspoint[:/][a-z0-9-]+`)
	tableARN      = regexp.MustCompile(`^arn:[a-z0-9-]+:dynamodb:[a-z0-9-]+:[0-9]+:table/[A-Za-z0-9_.-]+`)
	tableName     = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	regionName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	parameterName = regexp.MustCompile(`^[a-z-]+$`)
)

func parseS3(raw, rest string) (Location, error) {
	rest, query, asked := strings.Cut(rest, "?")
	l := Location{Scheme: SchemeS3}
	l.Bucket, l.Name = cutContainer(rest, accessPoint)
	switch {
	case l.Bucket == "":
		return Location{}, wrong(raw, "names no bucket", rightS3)
	case hostPort.MatchString(l.Bucket):
		return Location{}, wrong(raw, fmt.Sprintf("has %.80q in the place of the bucket, which is a host and a port", l.Bucket), rightS3)
	case !isARN(l.Bucket, accessPoint) && (strings.HasPrefix(l.Bucket, "arn:") || !fits(l.Bucket, s3Bucket, 3, 255)):
		return Location{}, wrong(raw, fmt.Sprintf("has the bucket %.80q, which cannot be one"+
			" (3 or more letters, digits, dashes, underscores and dots, or the ARN of an access point in one region)", l.Bucket), rightS3)
	}
	if what := nameFault(l.Name, "key", "bucket"); what != "" {
		return Location{}, wrong(raw, what, rightS3)
	}
	return l.withQuery(raw, query, asked, rightS3, map[string]*string{
		"region": &l.Region, "endpoint": &l.Endpoint, "path-style": &l.PathStyle, "write-interval": &l.WriteInterval})
}

func parseDynamoDB(raw, rest string) (Location, error) {
	rest, query, asked := strings.Cut(rest, "?")
	l := Location{Scheme: SchemeDynamoDB}
	l.Table, l.Name = cutContainer(rest, tableARN)
	switch {
	case l.Table == "":
		return Location{}, wrong(raw, "names no table", rightDynamoDB)
	case !isARN(l.Table, tableARN) && !fits(l.Table, tableName, 3, 255):
		return Location{}, wrong(raw, fmt.Sprintf("has the table %.80q, which cannot be one"+
			" (3 to 255 letters, digits, dashes, underscores and dots, or the table's ARN)", l.Table), rightDynamoDB)
	}
	if what := nameFault(l.Name, "election", "table"); what != "" {
		return Location{}, wrong(raw, what, rightDynamoDB)
	}
	return l.withQuery(raw, query, asked, rightDynamoDB, map[string]*string{"region": &l.Region, "endpoint": &l.Endpoint})
}

// isARN tells whether all of text is such an ARN.
func isARN(text string, arn *regexp.Regexp) bool { return text != "" && arn.FindString(text) == text }

// cutContainer cuts before the first slash that is not an ARN's.
func cutContainer(rest string, arn *regexp.Regexp) (container, name string) {
	if found := arn.FindString(rest); found != "" && strings.HasPrefix(rest[len(found):]+"/", "/") {
		return found, strings.TrimPrefix(rest[len(found):], "/")
	}
	container, name, _ = strings.Cut(rest, "/")
	return container, name
}

// withQuery reads the options behind the question mark into where, which is l's
// own. Their values may be percent-encoded.
func (l *Location) withQuery(raw, query string, asked bool, right string, where map[string]*string) (Location, error) {
	if asked && query == "" {
		return Location{}, wrong(raw, "has nothing behind its question mark", right)
	}
	for part := range strings.SplitSeq(query, "&") {
		if !asked {
			break
		}
		name, value, _ := strings.Cut(part, "=")
		field := where[name]
		if what := parameterFault(name, &value, field); what != "" {
			return Location{}, wrong(raw, what, right)
		}
		*field = value
	}
	return *l, nil
}

// parameterFault decodes the value of an option and says what is wrong with it.
func parameterFault(name string, value, field *string) string {
	switch {
	case field == nil && !parameterName.MatchString(name):
		return "has an option without a name"
	case field == nil:
		return fmt.Sprintf("has the unknown option %.40q", name)
	case *value == "":
		return "has the option " + name + " without a value"
	case *field != "":
		return "has the option " + name + " twice"
	}
	decoded, err := url.PathUnescape(*value)
	if err != nil {
		return fmt.Sprintf("has an option %s that is encoded wrongly", name)
	}
	*value = decoded
	switch name {
	case "region":
		if !fits(decoded, regionName, 1, 63) {
			return fmt.Sprintf("has the region %.80q, which cannot be one", decoded)
		}
	case "endpoint":
		if fault := endpointFault(decoded); fault != "" {
			return "has an endpoint that " + fault
		}
	case "path-style":
		if decoded != "true" && decoded != "false" {
			return "says neither true nor false to path-style"
		}
	case "write-interval":
		if d, err := time.ParseDuration(decoded); err != nil || d <= 0 || d > time.Minute {
			return fmt.Sprintf("has the write-interval %.40q, which is not a time between two writes, like 1s, of a minute at most", decoded)
		}
	}
	return ""
}

// endpointFault says what is wrong with the address of a service; "" if nothing is.
func endpointFault(endpoint string) string {
	if what := strangeIn(endpoint); what != "" {
		return "contains " + what
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil && strings.HasPrefix(endpoint, "http"):
		return "is not an address"
	case err != nil, u.Scheme != "http" && u.Scheme != "https":
		return "does not begin with http:// or https://"
	case u.Hostname() == "":
		return "names no host"
	case u.User != nil:
		return "contains a user: credentials come from the environment and from the AWS files, never from here"
	case strings.ContainsAny(endpoint, "?#"):
		return "has a query of its own"
	}
	return ""
}

// query is the part of the URL behind the names, with its question mark.
func (l Location) query() string {
	var parts []string
	for _, p := range []struct{ name, value string }{
		{"region", l.Region}, {"endpoint", l.Endpoint}, {"path-style", l.PathStyle}, {"write-interval", l.WriteInterval},
	} {
		if p.value != "" {
			parts = append(parts, p.name+"="+strings.NewReplacer("%", "%25", "&", "%26").Replace(p.value))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}
