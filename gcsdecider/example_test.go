package gcsdecider_test

import (
	"context"
	"fmt"

	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/gcsdecider"
)

// A decider is made without a request; the election that it is given to
// (core.Config.Decider) sends the first.
func Example() {
	ctx := context.Background()
	client, err := gcsdecider.NewClient(ctx, option.WithoutAuthentication()) // without options: the usual credentials
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	decider := gcsdecider.NewDecider(client, "my-bucket", "elections/nightly", nil)
	fmt.Println(decider, "renews at most every", decider.MinWriteInterval())
	// Output: gs://my-bucket/elections/nightly renews at most every 1s
}

// A version that a message has named is the condition for replacing just that.
func ExampleDecider_TokenFor() {
	decider := gcsdecider.NewDecider(nil, "my-bucket", "elections/nightly", nil)
	token, err := decider.TokenFor("1735787045000001")
	fmt.Println(token, err)
	// Output: 1735787045000001 <nil>
}
