package s3decider

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// gently adapts one call to the store behind the client's endpoint; the client
// itself stays as it is.
func gently(o *s3.Options) {
	// Objects without a checksum are the rule here, and no news.
	o.DisableLogOutputChecksumValidationSkipped = true
	if !isAWS(o) {
		// By default the SDK adds a CRC32, over TLS as a trailer of a chunked
		// body, which other stores refuse or even store as content.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
}

// once is gently for a request that must be sent a single time: a retry after a
// lost answer would turn our own success into a lost race.
func once(o *s3.Options) {
	gently(o)
	o.RetryMaxAttempts, o.Retryer = 1, unlimited{o.Retryer}
}

// unlimited is a client's retryer without its limit on attempts: in adaptive mode
// that lets renewals wait for whatever else the client is used for.
type unlimited struct{ aws.Retryer }

// GetAttemptToken gives leave at once.
func (unlimited) GetAttemptToken(context.Context) (func(error) error, error) {
	return func(error) error { return nil }, nil
}

// isAWS tells whether requests go to AWS itself: no endpoint was set, or one of
// its own (a VPC endpoint, say).
func isAWS(o *s3.Options) bool {
	if o.BaseEndpoint == nil {
		return true
	}
	u, err := url.Parse(*o.BaseEndpoint)
	if err != nil {
		return false
	}
	host := u.Hostname()
	for _, domain := range []string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// headerOf returns the headers of the answer that a call's metadata describes, or nil.
func headerOf(m middleware.Metadata) http.Header {
	if r, ok := awsmiddleware.GetRawResponse(m).(*smithyhttp.Response); ok && r != nil && r.Response != nil {
		return r.Header
	}
	return nil
}

// dateForms are those of HTTP (RFC 9110, section 5.6.7), the two obsolete ones
// included. http.ParseTime takes other zones than GMT in the second of them, and what
// their names mean then depends on where this host is.
var dateForms = [...]string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// storeDate is the Date of an answer in whole seconds, or zero where it tells none. An
// answer with an Age comes out of a cache, and its Date is the past (RFC 9111, section
// 5.1). A year that no entry's times can be reckoned from is nobody's clock.
func storeDate(h http.Header) time.Time {
	if len(h.Values("Age")) > 0 {
		return time.Time{}
	}
	for _, form := range dateForms {
		date, err := time.Parse(form, h.Get("Date"))
		if err == nil && date.Year() >= 1970 && date.Year() < 9900 {
			return date.Truncate(time.Second) // Go reads fractions that nobody may send
		}
	}
	return time.Time{}
}

// optional is nil for what was not set.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
