package dynamodecider

import (
	"errors"
	"net/http"
	"strings"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// errForeign is about a success that somebody else has declared.
var errForeign = errors.New("the answer is not DynamoDB's: it is not JSON")

// success looks at an answer that the client takes for a success, and returns
// DynamoDB's clock on it. An empty page of a portal before the store must not pass for
// "stored", nor for "nothing is stored".
//
// The SDK keeps the response; a client that is not the SDK's may keep the time only.
func success(metadata middleware.Metadata) (time.Time, error) {
	response, ok := awsmiddleware.GetRawResponse(metadata).(*smithyhttp.Response)
	if !ok || response == nil || response.Response == nil {
		date, _ := awsmiddleware.GetServerTime(metadata)
		return date, nil
	}
	if !strings.Contains(response.Header.Get("Content-Type"), "json") {
		return time.Time{}, errForeign
	}
	return storeDate(response.Header), nil
}

// dateIn is the clock on the answer inside an error; zero where there was none.
func dateIn(err error) time.Time {
	var answered *smithyhttp.ResponseError
	if errors.As(err, &answered) && answered.HTTPResponse() != nil && answered.HTTPResponse().Response != nil {
		return storeDate(answered.HTTPResponse().Header)
	}
	return time.Time{}
}

// storeDate is the Date of an answer, or zero: an answer with an Age comes out
// of a cache, and its Date is the past (RFC 9111, section 5.1).
func storeDate(h http.Header) time.Time {
	if len(h.Values("Age")) > 0 {
		return time.Time{}
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return date
}
