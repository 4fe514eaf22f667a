#!/usr/bin/env python3
"""Say what is in a table: CSV, TSV, JSON Lines or a JSON array of objects.

Standard library only. Reads the file once. Exit 0: profiled; 1: the file
cannot be read as a table; 2: wrong use.
"""
import argparse
import collections
import csv
import io
import json
import math
import re
import sys

DISTINCT = 100_000  # values remembered for each column
SAMPLE = 100_000  # numbers kept for the median
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$")
EMPTY = {"", "na", "n/a", "nan", "null", "none", "-"}


class Column:
    def __init__(self, name):
        self.name, self.empty, self.odd = name, 0, collections.Counter()
        self.kinds, self.values, self.full = collections.Counter(), collections.Counter(), False
        self.count, self.total, self.low, self.high, self.sample = 0, 0.0, math.inf, -math.inf, []
        self.first, self.last, self.longest = None, None, 0

    def add(self, v):
        text = "" if v is None else v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
        text = text.strip()
        if text.lower() in EMPTY:
            self.empty += 1
            if text:
                self.odd[text] += 1
            return
        self.longest = max(self.longest, len(text))
        if text in self.values or len(self.values) < DISTINCT:
            self.values[text] += 1
        else:
            self.full = True
        if NUMBER.match(text) and not re.match(r"[+-]?0\d", text):
            self.kinds["integer" if re.fullmatch(r"[+-]?\d+", text) else "number"] += 1
            x = float(text)
            self.count, self.total = self.count + 1, self.total + x
            self.low, self.high = min(self.low, x), max(self.high, x)
            if len(self.sample) < SAMPLE:
                self.sample.append(x)
        elif DATE.match(text):
            self.kinds["date"] += 1
            self.first = text if self.first is None else min(self.first, text)
            self.last = text if self.last is None else max(self.last, text)
        elif text.lower() in ("true", "false"):
            self.kinds["boolean"] += 1
        else:
            self.kinds["text"] += 1

    def kind(self):
        kinds = set(self.kinds)
        if kinds <= {"integer", "number"} and kinds:
            return "number" if "number" in kinds else "integer"
        return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "empty"

    def report(self, rows):
        out = {"name": self.name, "type": self.kind(), "empty": self.empty,
               "distinct": len(self.values), "distinct_is_at_least": self.full}
        if out["type"] == "mixed":
            out["types"] = dict(self.kinds)
        if self.odd:
            out["read_as_empty"] = dict(self.odd)
        if self.count:
            s = sorted(self.sample)
            mid = len(s) // 2
            out.update(min=self.low, max=self.high, mean=self.total / self.count,
                       median=s[mid] if len(s) % 2 else (s[mid - 1] + s[mid]) / 2, sum=self.total)
        if self.first:
            out.update(first=self.first, last=self.last)
        if out["type"] in ("text", "mixed"):
            out["longest"] = self.longest
        if rows - self.empty == len(self.values) and not self.full and rows > 1 and not self.empty:
            out["unique"] = True
        elif self.values:
            out["top"] = [[v[:60], n] for v, n in self.values.most_common(3)]
        return out


def decode(data, notes):
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            pass
    notes.append("it is not UTF-8 and was read as Latin-1; look at names with accents")
    return data.decode("latin-1")


def guess(name, text):
    name = name.lower()
    if name.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    if name.endswith(".json"):
        return "json"
    if name.endswith((".tsv", ".tab")):
        return "tsv"
    head = text.lstrip()[:1]
    return "json" if head == "[" else "jsonl" if head == "{" else "csv"


def objects(text, kind):
    if kind == "json":
        rows = json.loads(text)
        if isinstance(rows, dict):  # {"items": [...]}
            lists = [v for v in rows.values() if isinstance(v, list)]
            rows = lists[0] if len(lists) == 1 else [rows]
    else:
        rows = []
        for i, line in enumerate(text.splitlines(), 1):
            if line.strip():
                try:
                    rows.append(json.loads(line))
                except ValueError as err:
                    raise ValueError("line %d: %s" % (i, err))
    for r in rows:
        yield r if isinstance(r, dict) else {"value": r}


def table(text, kind, delimiter, notes):
    """Rows as dicts; what is wrong with their shape goes to notes."""
    if kind in ("json", "jsonl"):
        yield from objects(text, kind)
        return
    if not delimiter:
        delimiter = "\t" if kind == "tsv" else max(",;\t|", key=lambda d: text[: text.find("\n") if "\n" in text else None].count(d))
    csv.field_size_limit(1 << 24)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    names = next(reader, None)
    if not names:
        raise ValueError("the file is empty")
    if len(set(names)) < len(names):
        notes.append("column names occur twice: " + ", ".join(n for n, c in collections.Counter(names).items() if c > 1))
    names = [n if names.index(n) == i else "%s.%d" % (n, i + 1) for i, n in enumerate(names)]
    if delimiter != ",":
        notes.append("columns are separated by " + {"\t": "tabs", ";": "semicolons"}.get(delimiter, delimiter))
    for row in reader:
        if not row:
            continue
        if len(row) != len(names):
            notes.append("line %d has %d fields, the first has %d" % (reader.line_num, len(row), len(names)))
        yield dict(zip(names, row + [""] * (len(names) - len(row))))


def number(x):
    return "%d" % x if float(x).is_integer() and abs(x) < 1e15 else "%.6g" % x


def main(argv=None):
    ap = argparse.ArgumentParser(description="Say what is in a table.")
    ap.add_argument("file", help="- for standard input")
    ap.add_argument("--format", choices=["csv", "tsv", "json", "jsonl"])
    ap.add_argument("--delimiter", help="of a CSV file, when it is guessed wrong")
    ap.add_argument("--json", action="store_true")
    args = ap.parse_args(argv)
    if args.delimiter and len(args.delimiter) != 1:
        ap.error("--delimiter takes one character")
    notes, columns, rows, seen, twice = [], {}, 0, set(), 0
    try:
        if args.file == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(args.file, "rb") as f:
                data = f.read()
        if b"\x00" in data[:4096] and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            raise ValueError("it is no text (a spreadsheet? use the skill spreadsheets)")
        text = decode(data, notes)
        for row in table(text, args.format or guess(args.file, text), args.delimiter, notes):
            rows += 1
            for name, value in row.items():
                if name not in columns:
                    columns[name] = Column(name)
                    columns[name].empty = rows - 1
                columns[name].add(value)
            for name in columns.keys() - row.keys():
                columns[name].empty += 1
            h = hash(tuple(sorted((k, str(v)) for k, v in row.items())))
            twice += h in seen
            seen.add(h)
    except (OSError, ValueError, csv.Error) as err:
        print("profile: %s: %s" % (args.file, err), file=sys.stderr)
        return 1
    if twice:
        notes.append("%d rows repeat an earlier one" % twice)
    if len(notes) > 8:
        notes[8:] = ["and %d more remarks" % (len(notes) - 8)]
    report = [c.report(rows) for c in columns.values()]
    if args.json:
        json.dump({"rows": rows, "columns": report, "notes": notes}, sys.stdout, ensure_ascii=False, indent=1)
        print()
        return 0
    print("%d rows, %d columns" % (rows, len(report)))
    for n in notes:
        print("note: " + n)
    for r in report:
        more = []
        if r["empty"]:
            more.append("%d empty" % r["empty"])
        more.append("unique" if r.get("unique") else "%s%d distinct" % ("at least " if r["distinct_is_at_least"] else "", r["distinct"]))
        if "types" in r:
            more.append("+".join("%d %s" % (n, k) for k, n in r["types"].items()))
        if "min" in r:
            more.append("%s to %s, mean %s, median %s, sum %s" % tuple(number(r[k]) for k in ("min", "max", "mean", "median", "sum")))
        if "first" in r:
            more.append("%s to %s" % (r["first"], r["last"]))
        if "longest" in r:
            more.append("up to %d characters" % r["longest"])
        if "read_as_empty" in r:
            more.append("read as empty: " + ", ".join(r["read_as_empty"]))
        print("\n%s: %s; %s" % (r["name"], r["type"], "; ".join(more)))
        if "top" in r:
            print("  most often: " + ", ".join("%s (%d)" % (v, n) for v, n in r["top"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
