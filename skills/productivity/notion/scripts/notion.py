#!/usr/bin/env python3
"""Read and write Notion pages and databases.

Standard library only; the key is NOTION_API_KEY of the environment. Exit 0:
done; 1: failed; 2: wrong use; 3: the key is missing or refused.
"""
import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE, VERSION, TIMEOUT = "https://api.notion.com", "2025-09-03", 30
DEEP = 4  # levels of nested blocks


class Fail(Exception):
    code = 1


class Key(Fail):
    code = 3


class Stay(urllib.request.HTTPRedirectHandler):
    """The key does not follow a redirect."""

    def redirect_request(self, *args):
        return None


class API:
    def __init__(self, base):
        self.key = os.environ.get("NOTION_API_KEY", "").strip()
        if not self.key:
            raise Key("NOTION_API_KEY is not set")
        if base and urllib.parse.urlsplit(base).hostname not in ("127.0.0.1", "localhost", "::1"):
            raise Fail("--api is for tests on this machine only")  # the key goes nowhere else
        self.base, self.opener = (base or BASE).rstrip("/") + "/v1/", urllib.request.build_opener(Stay)

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if body is None else json.dumps(body).encode(), headers={
            "Authorization": "Bearer " + self.key, "Notion-Version": VERSION, "Content-Type": "application/json"})
        for last in (False, False, True):
            try:
                with self.opener.open(request, timeout=TIMEOUT) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as err:
                text = err.read(65536).decode("utf-8", "replace")
                try:
                    text = json.loads(text)["message"]
                except (ValueError, KeyError, TypeError):
                    text = text[:300] or err.reason
                if err.code == 429 and not last:
                    time.sleep(min(float(err.headers.get("Retry-After") or 1), 30))
                    continue
                if err.code == 401:
                    raise Key("Notion refuses NOTION_API_KEY: " + text)
                if err.code == 404:
                    text += " (is it connected to the integration? a database id is no data source id)"
                raise Fail("Notion answers %d: %s" % (err.code, text))

    def pages(self, method, path, body=None, most=100):
        """The results of a list, page by page; and whether there are more."""
        out, cursor = [], None
        while True:
            size = min(100, most - len(out))
            if method == "GET":
                got = self.call("GET", path + "?page_size=%d%s" % (size, "&start_cursor=" + cursor if cursor else ""))
            else:
                got = self.call("POST", path, dict(body or {}, page_size=size, **({"start_cursor": cursor} if cursor else {})))
            out += got.get("results") or []
            cursor = got.get("next_cursor")
            if not got.get("has_more") or not cursor or len(out) >= most:
                return out[:most], bool(got.get("has_more"))


def ident(text):
    path = urllib.parse.urlsplit(text).path if "://" in text else text
    m = re.findall(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}", path)
    if not m:
        raise Fail("%s holds no Notion id" % text)
    return m[-1].replace("-", "").lower()


def plain(rich):
    return "".join(r.get("plain_text", "") for r in rich or [])


def marked(rich):
    out = []
    for r in rich or []:
        t, a = r.get("plain_text", ""), r.get("annotations") or {}
        if t.strip():
            for key, mark in (("code", "`"), ("bold", "**"), ("italic", "*"), ("strikethrough", "~~")):
                if a.get(key):
                    t = mark + t + mark
            if r.get("href"):
                t = "[%s](%s)" % (t, r["href"])
        out.append(t)
    return "".join(out)


def title_of(o):
    if "title" in o:
        return plain(o["title"])
    return next((plain(p.get("title")) for p in (o.get("properties") or {}).values() if p.get("type") == "title"), "")


def value(p):
    kind = p.get("type")
    v = p.get(kind)
    if kind in ("title", "rich_text"):
        return plain(v)
    if kind in ("select", "status"):
        return v["name"] if v else ""
    if kind in ("multi_select", "people", "files"):
        return ", ".join(x.get("name") or x.get("id", "") for x in v or [])
    if kind == "date":
        return (v["start"] + (" - " + v["end"] if v.get("end") else "")) if v else ""
    if kind == "relation":
        return ", ".join(x["id"] for x in v or [])
    if kind in ("formula", "rollup") and v:
        return value(v) if v.get("type") in v else ""
    if kind == "array":
        return ", ".join(str(value(x)) for x in v or [])
    if kind == "unique_id" and v:
        return "%s%s" % (v["prefix"] + "-" if v.get("prefix") else "", v.get("number"))
    if isinstance(v, dict):
        return v.get("name") or v.get("id") or ""
    return "" if v is None else v


def show_blocks(api, parent, out, depth=0):
    blocks, more = api.pages("GET", "blocks/%s/children" % parent, most=2000)
    n = 0
    for b in blocks:
        kind = b.get("type", "")
        v, pad = b.get(kind) or {}, "  " * depth
        n = n + 1 if kind == "numbered_list_item" else 0
        text = marked(v.get("rich_text")) if isinstance(v, dict) else ""
        line = {"paragraph": text, "heading_1": "# " + text, "heading_2": "## " + text, "heading_3": "### " + text, "bulleted_list_item": "- " + text,
                "numbered_list_item": "%d. %s" % (n, text), "quote": "> " + text, "callout": "> " + text, "toggle": "- " + text, "divider": "---",
                "table_row": " | ".join(marked(c) for c in v.get("cells") or []) if isinstance(v, dict) else ""}.get(kind)
        if kind == "to_do":
            line = "- [%s] %s" % ("x" if v.get("checked") else " ", text)
        elif kind == "code":
            line = "```%s\n%s\n```" % (v.get("language", ""), plain(v.get("rich_text")))
        elif kind in ("child_page", "child_database"):
            line = "[%s: %s, %s]" % (kind, v.get("title", ""), b.get("id"))
        elif line is None:
            line = "" if kind in ("column_list", "column", "table", "synced_block") else "[%s%s]" % (kind, ": " + v["url"] if isinstance(v, dict) and v.get("url") else "")
        if line:
            out.append("\n".join(pad + l for l in line.split("\n")))
        if b.get("has_children") and kind not in ("child_page", "child_database"):
            if depth < DEEP:
                show_blocks(api, b["id"], out, depth + (kind not in ("column_list", "column", "table", "synced_block")))
            else:
                out.append(pad + "  [deeper blocks of %s are not shown]" % b["id"])
    if more:
        out.append("[there are more than 2000 blocks]")


def rich(text):
    """Markdown of one line as rich text."""
    out = []
    for m in re.finditer(r"\*\*(?P<b>[^*]+)\*\*|`(?P<c>[^`]+)`|\[(?P<t>[^\]]+)\]\((?P<u>https?://[^)\s]+)\)|(?<![*\w])\*(?P<i>[^*\s][^*]*)\*|(?P<p>[^*`\[]+|.)", text, re.S):
        g = m.groupdict()
        word = g["b"] or g["c"] or g["t"] or g["i"] or g["p"]
        marks = {k: True for k, key in (("bold", "b"), ("code", "c"), ("italic", "i")) if g[key]}
        if out and not marks and not g["u"] and not out[-1].get("annotations") and not out[-1]["text"].get("link"):
            out[-1]["text"]["content"] += word
            continue
        item = {"type": "text", "text": {"content": word}}
        if g["u"]:
            item["text"]["link"] = {"url": g["u"]}
        if marks:
            item["annotations"] = marks
        out.append(item)
    # a piece of text holds at most 2000 characters
    return [dict(i, text=dict(i["text"], content=i["text"]["content"][at: at + 2000])) for i in out for at in range(0, len(i["text"]["content"]), 2000)]


def blocks_of(markdown):
    out, lines, i = [], markdown.replace("\r\n", "\n").split("\n"), 0
    add = lambda kind, text, **more: out.append({"type": kind, kind: dict(rich_text=rich(text), **more)})
    while i < len(lines):
        row = lines[i].strip()
        i += 1
        if not row:
            continue
        m = re.match(r"```([\w+#-]*)", row)
        if m:
            code = []
            while i < len(lines) and lines[i].strip() != "```":
                code.append(lines[i])
                i += 1
            i += 1
            text = "\n".join(code)
            out.append({"type": "code", "code": {"language": m.group(1) or "plain text", "rich_text": [
                {"type": "text", "text": {"content": text[at: at + 2000]}} for at in range(0, max(len(text), 1), 2000)]}})
            continue
        for pattern, kind in ((r"(#{1,3}) +(.*)", "heading"), (r"[-*] \[([ xX])\] +(.*)", "to_do"), (r"([-*]) +(.*)", "bulleted_list_item"),
                              (r"(\d+)[.)] +(.*)", "numbered_list_item"), (r"(>) ?(.*)", "quote")):
            m = re.match(pattern + "$", row)
            if m:
                break
        if re.fullmatch(r"-{3,}|\*{3,}", row):
            out.append({"type": "divider", "divider": {}})
        elif not m:
            while i < len(lines) and lines[i].strip() and not re.match(r"\s*(#{1,3} |[-*] |\d+[.)] |>|```|-{3,}$)", lines[i]):
                row += " " + lines[i].strip()
                i += 1
            add("paragraph", row)
        elif kind == "heading":
            add("heading_%d" % len(m.group(1)), m.group(2))
        elif kind == "to_do":
            add("to_do", m.group(2), checked=m.group(1) != " ")
        else:
            add(kind, m.group(2))
    return out


def piped():
    return "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace")


def append(api, page, blocks):
    done = 0
    for at in range(0, len(blocks), 100):
        try:
            done += len(api.call("PATCH", "blocks/%s/children" % page, {"children": blocks[at: at + 100]}).get("results") or [])
        except Fail as err:
            raise Fail("%s; %d of %d blocks were written" % (err, done, len(blocks)))
    if done != len(blocks):
        raise Fail("%d blocks were sent, Notion reports %d" % (len(blocks), done))
    return done


def parse_json(text, what):
    try:
        v = json.loads(text)
    except ValueError as err:
        raise Fail("%s is no JSON: %s" % (what, err))
    if not isinstance(v, dict):
        raise Fail("%s must be a JSON object" % what)
    return v


def row(o):
    return {"id": o.get("id"), "kind": o.get("object"), "title": title_of(o), "url": o.get("url", ""), "edited": o.get("last_edited_time", "")}


def run(args):
    api = API(args.api)
    emit = lambda v: print(json.dumps(v, ensure_ascii=False, indent=1))
    if args.what == "search":
        found, more = api.pages("POST", "search", {"query": args.words}, args.max)
        if args.json:
            return emit(found)
        for r in map(row, found):
            print("%(kind)s  %(id)s  %(edited)s\n  %(title)s\n  %(url)s" % r)
        print("(there are more)" if more else "" if found else "nothing found; is the page connected to the integration?", end="\n" if more or not found else "")
    elif args.what == "page":
        p = api.call("GET", "pages/" + ident(args.id))
        if args.json:
            return emit(p)
        out = ["# " + title_of(p), p.get("url", "")]
        out += ["%s: %s" % (k, value(v)) for k, v in (p.get("properties") or {}).items() if v.get("type") != "title" and value(v) not in ("", None)]
        out.append("")
        show_blocks(api, p["id"], out)
        print("\n".join(out))
    elif args.what == "db":
        d = api.call("GET", "databases/" + ident(args.id))
        for s in d.get("data_sources") or []:
            source = api.call("GET", "data_sources/" + s["id"])
            if args.json:
                emit(source)
                continue
            print("source %s  %s" % (s["id"], s.get("name", "")))
            for name, p in (source.get("properties") or {}).items():
                options = [o["name"] for o in (p.get(p["type"]) or {}).get("options") or []] if isinstance(p.get(p["type"]), dict) else []
                print("  %s: %s%s" % (name, p["type"], " (%s)" % ", ".join(options) if options else ""))
        if not d.get("data_sources"):
            raise Fail("the database has no data source")
    elif args.what == "query":
        body = {"filter": parse_json(args.filter, "--filter")} if args.filter else {}
        found, more = api.pages("POST", "data_sources/%s/query" % ident(args.id), body, args.max)
        if args.json:
            return emit(found)
        for o in found:
            print("%s  %s" % (o["id"], title_of(o) or "(no title)"))
            for k, v in (o.get("properties") or {}).items():
                if v.get("type") != "title" and value(v) not in ("", None):
                    print("  %s: %s" % (k, value(v)))
        print("%d rows%s" % (len(found), "; there are more, see --max" if more else ""))
    elif args.what == "create":
        if bool(args.parent) == bool(args.source):
            raise Fail("give --parent (a page) or --source (a data source of a database)")
        props, name = parse_json(args.props, "--props") if args.props else {}, "title"
        if args.source:
            columns = api.call("GET", "data_sources/" + ident(args.source)).get("properties") or {}
            name = next((k for k, v in columns.items() if v.get("type") == "title"), "title")
        props[name] = {"title": rich(args.title)}
        parent = {"type": "data_source_id", "data_source_id": ident(args.source)} if args.source else {"type": "page_id", "page_id": ident(args.parent)}
        blocks = blocks_of(piped())
        p = api.call("POST", "pages", {"parent": parent, "properties": props})
        print(p.get("url") or p["id"])
        if blocks:
            print("%d blocks" % append(api, p["id"], blocks))
    elif args.what == "append":
        blocks = blocks_of(piped())
        if not blocks:
            raise Fail("there is no text on standard input")
        print("%d blocks" % append(api, ident(args.id), blocks))
    elif args.what == "set":
        p = api.call("PATCH", "pages/" + ident(args.id), {"properties": parse_json(args.props, "the properties")})
        print(p.get("url") or p["id"])


def main(argv=None):
    ap = argparse.ArgumentParser(description="Notion pages and databases.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true")
    common.add_argument("--api", help=argparse.SUPPRESS)
    sub = ap.add_subparsers(dest="what", required=True)
    add = lambda name, about: sub.add_parser(name, help=about, parents=[common])
    p = add("search", "pages and databases by their title")
    p.add_argument("words")
    p.add_argument("--max", type=int, default=20)
    add("page", "a page as Markdown").add_argument("id")
    add("db", "the data sources of a database and their columns").add_argument("id")
    p = add("query", "rows of a data source")
    p.add_argument("id")
    p.add_argument("--filter")
    p.add_argument("--max", type=int, default=50)
    p = add("create", "a page; its text as Markdown on standard input")
    p.add_argument("--parent")
    p.add_argument("--source")
    p.add_argument("--title", required=True)
    p.add_argument("--props")
    add("append", "Markdown on standard input to the end of a page").add_argument("id")
    p = add("set", "change columns")
    p.add_argument("id")
    p.add_argument("props")
    args = ap.parse_args(argv)
    try:
        run(args)
        return 0
    except Fail as err:
        print("notion: %s" % err, file=sys.stderr)
        return err.code
    except (OSError, ValueError, KeyError) as err:
        print("notion: %s" % err, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
