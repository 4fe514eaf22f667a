package store

import (
	"context"
	"fmt"
	"strconv"
)

// The two indexes keep no copy of the text: they read it back from a view over
// messages. The text of a row is what the original indexes (content, tool name,
// tool calls), except that of a list of parts only the texts count and not the
// pictures. The triggers bear the original's names, since it creates its own
// where a name is missing.

// textOf is the indexed text of a row, as an SQL expression. The comparison
// with char(1) is a cheap test for the NUL that marks encoded content: SQLite's
// text functions stop at a NUL, so that the rest is cut out as a blob.
func textOf(row string) string {
	content := row + "content"
	blob := "CAST(" + content + " AS BLOB)"
	body := "CAST(substr(" + blob + ",7) AS TEXT)"
	parts := "COALESCE((SELECT group_concat(CASE type WHEN 'object' THEN json_extract(value,'$.text') WHEN 'text' THEN value END,' ')" +
		" FROM json_each(CASE WHEN json_valid(" + body + ") THEN " + body + " ELSE '[]' END)),'')"
	return "CASE WHEN " + content + ">=char(1) THEN " + content +
		" WHEN substr(" + blob + ",1,6)=x'006a736f6e3a' THEN " + parts +
		" ELSE COALESCE(" + content + ",'') END" +
		"||' '||COALESCE(" + row + "tool_name,'')||' '||COALESCE(" + row + "tool_calls,'')"
}

// letters are the code points whose presence earns a row in the trigram index:
// letters beyond ASCII, without the dashes, quotes, arrows and emoji that
// English text is full of.
const letters = `*[À-ÖØ-öø-ɏͰ-῿Ⰰ-ⷿ々〇ぁ-퟿豈-﷿ﹰ-ﻼＡ-Ｚａ-ｚｦ-ￜ𐀀-𞿿𠀀-𳿿]*`

// foreign is CASE and not AND, of which SQLite may begin with the slow half.
func foreign(text string) string {
	return "CASE WHEN length(CAST(" + text + " AS BLOB))<>length(" + text + ") THEN " + text + " GLOB '" + letters + "' ELSE 0 END"
}

func searchSchema() []string {
	newText, oldText := textOf("new."), textOf("old.")
	return []string{
		"CREATE VIEW IF NOT EXISTS message_text AS SELECT id, " + textOf("") + " AS content FROM messages",
		"CREATE VIEW IF NOT EXISTS message_text_foreign AS SELECT id, content FROM message_text WHERE " + foreign("content"),
		"CREATE VIRTUAL TABLE IF NOT EXISTS messages_fts USING fts5(content, content='message_text', content_rowid='id')",
		"CREATE VIRTUAL TABLE IF NOT EXISTS messages_fts_trigram USING fts5(content, content='message_text_foreign', content_rowid='id', tokenize='trigram')",
		// A row that is in no index yet (an older one before its turn) must not
		// be taken out of it: that would break the index's counts.
		"CREATE TRIGGER IF NOT EXISTS messages_fts_insert AFTER INSERT ON messages BEGIN " + addWord(newText) + "; END",
		"CREATE TRIGGER IF NOT EXISTS messages_fts_delete AFTER DELETE ON messages BEGIN " + removeFrom("messages_fts", oldText) + "; END",
		"CREATE TRIGGER IF NOT EXISTS messages_fts_update AFTER UPDATE OF content, tool_name, tool_calls ON messages BEGIN " +
			removeFrom("messages_fts", oldText) + "; " + addWord(newText) + "; END",
		"CREATE TRIGGER IF NOT EXISTS messages_fts_trigram_insert AFTER INSERT ON messages BEGIN " + addTrigram(newText) + "; END",
		"CREATE TRIGGER IF NOT EXISTS messages_fts_trigram_delete AFTER DELETE ON messages BEGIN " + removeFrom("messages_fts_trigram", oldText) + "; END",
		"CREATE TRIGGER IF NOT EXISTS messages_fts_trigram_update AFTER UPDATE OF content, tool_name, tool_calls ON messages BEGIN " +
			removeFrom("messages_fts_trigram", oldText) + "; " + addTrigram(newText) + "; END",
	}
}

func addWord(text string) string {
	return "INSERT INTO messages_fts(rowid,content) VALUES(new.id," + text + ")"
}

func addTrigram(text string) string {
	return "INSERT INTO messages_fts_trigram(rowid,content) SELECT new.id, t.x FROM (SELECT " + text + " AS x) t WHERE " + foreign("t.x")
}

func removeFrom(index, text string) string {
	return "INSERT INTO " + index + "(" + index + ",rowid,content) SELECT 'delete',old.id," + text +
		" WHERE EXISTS (SELECT 1 FROM " + index + "_docsize WHERE id=old.id)"
}

var searchTriggers = []string{
	"messages_fts_insert", "messages_fts_delete", "messages_fts_update",
	"messages_fts_trigram_insert", "messages_fts_trigram_delete", "messages_fts_trigram_update",
}

func dropTriggers(ctx context.Context, c *conn) error {
	for _, t := range searchTriggers {
		if err := c.script(ctx, "DROP TRIGGER IF EXISTS "+t); err != nil {
			return fmt.Errorf("drop trigger %s: %w", t, err)
		}
	}
	return nil
}

func dropSearch(ctx context.Context, c *conn) error {
	if err := dropTriggers(ctx, c); err != nil {
		return err
	}
	for _, t := range []string{"messages_fts", "messages_fts_trigram"} {
		if err := c.script(ctx, "DROP TABLE IF EXISTS "+t); err != nil {
			return fmt.Errorf("drop index %s: %w", t, err)
		}
	}
	for _, v := range []string{"message_text_foreign", "message_text"} {
		if err := c.script(ctx, "DROP VIEW IF EXISTS "+v); err != nil {
			return fmt.Errorf("drop view %s: %w", v, err)
		}
	}
	return nil
}

// ensureSearch creates what is missing. Indexes that the original made are left
// as they are, with its triggers: they serve our queries as well.
func ensureSearch(ctx context.Context, c *conn) error {
	var have int
	err := c.row(ctx, "SELECT count(*) FROM sqlite_master WHERE name IN ('messages_fts','messages_fts_trigram')").Scan(&have)
	if err != nil {
		return err
	}
	if have == 2 {
		return nil
	}
	if err := dropSearch(ctx, c); err != nil {
		return err
	}
	for _, q := range searchSchema() {
		if err := c.script(ctx, q); err != nil {
			return fmt.Errorf("create search index: %w", err)
		}
	}
	var last int64
	if err := c.row(ctx, "SELECT COALESCE(MAX(id),0) FROM messages").Scan(&last); err != nil {
		return err
	}
	return setMeta(ctx, c, metaBackfill, strconv.FormatInt(last, 10))
}

// batch is how many messages one transaction of backfill indexes: other
// processes write between two of them.
const batch = 2000

// backfill indexes messages that were there before the indexes, newest first.
// It goes on where an earlier process, or another one now, has come to.
func backfill(ctx context.Context, c *conn) error {
	for {
		done := false
		err := c.immediate(ctx, func(ctx context.Context) error {
			v, err := getMeta(ctx, c, metaBackfill)
			if err != nil {
				return err
			}
			top, _ := strconv.ParseInt(v, 10, 64) // anything else: nothing to do
			if top <= 0 {
				done = true
				return c.script(ctx, "DELETE FROM state_meta WHERE key=?", metaBackfill)
			}
			var low int64
			err = c.row(ctx, "SELECT COALESCE(MIN(id),0) FROM (SELECT id FROM messages WHERE id<=? ORDER BY id DESC LIMIT ?)", top, batch).Scan(&low)
			if err != nil {
				return err
			}
			for _, index := range [][2]string{{"messages_fts", "message_text"}, {"messages_fts_trigram", "message_text_foreign"}} {
				q := "INSERT INTO " + index[0] + "(rowid,content) SELECT id,content FROM " + index[1] +
					" t WHERE id BETWEEN ? AND ? AND NOT EXISTS (SELECT 1 FROM " + index[0] + "_docsize d WHERE d.id=t.id)"
				if err := c.script(ctx, q, low, top); err != nil {
					return err
				}
			}
			return setMeta(ctx, c, metaBackfill, strconv.FormatInt(low-1, 10))
		})
		if err != nil || done {
			return err
		}
	}
}
