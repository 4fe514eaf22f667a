package compact

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

// record lists the calls that were left out, so that none is made again
// because its result is no longer to be seen. It is written by the program and
// not by a model.
type record struct {
	more  int // older calls that are no longer listed
	lines []string
}

const moreCalls = "- and %d before them"

func (r record) String() string {
	var b strings.Builder
	if r.more > 0 {
		fmt.Fprintf(&b, moreCalls+"\n", r.more)
	}
	for _, l := range r.lines {
		fmt.Fprintf(&b, "- %s\n", l)
	}
	return b.String()
}

// read takes up a record as String writes it.
func (r *record) read(text string) {
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		var n int
		if _, err := fmt.Sscanf(l, moreCalls, &n); err == nil {
			r.more += n
		} else if l, ok := strings.CutPrefix(l, "- "); ok {
			r.lines = append(r.lines, l)
		}
	}
}

// with adds the calls of messages, as their results were before pruning, and
// keeps the newest that most tokens hold.
func (r record) with(m []chat.Message, results map[string]string, most int) record {
	out := record{more: r.more, lines: append([]string(nil), r.lines...)}
	for _, x := range m {
		for _, c := range x.ToolCalls {
			line := results[c.ID]
			if !strings.HasPrefix(line, "["+c.Function.Name+"] ") { // else an earlier pruning has said it
				line = describe(c, line)
			}
			out.lines = append(out.lines, shortID(c.ID)+": "+oneLine(line, 400))
		}
	}
	size := 0
	for i := len(out.lines) - 1; i >= 0; i-- {
		if size += len(out.lines[i]) + 3; size > most*4 {
			out.more += i + 1
			out.lines = out.lines[i+1:]
			break
		}
	}
	return out
}

// resultsOf are the texts of results by the id of their call.
func resultsOf(m []chat.Message) map[string]string {
	out := map[string]string{}
	for i := range m {
		if m[i].Role == chat.Tool {
			out[m[i].ToolCallID] = m[i].Content.String()
		}
	}
	return out
}

func shortID(id string) string {
	const most = 24
	if len(id) > most {
		return strconv.QuoteToASCII(id[:most])
	}
	return id
}
