#!/usr/bin/env python3
"""Search arXiv and print what it answers as short text or JSON.

Standard library only. --file reads a saved answer instead of asking the
network, so that reading can be tested without one.
"""
import argparse
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET

API = "https://export.arxiv.org/api/query"
NS = {
    "a": "http://www.w3.org/2005/Atom",
    "arxiv": "http://arxiv.org/schemas/atom",
    "os": "http://a9.com/-/spec/opensearch/1.1/",
}


def quoted(words):
    """Keep a phrase of several words together."""
    words = words.strip()
    if " " in words and not words.startswith('"'):
        return '"%s"' % words
    return words


def terms(text):
    """Split a query into words and quoted phrases."""
    out, rest = [], text
    while rest.strip():
        rest = rest.strip()
        if rest.startswith('"') and '"' in rest[1:]:
            end = rest.index('"', 1)
            out.append(rest[: end + 1])
            rest = rest[end + 1:]
        else:
            word, _, rest = rest.partition(" ")
            out.append(word)
    return out


def query_of(args):
    parts = ["all:" + t for t in terms(args.query or "")]
    if args.author:
        parts.append("au:" + quoted(args.author))
    if args.title:
        parts.append("ti:" + quoted(args.title))
    if args.category:
        parts.append("cat:" + args.category)
    return " AND ".join(parts)


def url_of(args):
    params = {"start": args.start, "max_results": args.max}
    if args.id:
        params["id_list"] = ",".join(args.id)
    else:
        params["search_query"] = query_of(args)
        params["sortBy"] = "submittedDate" if args.sort == "date" else "relevance"
        params["sortOrder"] = "descending"
    return API + "?" + urllib.parse.urlencode(params)


def fetch(url, tries=3):
    for attempt in range(tries):
        try:
            request = urllib.request.Request(url, headers={"User-Agent": "hermes-arxiv-skill/1.0"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read()
        except urllib.error.HTTPError as err:
            if err.code not in (429, 500, 502, 503) or attempt == tries - 1:
                raise
            time.sleep(3 * (attempt + 1))
    raise RuntimeError("unreachable")


def text(node, path):
    found = node.find(path, NS)
    return " ".join((found.text or "").split()) if found is not None else ""


def parse(data):
    root = ET.fromstring(data)
    papers = []
    for entry in root.findall("a:entry", NS):
        link = text(entry, "a:id")
        if "/api/errors" in link:
            raise ValueError(text(entry, "a:summary") or "arXiv refused the query")
        ident = link.rsplit("/abs/", 1)[-1]
        papers.append({
            "id": ident,
            "title": text(entry, "a:title"),
            "authors": [text(a, "a:name") for a in entry.findall("a:author", NS)],
            "published": text(entry, "a:published")[:10],
            "updated": text(entry, "a:updated")[:10],
            "categories": [c.get("term") for c in entry.findall("a:category", NS)],
            "abstract": text(entry, "a:summary"),
            "comment": text(entry, "arxiv:comment"),
            "doi": text(entry, "arxiv:doi"),
            "abs": "https://arxiv.org/abs/" + ident,
            "pdf": "https://arxiv.org/pdf/" + ident,
        })
    total = text(root, "os:totalResults")
    return papers, int(total) if total.isdigit() else len(papers)


def show(papers, total, start):
    if not papers:
        print("No papers match. Use fewer or more general words.")
        return
    print("%d of %d papers, from %d" % (len(papers), total, start + 1))
    for p in papers:
        names = ", ".join(p["authors"][:5]) + (" and others" if len(p["authors"]) > 5 else "")
        print("\n%s  [%s]\n%s\n%s  (%s)\n%s" % (
            p["title"], p["id"], names, p["published"], ", ".join(p["categories"]), p["abs"]))
        print(p["abstract"])


def main(argv=None):
    ap = argparse.ArgumentParser(description="Search arXiv.")
    ap.add_argument("query", nargs="?", help="words; \"a phrase\" in double quotes")
    ap.add_argument("--author")
    ap.add_argument("--title")
    ap.add_argument("--category", help="such as cs.LG or math.CO")
    ap.add_argument("--id", nargs="+", help="one or more arXiv ids")
    ap.add_argument("--max", type=int, default=10)
    ap.add_argument("--start", type=int, default=0)
    ap.add_argument("--sort", choices=["relevance", "date"], default="relevance")
    ap.add_argument("--json", action="store_true")
    ap.add_argument("--file", help="read a saved answer of arXiv")
    ap.add_argument("--url", action="store_true", help="print the address and stop")
    args = ap.parse_args(argv)
    if not (args.query or args.author or args.title or args.category or args.id or args.file):
        ap.error("say what to look for")
    if args.url:
        print(url_of(args))
        return 0
    try:
        if args.file:
            with open(args.file, "rb") as f:
                data = f.read()
        else:
            data = fetch(url_of(args))
        papers, total = parse(data)
    except (OSError, ValueError, ET.ParseError) as err:
        print("search_arxiv: %s" % err, file=sys.stderr)
        return 1
    if args.json:
        json.dump({"total": total, "papers": papers}, sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        show(papers, total, args.start)
    return 0


if __name__ == "__main__":
    sys.exit(main())
