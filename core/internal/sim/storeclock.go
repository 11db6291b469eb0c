package sim

import (
	"time"

	"github.com/vimeo/go-clocks"
)

// storeClock is that of a store whose servers do not quite agree.
type storeClock struct {
	clocks.Clock
	Store
	seed uint64
}

// Now is the clock of the server that answers at this instant.
func (c *storeClock) Now() time.Time {
	now := time.Now()
	return now.Add(c.Offset + time.Duration(mix(c.seed^uint64(now.UnixNano()))%uint64(c.Spread+1)))
}

// tells whether the answer of this instant has the store's time.
func (c *storeClock) tells() bool {
	return float64(mix(c.seed+uint64(time.Now().UnixNano()))>>11)/(1<<53) < c.Tells
}

// mix makes a number that looks random out of one that does not.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
