package dynamodecider

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// FuzzDecodeItem: whatever an item holds, decode returns an entry that may be
// written again, to any store, and reads the same, or an error on one line that Is
// ErrBadEntry; and the item has a token either way.
func FuzzDecodeItem(f *testing.F) {
	for _, seed := range []string{
		sampleItem, `{}`, `{"cloudelect":{"N":"1"}}`, `{"cloudelect":{"N":"2"},"nonce":{"S":"n"}}`, `{"held":{"NULL":true},"host_port":{"L":[{"M":{}}]}}`,
		`{"host_port":{"SS":["a","b"]},"checkpoint":{"BS":["YQ==","Yg=="]},"fencing_token":{"NS":["1"]},"nonce":{"new":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var raw map[string]map[string]any
		if json.Unmarshal(content, &raw) != nil {
			return
		}
		it := item{}
		for name, value := range raw {
			it[name] = fromJSON(value)
		}
		checkBadToken(t, it)
		e, err := decode(it)
		if err != nil {
			if e != nil || !errors.Is(err, core.ErrBadEntry) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%+v, %v", e, err)
			}
			return
		}
		if err := e.Validate(); err != nil || e.Absent() {
			t.Fatalf("%+v was decoded, and is not an entry: %v", e, err)
		}
		again, err := decode(stored(e))
		if err != nil || !reflect.DeepEqual(e, again) {
			t.Fatalf("%+v is read again as %+v, %v", e, again, err)
		}
		b, err := entry.Encode(e)
		if err != nil {
			t.Fatalf("%+v cannot be written elsewhere: %v", e, err)
		}
		if elsewhere, err := entry.Decode(b); err != nil || !reflect.DeepEqual(e, elsewhere) {
			t.Fatalf("%+v is elsewhere %+v, %v", e, elsewhere, err)
		}
	})
}

var placeholders = regexp.MustCompile(`:w[0-9]+`)

// checkBadToken: the token of what is no entry is the same for the same content, and its
// condition uses each of its values, and nothing else: DynamoDB refuses to be sent others.
func checkBadToken(t *testing.T, it item) {
	t.Helper()
	token := badToken(it, time.Time{})
	if again := badToken(maps.Clone(it), time.Time{}); again.String() != token.String() || !strings.HasPrefix(token.String(), itemMark) {
		t.Fatalf("tokens %s and %s", token, again)
	}
	used := map[string]bool{}
	for _, p := range placeholders.FindAllString(token.condition, -1) {
		if used[p] = true; token.values[p] == nil {
			t.Fatalf("%s is not among the values of %q", p, token.condition)
		}
	}
	if len(used) != len(token.values) {
		t.Fatalf("condition %q with the values %v", token.condition, token.values)
	}
}

// fromJSON is a value in DynamoDB's JSON, as far as a fuzzer gets it right. Of several
// kinds the first in this order counts.
func fromJSON(value map[string]any) types.AttributeValue {
	for _, kind := range []string{"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"} {
		v, ok := value[kind]
		if !ok {
			continue
		}
		s, _ := v.(string)
		elements, _ := v.([]any)
		switch kind {
		case "S":
			return text(s)
		case "N":
			return &types.AttributeValueMemberN{Value: s}
		case "B":
			return binary([]byte(s))
		case "BOOL":
			return &types.AttributeValueMemberBOOL{Value: v == true}
		case "NULL":
			return null
		case "SS":
			return &types.AttributeValueMemberSS{Value: words(elements)}
		case "NS":
			return &types.AttributeValueMemberNS{Value: words(elements)}
		case "BS":
			return &types.AttributeValueMemberBS{Value: [][]byte{[]byte(fmt.Sprint(elements...))}}
		case "L":
			list := &types.AttributeValueMemberL{}
			for _, element := range elements {
				inner, _ := element.(map[string]any)
				list.Value = append(list.Value, fromJSON(inner))
			}
			return list
		}
		return &types.AttributeValueMemberM{Value: item{"x": text(fmt.Sprint(v))}}
	}
	return &types.UnknownUnionMember{Tag: "new"}
}

func words(elements []any) (texts []string) {
	for _, e := range elements {
		texts = append(texts, fmt.Sprint(e))
	}
	return texts
}
