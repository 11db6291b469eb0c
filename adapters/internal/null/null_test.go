package null_test

import (
	"testing"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
)

func TestIs(t *testing.T) {
	for _, v := range []any{nil, (*int)(nil), map[string]int(nil), (func())(nil), (chan int)(nil), []int(nil)} {
		if !null.Is(v) {
			t.Errorf("%T is nil", v)
		}
	}
	for _, v := range []any{0, "", new(int), []int{}, struct{}{}, func() {}} {
		if null.Is(v) {
			t.Errorf("%T is not nil", v)
		}
	}
}
