package s3decider

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// answer is what the store said in place of yes.
type answer struct {
	status int
	code   string // of the XML, "NoSuchKey"; "" when the answer has none
	text   string // its message
	header http.Header
	skewed bool // the SDK found the refused signature to be of another time
}

// answerIn finds the answer in the client's error; false when there was none.
func answerIn(err error) (answer, bool) {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) || response.Response == nil || response.Response.Response == nil || response.HTTPStatusCode() == 0 {
		return answer{}, false // the SDK also wraps what was never answered
	}
	a := answer{status: response.HTTPStatusCode(), header: response.Response.Header}
	var api smithy.APIError
	if errors.As(err, &api) {
		a.code, a.text = api.ErrorCode(), api.ErrorMessage()
	}
	// Where the XML has no code the SDK makes one out of the status, "NotFound".
	if a.code == strings.ReplaceAll(http.StatusText(a.status), " ", "") && a.text == http.StatusText(a.status) || a.code == "UnknownError" {
		a.code, a.text = "", ""
	}
	// The SDK compares the answer's Date with its own clock and marks what a right
	// clock may cure.
	var passing interface{ RetryableError() bool }
	a.skewed = errors.As(err, &passing) && passing.RetryableError()
	return a, true
}

// headerIn returns the headers of the answer in err, or nil.
func headerIn(err error) http.Header {
	a, _ := answerIn(err)
	return a.header
}

// page tells whether this is somebody else's answer: a proxy's, a captive
// portal's. S3's are XML, or empty. Of a server's error it makes no difference.
func (a answer) page() bool {
	kind := a.header.Get("Content-Type")
	return a.code == "" && a.status < 500 && (strings.HasPrefix(kind, "text/html") || strings.HasPrefix(kind, "text/plain"))
}

// is tells whether the code is one of these.
func (a answer) is(codes ...string) bool {
	for _, c := range codes {
		if strings.EqualFold(a.code, c) {
			return true
		}
	}
	return false
}

// mentions tells whether the code or the message contains a mark, in lower case.
func (a answer) mentions(mark string) bool {
	return strings.Contains(strings.ToLower(a.code), mark) || strings.Contains(strings.ToLower(a.text), mark)
}

// action is the permission that the answer names, "s3:GetObject", or "":
// "User: ... is not authorized to perform: s3:GetObject on resource: ...".
func (a answer) action() string {
	_, rest, _ := strings.Cut(a.text, "not authorized to perform: ")
	action, _, _ := strings.Cut(rest, " ")
	if service, name, ok := strings.Cut(action, ":"); !ok || service == "" || name == "" {
		return ""
	}
	return clip(action)
}

// region is where the bucket is, if the answer says so, or "": in a header, or in
// "the region 'us-east-1' is wrong; expecting 'eu-west-1'".
func (a answer) region() string {
	if r := a.header.Get("X-Amz-Bucket-Region"); r != "" {
		return clip(r)
	}
	_, rest, _ := strings.Cut(a.text, "expecting '")
	region, _, ok := strings.Cut(rest, "'")
	if !ok {
		return ""
	}
	return clip(region)
}
