"""Tools of the agent, for scripts. Written by the program; changes are lost."""
import json as _json
import os as _os
import select as _select
import shlex as _shlex
import threading as _threading
import time as _time

_DIR = _os.environ["HERMES_RPC_DIR"]
_LIMIT = 330
_local = _threading.local()
_count = 0
_lock = _threading.Lock()


class ToolError(RuntimeError):
    """The way to the tools broke. What a tool itself says is its result."""


def _reply():
    """The pipe on which this thread of this process gets its answers."""
    global _count
    if getattr(_local, "pid", None) != _os.getpid():
        with _lock:
            _count += 1
            name = "r-%d-%d" % (_os.getpid(), _count)
        path = _os.path.join(_DIR, name)
        _os.mkfifo(path, 0o600)
        _local.fd = _os.open(path, _os.O_RDWR | getattr(_os, "O_CLOEXEC", 0))
        _local.pid, _local.name, _local.rest, _local.calls = _os.getpid(), name, b"", 0
    return _local


def _call(tool, args):
    r = _reply()
    r.calls += 1
    call = "%s-%d" % (r.name, r.calls)
    text = _json.dumps({"reply": r.name, "call": call, "tool": tool, "args": {k: v for k, v in args.items() if v is not None}})
    line = text.encode() + b"\n"
    if len(line) > 3000:
        # What is longer than a pipe takes in one piece goes through a file.
        name = "q-" + call
        with open(_os.path.join(_DIR, name), "wb") as f:
            f.write(line)
        line = _json.dumps({"reply": r.name, "call": call, "file": name}).encode() + b"\n"
    fd = _os.open(_os.path.join(_DIR, "rpc"), _os.O_WRONLY | getattr(_os, "O_CLOEXEC", 0))
    try:
        _os.write(fd, line)
    finally:
        _os.close(fd)
    end = _time.monotonic() + _LIMIT
    while True:
        while b"\n" not in r.rest:
            if not _select.select([r.fd], [], [], max(0, end - _time.monotonic()))[0]:
                raise ToolError("%s gave no answer in %d seconds" % (tool, _LIMIT))
            r.rest += _os.read(r.fd, 1 << 16)
        answer, r.rest = r.rest.split(b"\n", 1)
        answer = _json.loads(answer)
        if answer.get("call") == call:
            return answer.get("result")


def json_parse(text):
    """Parse JSON, also with control characters in its strings."""
    return _json.loads(text, strict=False)


def shell_quote(text):
    """One word for a shell, whatever it holds."""
    return _shlex.quote(str(text))


def retry(fn, max_attempts=3, delay=2):
    """Call fn until it raises no more, waiting twice as long each time."""
    for attempt in range(max_attempts):
        try:
            return fn()
        except Exception:
            if attempt + 1 == max_attempts:
                raise
            _time.sleep(delay)
            delay *= 2
