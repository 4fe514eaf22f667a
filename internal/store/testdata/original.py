"""Reads and writes a session database with the statements of the Python
original: build FILE < SQL, rows FILE, search FILE, append FILE SESSION TEXT, delete FILE SESSION."""

import json
import sqlite3
import sys
import time

SEARCH = """
    SELECT m.id, m.session_id, m.role, snippet({t}, 0, '>>>', '<<<', '...', 40) AS snippet,
           m.content, m.timestamp, m.tool_name, s.source, s.model, s.started_at AS session_started
    FROM {t}
    JOIN messages m ON m.id = {t}.rowid
    JOIN sessions s ON s.id = m.session_id
    WHERE {t} MATCH ?
    ORDER BY rank
    LIMIT ? OFFSET ?
"""

LIKE = """
    SELECT m.id, m.session_id, m.role, m.content FROM messages m JOIN sessions s ON s.id = m.session_id
    WHERE m.content LIKE ? ESCAPE '\\' ORDER BY m.timestamp DESC LIMIT ? OFFSET ?
"""


def connect(path):
    con = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    con.execute("PRAGMA journal_mode=WAL")
    con.execute("PRAGMA foreign_keys=ON")
    con.row_factory = sqlite3.Row
    return con


def search(con):
    out = {}
    for query in sys.argv[3:]:
        for table in ("messages_fts", "messages_fts_trigram"):
            rows = con.execute(SEARCH.format(t=table), (query, 20, 0)).fetchall()
            out[table + " " + query] = [r["snippet"] for r in rows]
        rows = con.execute(LIKE, ("%" + query.strip('"') + "%", 20, 0)).fetchall()
        out["like " + query] = [r["content"] for r in rows]
    out["sessions"] = [
        dict(r) for r in con.execute("SELECT id, title, message_count, tool_call_count, ended_at FROM sessions ORDER BY started_at DESC")
    ]
    out["messages"] = [
        [r["role"], r["content"], r["tool_name"], json.loads(r["tool_calls"]) if r["tool_calls"] else None]
        for r in con.execute("SELECT * FROM messages ORDER BY timestamp, id")
    ]
    out["version"] = con.execute("SELECT version FROM schema_version").fetchone()[0]
    out["integrity"] = [r[0] for r in con.execute("PRAGMA integrity_check")]
    return out


def main():
    command, path = sys.argv[1:3]
    con = connect(path)
    if command == "build":
        con.executescript(sys.stdin.read())
    elif command == "search":
        json.dump(search(con), sys.stdout)
    elif command == "rows":
        tables = {
            t: [dict(r) for r in con.execute("SELECT * FROM %s ORDER BY 1" % t)] for t in ("sessions", "messages")
        }
        json.dump(tables, sys.stdout)
    elif command == "append":
        session, text = sys.argv[3:5]
        con.execute("BEGIN IMMEDIATE")
        con.execute("INSERT OR IGNORE INTO sessions (id, source, started_at) VALUES (?, 'cli', ?)", (session, time.time()))
        con.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)", (session, text, time.time())
        )
        con.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = ?", (session,))
        con.commit()
    elif command == "delete":
        con.execute("BEGIN IMMEDIATE")
        con.execute("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?", (sys.argv[3],))
        con.execute("DELETE FROM messages WHERE session_id = ?", (sys.argv[3],))
        con.execute("DELETE FROM sessions WHERE id = ?", (sys.argv[3],))
        con.commit()
    con.close()


main()
