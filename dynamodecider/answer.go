package dynamodecider

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// answer is what DynamoDB said in place of yes.
type answer struct {
	status int    // HTTP's; 0: none
	code   string // the exception's name; "" when the answer is not the service's
	text   string // its message, in lower case
	action string // the IAM action that it names, if it does: "dynamodb:UpdateItem"
	skewed bool   // the SDK has found out that the clocks differ too much
}

// answerIn finds the answer in the client's error; false when there was none.
func answerIn(err error) (answer, bool) {
	var a answer
	var answered *smithyhttp.ResponseError
	if errors.As(err, &answered) {
		a.status = answered.HTTPStatusCode()
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		_, name, hashed := strings.Cut(api.ErrorCode(), "#")
		if !hashed {
			name = api.ErrorCode()
		}
		a.code = strings.TrimSpace(name)
		a.text, a.action = strings.ToLower(api.ErrorMessage()), actionIn(api.ErrorMessage())
		if a.code == "UnknownError" { // the SDK's word for a body without a name
			a.code = ""
		}
	}
	// With one attempt only, this is how the SDK says that it would have tried again.
	var wouldRetry *retry.MaxAttemptsError
	a.skewed = clockCodes[a.code] && errors.As(err, &wouldRetry)
	return a, a.status != 0 || a.code != ""
}

// clockCodes are the exceptions that the SDK retries only when the answer's Date
// says that the signature was made at the wrong time.
var clockCodes = map[string]bool{
	"InvalidSignatureException": true, "SignatureDoesNotMatch": true, "AuthFailure": true,
	"RequestTimeTooSkewed": true, "AccessDeniedException": true,
}

// actionIn finds the action in "User: ... is not authorized to perform:
// dynamodb:UpdateItem on resource: ..."; "" when none is named.
func actionIn(message string) string {
	for _, word := range strings.FieldsFunc(message, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == ':' || r == '-' || r == '*' || r == '/')
	}) {
		service, action, ok := strings.Cut(strings.TrimSuffix(word, ":"), ":")
		if ok && (service == "dynamodb" || service == "kms") && action != "" && !strings.ContainsAny(action, ":/") {
			return service + ":" + action
		}
	}
	return ""
}

// has tells whether the message contains one of the marks, which are in lower case.
func (a answer) has(marks ...string) bool {
	for _, m := range marks {
		if strings.Contains(a.text, m) {
			return true
		}
	}
	return false
}

// foreign tells whether somebody else has answered: a proxy, a portal, a server
// of another kind.
func (a answer) foreign() bool { return a.code == "" && a.status < http.StatusInternalServerError }
