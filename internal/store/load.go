package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// Record is a session with what was said in it, oldest first and without what
// was undone. Rows[i] says when and under which id Messages[i] is stored.
type Record struct {
	Session
	Messages []chat.Message
	Rows     []Row
}

// Row is a message's place in the table.
type Row struct {
	ID int64
	At time.Time
}

const sessionFields = `s.id,s.source,s.user_id,s.model,s.model_config,s.system_prompt,s.parent_session_id,s.started_at,s.ended_at,s.end_reason,
	s.message_count,s.tool_call_count,s.input_tokens,s.output_tokens,s.cache_read_tokens,s.cache_write_tokens,s.reasoning_tokens,s.api_call_count,
	s.billing_provider,s.billing_base_url,s.billing_mode,s.estimated_cost_usd,s.actual_cost_usd,s.cost_status,s.cost_source,s.pricing_version,s.title`

const messageFields = `m.id,m.timestamp,m.role,m.content,m.tool_call_id,m.tool_calls,m.tool_name,m.finish_reason,m.reasoning,m.reasoning_content,
	m.reasoning_details,m.codex_reasoning_items,m.codex_message_items,x.data`

type scanner interface{ Scan(...any) error }

func scanSession(r scanner, s *Session, more ...any) error {
	var user, model, config, prompt, parent, reason, provider, base, mode, status, source, pricing, title sql.NullString
	var ended sql.NullFloat64
	var started sql.NullFloat64
	var n [8]sql.NullInt64
	dst := append([]any{
		&s.ID, &s.Source, &user, &model, &config, &prompt, &parent, &started, &ended, &reason,
		&n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7],
		&provider, &base, &mode, &s.Cost.Estimated, &s.Cost.Actual, &status, &source, &pricing, &title,
	}, more...)
	if err := r.Scan(dst...); err != nil {
		return err
	}
	s.UserID, s.Model, s.ModelConfig, s.SystemPrompt = user.String, model.String, raw(config.String), prompt.String
	s.Parent, s.EndReason, s.Title = parent.String, reason.String, title.String
	s.Started, s.Ended = fromEpoch(started.Float64), fromEpoch(ended.Float64)
	s.Messages, s.ToolCalls = int(n[0].Int64), int(n[1].Int64)
	s.Usage = chat.Usage{
		Input: int(n[2].Int64), Output: int(n[3].Int64), CacheRead: int(n[4].Int64),
		CacheWrite: int(n[5].Int64), Reasoning: int(n[6].Int64), Calls: int(n[7].Int64),
	}
	s.Billing = Billing{provider.String, base.String, mode.String}
	s.Cost.Status, s.Cost.Source, s.Cost.Pricing = status.String, source.String, pricing.String
	return nil
}

// Session returns one session's row, without its messages.
func (d *DB) Session(ctx context.Context, id string) (Session, error) {
	var s Session
	err := d.read(ctx, func(q querier, _ shape) (err error) {
		s, err = oneSession(ctx, q, id)
		return err
	})
	if err != nil {
		return Session{}, fmt.Errorf("load session %s: %w", id, err)
	}
	return s, nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func oneSession(ctx context.Context, q querier, id string) (Session, error) {
	var s Session
	err := scanSession(q.QueryRowContext(ctx, "SELECT "+sessionFields+" FROM sessions s WHERE s.id=?", id), &s)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return s, err
}

// Load returns a session and its messages, as one moment saw them. The error
// wraps ErrNotFound if there is no such session.
func (d *DB) Load(ctx context.Context, id string) (*Record, error) {
	rec := &Record{}
	err := d.read(ctx, func(q querier, sh shape) (err error) {
		if rec.Session, err = oneSession(ctx, q, id); err != nil {
			return err
		}
		return rec.readMessages(ctx, q, sh)
	})
	if err != nil {
		return nil, fmt.Errorf("load session %s: %w", id, err)
	}
	d.remember(rec.Session)
	return rec, nil
}

// snapshot runs several reads against one state of the database.
func snapshot(ctx context.Context, db *sql.DB, f func(querier) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // nothing was written
		return err
	}
	return tx.Commit()
}

func (rec *Record) readMessages(ctx context.Context, q querier, sh shape) error {
	rows, err := q.QueryContext(ctx, "SELECT "+messageFields+
		" FROM messages m LEFT JOIN "+sh.extras()+" x ON x.message_id=m.id WHERE m.session_id=?"+sh.visible("m")+" ORDER BY m.id", rec.ID)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	rec.Messages = make([]chat.Message, 0, rec.Session.Messages)
	rec.Rows = make([]Row, 0, rec.Session.Messages)
	for rows.Next() {
		m, at, err := scanMessage(rows)
		if err != nil {
			return err
		}
		rec.Messages = append(rec.Messages, m)
		rec.Rows = append(rec.Rows, at)
	}
	nameResults(rec.Messages)
	return rows.Err()
}

func scanMessage(rows scanner, more ...any) (chat.Message, Row, error) {
	var r row
	var id int64
	var at float64
	var x sql.NullString
	t := &r.text
	dst := append([]any{&id, &at, &r.role, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7], &t[8], &t[9], &x}, more...)
	if err := rows.Scan(dst...); err != nil {
		return chat.Message{}, Row{}, err
	}
	r.extra = x.String
	m, err := r.toMessage()
	if err != nil {
		return m, Row{}, fmt.Errorf("message %d: %w", id, err)
	}
	if m.Role == chat.Tool && !t[colName].Valid {
		m.Name = unnamed
	}
	return m, Row{ID: id, At: fromEpoch(at)}, nil
}

// unnamed marks a tool result whose row has no tool name, as the original
// writes them, until nameResults has looked at the calls.
const unnamed = "\x00"

func nameResults(list []chat.Message) {
	var calls map[string]string
	for i := range list {
		for _, c := range list[i].ToolCalls {
			put(&calls, c.ID, c.Function.Name)
		}
		if list[i].Name == unnamed {
			list[i].Name = calls[list[i].ToolCallID]
		}
	}
}
