-- Version 10: all columns but the newest ones, the trigram index has come.
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (10);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
    parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,
    reasoning_tokens INTEGER DEFAULT 0, billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT,
    estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT, title TEXT,
    FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
    content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER,
    finish_reason TEXT, reasoning TEXT, reasoning_details TEXT, codex_reasoning_items TEXT
);
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO state_meta VALUES ('last_auto_prune', '1767258000');
CREATE VIRTUAL TABLE messages_fts USING fts5(content, content=messages, content_rowid=id);
CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(content, content=messages, content_rowid=id, tokenize='trigram');
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER messages_fts_trigram_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts_trigram(rowid, content) VALUES (new.id, new.content);
END;
INSERT INTO sessions(id, source, started_at, ended_at, end_reason, title) VALUES
 ('20260102_090000_bbbbbb', 'cli', 1767344400, 1767344500, 'compression', 'old talk'),
 ('20260102_090100_cccccc', 'cli', 1767344501, NULL, NULL, 'old talk #2');
UPDATE sessions SET parent_session_id = '20260102_090000_bbbbbb' WHERE id = '20260102_090100_cccccc';
INSERT INTO messages(session_id, role, content, tool_calls, timestamp, reasoning) VALUES
 ('20260102_090000_bbbbbb', 'user', 'where does the ancient backup of postgres lie?', NULL, 1767344401, NULL),
 ('20260102_090000_bbbbbb', 'assistant', '我们上周讨论了数据库备份方案的细节', '[{"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}]', 1767344402, 'hm'),
 ('20260102_090100_cccccc', 'user', 'go on', NULL, 1767344502, NULL);
