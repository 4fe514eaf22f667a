#!/usr/bin/env python3
"""Read the Messages database of a Mac, read-only.

Standard library only. Exit 0: read; 1: it cannot be read, or nothing fits; 2:
wrong use.
"""
import argparse
import datetime
import json
import os
import sqlite3
import sys
import time
import urllib.parse

DB = "~/Library/Messages/chat.db"
EPOCH = 978307200  # 2001-01-01, from where Apple counts


def when(raw):
    """Nanoseconds since 2001; seconds in old databases."""
    seconds = raw / 1e9 if raw > 1e12 else raw
    return datetime.datetime.fromtimestamp(EPOCH + seconds).strftime("%Y-%m-%d %H:%M")


def body(blob):
    """The text in a typed stream: after the class NSString come a few marks and
    its length, in one byte, or two or four after 0x81 or 0x82."""
    at = blob.find(b"NSString")
    at = blob.find(b"+", at) if at >= 0 else -1
    if at < 0 or at + 2 > len(blob):
        return ""
    at += 1
    n, wide = blob[at], {0x81: 2, 0x82: 4}.get(blob[at], 0)
    if wide:
        n = int.from_bytes(blob[at + 1: at + 1 + wide], "little")
    start = at + 1 + wide
    return blob[start: start + n].decode("utf-8", "replace")


def rows(db, where, values, most):
    sql = ("SELECT m.ROWID, m.date, m.is_from_me, m.text, m.attributedBody, m.error, m.cache_has_attachments, h.id, c.chat_identifier, c.display_name "
           "FROM message m JOIN chat_message_join j ON j.message_id = m.ROWID JOIN chat c ON c.ROWID = j.chat_id "
           "LEFT JOIN handle h ON h.ROWID = m.handle_id WHERE m.item_type = 0 AND m.associated_message_type = 0 " + where + " ORDER BY m.date DESC")
    out = []
    for r in db.execute(sql, values):
        text = (r[3] or (body(r[4]) if r[4] else "")).replace("\ufffc", "").strip()
        if r[6]:
            text = (text + " [attachment]").strip()
        out.append({"id": r[0], "time": when(r[1]), "from": "me" if r[2] else r[7] or "?", "chat": r[8], "name": r[9] or "",
                    "text": text, "failed": bool(r[5])})
        if most and len(out) >= most:
            break
    return out


def show(m):
    name = m["name"] or m["chat"]
    return "%s  %s%s: %s%s" % (m["time"], m["from"], "" if m["from"] == name else " (%s)" % name, m["text"] or "[no text]", " [failed]" if m["failed"] else "")


def run(db, args):
    if args.what == "chats":
        found = db.execute("SELECT c.chat_identifier, c.display_name, c.service_name, MAX(m.date), COUNT(*) FROM chat c "
                           "JOIN chat_message_join j ON j.chat_id = c.ROWID JOIN message m ON m.ROWID = j.message_id "
                           "GROUP BY c.ROWID ORDER BY 4 DESC LIMIT ?", (args.max,)).fetchall()
        out = [{"chat": r[0], "name": r[1] or "", "service": r[2], "last": when(r[3]), "messages": r[4]} for r in found]
        return out, ["%(last)s  %(chat)s  %(name)s (%(service)s, %(messages)d messages)" % c for c in out]
    since = (time.time() - EPOCH - args.days * 86400) * 1e9 if args.days else 0
    if args.what == "read":
        out = rows(db, "AND (c.chat_identifier = ? OR c.display_name = ?) AND m.date >= ?", (args.chat, args.chat, since), args.max)
    else:
        word = args.words.casefold()
        out = [m for m in rows(db, "AND m.date >= ?", (since,), 0) if word in m["text"].casefold()][: args.max]
    out.reverse()  # oldest first, as it is read
    return out, [show(m) for m in out]


def main(argv=None):
    ap = argparse.ArgumentParser(description="Read the Messages database.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--db", default=DB)
    common.add_argument("--json", action="store_true")
    common.add_argument("--max", type=int, default=20)
    sub = ap.add_subparsers(dest="what", required=True)
    sub.add_parser("chats", parents=[common])
    p = sub.add_parser("read", parents=[common])
    p.add_argument("--chat", required=True, help="number, address or name of a group, as chats prints it")
    p.add_argument("--days", type=float, default=0)
    p = sub.add_parser("search", parents=[common])
    p.add_argument("words")
    p.add_argument("--days", type=float, default=30)
    args = ap.parse_args(argv)
    if args.max < 1:
        ap.error("--max is at least 1")
    path = os.path.expanduser(args.db)
    try:
        db = sqlite3.connect("file:%s?mode=ro" % urllib.parse.quote(os.path.abspath(path)), uri=True, timeout=5)
        try:
            value, lines = run(db, args)
        finally:
            db.close()
    except sqlite3.Error as err:
        print("messages: %s cannot be read: %s (does the terminal have Full Disk Access?)" % (path, err), file=sys.stderr)
        return 1
    if not lines:
        print("messages: nothing found", file=sys.stderr)
        return 1
    print(json.dumps(value, ensure_ascii=False, indent=1) if args.json else "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
