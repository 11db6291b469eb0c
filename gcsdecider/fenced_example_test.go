package gcsdecider_test

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/gcsdecider"
)

// A leader that was frozen, and thaws when another one leads, can do no harm to a
// fenced object.
func ExampleFencedObject() {
	server, err := gcs.Start(&gcs.Options{Buckets: []string{"my-bucket"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	ctx := context.Background()
	client, err := gcsdecider.NewClient(ctx, option.WithEndpoint(server.ClientEndpoint()), option.WithoutAuthentication())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	report := gcsdecider.NewFencedObject(client, "my-bucket", "reports/latest", nil)
	fmt.Println(report.Write(ctx, 42, []byte("by the new leader"))) // 42 is its Leadership.FencingToken

	err = report.Write(ctx, 41, []byte("by the old leader"))
	fmt.Println(errors.Is(err, gcsdecider.ErrStaleToken))

	latest, err := report.Read(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, token %d\n", latest.Data, latest.Token)
	// Output:
	// <nil>
	// true
	// by the new leader, token 42
}
