package compact

import (
	"context"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
)

// sizes are the limits of one compaction, in tokens.
type sizes struct {
	window  int
	room    int // for messages below the threshold
	head    int
	tail    int // of the newest messages
	ceiling int // how far the tail may grow to end at a good place
	summary int
	record  int // of the list of calls
	input   int // of what one side call is shown
}

func (c *Compactor) sizes(ctx context.Context, s *agent.Session, now int, why agent.Reason) sizes {
	overhead := 0
	if c.Overhead != nil {
		overhead = c.Overhead(ctx, s)
	}
	z := sizes{window: s.Window}
	if z.window <= 0 { // nobody knows it; what is there now does not fit
		z.window = overhead + now
	}
	limit := agent.ThresholdOf(z.window, c.Threshold)
	z.room = max(limit-overhead, limit/4, 1000)
	z.head = z.room / 5
	z.tail = min(int(float64(limit)*c.Target), z.room*2/5)
	if why == agent.Manual { // who asks wants to see something done
		z.head, z.tail = min(z.head, now/5), min(z.tail, now/4)
	}
	z.ceiling = min(z.tail*3/2, z.room/2)
	most := max(min(z.window/20, 12_000), 500)
	z.summary = min(max(now/5, 2000), most)
	z.record = min(z.room/10, 3000)
	// A side call has the same window as a rule; after a failure it is shown less.
	z.input = max(z.window/2>>min(c.fails, 3), 2000)
	return z
}

// protected is the index from which tool outputs stay as they are: the newest
// messages up to the size of the tail, and at least so many while half of the
// room holds them.
func (z sizes) protected(m []chat.Message, least int) int {
	tokens := 0
	for i := len(m) - 1; i >= 0; i-- {
		tokens += agent.Tokens(m[i])
		if tokens > z.tail && len(m)-i > least || tokens > z.room/2 {
			return min(i+1, len(m)-1)
		}
	}
	return 0
}
