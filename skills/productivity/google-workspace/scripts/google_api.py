#!/usr/bin/env python3
"""Gmail, Calendar, Drive and Sheets of one Google account.

Standard library only. The OAuth client and the token are files of the home;
neither is ever printed. Exit 0: done; 1: failed; 2: wrong use; 3: a login is
needed.
"""
import argparse
import base64
import csv
import datetime
import email.message
import hashlib
import html
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT = 60
SCOPES = {
    "gmail": ["https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/gmail.compose"],
    "calendar": ["https://www.googleapis.com/auth/calendar.events"],
    "drive": ["https://www.googleapis.com/auth/drive.readonly"],
    "sheets": ["https://www.googleapis.com/auth/spreadsheets"],
}
REDIRECT = "http://localhost:1"
HOME = os.environ.get("HERMES_HOME") or os.path.expanduser("~/.hermes")
CLIENT, TOKEN, PENDING = (os.path.join(HOME, n) for n in ("google_client_secret.json", "google_token.json", "google_auth_pending.json"))


class Fail(Exception):
    pass


class Login(Exception):
    """A login is missing or has ended."""


def load(path, what):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        raise Login("%s is missing: %s" % (path, what))
    except (OSError, ValueError) as err:
        raise Login("%s cannot be read (%s): %s" % (path, err, what))


def save(path, value):
    fd, tmp = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".google-")  # mode 600
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            json.dump(value, f)
        os.replace(tmp, path)
    except BaseException:
        os.unlink(tmp)
        raise


def client():
    c = load(CLIENT, "see references/setup.md")
    c = c.get("installed") or c.get("web") or {}
    if not c.get("client_id"):
        raise Login("%s is no OAuth client of type Desktop app: see references/setup.md" % CLIENT)
    return c


class Redirects(urllib.request.HTTPRedirectHandler):
    """The token does not follow to another host."""

    def redirect_request(self, req, *args):
        new = super().redirect_request(req, *args)
        if new is not None and urllib.parse.urlsplit(new.full_url).netloc != urllib.parse.urlsplit(req.full_url).netloc:
            new.remove_header("Authorization")
        return new


class API:
    def __init__(self, base):
        if base and urllib.parse.urlsplit(base).hostname not in ("127.0.0.1", "localhost", "::1"):
            raise Fail("--api is for tests on this machine only")  # the token goes nowhere else
        self.base, self.opener = base, urllib.request.build_opener(Redirects)

    def url(self, url):
        if not self.base:
            return url
        parts = urllib.parse.urlsplit(url)
        return self.base.rstrip("/") + parts.path + ("?" + parts.query if parts.query else "")

    def open(self, request):
        try:
            return self.opener.open(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as err:
            body = err.read(65536).decode("utf-8", "replace")
            try:
                e = json.loads(body)["error"]
                text = e["message"] if isinstance(e, dict) else e
            except (ValueError, KeyError, TypeError):
                text = body[:300] or err.reason
            raise Fail("Google answers %d: %s" % (err.code, text))

    def token_request(self, form):
        data = urllib.parse.urlencode(form).encode()
        with self.open(urllib.request.Request(self.url("https://oauth2.googleapis.com/token"), data=data)) as answer:
            got = json.load(answer)
        life = int(got.get("expires_in", 3600))
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=life)
        got["expiry"] = until.strftime("%Y-%m-%dT%H:%M:%SZ")
        return got

    def access(self):
        t = load(TOKEN, "log in with auth-url and auth-finish")
        try:
            until = datetime.datetime.fromisoformat(re.sub(r"(\.\d+)?Z?$", "", t.get("expiry") or "1970-01-01T00:00:00"))
        except ValueError:
            until = datetime.datetime(1970, 1, 1)
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        if t.get("token") and until > now + datetime.timedelta(seconds=60):
            return t["token"]
        if not t.get("refresh_token"):
            raise Login("the login has ended: log in again with auth-url and auth-finish")
        try:
            got = self.token_request({"grant_type": "refresh_token", "refresh_token": t["refresh_token"],
                                      "client_id": t.get("client_id", ""), "client_secret": t.get("client_secret", "")})
        except Fail as err:
            if "invalid_grant" in str(err) or "expired or revoked" in str(err):
                raise Login("the login has ended: log in again with auth-url and auth-finish")
            raise
        t.update(token=got["access_token"], expiry=got["expiry"])
        try:
            save(TOKEN, t)
        except OSError as err:
            print("google_api: the renewed token is not kept (%s)" % err, file=sys.stderr)
        return t["token"]

    def call(self, method, url, body=None, params=None, raw=False):
        if params:
            url += "?" + urllib.parse.urlencode({k: v for k, v in params.items() if v is not None}, doseq=True)
        request = urllib.request.Request(self.url(url), method=method, headers={"Authorization": "Bearer " + self.access()})
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        answer = self.open(request)
        if raw:
            return answer
        with answer:
            text = answer.read()
        return json.loads(text) if text else {}


GMAIL = "https://gmail.googleapis.com/gmail/v1/users/me"
CALENDAR = "https://www.googleapis.com/calendar/v3/calendars/"
DRIVE = "https://www.googleapis.com/drive/v3/files"
SHEETS = "https://sheets.googleapis.com/v4/spreadsheets/"


def auth_url(api, args):
    c = client()
    names = [s.strip() for s in args.services.split(",") if s.strip()]
    unknown = [n for n in names if n not in SCOPES]
    if unknown or not names:
        raise Fail("unknown service %s; there are: %s" % (", ".join(unknown), ", ".join(SCOPES)))
    verifier, state = secrets.token_urlsafe(64), secrets.token_urlsafe(16)
    scopes = [s for n in names for s in SCOPES[n]]
    save(PENDING, {"verifier": verifier, "state": state, "scopes": scopes})
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    form = {"client_id": c["client_id"], "redirect_uri": REDIRECT, "response_type": "code", "scope": " ".join(scopes), "state": state,
            "access_type": "offline", "prompt": "consent", "code_challenge": challenge, "code_challenge_method": "S256"}
    if os.environ.get("GOOGLE_WORKSPACE_ACCOUNT"):
        form["login_hint"] = os.environ["GOOGLE_WORKSPACE_ACCOUNT"]
    print("https://accounts.google.com/o/oauth2/v2/auth?" + urllib.parse.urlencode(form))


def auth_finish(api, args):
    c, p = client(), load(PENDING, "begin with auth-url")
    if sys.stdin.isatty():
        print("Paste the address of the page that could not be loaded, then Enter:", file=sys.stderr)
    text = sys.stdin.readline().strip()
    q = urllib.parse.parse_qs(urllib.parse.urlsplit(text).query)
    if q.get("error"):
        raise Fail("Google refused: " + q["error"][0])
    if not q.get("code"):
        raise Fail("there is no code in what was pasted; take the whole address, it begins with " + REDIRECT)
    if q.get("state", [""])[0] != p["state"]:
        raise Fail("the address belongs to another login; begin again with auth-url")
    got = api.token_request({"grant_type": "authorization_code", "code": q["code"][0], "redirect_uri": REDIRECT,
                             "client_id": c["client_id"], "client_secret": c.get("client_secret", ""), "code_verifier": p["verifier"]})
    save(TOKEN, {"token": got["access_token"], "refresh_token": got.get("refresh_token", ""), "token_uri": "https://oauth2.googleapis.com/token",
                 "client_id": c["client_id"], "client_secret": c.get("client_secret", ""),
                 "scopes": got.get("scope", " ".join(p["scopes"])).split(), "expiry": got["expiry"]})
    os.unlink(PENDING)
    print("logged in; see: check")


def check(api, args):
    scopes = load(TOKEN, "log in with auth-url and auth-finish").get("scopes") or []
    api.access()
    print("the login works, for: " + (", ".join(n for n, s in SCOPES.items() if set(s) <= set(scopes)) or "none of the services here"))
    want = os.environ.get("GOOGLE_WORKSPACE_ACCOUNT")
    if SCOPES["gmail"][0] in scopes:
        who = api.call("GET", GMAIL + "/profile").get("emailAddress", "")
        print("account: " + who)
        if want and who.lower() != want.lower():
            raise Fail("that is not the account of GOOGLE_WORKSPACE_ACCOUNT, %s" % want)


def headers(m):
    return {h["name"].lower(): h["value"] for h in (m.get("payload") or {}).get("headers") or []}


def gmail_search(api, args):
    got = api.call("GET", GMAIL + "/messages", params={"q": args.query, "maxResults": min(args.max, 100)})
    out = []
    for m in got.get("messages") or []:
        m = api.call("GET", GMAIL + "/messages/" + m["id"], params={"format": "metadata", "metadataHeaders": ["From", "Subject", "Date"]})
        h = headers(m)
        out.append({"id": m["id"], "thread": m.get("threadId"), "from": h.get("from", ""), "date": h.get("date", ""),
                    "subject": h.get("subject", ""), "snippet": html.unescape(m.get("snippet", ""))})
    return out, lambda r: "%(id)s  %(date)s\n  %(from)s\n  %(subject)s\n  %(snippet)s" % r


def bodies(part):
    data = (part.get("body") or {}).get("data")
    if data and not part.get("filename"):
        yield part.get("mimeType", ""), base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)).decode("utf-8", "replace")
    for p in part.get("parts") or []:
        yield from bodies(p)


def names_of(part):
    if part.get("filename"):
        yield part["filename"]
    for p in part.get("parts") or []:
        yield from names_of(p)


def gmail_read(api, args):
    m = api.call("GET", GMAIL + "/messages/" + urllib.parse.quote(args.id, safe=""), params={"format": "full"})
    h, found = headers(m), list(bodies(m.get("payload") or {}))
    text = next((t for k, t in found if k == "text/plain"), None)
    if text is None and found:
        text = html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?is)<(script|style).*?</\1>|<br[^>]*>|</p>", "\n", found[0][1])))
    r = {"id": m["id"], "from": h.get("from", ""), "to": h.get("to", ""), "date": h.get("date", ""), "subject": h.get("subject", ""),
         "message_id": h.get("message-id", ""), "text": text or "", "attached": list(names_of(m.get("payload") or {}))}
    return [r], lambda r: "From: %(from)s\nTo: %(to)s\nDate: %(date)s\nSubject: %(subject)s\nAttached: %(attached)s\n\n%(text)s" % dict(r, attached=", ".join(r["attached"]) or "-")


def letter(args):
    m = email.message.EmailMessage()
    for key, value in (("To", args.to), ("Cc", args.cc), ("Subject", args.subject)):
        if value:
            m[key] = value  # refuses line breaks
    with open(args.body_file, encoding="utf-8") as f:
        m.set_content(f.read())
    return {"raw": base64.urlsafe_b64encode(m.as_bytes()).decode()}


def gmail_draft(api, args):
    got = api.call("POST", GMAIL + "/drafts", {"message": letter(args)})
    return [{"draft": got["id"]}], lambda r: "draft %(draft)s" % r


def gmail_send(api, args):
    got = api.call("POST", GMAIL + "/messages/send", letter(args))
    return [{"id": got["id"]}], lambda r: "sent %(id)s" % r


def calendar_url(args):
    return CALENDAR + urllib.parse.quote(args.calendar, safe="") + "/events"


def calendar_list(api, args):
    now = datetime.datetime.now(datetime.timezone.utc)
    got = api.call("GET", calendar_url(args), params={
        "timeMin": now.isoformat(), "timeMax": (now + datetime.timedelta(days=args.days)).isoformat(), "singleEvents": "true",
        "orderBy": "startTime", "maxResults": args.max})
    at = lambda e: (e or {}).get("dateTime") or (e or {}).get("date", "")
    out = [{"id": e["id"], "start": at(e.get("start")), "end": at(e.get("end")), "title": e.get("summary", "(no title)"),
            "where": e.get("location", ""), "guests": [g.get("email", "") for g in e.get("attendees") or []]} for e in got.get("items") or []]
    return out, lambda r: "%(start)s - %(end)s  %(title)s%(at)s\n  %(id)s" % dict(r, at=", " + r["where"] if r["where"] else "")


def when(text):
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return {"date": text}
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})", text):
        raise Fail("%s: write a day as 2025-06-01 or a time with its zone as 2025-06-01T10:00:00+02:00" % text)
    return {"dateTime": text}


def calendar_add(api, args):
    body = {"summary": args.title, "start": when(args.start), "end": when(args.end)}
    if body["start"].keys() != body["end"].keys():
        raise Fail("--start and --end are both days or both times")
    for key, value in (("location", args.where), ("description", args.notes)):
        if value:
            body[key] = value
    if args.guests:
        body["attendees"] = [{"email": g.strip()} for g in args.guests.split(",") if g.strip()]
    got = api.call("POST", calendar_url(args), body, {"sendUpdates": "all" if args.guests else "none"})
    return [{"id": got["id"], "link": got.get("htmlLink", "")}], lambda r: "added %(id)s\n%(link)s" % r


def drive_search(api, args):
    words = args.words.replace("\\", "\\\\").replace("'", "\\'")
    got = api.call("GET", DRIVE, params={"q": "fullText contains '%s' and trashed = false" % words, "pageSize": min(args.max, 100),
                                         "fields": "files(id,name,mimeType,modifiedTime,size)"})
    return got.get("files") or [], lambda r: "%s  %s  %s\n  %s" % (r["id"], r.get("modifiedTime", ""), r["name"], r.get("mimeType", ""))


EXPORT = {"document": "text/plain", "spreadsheet": "text/csv", "presentation": "text/plain", "drawing": "image/png"}


def drive_get(api, args):
    if os.path.exists(args.out):
        raise Fail("%s is there already" % args.out)
    one = DRIVE + "/" + urllib.parse.quote(args.id, safe="")
    meta = api.call("GET", one, params={"fields": "name,mimeType"})
    kind = meta.get("mimeType", "")
    if kind.startswith("application/vnd.google-apps."):
        to = args.type or EXPORT.get(kind.rsplit(".", 1)[-1])
        if not to:
            raise Fail("%s is a %s, which cannot be fetched" % (meta.get("name"), kind))
        answer = api.call("GET", one + "/export", params={"mimeType": to}, raw=True)
    else:
        answer = api.call("GET", one, params={"alt": "media"}, raw=True)
    fd, tmp = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(args.out)), prefix=".drive-")
    try:
        with answer, os.fdopen(fd, "wb") as f:
            shutil.copyfileobj(answer, f)
            size, want = f.tell(), answer.headers.get("Content-Length")
        if want and size != int(want):
            raise Fail("only %d of %s bytes arrived" % (size, want))
        os.replace(tmp, args.out)
    except BaseException:
        os.unlink(tmp)
        raise
    print("%s: %s, %d bytes" % (args.out, meta.get("name"), size))


def sheet_url(args, more=""):
    return SHEETS + urllib.parse.quote(args.id, safe="") + "/values/" + urllib.parse.quote(args.range, safe="") + more


def sheets_read(api, args):
    rows = api.call("GET", sheet_url(args)).get("values") or []
    if args.json:
        return rows, None
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


def sheets_append(api, args):
    rows = list(csv.reader(sys.stdin))
    if not rows:
        raise Fail("there are no rows on standard input")
    got = api.call("POST", sheet_url(args, ":append"), {"values": rows}, {"valueInputOption": "RAW", "insertDataOption": "INSERT_ROWS"}).get("updates") or {}
    if got.get("updatedRows") != len(rows):
        raise Fail("%d rows were given, Google reports %s" % (len(rows), got.get("updatedRows", "none")))
    return [{"range": got.get("updatedRange"), "rows": got.get("updatedRows")}], lambda r: "%(rows)d rows in %(range)s" % r


def parser():
    ap = argparse.ArgumentParser(description="Gmail, Calendar, Drive and Sheets.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true")
    common.add_argument("--api", help=argparse.SUPPRESS)
    top = ap.add_subparsers(dest="what", required=True)

    def add(sub, name, fn, *options):
        p = sub.add_parser(name, parents=[common])
        p.set_defaults(fn=fn)
        for names, more in options:
            p.add_argument(*names.split(), **more)

    need, text, many = dict(required=True), dict(default=""), dict(type=int, default=20)
    add(top, "auth-url", auth_url, ("--services", dict(default="gmail,calendar,drive,sheets")))
    add(top, "auth-finish", auth_finish)
    add(top, "check", check)
    g = top.add_parser("gmail").add_subparsers(dest="do", required=True)
    mail = (("--to", need), ("--cc", text), ("--subject", need), ("--body-file", need))
    add(g, "search", gmail_search, ("query", {}), ("--max", many))
    add(g, "read", gmail_read, ("id", {}))
    add(g, "draft", gmail_draft, *mail)
    add(g, "send", gmail_send, *mail)
    c = top.add_parser("calendar").add_subparsers(dest="do", required=True)
    cal = ("--calendar", dict(default="primary"))
    add(c, "list", calendar_list, ("--days", dict(type=float, default=7)), ("--max", dict(type=int, default=50)), cal)
    add(c, "add", calendar_add, ("--title", need), ("--start", need), ("--end", need), ("--where", text), ("--notes", text), ("--guests", text), cal)
    d = top.add_parser("drive").add_subparsers(dest="do", required=True)
    add(d, "search", drive_search, ("words", {}), ("--max", many))
    add(d, "get", drive_get, ("id", {}), ("--out", need), ("--type", dict(help="of a Google document, such as application/pdf")))
    s = top.add_parser("sheets").add_subparsers(dest="do", required=True)
    add(s, "read", sheets_read, ("id", {}), ("range", {}))
    add(s, "append", sheets_append, ("id", {}), ("range", {}))
    return ap


def main(argv=None):
    args = parser().parse_args(argv)
    try:
        result = args.fn(API(args.api), args)
        if result:
            rows, line = result
            if args.json:
                json.dump(rows, sys.stdout, ensure_ascii=False, indent=1)
                print()
            else:
                print("\n".join(line(r) for r in rows) or "nothing found")
        return 0
    except Login as err:
        print("google_api: %s" % err, file=sys.stderr)
        return 3
    except (Fail, OSError, ValueError, KeyError) as err:
        print("google_api: %s" % err, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
