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
