package compat

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hermes-go/hermes/internal/wire"
)

// details joins the reasoning_details of a stream: pieces of one entry come as
// entries of the same type and index, and the service wants the joined one
// back.
type details struct {
	list []map[string]json.RawMessage
}

func (d *details) add(raw json.RawMessage) {
	if wire.IsNull(raw) {
		return
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, e := range list {
		if n := len(d.list); n > 0 && continues(d.list[n-1], e) {
			join(d.list[n-1], e)
			continue
		}
		own := make(map[string]json.RawMessage, len(e))
		for k, v := range e {
			own[k] = bytes.Clone(v)
		}
		d.list = append(d.list, own)
	}
}

// continues reports whether b is a further piece of a. Encrypted entries are
// whole.
func continues(a, b map[string]json.RawMessage) bool {
	kind := wire.TextOf(b["type"])
	if kind != wire.TextOf(a["type"]) || kind == "reasoning.encrypted" || !bytes.Equal(a["index"], b["index"]) {
		return false
	}
	return wire.IsNull(a["id"]) || wire.IsNull(b["id"]) || bytes.Equal(a["id"], b["id"])
}

func join(a, b map[string]json.RawMessage) {
	for k, v := range b {
		switch k {
		case "text", "summary":
			if joined, err := wire.JSON(wire.TextOf(a[k]) + wire.TextOf(v)); err == nil {
				a[k] = joined
			}
		default:
			if !wire.IsNull(v) {
				a[k] = bytes.Clone(v)
			}
		}
	}
}

func (d *details) raw() json.RawMessage {
	if len(d.list) == 0 {
		return nil
	}
	raw, err := wire.JSON(d.list)
	if err != nil {
		return nil // made of valid JSON only
	}
	return raw
}

// text is what a person may read of them.
func (d *details) text() string {
	var parts []string
	for _, e := range d.list {
		for _, k := range [...]string{"summary", "thinking", "content", "text"} {
			if s := wire.TextOf(e[k]); s != "" {
				parts = append(parts, s)
				break
			}
		}
	}
	return strings.Join(parts, "\n\n")
}
