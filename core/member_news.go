package core

import (
	"sync"

	"github.com/cloudelect/cloudelect/core/entry"
)

// news tells OnNewLeader who leads. It has a goroutine while there is something
// to tell. Nothing is left out: a callback that is slow is behind, and one that
// hangs lets the queue grow by one name for each change of leader.
type news struct {
	tell func(identity string)

	mu      sync.Mutex // a leaf: not held while tell runs
	leader  string     // "": nobody leads
	queue   []string
	telling sync.WaitGroup // while there is a queue
	busy    bool
}

// noted takes in that e is another leader, another reign or a vacancy.
func (n *news) noted(e *entry.RaceEntry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.leader
	n.leader = e.LeaderID
	if e.Held { // a reign that is over and only keeps the election closed
		n.leader = ""
	}
	if n.leader == "" || n.leader == before {
		return
	}
	n.queue = append(n.queue, n.leader)
	if !n.busy {
		n.busy = true
		n.telling.Go(n.deliver)
	}
}

func (n *news) deliver() {
	finished := false
	defer func() {
		if !finished { // the callback has ended this goroutine (runtime.Goexit): the next one goes on
			n.mu.Lock()
			n.busy = false
			n.mu.Unlock()
		}
	}()
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.busy, finished = false, true
			n.mu.Unlock()
			return
		}
		next := n.queue[0]
		n.queue = n.queue[1:]
		n.mu.Unlock()
		n.tell(next)
	}
}

// drain waits until everything is told. Nothing is noted any more.
func (n *news) drain() { n.telling.Wait() }
