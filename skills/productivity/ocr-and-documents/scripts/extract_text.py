#!/usr/bin/env python3
"""Print the text of documents: docx, odt, odp, pptx, epub, html, rtf, eml.

Standard library only. Exit 0: all were read; 1: some were not; 2: wrong use.
"""
import argparse
import email
import email.policy
import html.parser
import os
import posixpath
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ET
import zipfile

LIMIT = 100 << 20  # bytes of one part, unpacked


def local(tag):
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


class Page(html.parser.HTMLParser):
    """What a person reads of an HTML page."""

    SKIP = {"script", "style", "noscript", "template", "head"}
    BLOCK = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "section", "article", "table", "blockquote"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.out, self.skipped = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in self.SKIP:
            self.skipped += 1
        elif tag in self.BLOCK:
            self.out.append("\n" + ("#" * int(tag[1]) + " " if re.fullmatch("h[1-6]", tag) else "- " if tag == "li" else ""))
        elif tag in ("td", "th"):
            self.out.append(" | ")

    def handle_endtag(self, tag):
        if tag in self.SKIP:
            self.skipped = max(0, self.skipped - 1)
        elif tag in self.BLOCK:
            self.out.append("\n")

    def handle_data(self, data):
        if not self.skipped:
            self.out.append(re.sub(r"\s+", " ", data))


def from_html(data):
    head = data[:1024].decode("latin-1")
    m = re.search(r"""charset=["']?([\w-]+)""", head)
    page = Page()
    try:
        text = data.decode(m.group(1) if m else "utf-8")
    except (UnicodeDecodeError, LookupError):
        text = data.decode("utf-8", "replace")
    page.feed(text)
    page.close()
    return "".join(page.out)


def part(z, name):
    info = z.getinfo(name)
    if info.file_size > LIMIT:
        raise ValueError("its part %s has %d MB; at most %d" % (name, info.file_size >> 20, LIMIT >> 20))
    return z.read(info)


def inline(node):
    """The text of one Word or PowerPoint paragraph."""
    out = []
    for n in node:
        tag = local(n.tag)
        if tag == "t":
            out.append(n.text or "")
        elif tag == "tab":
            out.append("\t")
        elif tag in ("br", "cr"):
            out.append("\n")
        elif tag == "noBreakHyphen":
            out.append("-")
        elif tag not in ("pPr", "rPr", "del", "moveFrom", "instrText", "Fallback"):
            out.append(inline(n))
    return "".join(out)


def blocks(node, out):
    for n in node:
        tag = local(n.tag)
        if tag == "p":
            style = next((s.get(k, "") for s in n.iter() if local(s.tag) == "pStyle" for k in s.keys()), "")
            m = re.search(r"(?i)^heading\s*([1-6])$", style)
            text = inline(n).strip()
            if text:
                out.append(("#" * int(m.group(1)) + " " if m else "") + text)
        elif tag == "tbl":
            rows = []
            for row in (r for r in n if local(r.tag) == "tr"):
                cells = []
                for cell in (c for c in row if local(c.tag) == "tc"):
                    inner = []
                    blocks(cell, inner)
                    cells.append(" ".join(inner))
                rows.append(" | ".join(cells))
            out.append("\n".join(rows))
        elif tag not in ("sectPr", "del"):
            blocks(n, out)


def from_docx(z):
    out = []
    for name in ["word/document.xml"] + sorted(n for n in z.namelist() if re.fullmatch(r"word/(foot|end)notes\.xml", n)):
        blocks(ET.fromstring(part(z, name)), out)
    return "\n\n".join(out)


def numbered(z, pattern):
    found = [(int(m.group(1)), m.group(0)) for m in (re.fullmatch(pattern, n) for n in z.namelist()) if m]
    return [name for _, name in sorted(found)]


def notes_of(z, slide):
    rels = posixpath.dirname(slide) + "/_rels/" + posixpath.basename(slide) + ".rels"
    if rels not in z.namelist():
        return ""
    for r in ET.fromstring(part(z, rels)):
        if r.get("Type", "").endswith("/notesSlide"):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(slide), r.get("Target", "")))
            out = []
            for shape in ET.fromstring(part(z, name)).iter():
                if local(shape.tag) == "sp" and any(local(p.tag) == "ph" and p.get("type") == "body" for p in shape.iter()):
                    blocks(shape, out)
            return "\n".join(out)
    return ""


def from_pptx(z):
    out = []
    for i, slide in enumerate(numbered(z, r"ppt/slides/slide(\d+)\.xml"), 1):
        lines = []
        blocks(ET.fromstring(part(z, slide)), lines)
        notes = notes_of(z, slide)
        out.append("# Slide %d\n\n%s%s" % (i, "\n".join(lines), "\n\nNotes: " + notes if notes else ""))
    return "\n\n".join(out)


def from_odf(z):
    out = []

    def text(n):
        s = n.text or ""
        for c in n:
            tag = local(c.tag)
            if tag == "s":
                s += " " * min(int(next((v for k, v in c.items() if local(k) == "c"), "1")), 1000)
            elif tag == "tab":
                s += "\t"
            elif tag == "line-break":
                s += "\n"
            elif tag not in ("annotation", "tracked-changes"):
                s += text(c)
            s += c.tail or ""
        return s

    def walk(n):
        for c in n:
            tag = local(c.tag)
            if tag == "h":
                level = next((v for k, v in c.items() if local(k) == "outline-level"), "1")
                out.append("#" * min(int(level), 6) + " " + text(c).strip())
            elif tag == "p":
                if text(c).strip():
                    out.append(text(c).strip())
            elif tag == "table-row":
                out.append(" | ".join(" ".join("".join(x.itertext()).split()) for x in c if local(x.tag) == "table-cell"))
            elif tag == "page":
                out.append("# Slide " + next((v for k, v in c.items() if local(k) == "name"), ""))
                walk(c)
            elif tag not in ("tracked-changes", "annotation"):
                walk(c)

    walk(next(n for n in ET.fromstring(part(z, "content.xml")) if local(n.tag) == "body"))
    return "\n\n".join(out)


def from_epub(z):
    container = ET.fromstring(part(z, "META-INF/container.xml"))
    opf = next(n.get("full-path") for n in container.iter() if local(n.tag) == "rootfile")
    root = ET.fromstring(part(z, opf))
    items = {n.get("id"): n.get("href") for n in root.iter() if local(n.tag) == "item"}
    out = []
    for ref in (n for n in root.iter() if local(n.tag) == "itemref"):
        href = items.get(ref.get("idref"))
        if href:
            name = posixpath.normpath(posixpath.join(posixpath.dirname(opf), urllib.parse.unquote(href)))
            out.append(from_html(part(z, name)))
    return "\n\n".join(out)


def from_rtf(data):
    text = data.decode("latin-1")
    out, stack, skip, i, wide = [], [], False, 0, 1
    hidden = {"fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "themedata", "datastore", "header", "footer", "listtable", "generator"}
    for m in re.finditer(r"\\([a-z]+)(-?\d+)? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)", text, re.S):
        word, arg, code, char, brace, run = m.groups()
        if brace == "{":
            stack.append((skip, wide))
        elif brace == "}":
            if stack:
                skip, wide = stack.pop()
        elif word in hidden or char == "*":
            skip = True
        elif skip:
            continue
        elif word == "u" and arg:
            out.append(chr(int(arg) % 65536))
            i = wide  # so many characters stand in for it
        elif word == "uc" and arg:
            wide = int(arg)
        elif word in ("par", "line", "row"):
            out.append("\n")
        elif word in ("tab", "cell"):
            out.append("\t" if word == "tab" else " | ")
        elif code:
            if i:
                i -= 1
            else:
                out.append(bytes([int(code, 16)]).decode("cp1252", "replace"))
        elif char in ("\\", "{", "}"):
            out.append(char)
        elif char == "~":
            out.append(" ")
        elif run:
            out.append(run[i:])
            i = max(0, i - len(run))
    return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def from_mail(data):
    m = email.message_from_bytes(data, policy=email.policy.default)
    out = ["%s: %s" % (k, m[k]) for k in ("From", "To", "Cc", "Date", "Subject") if m[k]]
    body = m.get_body(preferencelist=("plain", "html"))
    if body is not None:
        text = body.get_content()
        out.append("\n" + (from_html(text.encode()) if body.get_content_subtype() == "html" else text))
    out += ["[attached: %s, %s]" % (a.get_filename() or "no name", a.get_content_type()) for a in m.iter_attachments()]
    return "\n".join(out)


def extract(path):
    with open(path, "rb") as f:
        data = f.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ValueError("it has more than %d MB" % (LIMIT >> 20))
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(path) as z:
            names = set(z.namelist())
            for name, fn in (("word/document.xml", from_docx), ("ppt/presentation.xml", from_pptx),
                             ("META-INF/container.xml", from_epub), ("content.xml", from_odf)):
                if name in names:
                    return fn(z)
            raise ValueError("a workbook: use the skill spreadsheets" if "xl/workbook.xml" in names else "a zip file of no kind that is known")
    if data[:5] == b"{\\rtf":
        return from_rtf(data)
    if data[:5] == b"%PDF-":
        raise ValueError("a PDF: use the skill pdf")
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise ValueError("an old Office file: libreoffice --headless --convert-to docx (or pptx, xlsx) it first")
    if re.search(rb"(?i)<(!doctype html|html|body)", data[:2048]):
        return from_html(data)
    if path.lower().endswith((".eml", ".mht")) or re.match(rb"(?i)(from|to|received|return-path|mime-version|date|subject|delivered-to): ", data):
        return from_mail(data)
    if b"\x00" in data[:4096]:
        raise ValueError("no document of a kind that is known; see: file -b")
    return data.decode("utf-8-sig", "replace")


def tidy(text):
    lines = [l.rstrip(" |").strip(" ") if l.strip(" |") else "" for l in text.replace("\r\n", "\n").split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(re.sub(r"^\| ", "", l) for l in lines)).strip() + "\n"


def main(argv=None):
    ap = argparse.ArgumentParser(description="Print the text of documents.")
    ap.add_argument("file", nargs="+")
    ap.add_argument("--out", metavar="DIR", help="write NAME.txt there instead of printing")
    args = ap.parse_args(argv)
    failed = 0
    for path in args.file:
        try:
            text = tidy(extract(path))
            if not text.strip():
                print("extract_text: %s: there is no text in it; is it a picture? see references/ocr.md" % path, file=sys.stderr)
                failed += 1
            elif args.out:
                os.makedirs(args.out, exist_ok=True)
                target = os.path.join(args.out, os.path.basename(path) + ".txt")
                with open(target, "x", encoding="utf-8") as f:
                    f.write(text)
                print(target)
            else:
                if len(args.file) > 1:
                    print("==> %s <==" % path)
                sys.stdout.write(text)
        except (OSError, ValueError, KeyError, StopIteration, LookupError, zipfile.BadZipFile, ET.ParseError, NotImplementedError, RuntimeError, RecursionError) as err:
            print("extract_text: %s: %s" % (path, err or type(err).__name__), file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
