#!/usr/bin/env python3
"""Read RSS, Atom and JSON feeds, and remember what was seen.

Standard library only. A source is an address or a file. Exit 0: all were
read; 1: some were not (said on stderr); 2: wrong use.
"""
import argparse
import datetime
import email.utils
import html
import html.parser
import json
import os
import re
import sys
import tempfile
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET

LIMIT = 8 << 20  # bytes of one feed
TIMEOUT = 20  # seconds


def read(source):
    if re.match(r"https?://", source):
        request = urllib.request.Request(source, headers={"User-Agent": "hermes-feeds/1.0"})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            data = answer.read(LIMIT + 1)
    else:
        with open(os.path.expanduser(source), "rb") as f:
            data = f.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ValueError("it is larger than %d MB" % (LIMIT >> 20))
    return data


def plain(text, limit=300):
    """Text without markup, in one line."""
    text = html.unescape(re.sub(r"<[^>]*>", " ", text or ""))
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def date(text):
    """The time in UTC, or None."""
    text = (text or "").strip()
    if not text:
        return None
    try:
        when = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        try:
            when = datetime.datetime.fromisoformat(re.sub(r"Z$", "+00:00", text))
        except ValueError:
            return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.timezone.utc)
    return when.astimezone(datetime.timezone.utc)


def local(tag):
    return tag.rsplit("}", 1)[-1].lower() if isinstance(tag, str) else ""


def child(node, *names):
    for name in names:
        for c in node:
            if local(c.tag) == name:
                return c
    return None


def words(node, *names):
    c = child(node, *names)
    return "".join(c.itertext()) if c is not None else ""


def link(node):
    best = ""
    for c in node:
        if local(c.tag) != "link":
            continue
        href = c.get("href")
        if href and c.get("rel", "alternate") == "alternate":
            return href
        best = best or href or (c.text or "").strip()
    return best


def entry(ident, title, url, when, text):
    return {"id": (ident or url or title).strip(), "title": plain(title, 200) or "(no title)", "url": url,
            "date": when.isoformat() if when else "", "text": plain(text)}


def parse(data):
    """The feed's title and its entries."""
    if data.lstrip()[:1] == b"{":
        feed = json.loads(data.decode("utf-8"))
        if not isinstance(feed.get("items"), list):
            raise ValueError("it is JSON, but no feed")
        return feed.get("title", ""), [
            entry(str(i.get("id", "")), i.get("title", ""), i.get("url", ""), date(i.get("date_published")),
                  i.get("summary") or i.get("content_text") or i.get("content_html") or "")
            for i in feed["items"] if isinstance(i, dict)]
    if b"<!ENTITY" in data:
        raise ValueError("it declares entities; that is no feed")
    root = ET.fromstring(data)
    kind = local(root.tag)
    if kind not in ("rss", "feed", "rdf"):
        raise ValueError("it is no feed (its root is <%s>); try --discover" % kind)
    head = child(root, "channel")
    nodes = [n for parent in (root, head) if parent is not None for n in parent if local(n.tag) in ("item", "entry")]
    title = words(head if head is not None else root, "title")
    return plain(title), [
        entry(words(n, "guid", "id"), words(n, "title"), link(n),
              date(words(n, "pubdate", "published", "updated", "date")),
              words(n, "description", "summary", "content", "encoded"))
        for n in nodes]


class Feeds(html.parser.HTMLParser):
    """Collects <link rel=alternate> of feeds."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag == "link" and "alternate" in (a.get("rel") or "") and re.search("rss|atom|feed.json", a.get("type") or ""):
            self.found.append((a.get("href") or "", a.get("title") or ""))


def sources(args):
    out = list(args.source)
    if args.list:
        with open(os.path.expanduser(args.list), encoding="utf-8") as f:
            for line in f:
                line = line.split(" #")[0].strip()
                if line and not line.startswith("#"):
                    out.append(line)
    return out


def load(path):
    try:
        with open(path, encoding="utf-8") as f:
            seen = json.load(f)
    except FileNotFoundError:
        return {}
    if not isinstance(seen, dict):
        raise ValueError("%s does not hold what this script writes" % path)
    return seen


def save(path, seen):
    """Beside it and renamed: a run that ends half way leaves the old state."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    fd, tmp = tempfile.mkstemp(dir=folder, prefix=".feeds-")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            json.dump(seen, f)
        os.replace(tmp, path)
    except BaseException:
        os.unlink(tmp)
        raise


def main(argv=None):
    ap = argparse.ArgumentParser(description="Read feeds.")
    ap.add_argument("source", nargs="*", help="addresses or files")
    ap.add_argument("--list", help="a file with one source a line")
    ap.add_argument("--max", type=int, default=20, help="entries of each feed")
    ap.add_argument("--days", type=float, help="only entries of the last days")
    ap.add_argument("--new", action="store_true", help="only what --state does not hold yet")
    ap.add_argument("--state", help="where to remember what was seen")
    ap.add_argument("--discover", metavar="URL", help="list the feeds of a page")
    ap.add_argument("--json", action="store_true")
    args = ap.parse_args(argv)
    if args.new and not args.state:
        ap.error("--new needs --state FILE")
    try:
        if args.discover:
            page = Feeds()
            page.feed(read(args.discover).decode("utf-8", "replace"))
            for href, title in page.found:
                print(urllib.parse.urljoin(args.discover, href), title)
            if not page.found:
                print("feeds: the page names no feed", file=sys.stderr)
            return 0 if page.found else 1
        state = os.path.expanduser(args.state) if args.state else ""
        seen = load(state) if state else {}
        todo = sources(args)
    except (OSError, ValueError) as err:
        print("feeds: %s" % err, file=sys.stderr)
        return 1
    if not todo:
        ap.error("name a feed, or --list FILE")
    since = None
    if args.days is not None:
        since = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=args.days)
    out, failed = [], 0
    for source in todo:
        try:
            title, entries = parse(read(source))
        except (OSError, ValueError, ET.ParseError) as err:
            print("feeds: %s: %s" % (source, err), file=sys.stderr)
            failed += 1
            continue
        known = set(seen.get(source, []))
        fresh = [e for e in entries
                 if not (since and e["date"] and date(e["date"]) < since) and not (args.new and e["id"] in known)]
        fresh = fresh[: args.max]
        out.append({"feed": title or source, "source": source, "entries": fresh})
        if state:
            ids = [e["id"] for e in entries]
            shown = {e["id"] for e in fresh}
            # what the feed no longer carries cannot come again and is forgotten
            seen[source] = [i for i in ids if i in known or i in shown]
    if args.json:
        json.dump(out, sys.stdout, ensure_ascii=False, indent=1)
        print()
    elif not any(f["entries"] for f in out):
        print("nothing new" if args.new else "no entries")
    else:
        for f in out:
            if f["entries"]:
                print("# %s" % f["feed"])
            for e in f["entries"]:
                print("%s  %s\n  %s" % (e["date"][:10] or "no date   ", e["title"], e["url"]))
                if e["text"]:
                    print("  " + e["text"])
    sys.stdout.flush()
    if state and out:
        try:
            save(state, seen)
        except OSError as err:
            print("feeds: what was seen is not remembered: %s" % err, file=sys.stderr)
            return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
