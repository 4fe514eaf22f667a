package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Format is a form of export.
type Format string

// JSONL holds everything, one session a line, and can be imported again; the
// other two are for reading.
const (
	JSONL    Format = "jsonl"
	Markdown Format = "md"
	HTML     Format = "html"
)

// line is a session as JSONL has it: the columns of its row, then its messages.
// The original writes the same.
type line struct {
	ID               string        `json:"id"`
	Source           string        `json:"source"`
	UserID           *string       `json:"user_id"`
	Model            *string       `json:"model"`
	ModelConfig      *string       `json:"model_config"`
	SystemPrompt     *string       `json:"system_prompt"`
	Parent           *string       `json:"parent_session_id"`
	Started          float64       `json:"started_at"`
	Ended            *float64      `json:"ended_at"`
	EndReason        *string       `json:"end_reason"`
	MessageCount     int           `json:"message_count"`
	ToolCallCount    int           `json:"tool_call_count"`
	InputTokens      int           `json:"input_tokens"`
	OutputTokens     int           `json:"output_tokens"`
	CacheReadTokens  int           `json:"cache_read_tokens"`
	CacheWriteTokens int           `json:"cache_write_tokens"`
	ReasoningTokens  int           `json:"reasoning_tokens"`
	BillingProvider  *string       `json:"billing_provider"`
	BillingBaseURL   *string       `json:"billing_base_url"`
	BillingMode      *string       `json:"billing_mode"`
	EstimatedCost    *float64      `json:"estimated_cost_usd"`
	ActualCost       *float64      `json:"actual_cost_usd"`
	CostStatus       *string       `json:"cost_status"`
	CostSource       *string       `json:"cost_source"`
	PricingVersion   *string       `json:"pricing_version"`
	Title            *string       `json:"title"`
	APICalls         int           `json:"api_call_count"`
	Messages         []messageLine `json:"messages"`
	Key              string        `json:"hermes_go_key,omitempty"` // tells lines of the spool apart
}

// messageLine is a row of messages. Columns that hold JSON are written as such.
type messageLine struct {
	ID               int64           `json:"id"`
	SessionID        string          `json:"session_id"`
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ToolCallID       *string         `json:"tool_call_id"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
	ToolName         *string         `json:"tool_name"`
	Timestamp        float64         `json:"timestamp"`
	TokenCount       *int64          `json:"token_count"`
	FinishReason     *string         `json:"finish_reason"`
	Reasoning        *string         `json:"reasoning"`
	ReasoningContent *string         `json:"reasoning_content"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	CodexReasoning   json.RawMessage `json:"codex_reasoning_items"`
	CodexMessages    json.RawMessage `json:"codex_message_items"`
	Extra            *string         `json:"hermes_go_extra,omitempty"`
}

func toLine(s Session, rows []rawRow) line {
	l := line{
		ID: s.ID, Source: s.Source, UserID: orNull(s.UserID), Model: orNull(s.Model), ModelConfig: orNull(string(s.ModelConfig)),
		SystemPrompt: orNull(s.SystemPrompt), Parent: orNull(s.Parent), Started: epoch(s.Started), EndReason: orNull(s.EndReason),
		MessageCount: s.Messages, ToolCallCount: s.ToolCalls, InputTokens: s.Usage.Input, OutputTokens: s.Usage.Output,
		CacheReadTokens: s.Usage.CacheRead, CacheWriteTokens: s.Usage.CacheWrite, ReasoningTokens: s.Usage.Reasoning, APICalls: s.Usage.Calls,
		BillingProvider: orNull(s.Billing.Provider), BillingBaseURL: orNull(s.Billing.BaseURL), BillingMode: orNull(s.Billing.Mode),
		EstimatedCost: s.Cost.Estimated, ActualCost: s.Cost.Actual, CostStatus: orNull(s.Cost.Status), CostSource: orNull(s.Cost.Source),
		PricingVersion: orNull(s.Cost.Pricing), Title: orNull(s.Title), Messages: make([]messageLine, 0, len(rows)),
	}
	if !s.Ended.IsZero() {
		t := epoch(s.Ended)
		l.Ended = &t
	}
	for i := range rows {
		l.Messages = append(l.Messages, rows[i].line(s.ID))
	}
	return l
}

func (r *rawRow) line(session string) messageLine {
	t := &r.text
	m := messageLine{
		ID: r.id, SessionID: session, Role: r.role, Timestamp: r.at, Content: contentJSON(t[colContent], r.extra),
		ToolCallID: pointer(t[colCallID]), ToolName: pointer(t[colName]), FinishReason: pointer(t[colFinish]),
		Reasoning: pointer(t[colReasoning]), ReasoningContent: pointer(t[colReasoningContent]),
		ToolCalls: columnJSON(t[colCalls]), ReasoningDetails: columnJSON(t[colDetails]),
		CodexReasoning: columnJSON(t[colCodexReasoning]), CodexMessages: columnJSON(t[colCodexMessages]), Extra: orNull(r.extra),
	}
	if r.tokens.Valid {
		m.TokenCount = &r.tokens.Int64
	}
	return m
}

func pointer(s sql.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.String
}

// columnJSON is the JSON of a column, or its text as a JSON string when writing
// it as JSON would not bring the same bytes back.
func columnJSON(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	var b bytes.Buffer
	if s.String != "" && s.String[0] != '"' && json.Compact(&b, []byte(s.String)) == nil && b.String() == s.String && s.String != "null" {
		return json.RawMessage(s.String)
	}
	return quoteJSON(s.String)
}

func contentJSON(s sql.NullString, extra string) json.RawMessage {
	if s.Valid && len(s.String) > len(encoded) && s.String[:len(encoded)] == encoded && extra == "" {
		if v := columnJSON(sql.NullString{String: s.String[len(encoded):], Valid: true}); v[0] != '"' {
			return v
		}
	}
	if !s.Valid {
		return nil
	}
	return quoteJSON(s.String)
}

func quoteJSON(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Export writes the sessions named, or all of them (the oldest first), to w.
func (d *DB) Export(ctx context.Context, w io.Writer, f Format, ids ...string) error {
	return d.ExportMasked(ctx, w, f, nil, ids...)
}

// ExportMasked is Export with every text put through mask first, so that what
// is to be kept from readers is found as it was said and not as it is escaped.
func (d *DB) ExportMasked(ctx context.Context, w io.Writer, f Format, mask func(string) string, ids ...string) error {
	write := map[Format]func(io.Writer, *line) error{JSONL: writeJSONL, Markdown: writeMarkdown, HTML: writeHTML}[f]
	if write == nil {
		return fmt.Errorf("export sessions: no format %q, only %s, %s and %s", f, JSONL, Markdown, HTML)
	}
	buf := bufio.NewWriter(w)
	err := d.read(ctx, func(q querier, sh shape) (err error) {
		if len(ids) == 0 {
			if ids, err = texts(ctx, q, "SELECT id FROM sessions ORDER BY started_at,id"); err != nil {
				return err
			}
		}
		if f == HTML {
			_, _ = buf.WriteString(htmlHead) // an error stays in buf until Flush
		}
		for _, id := range ids {
			s, err := oneSession(ctx, q, id)
			if err != nil {
				return fmt.Errorf("session %s: %w", id, err)
			}
			rows, err := rawRows(ctx, q, sh, id)
			if err != nil {
				return fmt.Errorf("session %s: %w", id, err)
			}
			s.Messages = len(rows)
			if mask != nil {
				maskRows(rows, mask)
				s.Title, s.SystemPrompt, s.Billing.BaseURL = mask(s.Title), mask(s.SystemPrompt), mask(s.Billing.BaseURL)
			}
			l := toLine(s, rows)
			if err := write(buf, &l); err != nil {
				return err
			}
		}
		if f == HTML {
			_, _ = buf.WriteString(htmlFoot)
		}
		return buf.Flush()
	})
	if err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	return nil
}

// maskRows masks the texts of rows, and what an encoded column holds text by
// text, so that it stays JSON.
func maskRows(rows []rawRow, mask func(string) string) {
	for i := range rows {
		r := &rows[i]
		r.extra = maskText(r.extra, mask)
		for k := range r.text {
			if t := &r.text[k]; t.Valid {
				t.String = maskText(t.String, mask)
			}
		}
	}
}

func maskText(s string, mask func(string) string) string {
	body, marked := strings.CutPrefix(s, encoded)
	if !marked && (body == "" || body[0] != '[' && body[0] != '{') {
		return mask(s)
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return mask(s)
	}
	masked := quoteAny(maskValue(v, mask))
	if again := mask(masked); json.Valid([]byte(again)) {
		masked = again
	}
	if masked == quoteAny(v) {
		return s // byte for byte as it was
	}
	if marked {
		return encoded + masked
	}
	return masked
}

func maskValue(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return maskText(v, mask)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = maskValue(v[i], mask)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[mask(k)] = maskValue(x, mask)
			if s, ok := x.(string); ok {
				// What stands under a name such as token is known by the name.
				pair := quoteAny(map[string]string{k: s})
				if mask(pair) != pair {
					out[mask(k)] = "***"
				}
			}
		}
		return out
	}
	return v
}

func quoteAny(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what was decoded encodes
	return strings.TrimRight(b.String(), "\n")
}

func writeJSONL(w io.Writer, l *line) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(l)
}

// Imported says what Import did.
type Imported struct {
	Sessions, Messages int
	Skipped            []string // ids that were there already
}

// Import adds the sessions of a JSONL export, ours or the original's. One that
// is there already is left as it is.
func (d *DB) Import(ctx context.Context, r io.Reader) (Imported, error) {
	var out Imported
	parents := map[string]string{}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			var l line
			if err := json.Unmarshal(text, &l); err != nil {
				return out, fmt.Errorf("import sessions: line %d: %w", n, err)
			}
			if err := d.importLine(ctx, &l, &out); err != nil {
				return out, fmt.Errorf("import sessions: line %d: %w", n, err)
			}
			if l.Parent != nil {
				parents[l.ID] = *l.Parent
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, fmt.Errorf("import sessions: %w", err)
		}
	}
	// A child may come before its parent.
	err := d.write(ctx, func(ctx context.Context, c *conn) error {
		for id, parent := range parents {
			err := c.exec(ctx, "UPDATE sessions SET parent_session_id=?1 WHERE id=?2 AND parent_session_id IS NULL AND EXISTS(SELECT 1 FROM sessions WHERE id=?1)", parent, id)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("import sessions: link parents: %w", err)
	}
	return out, nil
}

func (d *DB) importLine(ctx context.Context, l *line, out *Imported) error {
	if l.ID == "" {
		return errors.New("no session: field id is missing")
	}
	there := false
	err := d.write(ctx, func(ctx context.Context, c *conn) error {
		_, err := oneSession(ctx, c, l.ID)
		if there = err == nil; there {
			return nil
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		return l.insert(ctx, c)
	})
	switch {
	case err != nil:
		return err
	case there:
		out.Skipped = append(out.Skipped, l.ID)
	default:
		out.Sessions++
		out.Messages += len(l.Messages)
	}
	return nil
}

func (l *line) session() Session {
	s := Session{
		ID: l.ID, Source: l.Source, UserID: str(l.UserID), Model: str(l.Model), ModelConfig: raw(str(l.ModelConfig)), SystemPrompt: str(l.SystemPrompt),
		Parent: str(l.Parent), Started: fromEpoch(l.Started),
		Billing: Billing{str(l.BillingProvider), str(l.BillingBaseURL), str(l.BillingMode)},
	}
	if s.Source == "" {
		s.Source = "cli"
	}
	if t, err := cleanTitle(str(l.Title)); err == nil {
		s.Title = t
	}
	return s
}

// insert adds the session and all its messages.
func (l *line) insert(ctx context.Context, c *conn) error {
	if err := insertSession(ctx, c, l.session()); err != nil {
		return err
	}
	for i := range l.Messages {
		r := l.Messages[i].row()
		if err := insertRow(ctx, c, l.ID, r.at, &r.row); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	err := c.exec(ctx, `UPDATE sessions SET ended_at=?,end_reason=?,input_tokens=?,output_tokens=?,cache_read_tokens=?,cache_write_tokens=?,reasoning_tokens=?,
		api_call_count=?,estimated_cost_usd=?,actual_cost_usd=?,cost_status=?,cost_source=?,pricing_version=? WHERE id=?`,
		l.Ended, l.EndReason, l.InputTokens, l.OutputTokens, l.CacheReadTokens, l.CacheWriteTokens, l.ReasoningTokens,
		l.APICalls, l.EstimatedCost, l.ActualCost, l.CostStatus, l.CostSource, l.PricingVersion, l.ID)
	if err != nil {
		return err
	}
	return recount(ctx, c, l.ID)
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// row is the inverse of rawRow.line.
func (m *messageLine) row() rawRow {
	r := rawRow{row: row{role: m.Role, extra: str(m.Extra)}, id: m.ID, at: m.Timestamp}
	r.text = [textColumns]sql.NullString{
		colContent: unquoteJSON(m.Content, encoded), colCallID: null(m.ToolCallID), colCalls: unquoteJSON(m.ToolCalls, ""), colName: null(m.ToolName),
		colFinish: null(m.FinishReason), colReasoning: null(m.Reasoning), colReasoningContent: null(m.ReasoningContent),
		colDetails: unquoteJSON(m.ReasoningDetails, ""), colCodexReasoning: unquoteJSON(m.CodexReasoning, ""), colCodexMessages: unquoteJSON(m.CodexMessages, ""),
	}
	if m.TokenCount != nil {
		r.tokens = sql.NullInt64{Int64: *m.TokenCount, Valid: true}
	}
	return r
}

func null(s *string) sql.NullString {
	if s == nil {
		return sql.NullString{}
	}
	return set(*s)
}

// unquoteJSON returns a string's text, and any other value's JSON behind mark.
func unquoteJSON(v json.RawMessage, mark string) sql.NullString {
	if len(v) == 0 || string(v) == "null" {
		return sql.NullString{}
	}
	if v[0] == '"' {
		var s string
		if json.Unmarshal(v, &s) == nil {
			return set(s)
		}
	}
	return set(mark + string(v))
}
