#!/usr/bin/env python3
"""Draw a chart as SVG from a CSV table.

Standard library only. Exit 0: drawn; 1: the table cannot be drawn; 2: wrong
use.
"""
import argparse
import csv
import datetime
import math
import os
import sys
import tempfile
from xml.sax.saxutils import escape

COLOURS = ["#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2"]


def number(text, line):
    text = (text or "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("line %d: %r is no number" % (line, text))
    return value


def read(args):
    f = sys.stdin if args.file == "-" else open(args.file, encoding="utf-8-sig", newline="")
    with f:
        reader = csv.DictReader(f, delimiter=args.delimiter)
        have = reader.fieldnames or []
        for name in [args.x] + args.y:
            if name not in have:
                raise ValueError("there is no column %s; there are: %s" % (name, ", ".join(have) or "none"))
        rows = [(r[args.x] or "", [number(r[y], reader.line_num) for y in args.y], reader.line_num) for r in reader]
    if not rows or all(v is None for _, ys, _ in rows for v in ys):
        raise ValueError("there is nothing to draw")
    return rows


def day(text):
    try:
        return float(datetime.date.fromisoformat(text.strip()[:10]).toordinal())
    except ValueError:
        return None


def ticks(low, high, about=5):
    """Round values that cover low to high."""
    if low == high:
        low, high = (low - 1, high + 1) if low else (0, 1)
    raw = (high - low) / about
    power = 10 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [i * step for i in range(first, last + 1)]


def label(v):
    if v == 0:
        return "0"
    return "%g" % round(v, 10) if abs(v) < 1e6 else "%.3g" % v


def draw(args, rows):
    w, h, left, right, top, bottom = args.width, args.height, 70, 20, 50 if args.title else 20, 80
    if len(args.y) > 1:
        top += 22
    pw, ph = w - left - right, h - top - bottom
    values = [v for _, ys, _ in rows for v in ys if v is not None]
    low, high = min(values), max(values)
    if args.kind == "bar":
        low, high = min(low, 0), max(high, 0)
    yt = ticks(low, high)
    low, high = yt[0], yt[-1]
    py = lambda v: top + ph - (v - low) / (high - low) * ph
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (w, h, w, h),
           '<rect width="100%" height="100%" fill="white"/>']
    if args.title:
        out.append('<title>%s</title><text x="%d" y="28" font-size="16" font-weight="bold">%s</text>' % (escape(args.title), left, escape(args.title)))
    if len(args.y) > 1:
        x = left
        for i, name in enumerate(args.y):
            out.append('<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>'
                       % (x, top - 22, COLOURS[i % 6], x + 14, top - 13, escape(name)))
            x += 30 + 7 * len(name)
    for v in yt:
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#e5e7eb"/><text x="%d" y="%.1f" text-anchor="end">%s</text>'
                   % (left, w - right, py(v), py(v), left - 8, py(v) + 4, label(v)))

    # where each row stands: by its value when all are numbers or dates
    n = len(rows)
    marks, place = [], None
    if args.kind == "scatter":
        xs = [number(x, line) for x, _, line in rows]
        if any(x is None for x in xs):
            raise ValueError("a point has no %s" % args.x)
        xt = ticks(min(xs), max(xs))
        place = [left + (x - xt[0]) / (xt[-1] - xt[0]) * pw for x in xs]
        marks = [(left + (v - xt[0]) / (xt[-1] - xt[0]) * pw, label(v)) for v in xt]
    elif args.kind == "line":
        days = [day(x) for x, _, _ in rows]
        if n > 1 and None not in days and min(days) < max(days):
            place = [left + (d - min(days)) / (max(days) - min(days)) * pw for d in days]
    if place is None:
        place = [left + (i + 0.5) * pw / n for i in range(n)]
    if not marks:
        every = max(1, math.ceil(n / max(1, pw // 40)))
        marks = [(place[i], rows[i][0]) for i in range(0, n, every)]
    slanted = max(len(t) for _, t in marks) * 7 > pw / len(marks)
    for x, text in marks:
        text = escape(text if len(text) <= 16 else text[:15] + "…")
        at = 'x="%.1f" y="%d"' % (x, top + ph + 18)
        out.append('<text %s text-anchor="end" transform="rotate(-35 %.1f %d)">%s</text>' % (at, x, top + ph + 18, text) if slanted
                   else '<text %s text-anchor="middle">%s</text>' % (at, text))
    out.append('<text x="%d" y="%d" text-anchor="middle" fill="#6b7280">%s</text>' % (left + pw / 2, h - 8, escape(args.x)))

    drawn = 0
    for s, name in enumerate(args.y):
        colour, run = COLOURS[s % 6], []
        for i, (text, ys, _) in enumerate(rows):
            v = ys[s]
            if v is None:
                if len(run) > 1:
                    out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (" ".join(run), colour))
                run = []
                continue
            drawn += 1
            tip = "<title>%s, %s: %s</title>" % (escape(text), escape(name), label(v))
            if args.kind == "bar":
                each = pw / n * 0.8 / len(args.y)
                y0, y1 = sorted((py(v), py(0)))
                out.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s">%s</rect>'
                           % (place[i] - each * len(args.y) / 2 + s * each, y0, each * 0.95, y1 - y0, colour, tip))
                continue
            out.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s">%s</circle>' % (place[i], py(v), colour, tip))
            if args.kind == "line":
                run.append("%.1f,%.1f" % (place[i], py(v)))
        if len(run) > 1:
            out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (" ".join(run), colour))
    out.append("</svg>")
    return "\n".join(out) + "\n", drawn


def write(path, text):
    folder = os.path.dirname(os.path.abspath(path))
    fd, tmp = tempfile.mkstemp(dir=folder, prefix=".chart-")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(tmp, 0o644)
        os.replace(tmp, path)
    except BaseException:
        os.unlink(tmp)
        raise


def main(argv=None):
    ap = argparse.ArgumentParser(description="Draw a chart as SVG.")
    ap.add_argument("kind", choices=["bar", "line", "scatter"])
    ap.add_argument("file", help="a CSV file with a first line of names; - for standard input")
    ap.add_argument("-x", required=True, help="the column along the bottom")
    ap.add_argument("-y", required=True, help="one or more columns of numbers, with commas between")
    ap.add_argument("-o", "--out", required=True)
    ap.add_argument("--title", default="")
    ap.add_argument("--delimiter", default=",")
    ap.add_argument("--width", type=int, default=800)
    ap.add_argument("--height", type=int, default=450)
    args = ap.parse_args(argv)
    args.y = [y.strip() for y in args.y.split(",") if y.strip()]
    if not args.y or len(args.delimiter) != 1 or not 300 <= args.width <= 4000 or not 200 <= args.height <= 4000:
        ap.error("-y names a column, --delimiter is one character, sizes are 300x200 to 4000x4000")
    try:
        text, drawn = draw(args, read(args))
        write(args.out, text)
    except (OSError, ValueError, csv.Error) as err:
        print("chart: %s" % err, file=sys.stderr)
        return 1
    print("%s: %d points" % (args.out, drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
