#!/usr/bin/env python3
"""Look up and check references at Crossref.

Standard library only. Exit 0: all found; 1: something was not; 2: wrong use.
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
TIMEOUT = 30
DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"'<>{}|\\^`]+")


def ask(args, path):
    request = urllib.request.Request(args.api.rstrip("/") + path, headers={"User-Agent": "hermes-citations-skill/1.0"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return json.loads(answer.read(LIMIT).decode("utf-8"))["message"]


def plain(s):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", s or "")).split())


def work(m):
    first = lambda key: plain((m.get(key) or [""])[0])
    dates = ((m.get("issued") or {}).get("date-parts") or [[None]])[0]
    return {
        "doi": m.get("DOI", ""), "title": first("title"), "type": m.get("type", ""),
        "authors": [plain(a.get("name") or "%s, %s" % (a.get("family", ""), a.get("given", ""))).strip(", ") for a in m.get("author") or []],
        "year": str(dates[0]) if dates and dates[0] else "", "journal": first("container-title"),
        "volume": m.get("volume", ""), "number": m.get("issue", ""), "pages": m.get("page", ""),
        "publisher": plain(m.get("publisher", "")),
    }


def lookup(args, doi):
    return work(ask(args, "/works/" + urllib.parse.quote(doi, safe="")))


def show(w):
    names = "; ".join(w["authors"][:6]) + (" and others" if len(w["authors"]) > 6 else "")
    where = ", ".join(x for x in (w["journal"], "vol. " + w["volume"] if w["volume"] else "", "no. " + w["number"] if w["number"] else "",
                                  "pp. " + w["pages"] if w["pages"] else "") if x)
    return "\n".join(x for x in (w["title"] or "(no title)", "  " + (names or "(no authors)") + (" (%s)" % w["year"] if w["year"] else ""),
                                 "  " + where if where else "", "  https://doi.org/" + w["doi"]) if x)


KINDS = {"journal-article": "article", "proceedings-article": "inproceedings", "book": "book", "monograph": "book",
         "book-chapter": "incollection", "dissertation": "phdthesis", "report": "techreport"}


def bibtex(w):
    kind = KINDS.get(w["type"], "misc")
    family = re.sub(r"[^a-z]", "", (w["authors"][0].split(",")[0] if w["authors"] else "anon").lower()) or "anon"
    word = re.sub(r"[^a-z0-9]", "", next((t for t in w["title"].lower().split() if len(t) > 3), ""))
    journal = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}.get(kind, "")
    fields = [("author", " and ".join(w["authors"])), ("title", "{" + w["title"] + "}" if w["title"] else ""), (journal, w["journal"]),
              ("year", w["year"]), ("volume", w["volume"]), ("number", w["number"]), ("pages", w["pages"].replace("-", "--")),
              ("publisher", w["publisher"] if kind != "article" else ""), ("doi", w["doi"])]
    esc = lambda s: re.sub(r"([&%#$])", r"\\\1", s)
    body = ",\n".join("  %s = {%s}" % (k, v if k == "doi" else esc(v)) for k, v in fields if k and v)
    return "@%s{%s%s%s,\n%s\n}" % (kind, family, w["year"], word, body)


def dois(text):
    out = []
    for m in DOI.finditer(text):
        d = m.group(0).rstrip(".,;:*_]")
        while d.endswith(")") and d.count("(") < d.count(")"):
            d = d[:-1].rstrip(".,;:")
        if d.lower() not in [o.lower() for o in out]:
            out.append(d)
    return out


def check(args):
    with open(args.file, encoding="utf-8", errors="replace") as f:
        found = dois(f.read())
    if not found:
        print("cite: there is no DOI in %s" % args.file, file=sys.stderr)
        return 1
    bad = 0
    for d in found:
        try:
            w = lookup(args, d)
            print("ok       %s  %s (%s)" % (d, w["title"], w["year"]))
        except urllib.error.HTTPError as err:
            bad += 1
            print("%s  %s" % ("missing" if err.code == 404 else "error %d" % err.code, d))
    print("%d of %d DOIs are registered with Crossref" % (len(found) - bad, len(found)))
    return 1 if bad else 0


def main(argv=None):
    ap = argparse.ArgumentParser(description="Look up and check references.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--api", default="https://api.crossref.org", help=argparse.SUPPRESS)
    sub = ap.add_subparsers(dest="what", required=True)
    d = sub.add_parser("doi", parents=[common])
    d.add_argument("doi", nargs="+")
    d.add_argument("--bibtex", action="store_true")
    s = sub.add_parser("search", parents=[common])
    s.add_argument("words")
    s.add_argument("--max", type=int, default=5)
    c = sub.add_parser("check", parents=[common])
    c.add_argument("file")
    args = ap.parse_args(argv)
    try:
        if args.what == "check":
            return check(args)
        if args.what == "search":
            query = urllib.parse.urlencode({"query.bibliographic": args.words, "rows": args.max})
            works = [work(m) for m in ask(args, "/works?" + query).get("items", [])]
            print("\n".join(show(w) for w in works) if works else "nothing found")
            return 0 if works else 1
        for text in args.doi:
            m = DOI.search(text)
            if not m:
                ap.error("%s is no DOI; it begins with 10." % text)
            w = lookup(args, m.group(0))
            print(bibtex(w) if args.bibtex else show(w))
        return 0
    except urllib.error.HTTPError as err:
        why = {404: "it is not registered with Crossref", 429: "too many requests; wait a minute"}.get(err.code, "the server answers %d" % err.code)
        print("cite: %s" % why, file=sys.stderr)
    except (OSError, ValueError, KeyError) as err:
        print("cite: %s" % err, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
