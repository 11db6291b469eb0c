package netfault

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// skewedAnswer is what a service says to a signature of another time. See
// "Troubleshoot Signature Version 4 signing for AWS API requests", and for S3
// RequestTimeTooSkewed in its "Error responses".
func skewedAnswer(r *http.Request, service string, at, now time.Time) *http.Response {
	if service != "s3" && service != "s3express" {
		word, edge := "Signature expired: %s is now earlier than %s (%s - %d min.)", now.Add(-SignatureTolerance)
		if at.After(now) {
			word, edge = "Signature not yet current: %s is still later than %s (%s + %d min.)", now.Add(SignatureTolerance)
		}
		return jsonAnswer(r, http.StatusBadRequest, now, "com.amazon.coral.service#InvalidSignatureException",
			fmt.Sprintf(word, at.Format(amzDate), edge.UTC().Format(amzDate), now.UTC().Format(amzDate), int(SignatureTolerance.Minutes())))
	}
	return xmlAnswer(r, http.StatusForbidden, now, s3Error{
		Code: "RequestTimeTooSkewed", Message: "The difference between the request time and the current time is too large.",
		RequestTime: at.Format(amzDate), ServerTime: now.UTC().Format(time.RFC3339),
		MaxAllowedSkewMilliseconds: SignatureTolerance.Milliseconds(),
	})
}

// expiredAnswer is what a service says to credentials of a session that is over.
func expiredAnswer(r *http.Request, service string, now time.Time) *http.Response {
	if service != "s3" && service != "s3express" {
		return jsonAnswer(r, http.StatusBadRequest, now, "com.amazon.coral.service#ExpiredTokenException",
			"The security token included in the request is expired")
	}
	return xmlAnswer(r, http.StatusBadRequest, now, s3Error{
		Code: "ExpiredToken", Message: "The provided token has expired.",
	})
}

func jsonAnswer(r *http.Request, status int, now time.Time, code, message string) *http.Response {
	body, _ := json.Marshal(map[string]string{"__type": code, "message": message}) // strings: cannot fail
	return awsAnswer(r, status, now, "application/x-amz-json-1.0", body)
}

// s3Error is the body of S3's errors.
type s3Error struct {
	XMLName                    xml.Name `xml:"Error"`
	Code                       string
	Message                    string
	RequestTime                string `xml:",omitempty"`
	ServerTime                 string `xml:",omitempty"`
	MaxAllowedSkewMilliseconds int64  `xml:",omitempty"`
}

func xmlAnswer(r *http.Request, status int, now time.Time, e s3Error) *http.Response {
	body, _ := xml.Marshal(e) // as above
	return awsAnswer(r, status, now, "application/xml", append([]byte(xml.Header), body...))
}

func awsAnswer(r *http.Request, status int, now time.Time, contentType string, body []byte) *http.Response {
	if r.Method == http.MethodHead {
		body = nil
	}
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Date":             {now.UTC().Format(http.TimeFormat)},
			"Content-Type":     {contentType},
			"X-Amzn-Requestid": {"netfault"},
			"Content-Length":   {strconv.Itoa(len(body))},
		},
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}
}
