#!/usr/bin/env python3
"""Search DuckDuckGo's page for plain browsers, or strip a page to its text.

Standard library only. --file reads a saved page instead of asking the network.
"""
import argparse
import html.parser
import json
import sys
import urllib.parse
import urllib.request

URL = "https://html.duckduckgo.com/html/"


class Results(html.parser.HTMLParser):
    """Collects links of class result__a and texts of class result__snippet."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found, self.into, self.challenge = [], None, False

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        classes = (attrs.get("class") or "").split()
        if "anomaly-modal" in " ".join(classes) or attrs.get("id") == "challenge-form":
            self.challenge = True
        if tag == "a" and "result__a" in classes:
            self.found.append({"title": "", "url": target(attrs.get("href") or ""), "text": ""})
            self.into = "title"
        elif "result__snippet" in classes and self.found:
            self.into = "text"

    def handle_endtag(self, tag):
        if tag in ("a", "div", "h2"):
            self.into = None

    def handle_data(self, data):
        if self.into:
            self.found[-1][self.into] += data


def target(href):
    """Results point to a redirect that carries the real address."""
    if href.startswith("//"):
        href = "https:" + href
    parts = urllib.parse.urlsplit(href)
    if parts.path.startswith("/l/"):
        real = urllib.parse.parse_qs(parts.query).get("uddg")
        if real:
            return real[0]
    return href


class Text(html.parser.HTMLParser):
    """Keeps what a person reads of a page."""

    SKIP = {"script", "style", "noscript", "svg", "nav", "footer", "form"}
    BLOCK = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "pre", "section", "article"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.out, self.skipped = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in self.SKIP:
            self.skipped += 1
        elif tag in self.BLOCK:
            self.out.append("\n")

    def handle_endtag(self, tag):
        if tag in self.SKIP and self.skipped:
            self.skipped -= 1
        elif tag in self.BLOCK:
            self.out.append("\n")

    def handle_data(self, data):
        if not self.skipped:
            self.out.append(data)

    def text(self):
        lines = [" ".join(l.split()) for l in "".join(self.out).split("\n")]
        return "\n".join(l for l in lines if l)


def fetch(args):
    form = {"q": args.query, "kl": args.region}
    if args.time:
        form["df"] = args.time
    request = urllib.request.Request(
        URL, data=urllib.parse.urlencode(form).encode(),
        headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode("utf-8", "replace")


def main(argv=None):
    ap = argparse.ArgumentParser(description="Search the web through DuckDuckGo.")
    ap.add_argument("query", nargs="?")
    ap.add_argument("--max", type=int, default=10)
    ap.add_argument("--time", choices=["d", "w", "m", "y"])
    ap.add_argument("--region", default="wt-wt")
    ap.add_argument("--json", action="store_true")
    ap.add_argument("--file", help="read a saved page of results")
    ap.add_argument("--strip", action="store_true", help="read HTML on stdin, print its text")
    args = ap.parse_args(argv)
    if args.strip:
        page = Text()
        page.feed(sys.stdin.buffer.read().decode("utf-8", "replace"))
        print(page.text())
        return 0
    if not (args.query or args.file):
        ap.error("say what to look for")
    try:
        if args.file:
            with open(args.file, encoding="utf-8", errors="replace") as f:
                page = f.read()
        else:
            page = fetch(args)
    except OSError as err:
        print("ddg: %s" % err, file=sys.stderr)
        return 1
    results = Results()
    results.feed(page)
    found = [dict(r, title=" ".join(r["title"].split()), text=" ".join(r["text"].split()))
             for r in results.found if "duckduckgo.com/y.js" not in r["url"]][: args.max]
    if not found and results.challenge:
        print("ddg: DuckDuckGo asks whether you are human; wait some minutes before the next search", file=sys.stderr)
        return 2
    if args.json:
        json.dump(found, sys.stdout, ensure_ascii=False, indent=1)
        print()
    elif not found:
        print("No results.")
    for r in found if not args.json else []:
        print("%s\n%s\n%s\n" % (r["title"], r["url"], r["text"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
