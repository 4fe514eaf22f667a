#!/usr/bin/env python3
"""Turn subtitles (WebVTT or SubRip) into readable paragraphs.

Standard library only. Scrolling captions repeat their lines; each is printed
once. Exit 0: printed; 1: the file holds no subtitles; 2: wrong use.
"""
import argparse
import html
import json
import re
import sys

TIMES = re.compile(r"^\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})\s+-->\s+(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})")


def seconds(h, m, s, ms):
    return int(h or 0) * 3600 + int(m) * 60 + int(s) + int(ms) / 1000


def cues(text):
    """(start, lines) of each cue."""
    out, start, lines = [], None, []
    for row in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") + [""]:
        m = TIMES.match(row)
        if m:
            start, lines = seconds(*m.groups()[:4]), []
        elif start is not None and row.strip():
            lines.append(" ".join(html.unescape(re.sub(r"<[^>]*>|\{\\[^}]*\}", "", row)).split()))
        elif start is not None and not row:
            out.append((start, [l for l in lines if l]))
            start = None
    return out


def once(found):
    """Drop lines that the cue before showed already."""
    before = []
    for start, lines in found:
        # the longest end of what was shown that begins this cue
        n = next((k for k in range(min(len(before), len(lines)), 0, -1) if before[-k:] == lines[:k]), 0)
        fresh = lines[n:]
        if fresh:
            yield start, " ".join(fresh)
        before = (before + fresh)[-4:]


def clock(s):
    s = int(s)
    return "%d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60) if s >= 3600 else "%02d:%02d" % (s // 60, s % 60)


def main(argv=None):
    ap = argparse.ArgumentParser(description="Turn subtitles into paragraphs.")
    ap.add_argument("file", help="a .vtt or .srt file; - for standard input")
    ap.add_argument("--every", type=float, default=30, help="seconds of a paragraph")
    ap.add_argument("--no-times", action="store_true")
    ap.add_argument("--json", action="store_true")
    args = ap.parse_args(argv)
    if args.every <= 0:
        ap.error("--every takes seconds")
    try:
        if args.file == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(args.file, "rb") as f:
                data = f.read()
    except OSError as err:
        print("transcript: %s" % err, file=sys.stderr)
        return 1
    parts = []
    for start, text in once(cues(data.decode("utf-8-sig", "replace"))):
        if not parts or start - parts[-1][0] >= args.every:
            parts.append((start, [text]))
        else:
            parts[-1][1].append(text)
    if not parts:
        print("transcript: there are no subtitles in %s" % args.file, file=sys.stderr)
        return 1
    if args.json:
        json.dump([{"seconds": s, "text": " ".join(t)} for s, t in parts], sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        print("\n\n".join(("" if args.no_times else "[%s] " % clock(s)) + " ".join(t) for s, t in parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
