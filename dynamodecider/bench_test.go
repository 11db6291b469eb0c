//go:build unix

package dynamodecider

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// serveVar makes this test's program a server that says yes to everything: in a
// process of its own, so that its work is not counted as the client's.
const serveVar = "CLOUDELECT_BENCH_SERVE"

func serveIfAsked() {
	if os.Getenv(serveVar) == "" {
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin) // until the client has gone
		os.Exit(0)
	}()
	err = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("X-Amzn-Requestid", "AB12CD34EF56GH78IJ90KLMN")
		io.WriteString(w, "{}")
	}))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// otherProcess starts that server.
func otherProcess(b *testing.B) (root string) {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), serveVar+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	must(b, err)
	return "http://" + strings.TrimSpace(addr)
}

// cpuTime is what this process has used, in user and in system mode.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const (
	rounds   = 40  // alternate, so that what else the machine does meets all alike
	perSlice = 100 // requests
)

// BenchmarkRenew is the processor time that a client spends on a renewal, over HTTP,
// to a server in another process: of the election as a whole, of the decider, and of
// the bare SDK with the same request. The median of the slices is reported, and
// the least, which is nearest to what an idle machine would show.
//
//	go test -run '^$' -bench Renew -benchtime 1x ./dynamodecider
func BenchmarkRenew(b *testing.B) {
	root := otherProcess(b)
	own := &http.Transport{MaxConnsPerHost: 1} // renewals never overlap
	b.Cleanup(own.CloseIdleConnections)
	client := retrying(&http.Client{Transport: own}, root)
	d := NewDecider(client, testTable, testName, nil)
	ctx := context.Background()
	l, err := core.Config{Decider: d, LeaderID: "worker-1", HostPort: []string{"10.0.0.1:80"}, ManualRenew: true, TermLength: time.Hour}.Campaign(ctx)
	must(b, err)
	written := sampleEntry(nonceToken("nonce-0", time.Time{}))
	kinds := []struct {
		name string
		do   func() error
		cost []float64
	}{
		{name: "renewal", do: func() error { return l.Renew(ctx) }},
		{name: "decider", do: func() error { _, err := d.WriteEntry(ctx, written); return err }},
		{name: "bare", do: func() error { return bareWrite(ctx, client, d.key, written) }},
	}
	for b.Loop() {
		for range rounds {
			for i := range kinds {
				before := cpuTime(b)
				for range perSlice {
					must(b, kinds[i].do())
				}
				kinds[i].cost = append(kinds[i].cost, float64((cpuTime(b)-before).Nanoseconds())/1e3/perSlice)
			}
		}
	}
	for _, k := range kinds {
		slices.Sort(k.cost)
		b.ReportMetric(k.cost[len(k.cost)/2], "cpu-µs/"+k.name)
		b.ReportMetric(k.cost[0], "least-µs/"+k.name)
	}
	must(b, l.Resign(ctx))
}

// bareWrite sends what WriteEntry would.
func bareWrite(ctx context.Context, client *dynamodb.Client, key item, e *entry.RaceEntry) error {
	table, expression, condition, values := testTable, assign, "nonce=:w", assigned(e)
	values[":w"] = text("nonce-0")
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &table, Key: key, UpdateExpression: &expression,
		ConditionExpression: &condition, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}
