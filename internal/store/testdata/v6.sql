-- A home of schema version 6: no title line beyond the column, none of the
-- later columns, a word index over content alone.
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (6);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    user_id TEXT,
    model TEXT,
    model_config TEXT,
    system_prompt TEXT,
    parent_session_id TEXT,
    started_at REAL NOT NULL,
    ended_at REAL,
    end_reason TEXT,
    message_count INTEGER DEFAULT 0,
    tool_call_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0,
    title TEXT,
    FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL,
    content TEXT,
    tool_call_id TEXT,
    tool_calls TEXT,
    tool_name TEXT,
    timestamp REAL NOT NULL,
    token_count INTEGER,
    finish_reason TEXT
);
CREATE INDEX idx_sessions_source ON sessions(source);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE VIRTUAL TABLE messages_fts USING fts5(content, content=messages, content_rowid=id);
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
    INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE ON messages BEGIN
    INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.id, old.content);
    INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;
INSERT INTO sessions(id, source, model, system_prompt, started_at, ended_at, end_reason, message_count, tool_call_count, title)
VALUES ('20260101_090000_aaaaaa', 'cli', 'm', 'You are Hermes.', 1767258000.5, 1767258060.25, 'cli_close', 4, 1, 'old talk');
INSERT INTO messages(session_id, role, content, tool_call_id, tool_calls, timestamp) VALUES
 ('20260101_090000_aaaaaa', 'user', 'where does the ancient backup of postgres lie?', NULL, NULL, 1767258001.0),
 ('20260101_090000_aaaaaa', 'assistant', NULL, NULL, '[{"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"ls /backup\"}"}}]', 1767258002.0),
 ('20260101_090000_aaaaaa', 'tool', '{"output": "dump.sql"}', 'call_1', NULL, 1767258003.0),
 ('20260101_090000_aaaaaa', 'assistant', '我们上周讨论了数据库备份方案的细节', NULL, NULL, 1767258004.0);
