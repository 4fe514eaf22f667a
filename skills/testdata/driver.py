"""Runs scripts one after the other, so that a test pays for one interpreter and
not for two hundred. Each line of standard input is a JSON object with script,
args, stdin and env; each line of standard output says out, err and code.
"""
import io
import json
import os
import runpy
import sys
import traceback

requests, answers = sys.stdin, sys.stdout
for line in requests:
    r = json.loads(line)
    os.environ.clear()
    os.environ.update(r["env"])
    out, err = io.BytesIO(), io.BytesIO()
    sys.argv = [r["script"]] + r["args"]
    sys.stdin = io.TextIOWrapper(io.BytesIO(r["stdin"].encode()), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8")
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8")
    try:
        runpy.run_path(r["script"], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    json.dump({"out": out.getvalue().decode("utf-8", "replace"), "err": err.getvalue().decode("utf-8", "replace"), "code": code}, answers)
    answers.write("\n")
    answers.flush()
