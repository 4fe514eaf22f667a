package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/effect"
)

const insertMessage = `INSERT INTO messages(session_id,role,content,tool_call_id,tool_calls,tool_name,finish_reason,reasoning,reasoning_content,
	reasoning_details,codex_reasoning_items,codex_message_items,token_count,timestamp)
	VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)`

const countMessages = "UPDATE sessions SET message_count=COALESCE(message_count,0)+?, tool_call_count=COALESCE(tool_call_count,0)+? WHERE id=?"

const lastMessage = "SELECT COALESCE(MAX(timestamp),0) FROM messages WHERE session_id=?"

const insertExtra = "INSERT INTO message_extra(message_id,data) VALUES(?,?)"

// Warm prepares what the first message of a session takes, which costs as much
// as storing it: for callers that have something else to do meanwhile.
func (d *DB) Warm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writer == nil || d.closed {
		return
	}
	for _, query := range []string{insertMessage, insertNewSession, addUsed, insertExtra, countMessages, lastMessage} {
		if _, err := d.writer.prepare(context.Background(), query); err != nil {
			return // who needs it gets the error
		}
	}
}

// Append adds messages to the end of a session, all or none of them. They are
// on disk when it returns. The session must have been created; one that
// somebody has deleted meanwhile is made again.
func (d *DB) Append(ctx context.Context, id string, m ...chat.Message) error {
	return d.append(ctx, id, m, nil)
}

// Beside is what goes with messages in one transaction. All of it is optional.
type Beside struct {
	Spent []Spent
	Begin []effect.Effect // calls that the messages ask for
	Mark  []effect.Mark   // what became of earlier ones
}

// AppendBeside is Append with more in its transaction. For each effect that
// begins it returns the newest earlier one of the conversation with the same
// signature, whose State is empty when there is none.
func (d *DB) AppendBeside(ctx context.Context, id string, b Beside, m ...chat.Message) (earlier []effect.Effect, err error) {
	if b.Spent == nil && b.Begin == nil && b.Mark == nil {
		return nil, d.append(ctx, id, m, nil)
	}
	now := epoch(d.now())
	err = d.append(ctx, id, m, func(ctx context.Context, c *conn) error {
		if err := spend(ctx, c, b.Spent); err != nil {
			return err
		}
		if err := markEffects(ctx, c, id, b.Mark, now); err != nil {
			return err
		}
		earlier, err = beginEffects(ctx, c, id, b.Begin, now)
		return err
	})
	return earlier, err
}

// append runs also, if there is one, in the transaction of the messages.
func (d *DB) append(ctx context.Context, id string, m []chat.Message, also func(context.Context, *conn) error) error {
	if len(m) == 0 && also == nil {
		return nil
	}
	at := epoch(d.now())
	rows := make([]rawRow, len(m))
	calls := 0
	for i := range m {
		r, err := toRow(m[i])
		if err != nil {
			return fmt.Errorf("append to session %s: message %d: %w", id, i, err)
		}
		rows[i] = rawRow{row: r, at: at}
		calls += len(m[i].ToolCalls)
	}
	insert := func(ctx context.Context, c *conn) error {
		err := d.insertRows(ctx, c, id, rows, calls)
		if err == nil && also != nil {
			err = also(ctx, c)
		}
		return err
	}
	if err := d.save(ctx, id, rows, insert); err != nil {
		return fmt.Errorf("append to session %s: %w", id, err)
	}
	return nil
}

func (d *DB) insertRows(ctx context.Context, c *conn, id string, rows []rawRow, calls int) error {
	err := c.change(ctx, countMessages, len(rows), calls, id)
	if s, ok := d.known[id]; ok && errors.Is(err, ErrNotFound) {
		if err = insertSession(ctx, c, s); err == nil {
			err = c.change(ctx, countMessages, len(rows), calls, id)
		}
	}
	if err != nil {
		return err
	}
	// The original reads a session in the order of its clock, which may have
	// been set back: a later message is never written with an earlier time.
	var last float64
	st, err := c.prepare(ctx, lastMessage)
	if err != nil {
		return err
	}
	if err := st.QueryRowContext(ctx, id).Scan(&last); err != nil {
		return err
	}
	for i := range rows {
		if err := insertRow(ctx, c, id, max(rows[i].at, last), &rows[i].row); err != nil {
			return err
		}
	}
	return nil
}

func insertRow(ctx context.Context, c *conn, id string, at float64, r *row) error {
	t := &r.text
	res, err := c.execResult(ctx, insertMessage, id, r.role, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], r.tokens, at)
	if err != nil || r.extra == "" {
		return err
	}
	rowid, err := res.LastInsertId()
	if err != nil {
		return err
	}
	return c.exec(ctx, insertExtra, rowid, r.extra)
}

// marks is a list of n placeholders.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }
