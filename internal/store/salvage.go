package store

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// salvaged are the tables that a repair brings over, parents first.
var salvaged = []string{"sessions", "messages", "message_extra", "undone_messages", "call_effects", "usage_calls", "usage_totals", "state_meta"}

// found are the rows of a table and the meaning of their values.
type found struct {
	columns []string
	key     int // which column is an alias of the rowid, stored as null; -1: none
	rows    []rowOf
}

func declared() map[string]*found {
	undone := append(names(messageColumns), "extra", "undone_at")
	return map[string]*found{
		"sessions":        {columns: names(sessionColumns), key: -1},
		"messages":        {columns: names(messageColumns)},
		"message_extra":   {columns: []string{"message_id", "data"}},
		"undone_messages": {columns: undone},
		"call_effects":    {columns: []string{"id", "session_id", "call_id", "tool", "signature", "args", "state", "began_at", "ended_at"}},
		"usage_calls": {columns: []string{
			"id", "at", "session_id", "root_id", "job", "purpose", "provider", "model", "tools", "input_tokens", "output_tokens", "cache_read_tokens",
			"cache_write_tokens", "reasoning_tokens", "calls", "guessed", "usd",
		}},
		"usage_totals": {columns: []string{"key", "tokens", "usd", "unpriced"}, key: -1},
		"state_meta":   {columns: []string{"key", "value"}, key: -1},
	}
}

// tables collects rows: first those that the schema leads to, then those on
// pages that belong to nothing, told by their looks. Free pages are left out,
// since they hold what was deleted.
func (m *image) tables() map[string]*found {
	out := declared()
	seen := map[int]bool{}
	free := m.free()
	for _, n := range m.walk(1, seen) {
		for _, r := range m.rows(n) { // type, name, tbl_name, rootpage, sql
			if len(r.values) < 5 {
				continue
			}
			name, _ := r.values[1].(string)
			root, _ := r.values[3].(int64)
			sql, _ := r.values[4].(string)
			if root <= 0 {
				continue
			}
			leaves := m.walk(int(root), seen)
			f := out[name]
			if f == nil || r.values[0] != "table" {
				continue
			}
			if cols := columnsOf(sql); len(cols) > 0 {
				f.columns = cols
			}
			for _, l := range leaves {
				f.rows = append(f.rows, m.rows(l)...)
			}
		}
	}
	for n := 2; n <= m.count; n++ {
		if seen[n] || free[n] {
			continue
		}
		for _, r := range m.rows(n) {
			if name := looksLike(r, out); name != "" {
				out[name].rows = append(out[name].rows, r)
			}
		}
	}
	return out
}

var columnName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*"?([A-Za-z_]\w*)"?`) })

// columnsOf reads the column names of a CREATE TABLE statement.
func columnsOf(sql string) []string {
	open := strings.IndexByte(sql, '(')
	if open < 0 {
		return nil
	}
	var out []string
	depth, start := 0, open+1
	add := func(def string) {
		m := columnName().FindStringSubmatch(def)
		if m == nil || slices.Contains([]string{"FOREIGN", "PRIMARY", "UNIQUE", "CHECK", "CONSTRAINT"}, strings.ToUpper(m[1])) {
			return
		}
		out = append(out, m[1])
	}
	for i := open; i < len(sql); i++ {
		switch sql[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				add(sql[start:i])
				return out
			}
		case ',':
			if depth == 1 {
				add(sql[start:i])
				start = i + 1
			}
		}
	}
	return nil
}

// looksLike tells which table a stray row comes from.
func looksLike(r rowOf, tables map[string]*found) string {
	text := func(table, col string) (string, bool) {
		i := slices.Index(tables[table].columns, col)
		if i < 0 || i >= len(r.values) {
			return "", false
		}
		s, ok := r.values[i].(string)
		return s, ok
	}
	number := func(table, col string) bool {
		i := slices.Index(tables[table].columns, col)
		if i < 0 || i >= len(r.values) {
			return false
		}
		switch r.values[i].(type) {
		case int64, float64:
			return true
		}
		return false
	}
	switch n := len(r.values); {
	case n == 2 && r.values[0] == nil && r.id > 0:
		if s, ok := text("message_extra", "data"); ok && strings.HasPrefix(s, "{") {
			return "message_extra"
		}
	case n >= 8 && r.values[0] == nil:
		role, ok := text("messages", "role")
		if _, has := text("messages", "session_id"); ok && has && knownRole(role) && number("messages", "timestamp") {
			if number("undone_messages", "undone_at") && n == len(tables["undone_messages"].columns) {
				return "undone_messages"
			}
			return "messages"
		}
	case n >= 8:
		id, ok := text("sessions", "id")
		if _, has := text("sessions", "source"); ok && has && id != "" && number("sessions", "started_at") {
			return "sessions"
		}
	}
	return ""
}

func knownRole(s string) bool {
	return slices.Contains([]string{"user", "assistant", "tool", "system", "developer", "session_meta", "function"}, s)
}
