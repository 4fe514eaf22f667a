package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// version is the schema version of the original that these tables are.
const version = 11

// revision counts what this package has added to it.
const revision = 3

// column is one declared column; the original adds missing ones by comparing
// names, and so do we.
type column struct{ name, decl string }

var sessionColumns = []column{
	{"id", "TEXT PRIMARY KEY"},
	{"source", "TEXT NOT NULL"},
	{"user_id", "TEXT"},
	{"model", "TEXT"},
	{"model_config", "TEXT"},
	{"system_prompt", "TEXT"},
	{"parent_session_id", "TEXT"},
	{"started_at", "REAL NOT NULL"},
	{"ended_at", "REAL"},
	{"end_reason", "TEXT"},
	{"message_count", "INTEGER DEFAULT 0"},
	{"tool_call_count", "INTEGER DEFAULT 0"},
	{"input_tokens", "INTEGER DEFAULT 0"},
	{"output_tokens", "INTEGER DEFAULT 0"},
	{"cache_read_tokens", "INTEGER DEFAULT 0"},
	{"cache_write_tokens", "INTEGER DEFAULT 0"},
	{"reasoning_tokens", "INTEGER DEFAULT 0"},
	{"billing_provider", "TEXT"},
	{"billing_base_url", "TEXT"},
	{"billing_mode", "TEXT"},
	{"estimated_cost_usd", "REAL"},
	{"actual_cost_usd", "REAL"},
	{"cost_status", "TEXT"},
	{"cost_source", "TEXT"},
	{"pricing_version", "TEXT"},
	{"title", "TEXT"},
	{"api_call_count", "INTEGER DEFAULT 0"},
}

var messageColumns = []column{
	{"id", "INTEGER PRIMARY KEY AUTOINCREMENT"},
	{"session_id", "TEXT NOT NULL REFERENCES sessions(id)"},
	{"role", "TEXT NOT NULL"},
	{"content", "TEXT"},
	{"tool_call_id", "TEXT"},
	{"tool_calls", "TEXT"},
	{"tool_name", "TEXT"},
	{"timestamp", "REAL NOT NULL"},
	{"token_count", "INTEGER"},
	{"finish_reason", "TEXT"},
	{"reasoning", "TEXT"},
	{"reasoning_content", "TEXT"},
	{"reasoning_details", "TEXT"},
	{"codex_reasoning_items", "TEXT"},
	{"codex_message_items", "TEXT"},
}

func names(cols []column) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.name
	}
	return out
}

func createTable(table string, cols []column, tail string) string {
	defs := make([]string, len(cols))
	for i, c := range cols {
		defs[i] = c.name + " " + c.decl
	}
	return "CREATE TABLE IF NOT EXISTS " + table + " (\n  " + strings.Join(defs, ",\n  ") + tail + "\n)"
}

// baseSchema are the original's tables. Indexes follow once all columns exist.
func baseSchema() []string {
	return []string{
		"CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)",
		createTable("sessions", sessionColumns, ",\n  FOREIGN KEY (parent_session_id) REFERENCES sessions(id)"),
		createTable("messages", messageColumns, ""),
		"CREATE TABLE IF NOT EXISTS state_meta (key TEXT PRIMARY KEY, value TEXT)",
	}
}

var indexSchema = []string{
	"CREATE INDEX IF NOT EXISTS idx_sessions_source ON sessions(source)",
	"CREATE INDEX IF NOT EXISTS idx_sessions_parent ON sessions(parent_session_id)",
	"CREATE INDEX IF NOT EXISTS idx_sessions_started ON sessions(started_at DESC)",
	"CREATE INDEX IF NOT EXISTS idx_messages_session ON messages(session_id, timestamp)",
	"CREATE UNIQUE INDEX IF NOT EXISTS idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL",
}

// ownSchema holds what the original has no place for. message_extra keeps a
// message exact (fields it does not know); undone_messages takes the rows that
// an undo removed from sight, whole, so that no reader of messages finds them
// and nothing is lost; call_effects says what calls did to the world, usage_calls and usage_totals what
// was spent.
func ownSchema() []string {
	undone := make([]string, 0, len(messageColumns))
	for _, c := range messageColumns {
		switch c.name {
		case "id":
			undone = append(undone, "id INTEGER PRIMARY KEY")
		case "session_id":
			undone = append(undone, "session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE")
		default:
			undone = append(undone, c.name+" "+strings.TrimSuffix(c.decl, " NOT NULL"))
		}
	}
	return append([]string{
		"CREATE TABLE IF NOT EXISTS message_extra (message_id INTEGER PRIMARY KEY REFERENCES messages(id) ON DELETE CASCADE, data TEXT NOT NULL)",
		"CREATE TABLE IF NOT EXISTS undone_messages (\n  " + strings.Join(undone, ",\n  ") + ",\n  extra TEXT,\n  undone_at REAL NOT NULL\n)",
		"CREATE INDEX IF NOT EXISTS idx_undone_session ON undone_messages(session_id, id)",
		effectsTable,
		"CREATE INDEX IF NOT EXISTS idx_effects_call ON call_effects(session_id, call_id)",
		"CREATE INDEX IF NOT EXISTS idx_effects_signature ON call_effects(signature)",
	}, spentSchema()...)
}

// shape is what a file was found to hold.
type shape struct {
	version  int
	plain    bool // there are no tables of our own (a file of the original that cannot be written)
	inactive bool // messages has a column `active` (a newer original): rows with 0 are out of sight
}

// visible is the condition that keeps a row of messages in sight.
func (s shape) visible(table string) string {
	if s.inactive {
		return " AND " + table + ".active IS NOT 0"
	}
	return ""
}

// extras is where fields of messages lie that have no column.
func (s shape) extras() string {
	if s.plain {
		return "(SELECT NULL AS message_id, NULL AS data)"
	}
	return "message_extra"
}

const (
	metaSchema   = "hermes_go_schema"   // "revision/cookie" of the last complete check
	metaBackfill = "hermes_go_backfill" // highest message id that the indexes still lack
	metaIndex    = "hermes_go_index"    // "damaged": not to be used until it is made anew
)

// inspect learns the shape of a file that must not be changed. It has to have
// our columns, which any file has that this program or the original's version
// 11 has opened.
func inspect(ctx context.Context, c *conn) (shape, error) {
	live, err := liveColumns(ctx, c, "messages")
	if err != nil {
		return shape{}, err
	}
	extra, err := liveColumns(ctx, c, "message_extra")
	return shape{version: version, inactive: live["active"], plain: len(extra) == 0}, err
}

// ensureSchema brings the file up to date. A file that was checked before and
// has not changed since costs two small reads.
func ensureSchema(ctx context.Context, c *conn) (shape, error) {
	var mode string
	err := retry(ctx, func() error { return c.row(ctx, "PRAGMA journal_mode").Scan(&mode) })
	if err != nil {
		return shape{}, err
	}
	if mode == "wal" {
		if s, ok := checked(ctx, c); ok {
			return s, nil
		}
	} else {
		// Switching needs the file for itself for a moment.
		err := retry(ctx, func() error { return c.row(ctx, "PRAGMA journal_mode=WAL").Scan(&mode) })
		if err != nil {
			return shape{}, fmt.Errorf("switch to write-ahead log: %w", err)
		}
	}
	var s shape
	err = c.immediate(ctx, func(ctx context.Context) error {
		s, err = migrate(ctx, c)
		return err
	})
	if err != nil {
		return shape{}, fmt.Errorf("bring schema up to date: %w", err)
	}
	if err := backfill(ctx, c); err != nil {
		return shape{}, fmt.Errorf("index older messages: %w", err)
	}
	return s, remember(ctx, c, s)
}

// checked reports whether the file is as the last complete check left it:
// SQLite's schema cookie changes with every change to a table or trigger.
func checked(ctx context.Context, c *conn) (shape, bool) {
	var was string
	var cookie int
	if c.row(ctx, "SELECT value FROM state_meta WHERE key=?", metaSchema).Scan(&was) != nil ||
		c.row(ctx, "PRAGMA schema_version").Scan(&cookie) != nil {
		return shape{}, false
	}
	var rev, sum int
	var s shape
	n, err := fmt.Sscanf(was, "%d/%d/%d/%t", &rev, &sum, &s.version, &s.inactive)
	return s, err == nil && n == 4 && rev == revision && sum == cookie
}

func remember(ctx context.Context, c *conn, s shape) error {
	return c.immediate(ctx, func(ctx context.Context) error {
		var cookie int
		if err := c.row(ctx, "PRAGMA schema_version").Scan(&cookie); err != nil {
			return err
		}
		return setMeta(ctx, c, metaSchema, fmt.Sprintf("%d/%d/%d/%t", revision, cookie, s.version, s.inactive))
	})
}

func migrate(ctx context.Context, c *conn) (shape, error) {
	for _, q := range baseSchema() {
		if err := c.script(ctx, q); err != nil {
			return shape{}, err
		}
	}
	var found sql.NullInt64
	err := c.row(ctx, "SELECT MAX(version) FROM schema_version").Scan(&found)
	if err != nil {
		return shape{}, err
	}
	if err := addColumns(ctx, c, "sessions", sessionColumns); err != nil {
		return shape{}, err
	}
	if err := addColumns(ctx, c, "messages", messageColumns); err != nil {
		return shape{}, err
	}
	for _, q := range append(append([]string(nil), indexSchema...), ownSchema()...) {
		if err := c.script(ctx, q); err != nil {
			return shape{}, err
		}
	}
	s := shape{version: int(found.Int64)}
	if s.version < version {
		if err := dropSearch(ctx, c); err != nil {
			return shape{}, err
		}
		s.version = version
		if err := c.script(ctx, "DELETE FROM schema_version"); err != nil {
			return shape{}, err
		}
		if err := c.script(ctx, "INSERT INTO schema_version(version) VALUES(?)", version); err != nil {
			return shape{}, err
		}
	}
	if err := ensureSearch(ctx, c); err != nil {
		return shape{}, err
	}
	live, err := liveColumns(ctx, c, "messages")
	if err != nil {
		return shape{}, err
	}
	s.inactive = live["active"]
	return s, nil
}

func liveColumns(ctx context.Context, q querier, table string) (map[string]bool, error) {
	rows, err := q.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	live := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		live[name] = true
	}
	return live, rows.Err()
}

func addColumns(ctx context.Context, c *conn, table string, want []column) error {
	live, err := liveColumns(ctx, c, table)
	if err != nil {
		return err
	}
	for _, col := range want {
		if live[col.name] {
			continue
		}
		// A column added later can be neither a key nor NOT NULL without a default.
		decl, _, _ := strings.Cut(col.decl, " NOT NULL")
		if err := c.script(ctx, "ALTER TABLE "+table+" ADD COLUMN "+col.name+" "+decl); err != nil {
			return fmt.Errorf("add column %s.%s: %w", table, col.name, err)
		}
	}
	return nil
}

func setMeta(ctx context.Context, c *conn, key, value string) error {
	return c.script(ctx, "INSERT INTO state_meta(key,value) VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value", key, value)
}

func getMeta(ctx context.Context, q querier, key string) (string, error) {
	var v sql.NullString
	err := q.QueryRowContext(ctx, "SELECT value FROM state_meta WHERE key=?", key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return v.String, err
}
