package wire

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// Tool is a definition in a service's dialect.
type Tool struct {
	Name, About string
	Parameters  json.RawMessage // nil: none
	Index       int             // place in the request
}

// toolKey says whether a definition is one that was seen before. The address
// of its parameters stands for their text: nobody edits raw JSON in place.
type toolKey struct {
	name, about string
	params      *byte
	length      int
	dialect     string
	plain       bool
}

func keyOf(d provider.Dialect, def *tool.Definition) toolKey {
	k := toolKey{name: def.Function.Name, about: def.Function.Description, length: len(def.Function.Parameters), dialect: d.Name, plain: d.NoPatterns}
	if k.length > 0 {
		k.params = &def.Function.Parameters[0]
	}
	return k
}

type compiled struct {
	Tool
	err     error
	noticed bool
}

// toolCache holds what was compiled at first use, for the life of a client.
type toolCache struct {
	mu      sync.Mutex
	by      map[toolKey]*compiled
	refused map[string]string // by name and parameters: why the service does not take it
}

// maxTools is more than any set of tools; hosts that change theirs all the
// time must not fill the memory.
const maxTools = 4096

// compile translates definitions and names the ones that are left out; each is
// named once.
func (c *toolCache) compile(d provider.Dialect, defs []tool.Definition, a Adapted) (tools []Tool, notices []string) {
	if a.NoTools || len(defs) == 0 {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by) > maxTools || c.by == nil {
		c.by = map[toolKey]*compiled{}
	}
	tools = make([]Tool, 0, len(defs))
	seen := make(map[string]bool, len(defs))
	for i := range defs {
		def := &defs[i]
		key := keyOf(d, def)
		t := c.by[key]
		if t == nil {
			t = newTool(d, def)
			c.by[key] = t
		}
		err := t.err
		name := def.Function.Name
		if err == nil && seen[name] {
			err = fmt.Errorf("another tool has its name")
		}
		if len(c.refused) > 0 {
			if _, no := c.refused[refusal(def)]; no {
				continue // a person was told when it happened
			}
		}
		if err != nil {
			if !t.noticed {
				t.noticed = true
				notices = append(notices, fmt.Sprintf("tool %s is left out: %v", name, err))
			}
			continue
		}
		seen[name] = true
		out := t.Tool
		out.Index = i
		tools = append(tools, out)
	}
	return tools, notices
}

func refusal(def *tool.Definition) string {
	return def.Function.Name + "\x00" + string(def.Function.Parameters)
}

// refuse remembers that the service does not take a tool.
func (c *toolCache) refuse(def *tool.Definition, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil {
		c.refused = map[string]string{}
	}
	c.refused[refusal(def)] = why
}

func newTool(d provider.Dialect, def *tool.Definition) *compiled {
	t := &compiled{Tool: Tool{Name: def.Function.Name, About: def.Function.Description}}
	if !validName(t.Name) {
		t.err = fmt.Errorf("its name is not one that services take (letters, digits, _ and -, at most 64)")
		return t
	}
	t.Parameters, t.err = d.Compile(def.Function.Parameters)
	return t
}

func validName(s string) bool {
	if s == "" || len(s) > 64 || s[0] >= '0' && s[0] <= '9' || s[0] == '-' {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			return false
		}
	}
	return true
}
