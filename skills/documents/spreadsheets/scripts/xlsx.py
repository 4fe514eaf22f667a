#!/usr/bin/env python3
"""Read and write .xlsx workbooks.

Standard library only: a workbook is a zip file of XML. Exit 0: done; 1: the
file cannot be read or written; 2: wrong use.
"""
import argparse
import csv
import datetime
import json
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ET
import zipfile
from xml.sax.saxutils import escape

LIMIT = 200 << 20  # bytes of one part, unpacked
REL = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def local(tag):
    return tag.rsplit("}", 1)[-1]


class Book:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        names = set(self.zip.namelist())
        if "xl/workbook.xml" not in names:
            raise ValueError("it is no .xlsx workbook")
        rels = {}
        for r in self.xml("xl/_rels/workbook.xml.rels"):
            target = r.get("Target", "")
            rels[r.get("Id")] = target.lstrip("/") if target.startswith("/") else "xl/" + target
        book = self.xml("xl/workbook.xml")
        self.sheets = [(s.get("name"), rels.get(s.get(REL), ""), s.get("state", "visible")) for s in book.iter() if local(s.tag) == "sheet"]
        pr = next((p for p in book.iter() if local(p.tag) == "workbookPr"), None)
        self.epoch = datetime.datetime(1904, 1, 1) if pr is not None and pr.get("date1904") in ("1", "true") else datetime.datetime(1899, 12, 30)
        self.strings = []
        if "xl/sharedStrings.xml" in names:
            for si in self.xml("xl/sharedStrings.xml"):
                self.strings.append(text_of(si))
        self.dates = self.date_styles() if "xl/styles.xml" in names else set()

    def part(self, name):
        try:
            info = self.zip.getinfo(name)
        except KeyError:
            raise ValueError("the part %s is missing; the file is damaged" % name)
        if info.file_size > LIMIT:
            raise ValueError("the part %s has %d MB; at most %d" % (name, info.file_size >> 20, LIMIT >> 20))
        return self.zip.open(info)

    def xml(self, name):
        with self.part(name) as f:
            return ET.parse(f).getroot()

    def date_styles(self):
        root = self.xml("xl/styles.xml")
        custom = {n.get("numFmtId"): n.get("formatCode", "") for n in root.iter() if local(n.tag) == "numFmt"}
        out = set()
        xfs = next((x for x in root if local(x.tag) == "cellXfs"), [])
        for i, xf in enumerate(xfs):
            ident = xf.get("numFmtId", "0")
            code = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", custom.get(ident, "")).lower()
            if ident in custom and re.search(r"[ymdhs]", code) or ident not in custom and (14 <= int(ident) <= 22 or 45 <= int(ident) <= 47):
                out.add(i)
        return out

    def value(self, cell, formulas):
        kind, style = cell.get("t", "n"), int(cell.get("s", "0"))
        parts = {local(c.tag): c for c in cell}
        if formulas and "f" in parts and parts["f"].text:
            return "=" + parts["f"].text
        if kind == "inlineStr":
            return text_of(parts["is"]) if "is" in parts else ""
        if "v" not in parts or parts["v"].text is None:
            return None if "f" in parts else ""
        v = parts["v"].text
        if kind == "s":
            return self.strings[int(v)] if int(v) < len(self.strings) else ""
        if kind == "b":
            return "TRUE" if v == "1" else "FALSE"
        if kind == "n" and style in self.dates:
            return self.date(v)
        if kind == "n":
            try:
                x = float(v)
            except ValueError:
                return v
            return "%d" % x if x.is_integer() and abs(x) < 1e15 else repr(x)
        return v

    def date(self, v):
        x = float(v)
        try:
            if 0 <= x < 1:
                return (self.epoch + datetime.timedelta(seconds=round(x * 86400))).strftime("%H:%M:%S")
            when = self.epoch + datetime.timedelta(days=int(x), seconds=round((x - int(x)) * 86400))
        except OverflowError:
            return v
        return when.strftime("%Y-%m-%d") if x.is_integer() else when.strftime("%Y-%m-%d %H:%M:%S")

    def rows(self, part, formulas=False):
        """Rows of strings; None is a formula without a value."""
        at = 0
        with self.part(part) as f:
            for _, row in ET.iterparse(f):
                if local(row.tag) != "row":
                    continue
                number = int(row.get("r", at + 1))
                if number - at > 100_000:
                    raise ValueError("row %d follows row %d" % (number, at))
                while at + 1 < number:
                    at += 1
                    yield []
                at, out = number, []
                for cell in row:
                    where = cell.get("r")
                    col = column(where) if where else len(out)
                    out += [""] * (col - len(out))
                    out.append(self.value(cell, formulas))
                row.clear()
                yield out


def text_of(node):
    """All <t> but those of phonetic readings."""
    out = []
    for c in node:
        if local(c.tag) == "t":
            out.append(c.text or "")
        elif local(c.tag) == "r":
            out.append(text_of(c))
    return "".join(out)


def column(where):
    n = 0
    for c in re.match(r"[A-Z]*", where).group(0):
        n = n * 26 + ord(c) - 64
    if n > 16384:
        raise ValueError("there is no column %s" % where)
    return max(n - 1, 0)


def letters(n):
    out = ""
    n += 1
    while n:
        n, r = divmod(n - 1, 26)
        out = chr(65 + r) + out
    return out


def sheets(args):
    book = Book(args.file)
    for name, part, state in book.sheets:
        n = width = blank = 0
        for row in book.rows(part) if part.startswith("xl/worksheets/") else []:
            n, width = n + 1, max(width, len(row))
            blank += sum(v is None for v in row)
        print("%s: %d rows, %d columns%s%s" % (name, n, width, "" if state == "visible" else " (hidden)",
                                               ", %d formulas without a value" % blank if blank else ""))
    return 0


def read(args):
    book = Book(args.file)
    chosen = book.sheets[0] if book.sheets and not args.sheet else next((s for s in book.sheets if s[0] == args.sheet), None)
    if not chosen:
        raise ValueError("there is no sheet %s; there are: %s" % (args.sheet, ", ".join(s[0] for s in book.sheets)))
    rows, blank = [], 0
    for row in book.rows(chosen[1], args.formulas):
        if args.max and len(rows) >= args.max:
            break
        blank += sum(v is None for v in row)
        rows.append(["" if v is None else v for v in row])
    width = max((len(r) for r in rows), default=0)
    rows = [r + [""] * (width - len(r)) for r in rows]
    if args.json:
        json.dump(rows, sys.stdout, ensure_ascii=False)
        print()
    else:
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
    if blank:
        print("xlsx: %d formulas have no value in the file; see --formulas" % blank, file=sys.stderr)
    return 0


NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,14})?$")
BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def sheet_xml(path):
    yield ('<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
           '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews><sheetData>')
    with open(path, encoding="utf-8-sig", newline="") as f:
        for i, row in enumerate(csv.reader(f), 1):
            if i > 1_048_576 or len(row) > 16_384:
                raise ValueError("%s is larger than a sheet can be" % path)
            cells = []
            for j, v in enumerate(row):
                where, style = "%s%d" % (letters(j), i), ' s="1"' if i == 1 else ""
                if NUMBER.match(v):
                    cells.append('<c r="%s"%s><v>%s</v></c>' % (where, style, v))
                elif v:
                    if len(v) > 32_767:
                        raise ValueError("%s, %s: a cell holds at most 32767 characters" % (path, where))
                    cells.append('<c r="%s"%s t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>' % (where, style, escape(BAD.sub("", v))))
            yield '<row r="%d">%s</row>' % (i, "".join(cells))
    yield "</sheetData></worksheet>"


def write(args):
    names = []
    for path in args.csv:
        base = re.sub(r"[\[\]:*?/\\']", "_", os.path.splitext(os.path.basename(path))[0])[:31] or "Sheet"
        name, n = base, 2
        while name.lower() in [x.lower() for x in names]:
            tail = " (%d)" % n
            name, n = base[: 31 - len(tail)] + tail, n + 1
        names.append(name)
    ids = range(1, len(names) + 1)
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    pack = "http://schemas.openxmlformats.org/package/2006/"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    parts = {
        "[Content_Types].xml": head + '<Types xmlns="%scontent-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' % pack
        + '<Override PartName="/xl/workbook.xml" ContentType="%ssheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="%sstyles+xml"/>' % (kind, kind)
        + "".join('<Override PartName="/xl/worksheets/sheet%d.xml" ContentType="%sworksheet+xml"/>' % (i, kind) for i in ids) + "</Types>",
        "_rels/.rels": head + '<Relationships xmlns="%srelationships"><Relationship Id="rId1" Type="%s/officeDocument" Target="xl/workbook.xml"/></Relationships>' % (pack, rel),
        "xl/workbook.xml": head + '<workbook xmlns="%s" xmlns:r="%s"><sheets>' % (main, rel)
        + "".join('<sheet name="%s" sheetId="%d" r:id="rId%d"/>' % (escape(n, {'"': "&quot;"}), i, i) for i, n in zip(ids, names)) + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": head + '<Relationships xmlns="%srelationships">' % pack
        + "".join('<Relationship Id="rId%d" Type="%s/worksheet" Target="worksheets/sheet%d.xml"/>' % (i, rel, i) for i in ids)
        + '<Relationship Id="rId%d" Type="%s/styles" Target="styles.xml"/></Relationships>' % (len(names) + 1, rel),
        "xl/styles.xml": head + '<styleSheet xmlns="%s"><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
        '<cellXfs count="2"><xf xfId="0"/><xf xfId="0" fontId="1" applyFont="1"/></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>' % main,
    }
    if os.path.exists(args.out) and not args.force:
        raise ValueError("%s is there already; --force replaces it" % args.out)
    fd, tmp = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(args.out)), prefix=".xlsx-")
    try:
        with os.fdopen(fd, "wb") as f, zipfile.ZipFile(f, "w", zipfile.ZIP_DEFLATED) as z:
            for name, text in parts.items():
                z.writestr(name, text)
            for i, path in zip(ids, args.csv):
                with z.open("xl/worksheets/sheet%d.xml" % i, "w") as part:
                    for text in sheet_xml(path):
                        part.write(text.encode("utf-8"))
        os.chmod(tmp, 0o644)
        os.replace(tmp, args.out)
    except BaseException:
        os.unlink(tmp)
        raise
    print("%s: %s" % (args.out, ", ".join(names)))
    return 0


def main(argv=None):
    ap = argparse.ArgumentParser(description="Read and write .xlsx workbooks.")
    sub = ap.add_subparsers(dest="what", required=True)
    s = sub.add_parser("sheets", help="list the sheets")
    s.add_argument("file")
    r = sub.add_parser("read", help="print one sheet as CSV")
    r.add_argument("file")
    r.add_argument("--sheet", help="its name; the first one without")
    r.add_argument("--max", type=int, help="so many rows")
    r.add_argument("--formulas", action="store_true")
    r.add_argument("--json", action="store_true")
    w = sub.add_parser("write", help="make a workbook, one sheet for each CSV file")
    w.add_argument("out")
    w.add_argument("csv", nargs="+")
    w.add_argument("--force", action="store_true", help="replace an existing file")
    args = ap.parse_args(argv)
    try:
        return {"sheets": sheets, "read": read, "write": write}[args.what](args)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, ET.ParseError, csv.Error) as err:
        what = err if isinstance(err, OSError) or args.what == "write" else "%s: %s" % (args.file, err)
        print("xlsx: %s" % what, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
