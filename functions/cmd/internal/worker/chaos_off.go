//go:build !chaos

package worker

import (
	"encoding/json"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
)

// chaos is what tests do to a sandbox. A program that is deployed has none of it.
type chaos struct{ clock clocks.Clock }

func newChaos(*settings.Reader) chaos { return chaos{} }

func (chaos) work(json.RawMessage) {}
