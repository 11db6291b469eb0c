package badstore

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// dynamodb is JSON 1.0. Numbers pass as they are: they are never read.
type dynamodb struct {
	keyName atomic.Value // string: the partition key's, as soon as a request has named it
}

// object is a JSON object whose values nobody looks into.
type object map[string]json.RawMessage

func parse(body []byte) object {
	var o object
	if json.Unmarshal(body, &o) != nil {
		return object{} // not JSON: nothing in it is known
	}
	return o
}

func (o object) text(name string) string {
	var s string
	_ = json.Unmarshal(o[name], &s) // "" for what is no string
	return s
}

func (o object) encode() []byte {
	b, _ := json.Marshal(o) // made of JSON: cannot fail
	return b
}

func (d *dynamodb) understand(m *message) call {
	_, operation, _ := strings.Cut(m.header.Get("X-Amz-Target"), ".")
	body := parse(m.body)
	c := call{kind: Other}
	condition := body.text("ConditionExpression")
	switch operation {
	case "GetItem":
		c.kind = Read
	case "DeleteItem":
		c.kind = Delete
	case "PutItem", "UpdateItem":
		switch {
		case strings.Contains(condition, "attribute_not_exists"):
			c.kind = Create
		case condition != "":
			c.kind = Overwrite
		}
	default:
		return c
	}
	if key := parse(body["Key"]); len(key) == 1 {
		for name, value := range key {
			d.keyName.Store(name)
			c.key = parse(value).text("S")
		}
	} else if name, ok := d.keyName.Load().(string); ok { // PutItem has the key among the attributes
		c.key = parse(parse(body["Item"])[name]).text("S")
	}
	c.when = condition
	for _, name := range placeholder.FindAllString(condition, -1) {
		c.when += " " + name + "=" + string(parse(body["ExpressionAttributeValues"])[name])
	}
	return c
}

// placeholder is a name (#n) or a value (:v) in an expression.
var placeholder = regexp.MustCompile(`[#:][A-Za-z0-9_]+`)

func (*dynamodb) unconditional(m *message) {
	body := parse(m.body)
	delete(body, "ConditionExpression")
	delete(body, "ReturnValuesOnConditionCheckFailure")
	// What no expression uses any more is a mistake to the store.
	used := placeholder.FindAllString(body.text("UpdateExpression"), -1)
	for _, field := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		if body[field] == nil {
			continue
		}
		kept := parse(body[field])
		maps.DeleteFunc(kept, func(name string, _ json.RawMessage) bool { return !slices.Contains(used, name) })
		if delete(body, field); len(kept) > 0 {
			body[field] = kept.encode()
		}
	}
	m.body = body.encode()
	m.header.Del("Content-Length")
}

func (*dynamodb) refused(a *answer) bool {
	return a.status == http.StatusBadRequest && strings.Contains(parse(a.body).text("__type"), "ConditionalCheckFailed")
}

const amzJSON = "application/x-amz-json-1.0"

func (*dynamodb) yes(call, *message) *answer { return made(http.StatusOK, amzJSON, "{}") }

func (*dynamodb) forbidden(c call) *answer {
	return made(http.StatusBadRequest, amzJSON, fmt.Sprintf(`{"__type":"com.amazon.coral.service#AccessDeniedException","Message":%q}`,
		"User: arn:aws:iam::123456789012:user/nobody is not authorized to perform: dynamodb:UpdateItem"))
}

// omit leaves the key in an item: the attribute whose string was asked for.
func (*dynamodb) omit(c call, a *answer) {
	body := parse(a.body)
	for _, field := range []string{"Item", "Attributes"} {
		if body[field] == nil {
			continue
		}
		item := parse(body[field])
		maps.DeleteFunc(item, func(_ string, value json.RawMessage) bool { return parse(value).text("S") != c.key })
		body[field] = item.encode()
	}
	a.body = body.encode()
	a.header.Del("X-Amz-Crc32")
	a.resize()
}
