package compact

import (
	"errors"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
)

const (
	headMessages = 3 // kept from the beginning
	leastTail    = 3
	leastCut     = 2   // fewer are not worth a side call
	leastTokens  = 300 // about what a note has without its summary
)

// cuts say what stays: [:head] and [tail:]; what lies between is summed up.
// lifted is the message that is being answered, when it lies between: it is
// kept to the letter behind the summary. -1: it stays where it is.
type cuts struct{ head, tail, lifted int }

var errShort = errors.New("there is nothing between its beginning and its newest messages that could be left out")

// choose finds the cuts. Every call stays with its results, pieces of one
// answer stay together, and the live request is never lost. note is where an
// earlier summary stood.
func choose(m []chat.Message, note int, z sizes) (cuts, error) {
	live := liveRequest(m)
	k := cuts{tail: tailOf(m, z, live), lifted: -1}
	inChain := m[min(k.tail, len(m)-1)].Role != chat.User
	k.head = headOf(m, min(k.tail, note), z.head)
	clash := chat.Assistant // the summary's role, which no neighbour may have
	if inChain {
		clash = chat.User
	}
	for k.head > 0 && m[k.head-1].Role == clash {
		k.head = before(m, k.head)
	}
	if live >= k.head && live < k.tail {
		k.lifted = live
	}
	cut := k.tail - k.head
	if k.lifted >= 0 {
		cut--
	}
	if cut < leastCut || agent.Tokens(m[k.head:k.tail]...) < leastTokens {
		return k, errShort
	}
	return k, nil
}

// liveRequest is the newest thing that a person asked, not said in between.
func liveRequest(m []chat.Message) int {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i].Role == chat.User && !agent.Steer(m[i]) {
			return i
		}
	}
	return -1
}

// boundary reports whether a part may begin at i.
func boundary(m []chat.Message, i int) bool {
	switch {
	case i <= 0 || i >= len(m):
		return true
	case m[i].Role == chat.Tool || agent.Steer(m[i]):
		return false
	case m[i].Role == chat.Assistant && m[i-1].Role == chat.Assistant:
		return false // pieces of one answer
	}
	return true
}

// before is the nearest boundary below i.
func before(m []chat.Message, i int) int {
	for i--; i > 0 && !boundary(m, i); i-- {
	}
	return max(i, 0)
}

// after is the nearest boundary above i.
func after(m []chat.Message, i int) int {
	for i++; i < len(m) && !boundary(m, i); i++ {
	}
	return min(i, len(m))
}

// headOf is the end of the beginning that stays.
func headOf(m []chat.Message, end, most int) int {
	head := min(headMessages, len(m))
	for head < len(m) && !boundary(m, head) {
		head++
	}
	for head > 0 && (head > end || agent.Tokens(m[:head]...) > most) {
		head = before(m, head)
	}
	return head
}

// tailOf is the beginning of the newest messages that stay. It is a message of
// the person where there is one near; within a long chain of calls it is an
// answer.
func tailOf(m []chat.Message, z sizes, live int) int {
	at, tokens := len(m), 0
	for at > 0 {
		n := agent.Tokens(m[at-1])
		if tokens+n > z.tail && len(m)-at >= leastTail || tokens+n > z.ceiling && at < len(m) {
			break
		}
		at--
		tokens += n
	}
	if !boundary(m, at) {
		if low := before(m, at); agent.Tokens(m[low:]...) <= z.ceiling || after(m, at) >= len(m) {
			at = low
		} else {
			at = after(m, at)
		}
	}
	if at >= len(m) {
		at = before(m, len(m))
	}
	if live >= 0 && at > live {
		if agent.Tokens(m[live:]...) <= z.room/2 {
			return live // the whole of what is being done stays
		}
		return at
	}
	if live < 0 {
		return at
	}
	for low := at; low > 0; low = before(m, low) {
		if m[low].Role == chat.User {
			if agent.Tokens(m[low:]...) <= z.ceiling {
				return low
			}
			break
		}
	}
	for at < len(m) && m[at].Role != chat.User {
		at = after(m, at)
	}
	return at
}
