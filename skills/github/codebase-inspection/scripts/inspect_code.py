#!/usr/bin/env python3
"""Measure a code base: files and lines by language, large and busy files.

Standard library only; asks git which files there are, and walks the tree where
there is no repository. Exit 0: measured; 1: it cannot be; 2: wrong use.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

LANGUAGES = {
    "go": "Go", "py": "Python", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript", "jsx": "JavaScript", "ts": "TypeScript",
    "tsx": "TypeScript", "java": "Java", "kt": "Kotlin", "rs": "Rust", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "cxx": "C++",
    "hpp": "C++", "cs": "C#", "rb": "Ruby", "php": "PHP", "swift": "Swift", "scala": "Scala", "lua": "Lua", "r": "R", "pl": "Perl",
    "ex": "Elixir", "exs": "Elixir", "erl": "Erlang", "hs": "Haskell", "clj": "Clojure", "dart": "Dart", "zig": "Zig", "sh": "Shell",
    "bash": "Shell", "ps1": "PowerShell", "sql": "SQL", "html": "HTML", "css": "CSS", "scss": "CSS", "vue": "Vue", "svelte": "Svelte",
    "md": "Markdown", "rst": "Text", "txt": "Text", "json": "Data", "yaml": "Data", "yml": "Data", "toml": "Data", "xml": "Data",
    "csv": "Data", "proto": "Protobuf", "tf": "Terraform", "lock": "Data", "sum": "Data", "mod": "Data",
}
NAMES = {"makefile": "Make", "dockerfile": "Docker", "jenkinsfile": "Groovy"}
SKIP = {"node_modules", "vendor", "dist", "build", "target", "__pycache__", ".git", ".venv", "venv", "third_party"}
LIMIT = 5 << 20  # larger files are not read


def git(folder, *args):
    run = subprocess.run(["git", "-C", folder, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if run.returncode:
        raise ValueError(run.stderr.decode("utf-8", "replace").strip() or "git failed")
    return run.stdout


def listing(folder):
    """The files, and whether git named them."""
    try:
        out = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
        return sorted(set(os.fsdecode(p) for p in out.split(b"\0") if p)), True
    except (ValueError, FileNotFoundError):
        found = []
        for base, dirs, files in os.walk(folder):
            dirs[:] = [d for d in dirs if d not in SKIP]
            found += [os.path.relpath(os.path.join(base, f), folder) for f in files]
        return sorted(found), False


def language(path):
    base = os.path.basename(path).lower()
    if base in NAMES:
        return NAMES[base]
    return LANGUAGES.get(base.rsplit(".", 1)[-1], "") if "." in base else ""


def measure(folder):
    paths, versioned = listing(folder)
    by, files, left = collections.defaultdict(lambda: [0, 0, 0]), [], collections.Counter()
    for p in paths:
        if SKIP & set(p.split(os.sep)[:-1]):
            left["in skipped folders"] += 1
            continue
        full = os.path.join(folder, p)
        if os.path.islink(full) or not os.path.isfile(full):
            left["links or gone"] += 1
            continue
        if os.path.getsize(full) > LIMIT:
            left["larger than 5 MB"] += 1
            continue
        with open(full, "rb") as f:
            data = f.read()
        if b"\0" in data[:8192]:
            left["binary"] += 1
            continue
        lines = data.split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        blank = sum(not l.strip() for l in lines)
        kind = language(p) or "Other"
        by[kind][0] += 1
        by[kind][1] += len(lines) - blank
        by[kind][2] += blank
        if kind not in ("Data", "Text", "Markdown", "Other"):
            files.append((len(lines), p))
    return {"git": versioned, "files": sum(v[0] for v in by.values()),
            "languages": [{"language": k, "files": v[0], "lines": v[1], "blank": v[2]} for k, v in sorted(by.items(), key=lambda kv: -kv[1][1])],
            "largest": [{"path": p, "lines": n} for n, p in sorted(files, reverse=True)[:10]], "left_out": dict(left)}


def churn(folder, since):
    out = git(folder, "log", "--since=" + since, "--no-merges", "--numstat", "--format=", "-z", "--no-renames", "--relative", "--", ".")
    count, changed = collections.Counter(), collections.Counter()
    for row in out.decode("utf-8", "replace").split("\0"):
        m = re.match(r"\n*(\d+|-)\t(\d+|-)\t(.+)", row, re.S)
        if m:
            count[m.group(3)] += 1
            changed[m.group(3)] += sum(int(x) for x in m.groups()[:2] if x != "-")
    return [{"path": p, "commits": n, "lines": changed[p]} for p, n in count.most_common(15)]


def main(argv=None):
    ap = argparse.ArgumentParser(description="Measure a code base.")
    ap.add_argument("dir", nargs="?", default=".")
    ap.add_argument("--churn", action="store_true", help="also which files change most")
    ap.add_argument("--since", default="1 year ago", help="for --churn, as git reads it")
    ap.add_argument("--json", action="store_true")
    args = ap.parse_args(argv)
    if not os.path.isdir(args.dir):
        print("inspect_code: %s is no directory" % args.dir, file=sys.stderr)
        return 1
    try:
        out = measure(args.dir)
        if args.churn:
            out["churn"] = churn(args.dir, args.since)
    except (OSError, ValueError, subprocess.TimeoutExpired) as err:
        print("inspect_code: %s" % err, file=sys.stderr)
        return 1
    if args.json:
        json.dump(out, sys.stdout, ensure_ascii=False, indent=1)
        print()
        return 0
    print("%d text files%s" % (out["files"], "" if out["git"] else " (no git repository: all files below it)"))
    for what, n in out["left_out"].items():
        print("left out: %d %s" % (n, what))
    for l in out["languages"]:
        print("%-12s %6d files %8d lines" % (l["language"], l["files"], l["lines"]))
    print("\nlargest")
    for f in out["largest"]:
        print("%8d lines  %s" % (f["lines"], f["path"]))
    if args.churn:
        print("\nchanged most since %s" % args.since)
        for f in out["churn"]:
            print("%5d commits %7d lines  %s" % (f["commits"], f["lines"], f["path"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
