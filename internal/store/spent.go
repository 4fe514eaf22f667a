package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// Spent is one model call on record: what it was for, what it took and cost.
type Spent struct {
	At                 time.Time
	Session, Root, Job string
	Purpose            string // "" for a turn, else the slot of a side call
	Provider, Model    string
	Tools              []string // what the answer called
	Usage              chat.Usage
	Guessed            bool     // the service did not say what it took
	USD                *float64 // nil: unknown
	PriceSource        string
	Keys               []string // the totals that it counts for
}

// Total is a sum of what was spent, kept for each key: reading one costs the
// same after a million calls as after one. It outlives the sessions.
type Total struct {
	Tokens   int
	USD      float64
	Unpriced int
}

func spentSchema() []string {
	return []string{
		`CREATE TABLE IF NOT EXISTS usage_calls (
  id INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  session_id TEXT NOT NULL,
  root_id TEXT NOT NULL,
  job TEXT,
  purpose TEXT,
  provider TEXT,
  model TEXT,
  tools TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  guessed INTEGER NOT NULL,
  usd REAL
)`,
		"CREATE INDEX IF NOT EXISTS idx_usage_at ON usage_calls(at)",
		"CREATE TABLE IF NOT EXISTS usage_totals (key TEXT PRIMARY KEY, tokens INTEGER NOT NULL, usd REAL NOT NULL, unpriced INTEGER NOT NULL)",
	}
}

// Spend records calls that no message goes with.
func (d *DB) Spend(ctx context.Context, list ...Spent) error {
	if len(list) == 0 {
		return nil
	}
	if err := d.write(ctx, func(ctx context.Context, c *conn) error { return spend(ctx, c, list) }); err != nil {
		return fmt.Errorf("record usage: %w", err)
	}
	return nil
}

// spend records calls and adds them to their sessions and totals. A session
// that is not there any more costs no record.
func spend(ctx context.Context, c *conn, list []Spent) error {
	for i := range list {
		s := &list[i]
		u := &s.Usage
		err := c.exec(ctx, `INSERT INTO usage_calls(at,session_id,root_id,job,purpose,provider,model,tools,input_tokens,output_tokens,cache_read_tokens,
			cache_write_tokens,reasoning_tokens,calls,guessed,usd) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
			epoch(s.At), s.Session, s.Root, setIf(s.Job), setIf(s.Purpose), setIf(s.Provider), setIf(s.Model), setIf(strings.Join(s.Tools, ",")),
			u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Calls, s.Guessed, s.USD)
		if err != nil {
			return err
		}
		for _, k := range s.Keys {
			usd, unpriced := 0.0, 1
			if s.USD != nil {
				usd, unpriced = *s.USD, 0
			}
			err := c.exec(ctx, `INSERT INTO usage_totals(key,tokens,usd,unpriced) VALUES(?1,?2,?3,?4) ON CONFLICT(key) DO UPDATE SET
				tokens=tokens+?2, usd=usd+?3, unpriced=unpriced+?4`, k, u.Prompt()+u.Output, usd, unpriced)
			if err != nil {
				return err
			}
		}
		if s.Session == "" {
			continue
		}
		cost := Cost{Estimated: s.USD, Status: "unknown"}
		if s.USD != nil {
			cost.Status, cost.Source = "estimated", s.PriceSource
		}
		if err := addUsage(ctx, c, s.Session, *u, Billing{Provider: s.Provider}, cost); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// Totals are what was spent under the keys.
func (d *DB) Totals(ctx context.Context, keys []string) ([]Total, error) {
	out := make([]Total, len(keys))
	at := make(map[string]int, len(keys))
	args := make([]any, len(keys))
	for i, k := range keys {
		at[k], args[i] = i, k
	}
	db, _, err := d.reader()
	if err != nil {
		return out, fmt.Errorf("read usage: %w", err)
	}
	rows, err := db.QueryContext(ctx, "SELECT key,tokens,usd,unpriced FROM usage_totals WHERE key IN ("+marks(len(keys))+")", args...)
	if err != nil {
		return out, fmt.Errorf("read usage: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var k string
		var t Total
		if err := rows.Scan(&k, &t.Tokens, &t.USD, &t.Unpriced); err != nil {
			return out, fmt.Errorf("read usage: %w", err)
		}
		out[at[k]] = t
	}
	return out, rows.Err()
}

// SpentSince calls f with each call on record since a time, the oldest first,
// and the title of its conversation.
func (d *DB) SpentSince(ctx context.Context, since time.Time, f func(s *Spent, title string)) error {
	err := d.read(ctx, func(q querier, _ shape) error {
		var ok bool
		err := q.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM sqlite_master WHERE type='table' AND name='usage_calls')").Scan(&ok)
		if err != nil || !ok {
			return err
		}
		rows, err := q.QueryContext(ctx, `SELECT u.at,u.session_id,u.root_id,COALESCE(u.job,''),COALESCE(u.purpose,''),COALESCE(u.provider,''),COALESCE(u.model,''),
			COALESCE(u.tools,''),u.input_tokens,u.output_tokens,u.cache_read_tokens,u.cache_write_tokens,u.reasoning_tokens,u.calls,u.guessed,u.usd,
			COALESCE(s.title,'') FROM usage_calls u LEFT JOIN sessions s ON s.id=u.root_id WHERE u.at>=? ORDER BY u.at,u.id`, epoch(since))
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var s Spent
			var at float64
			var tools, title string
			u := &s.Usage
			err := rows.Scan(&at, &s.Session, &s.Root, &s.Job, &s.Purpose, &s.Provider, &s.Model, &tools,
				&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.Calls, &s.Guessed, &s.USD, &title)
			if err != nil {
				return err
			}
			if s.At = fromEpoch(at); tools != "" {
				s.Tools = strings.Split(tools, ",")
			}
			f(&s, title)
		}
		return rows.Err()
	})
	if err != nil {
		return fmt.Errorf("read usage: %w", err)
	}
	return nil
}
