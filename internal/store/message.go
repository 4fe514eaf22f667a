package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/chat"
)

// encoded marks content that is a list of parts, written as JSON behind it.
const encoded = "\x00json:"

// text columns of a message in the order of messageColumns, from "content" on,
// without the two numbers.
const (
	colContent = iota
	colCallID
	colCalls
	colName
	colFinish
	colReasoning
	colReasoningContent
	colDetails
	colCodexReasoning
	colCodexMessages
	textColumns
)

// row is a message as the messages table has it.
type row struct {
	role   string
	text   [textColumns]sql.NullString
	tokens sql.NullInt64
	extra  string // JSON of extra, "" when the columns say everything
}

// extra is what the columns of a message cannot say.
type extra struct {
	Fields map[string]string `json:"f,omitempty"` // chat.Message.Extra, raw JSON as text
	Name   string            `json:"n,omitempty"` // a name on a role other than tool
	Usage  *[6]int           `json:"u,omitempty"`
	Plain  bool              `json:"p,omitempty"` // text that happens to begin like encoded content
	Bytes  map[int][]byte    `json:"b,omitempty"` // columns that are no UTF-8
	Args   map[int][]byte    `json:"a,omitempty"` // likewise arguments of tool calls
	Odd    map[string][]byte `json:"o,omitempty"` // likewise Fields
}

func (x *extra) empty() bool {
	return x.Fields == nil && x.Name == "" && x.Usage == nil && !x.Plain && x.Bytes == nil && x.Args == nil && x.Odd == nil
}

func set(s string) sql.NullString { return sql.NullString{String: s, Valid: true} }

func setIf(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// toRow encodes m. The original reads what it can from the columns; anything
// it could not hold exactly goes to extra.
func toRow(m chat.Message) (row, error) {
	r := row{role: string(m.Role)}
	var x extra
	switch {
	case m.Content.Parts != nil:
		s, err := joinJSON(m.Content.Parts)
		if err != nil {
			return row{}, err
		}
		r.text[colContent] = set(encoded + s)
	case m.Content.Text == "" && len(m.ToolCalls) > 0:
		// null, as providers write it
	default:
		r.text[colContent] = set(m.Content.Text)
		x.Plain = strings.HasPrefix(m.Content.Text, encoded)
	}
	if m.Role == chat.Tool {
		r.text[colName] = set(m.Name)
	} else {
		x.Name = m.Name
	}
	if len(m.ToolCalls) > 0 {
		s, err := joinJSON(m.ToolCalls)
		if err != nil {
			return row{}, err
		}
		r.text[colCalls] = set(s)
		for i, c := range m.ToolCalls {
			if !utf8.ValidString(c.Function.Arguments) {
				put(&x.Args, i, []byte(c.Function.Arguments))
			}
		}
	}
	r.text[colCallID] = setIf(m.ToolCallID)
	r.text[colFinish] = setIf(m.FinishReason)
	r.text[colReasoning] = setIf(m.Reasoning)
	if m.ReasoningContent != nil {
		r.text[colReasoningContent] = set(*m.ReasoningContent)
	}
	r.text[colDetails] = setIf(string(m.ReasoningDetails))
	r.text[colCodexReasoning] = setIf(string(m.CodexReasoningItems))
	r.text[colCodexMessages] = setIf(string(m.CodexMessageItems))
	for i, t := range r.text {
		if !utf8.ValidString(t.String) {
			// The original's driver refuses such text; it reads a mended copy.
			put(&x.Bytes, i, []byte(t.String))
			r.text[i].String = chat.ValidUTF8(t.String)
		}
	}
	for k, v := range m.Extra {
		if utf8.Valid(v) {
			put(&x.Fields, k, string(v))
		} else {
			put(&x.Odd, k, []byte(v))
		}
	}
	if u := m.Usage; u != nil {
		x.Usage = &[6]int{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Calls}
		r.tokens = sql.NullInt64{Int64: int64(u.Output), Valid: true}
	}
	if x.empty() {
		return r, nil
	}
	b, err := json.Marshal(x)
	if err != nil {
		return row{}, err
	}
	r.extra = string(b)
	return r, nil
}

// toMessage decodes a row. Rows of the original are taken as they are; what
// cannot be decoded is kept as text rather than lost.
func (r *row) toMessage() (chat.Message, error) {
	m := chat.Message{Role: chat.Role(r.role)}
	var x extra
	if r.extra != "" {
		if err := json.Unmarshal([]byte(r.extra), &x); err != nil {
			return m, fmt.Errorf("decode extra fields: %w", err)
		}
	}
	for i, b := range x.Bytes {
		if i >= 0 && i < textColumns {
			r.text[i].String = string(b)
		}
	}
	m.Content = toContent(r.text[colContent].String, x.Plain)
	m.Name, m.ToolCallID = r.text[colName].String, r.text[colCallID].String
	if x.Name != "" {
		m.Name = x.Name
	}
	if r.text[colCalls].String != "" {
		// Damaged JSON would make the whole session unreadable; without its
		// calls the message is at least there.
		_ = json.Unmarshal([]byte(r.text[colCalls].String), &m.ToolCalls)
		for i, b := range x.Args {
			if i >= 0 && i < len(m.ToolCalls) {
				m.ToolCalls[i].Function.Arguments = string(b)
			}
		}
	}
	m.FinishReason, m.Reasoning = r.text[colFinish].String, r.text[colReasoning].String
	if t := r.text[colReasoningContent]; t.Valid {
		m.ReasoningContent = &t.String
	}
	m.ReasoningDetails = raw(r.text[colDetails].String)
	m.CodexReasoningItems = raw(r.text[colCodexReasoning].String)
	m.CodexMessageItems = raw(r.text[colCodexMessages].String)
	if x.Fields != nil || x.Odd != nil {
		m.Extra = make(map[string]json.RawMessage, len(x.Fields)+len(x.Odd))
		for k, v := range x.Fields {
			m.Extra[k] = json.RawMessage(v)
		}
		for k, v := range x.Odd {
			m.Extra[k] = v
		}
	}
	if u := x.Usage; u != nil {
		m.Usage = &chat.Usage{Input: u[0], Output: u[1], CacheRead: u[2], CacheWrite: u[3], Reasoning: u[4], Calls: u[5]}
	}
	return m, nil
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func toContent(s string, plain bool) chat.Content {
	body, ok := strings.CutPrefix(s, encoded)
	if !ok || plain {
		return chat.Text(s)
	}
	var c chat.Content
	if json.Unmarshal([]byte(body), &c) == nil {
		return c
	}
	if b := []byte(body); json.Valid(b) {
		// The original encodes any value that is no text, a lone object too.
		return chat.Content{Parts: []chat.Part{{Type: "text", Raw: bytes.TrimSpace(b)}}}
	}
	return chat.Text(body)
}

// joinJSON writes a list whose elements keep their bytes: encoding/json would
// squeeze the white space out of raw values.
func joinJSON[T json.Marshaler](list []T) (string, error) {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		e, err := v.MarshalJSON()
		if err != nil {
			return "", err
		}
		b.Write(e)
	}
	b.WriteByte(']')
	return b.String(), nil
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}
