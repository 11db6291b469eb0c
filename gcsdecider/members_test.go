package gcsdecider

import (
	"context"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
)

// TestMembers: two hundred elections by name over one bucket and one client.
func TestMembers(t *testing.T) {
	client := emulatorClient(t, newEmulator(t).Server, newWay(t, nil))
	decidertest.RunMembers(t, func(_ context.Context, name string) (core.RaceDecider, error) {
		return NewDecider(client, testBucket, "elections/"+name, nil), nil
	})
}
