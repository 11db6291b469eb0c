package dynamodecider

// roomy makes the goroutine's stack large enough for the SDK in one step. An
// election gives each request a goroutine of its own, whose small stack would
// else be doubled and copied again and again while it is deep: a seventh of a
// renewal's processor time.
//
//go:noinline
func roomy() byte {
	var room [20 << 10]byte
	return room[len(deep)]
}

// deep keeps the compiler from seeing that the room stays empty.
var deep string
