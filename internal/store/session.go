package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-go/hermes/chat"
)

// Session is one row of the sessions table.
type Session struct {
	ID           string
	Source       string // the front: "cli", "telegram", "tool", ...; "" becomes "cli"
	UserID       string
	Model        string
	ModelConfig  json.RawMessage
	SystemPrompt string
	Parent       string
	Title        string
	Started      time.Time // zero: now
	Ended        time.Time // zero: still open
	EndReason    string
	Messages     int
	ToolCalls    int
	Usage        chat.Usage
	Billing      Billing
	Cost         Cost
}

// Billing says whose account paid.
type Billing struct{ Provider, BaseURL, Mode string }

// Cost is what a session has cost so far, in US dollars; nil is unknown.
type Cost struct {
	Estimated, Actual       *float64
	Status, Source, Pricing string
}

// Reasons a session ends with; the first one given stays.
const (
	EndClose       = "cli_close"
	EndNew         = "new_session"
	EndCompression = "compression"
	EndBranched    = "branched"
	EndResumed     = "resumed_other"
	EndQuery       = "query_done"
	EndDelegated   = "delegation_done"
)

var (
	// ErrNotFound is wrapped where no session answers to a name or id.
	ErrNotFound = errors.New("no such session")
	// ErrAmbiguous is wrapped where an id's beginning fits several sessions.
	ErrAmbiguous = errors.New("several sessions begin so")
	// ErrTitle is wrapped where a title cannot be given: too long or taken.
	ErrTitle = errors.New("title refused")
)

// NewID makes an id for a session started at now. The six digits begin at
// random and count up within the process: thousands of sessions may start in
// one second, and no two of them may share an id.
func NewID(now time.Time) string {
	return now.Format("20060102_150405_") + fmt.Sprintf("%06x", (firstID()+ids.Add(1))&0xffffff)
}

var (
	ids     atomic.Uint32
	firstID = sync.OnceValue(rand.Uint32)
)

// Create adds the session unless its id is there already. Title, if not "", is
// cleaned as by SetTitle and made distinct when taken.
func (d *DB) Create(ctx context.Context, s Session) error {
	s, err := d.complete(s)
	if err != nil {
		return err
	}
	insert := func(ctx context.Context, c *conn) error {
		d.known[s.ID] = s
		return insertSession(ctx, c, s)
	}
	err = d.share(&waiting{ctx: ctx, f: insert, alone: func() error {
		err := d.writeLocked(ctx, insert)
		if t, ok := errors.AsType[*Trouble](err); ok {
			d.known[s.ID] = s
			return d.spool(t, s.ID, nil)
		}
		return err
	}})
	if err != nil {
		return fmt.Errorf("create session %s: %w", s.ID, err)
	}
	return nil
}

// Expect is Create at the first Append, in its transaction.
func (d *DB) Expect(s Session) error {
	s, err := d.complete(s)
	if err == nil {
		d.remember(s)
	}
	return err
}

func (d *DB) complete(s Session) (Session, error) {
	if s.ID == "" {
		return s, errors.New("create session: no id")
	}
	if s.Source == "" {
		s.Source = "cli"
	}
	if s.Started.IsZero() {
		s.Started = d.now()
	}
	title, err := cleanTitle(s.Title)
	if err != nil {
		return s, fmt.Errorf("create session %s: %w", s.ID, err)
	}
	s.Title = title
	return s, nil
}

const insertNewSession = `INSERT OR IGNORE INTO sessions(id,source,user_id,model,model_config,system_prompt,parent_session_id,started_at,title,
	billing_provider,billing_base_url,billing_mode)
	VALUES(?,?,?,?,?,?,(SELECT id FROM sessions WHERE id=?),?,?,?,?,?)`

// insertSession adds a row. A parent that is not there is left out, and a
// title that is taken gets the next number: neither may cost the session.
func insertSession(ctx context.Context, c *conn, s Session) error {
	title := s.Title
	if title != "" {
		owner, err := titleOwner(ctx, c, title)
		if err != nil {
			return err
		}
		if owner != "" && owner != s.ID {
			if title, err = nextTitle(ctx, c, title); err != nil {
				return err
			}
		}
	}
	return c.exec(ctx, insertNewSession,
		s.ID, s.Source, setIf(s.UserID), setIf(s.Model), setIf(string(s.ModelConfig)), setIf(s.SystemPrompt), s.Parent,
		epoch(s.Started), setIf(title), setIf(s.Billing.Provider), setIf(s.Billing.BaseURL), setIf(s.Billing.Mode))
}

func (d *DB) remember(s Session) {
	d.mu.Lock()
	d.known[s.ID] = s
	d.mu.Unlock()
}

// change runs one UPDATE of a session and reports ErrNotFound when there is none.
func (d *DB) change(ctx context.Context, what, id, query string, args ...any) error {
	err := d.write(ctx, func(ctx context.Context, c *conn) error { return c.change(ctx, query, args...) })
	if err != nil {
		return fmt.Errorf("%s of session %s: %w", what, id, err)
	}
	return nil
}

// SetSystemPrompt stores the system prompt that a resumed session sends again.
func (d *DB) SetSystemPrompt(ctx context.Context, id, prompt string) error {
	return d.change(ctx, "set system prompt", id, "UPDATE sessions SET system_prompt=? WHERE id=?", prompt, id)
}

// SetModel stores which model the session goes on with.
func (d *DB) SetModel(ctx context.Context, id, model string, config json.RawMessage) error {
	return d.change(ctx, "set model", id, "UPDATE sessions SET model=?, model_config=COALESCE(?,model_config) WHERE id=?",
		setIf(model), setIf(string(config)), id)
}

// AddUsage adds the tokens of one or more calls, and what they cost.
func (d *DB) AddUsage(ctx context.Context, id string, u chat.Usage, b Billing, cost Cost) error {
	err := d.write(ctx, func(ctx context.Context, c *conn) error { return addUsage(ctx, c, id, u, b, cost) })
	if err != nil {
		return fmt.Errorf("add usage of session %s: %w", id, err)
	}
	return nil
}

const addUsed = `UPDATE sessions SET
	input_tokens=COALESCE(input_tokens,0)+?, output_tokens=COALESCE(output_tokens,0)+?,
	cache_read_tokens=COALESCE(cache_read_tokens,0)+?, cache_write_tokens=COALESCE(cache_write_tokens,0)+?,
	reasoning_tokens=COALESCE(reasoning_tokens,0)+?, api_call_count=COALESCE(api_call_count,0)+?,
	estimated_cost_usd=CASE WHEN ?8 IS NULL THEN estimated_cost_usd ELSE COALESCE(estimated_cost_usd,0)+?8 END,
	actual_cost_usd=CASE WHEN ?9 IS NULL THEN actual_cost_usd ELSE COALESCE(actual_cost_usd,0)+?9 END,
	cost_status=COALESCE(?10,cost_status), cost_source=COALESCE(?11,cost_source), pricing_version=COALESCE(?12,pricing_version),
	billing_provider=COALESCE(?13,billing_provider), billing_base_url=COALESCE(?14,billing_base_url),
	billing_mode=COALESCE(?15,billing_mode) WHERE id=?7`

func addUsage(ctx context.Context, c *conn, id string, u chat.Usage, b Billing, cost Cost) error {
	return c.change(ctx, addUsed,
		u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Calls, id, cost.Estimated, cost.Actual,
		setIf(cost.Status), setIf(cost.Source), setIf(cost.Pricing), setIf(b.Provider), setIf(b.BaseURL), setIf(b.Mode))
}

// End closes the session; one that has ended keeps its first reason.
func (d *DB) End(ctx context.Context, id, reason string) error {
	return d.change(ctx, "end", id, `UPDATE sessions SET end_reason=CASE WHEN ended_at IS NULL THEN ? ELSE end_reason END,
		ended_at=COALESCE(ended_at,?) WHERE id=?`, setIf(reason), epoch(d.now()), id)
}

// Reopen undoes End.
func (d *DB) Reopen(ctx context.Context, id string) error {
	return d.change(ctx, "reopen", id, "UPDATE sessions SET ended_at=NULL, end_reason=NULL WHERE id=?", id)
}

// SetTitle names the session; "" takes the name away. The error wraps ErrTitle
// and names the session that has the title already.
func (d *DB) SetTitle(ctx context.Context, id, title string) error {
	title, err := cleanTitle(title)
	if err != nil {
		return fmt.Errorf("set title of session %s: %w", id, err)
	}
	err = d.write(ctx, func(ctx context.Context, c *conn) error {
		if title != "" {
			owner, err := titleOwner(ctx, c, title)
			if err != nil {
				return err
			}
			if owner != "" && owner != id {
				return fmt.Errorf("%w: %q is the title of session %s", ErrTitle, title, owner)
			}
		}
		return c.change(ctx, "UPDATE sessions SET title=? WHERE id=?", setIf(title), id)
	})
	if err != nil {
		return fmt.Errorf("set title of session %s: %w", id, err)
	}
	return nil
}

func titleOwner(ctx context.Context, q querier, title string) (string, error) {
	var id string
	err := q.QueryRowContext(ctx, "SELECT id FROM sessions WHERE title=?", title).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

const maxTitle = 100

// cleanTitle takes out what cannot be seen and limits the length.
func cleanTitle(title string) (string, error) {
	title = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1 // control, zero-width and direction marks
		}
		return r
	}, title)
	title = strings.Join(strings.Fields(title), " ")
	if n := utf8.RuneCountInString(title); n > maxTitle {
		return "", fmt.Errorf("%w: %d characters, at most %d", ErrTitle, n, maxTitle)
	}
	return title, nil
}

// Meta returns a value that belongs to the whole database, "" if there is none:
// goals (`goal:ID`), times of upkeep and what gateways remember.
func (d *DB) Meta(ctx context.Context, key string) (string, error) {
	v, err := d.text(ctx, func(q querier) (string, error) { return getMeta(ctx, q, key) })
	if err != nil {
		return "", fmt.Errorf("read %s: %w", key, err)
	}
	return v, nil
}

// SetMeta stores such a value; "" removes it.
func (d *DB) SetMeta(ctx context.Context, key, value string) error {
	err := d.write(ctx, func(ctx context.Context, c *conn) error {
		if value == "" {
			return c.exec(ctx, "DELETE FROM state_meta WHERE key=?", key)
		}
		return setMeta(ctx, c, key, value)
	})
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return nil
}

// epoch is how the tables write a time.
func epoch(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func fromEpoch(f float64) time.Time {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(f * 1e6)))
}
