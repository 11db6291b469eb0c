//go:build !linux

package chaos

import (
	"context"
	"errors"
)

// Run refuses.
func Run(context.Context, Options) (Result, error) {
	return Result{}, errors.New("chaos: it takes Linux, which tells about processes what the umpire has to know")
}
