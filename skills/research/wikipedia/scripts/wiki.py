#!/usr/bin/env python3
"""Search Wikipedia and read its articles as plain text.

Standard library only. Exit 0: found; 1: not found or not answered; 2: wrong
use.
"""
import argparse
import html
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

LIMIT = 8 << 20
TIMEOUT = 20


def ask(args, **params):
    params.update(format="json", formatversion="2", action="query")
    url = (args.api or "https://%s.wikipedia.org/w/api.php" % args.lang) + "?" + urllib.parse.urlencode(params)
    request = urllib.request.Request(url, headers={"User-Agent": "hermes-wikipedia-skill/1.0"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        data = answer.read(LIMIT)
    out = json.loads(data.decode("utf-8"))
    if "error" in out:
        raise ValueError(out["error"].get("info", "the request was refused"))
    return out.get("query") or {}


def address(args, title):
    return "https://%s.wikipedia.org/wiki/%s" % (args.lang, urllib.parse.quote(title.replace(" ", "_"), safe="/:(),"))


def search(args):
    found = ask(args, list="search", srsearch=args.words, srlimit=args.max).get("search", [])
    if not found:
        print("wiki: nothing found for %s" % args.words, file=sys.stderr)
        return 1
    for r in found:
        text = html.unescape(re.sub(r"<[^>]*>", "", r.get("snippet", "")))
        print("%s\n  %s\n  %s" % (r["title"], address(args, r["title"]), " ".join(text.split())))
    return 0


HEADING = re.compile(r"^(={2,6}) *(.+?) *\1 *$", re.M)


def cut(text):
    """The introduction, and (level, title, text) of each section."""
    marks = list(HEADING.finditer(text))
    intro = text[: marks[0].start()] if marks else text
    out = []
    for i, m in enumerate(marks):
        end = marks[i + 1].start() if i + 1 < len(marks) else len(text)
        out.append((len(m.group(1)), m.group(2), text[m.end(): end].strip()))
    return intro.strip(), out


def page(args):
    got = ask(args, prop="extracts|pageprops", titles=args.title, explaintext=1, redirects=1)
    pages = got.get("pages") or [{"missing": True}]
    p = pages[0]
    if p.get("missing") or p.get("invalid"):
        print("wiki: there is no article %s; try: search %s" % (args.title, args.title), file=sys.stderr)
        return 1
    for r in got.get("redirects", []):
        print("(%s leads to %s)" % (r["from"], r["to"]))
    print("%s\n%s\n" % (p["title"], address(args, p["title"])))
    if "disambiguation" in p.get("pageprops", {}):
        print("(the title is ambiguous: choose one of the articles below)")
        print(p.get("extract", "").strip())
        return 0
    intro, sections = cut(p.get("extract", ""))
    if args.sections:
        for level, title, text in sections:
            print("%s%s (%d characters)" % ("  " * (level - 2), title, len(text)))
    elif args.section:
        want = args.section.casefold()
        for i, (level, title, text) in enumerate(sections):
            if title.casefold() == want:
                print("== %s ==\n%s" % (title, text))
                for l, t, more in sections[i + 1:]:
                    if l <= level:
                        break
                    print("\n== %s ==\n%s" % (t, more))
                return 0
        print("wiki: no section %s; there are: %s" % (args.section, ", ".join(t for _, t, _ in sections)), file=sys.stderr)
        return 1
    elif args.full:
        print(p.get("extract", "").strip())
    else:
        print(intro or "(no introduction; see --sections)")
    return 0


def main(argv=None):
    ap = argparse.ArgumentParser(description="Search and read Wikipedia.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--lang", default="en")
    common.add_argument("--api", help="another API address, such as that of a wiki of one's own")
    sub = ap.add_subparsers(dest="what", required=True)
    s = sub.add_parser("search", parents=[common])
    s.add_argument("words")
    s.add_argument("--max", type=int, default=8)
    p = sub.add_parser("page", parents=[common])
    p.add_argument("title")
    g = p.add_mutually_exclusive_group()
    g.add_argument("--sections", action="store_true", help="list the sections")
    g.add_argument("--section", help="only this one and those below it")
    g.add_argument("--full", action="store_true")
    args = ap.parse_args(argv)
    if not re.fullmatch(r"[a-z][a-z0-9-]{1,19}", args.lang):
        ap.error("--lang takes a code such as en, de or zh-yue")
    try:
        return search(args) if args.what == "search" else page(args)
    except urllib.error.HTTPError as err:
        print("wiki: the server answers %d %s%s" % (err.code, err.reason, "; wait a minute" if err.code == 429 else ""), file=sys.stderr)
    except (OSError, ValueError) as err:
        print("wiki: %s" % err, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
