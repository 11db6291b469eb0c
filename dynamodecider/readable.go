package dynamodecider

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// readable is an item in DynamoDB's own JSON, {"name":{"S":"text"}}, with its
// attributes in order: equal items give equal bytes.
func readable(it item) []byte {
	b, err := json.Marshal(tree(&types.AttributeValueMemberM{Value: it}).(map[string]any)["M"])
	if err != nil { // a tree of maps, lists and strings
		return []byte(err.Error())
	}
	return b
}

func tree(v types.AttributeValue) any {
	one := func(kind string, value any) any { return map[string]any{kind: value} }
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return one("S", v.Value)
	case *types.AttributeValueMemberN:
		return one("N", v.Value)
	case *types.AttributeValueMemberB:
		return one("B", v.Value)
	case *types.AttributeValueMemberBOOL:
		return one("BOOL", v.Value)
	case *types.AttributeValueMemberNULL:
		return one("NULL", v.Value)
	case *types.AttributeValueMemberSS:
		return one("SS", v.Value)
	case *types.AttributeValueMemberNS:
		return one("NS", v.Value)
	case *types.AttributeValueMemberBS:
		return one("BS", v.Value)
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, value := range v.Value {
			list[i] = tree(value)
		}
		return one("L", list)
	case *types.AttributeValueMemberM:
		fields := make(map[string]any, len(v.Value))
		for name, value := range v.Value {
			fields[name] = tree(value)
		}
		return one("M", fields)
	}
	return nil
}
