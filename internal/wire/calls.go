package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

// Piece is a fragment of a streamed tool call. Services differ in what they
// send again, leave out or number wrongly; Calls makes the best of it.
type Piece struct {
	Index int // -1: none given
	ID    string
	Name  string
	Args  string
	Extra map[string]json.RawMessage
}

// Calls assembles tool calls from fragments.
type Calls struct {
	Known func(name string) bool // whether a tool of that name was offered; may be nil

	list []*building
	last map[int]*building
}

type building struct {
	id, name string
	args     strings.Builder
	extra    map[string]json.RawMessage
	started  bool
}

// Len is how many calls have begun.
func (c *Calls) Len() int { return len(c.list) }

// Add takes a fragment. It returns the name of the call when the fragment is
// the first that tells it, "" otherwise.
//
// A fragment continues the newest call of its index unless it shows that a new
// one begins: by a new id together with a name, by a second name, or by the
// start of an object after a whole one. A name sent again is ignored, and so is
// an id that changes in the middle of a call.
func (c *Calls) Add(p Piece) string {
	cur := c.current(p)
	if cur == nil || c.begins(cur, p) {
		cur = c.begin(p, cur)
	}
	switch {
	case cur.id == "":
		cur.id = p.ID
	case p.ID != "" && p.ID != cur.id && p.Name == "" && cur.args.Len() == 0 && !strings.HasPrefix(p.ID, cur.id):
		cur.id += p.ID // an id in two pieces
	case cur.args.Len() == 0 && strings.HasPrefix(p.ID, cur.id):
		cur.id = p.ID
	}
	c.addName(cur, p.Name)
	cur.args.WriteString(p.Args)
	for k, v := range p.Extra {
		if cur.extra == nil {
			cur.extra = map[string]json.RawMessage{}
		}
		cur.extra[k] = v
	}
	if !cur.started && cur.name != "" {
		cur.started = true
		return cur.name
	}
	return ""
}

// current is the call that a fragment belongs to unless it begins a new one.
func (c *Calls) current(p Piece) *building {
	if p.Index < 0 {
		if p.ID != "" {
			for _, b := range c.list {
				if b.id == p.ID {
					return b
				}
			}
		}
		if len(c.list) == 0 {
			return nil
		}
		return c.list[len(c.list)-1]
	}
	return c.last[p.Index]
}

func (c *Calls) begins(cur *building, p Piece) bool {
	whole := isObject(cur.args.String())
	opens := strings.HasPrefix(strings.TrimLeft(p.Args, " \r\n\t"), "{")
	if p.ID != "" && cur.id != "" && p.ID != cur.id {
		switch {
		case p.Name == "":
			return whole && opens
		case p.Name == cur.name && cur.args.Len() > 0 && !whole && !opens && p.Args != "":
			return false // a service that makes up an id for every fragment
		case cur.args.Len() == 0 && strings.HasPrefix(p.ID, cur.id) && p.Name == cur.name:
			return false // an id that grows
		}
		return true
	}
	if p.Name == "" || p.Name == cur.name || cur.name == "" {
		return false
	}
	if cur.args.Len() == 0 && (strings.HasPrefix(p.Name, cur.name) || c.known(cur.name+p.Name)) {
		return false // a name in pieces
	}
	return true
}

func (c *Calls) begin(p Piece, before *building) *building {
	b := &building{}
	if before != nil && p.Name == "" {
		b.name = before.name
	}
	c.list = append(c.list, b)
	if p.Index >= 0 {
		if c.last == nil {
			c.last = map[int]*building{}
		}
		c.last[p.Index] = b
	}
	return b
}

func (c *Calls) addName(b *building, name string) {
	switch {
	case name == "" || name == b.name:
	case b.name == "" || strings.HasPrefix(name, b.name):
		b.name = name
	case c.known(b.name + name):
		b.name += name
	}
}

func (c *Calls) known(name string) bool { return c.Known != nil && c.Known(name) }

// Finish returns the calls. Merged calls are split, missing and doubled ids
// replaced by ones made from name, arguments, position and salt. Entries
// without a name are dropped: nobody could run them.
func (c *Calls) Finish(salt int) []chat.ToolCall {
	var out []chat.ToolCall
	used := map[string]bool{}
	for _, b := range c.list {
		if b.name == "" {
			continue
		}
		for i, args := range splitArgs(b.args.String()) {
			id := b.id
			if i > 0 {
				id = ""
			}
			if id == "" || used[id] {
				id = MakeID(b.name, args, len(out), salt)
			}
			used[id] = true
			call := chat.NewCall(id, b.name, args)
			if i == 0 {
				call.Extra = b.extra
			}
			out = append(out, call)
		}
	}
	return out
}

// MakeID makes a call id that is the same for the same call at the same place
// of the same conversation.
func MakeID(name, args string, index, salt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d", name, args, index, salt))
	return "call_" + hex.EncodeToString(sum[:12])
}

// splitArgs cuts "{...}{...}" into its objects when every one is whole, and
// leaves everything else alone.
func splitArgs(args string) []string {
	if !strings.HasPrefix(strings.TrimSpace(args), "{") || json.Valid([]byte(args)) {
		return []string{args}
	}
	dec := json.NewDecoder(strings.NewReader(args))
	var list []string
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			if rest := args[dec.InputOffset():]; strings.TrimSpace(rest) != "" {
				return []string{args}
			}
			break
		}
		if raw = bytes.TrimSpace(raw); raw[0] != '{' {
			return []string{args}
		}
		list = append(list, string(raw))
	}
	if len(list) < 2 {
		return []string{args}
	}
	return slices.Clip(list)
}

func isObject(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 1 && s[0] == '{' && s[len(s)-1] == '}' && json.Valid([]byte(s))
}
