package timeline_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/timeline"
)

// Two candidates share a recorder, and a page shows what they did.
func ExampleRecorder() {
	seen := timeline.Recorder{Title: "The nightly job"}
	store := memory.NewDecider() // in production: gcsdecider.NewDecider
	for _, name := range []string{"ann", "bob"} {
		cfg := core.Config{LeaderID: name, Decider: store, OnEvent: seen.OnEvent}
		err := cfg.RunAsLeader(context.Background(), func(ctx context.Context, l *core.Leadership) error {
			time.Sleep(time.Millisecond) // the work
			return l.Check()
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	page, err := os.CreateTemp("", "election-*.html")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(page.Name()) // you would look at it first
	defer page.Close()
	if err := seen.Chart().WriteHTML(page); err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range seen.Chart().Rows {
		for _, reign := range row.Reigns {
			fmt.Println(row.Name, "led by the proof", reign.Proof, "with fencing token", reign.Token)
		}
	}
	// Output:
	// ann led by the proof vacant with fencing token 1
	// bob led by the proof vacant with fencing token 2
}
