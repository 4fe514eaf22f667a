#!/usr/bin/env python3
"""Linear issues through its GraphQL API.

Standard library only; the key is LINEAR_API_KEY of the environment. Exit 0:
done; 1: failed; 2: wrong use; 3: the key is missing or refused.
"""
import argparse
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

BASE, TIMEOUT = "https://api.linear.app", 30
ISSUE = "identifier title url priorityLabel updatedAt state { name type } assignee { displayName } team { key }"


class Fail(Exception):
    code = 1


class Key(Fail):
    code = 3


class Stay(urllib.request.HTTPRedirectHandler):
    """The key does not follow a redirect."""

    def redirect_request(self, *args):
        return None


class API:
    def __init__(self, base):
        self.key = os.environ.get("LINEAR_API_KEY", "").strip()
        if not self.key:
            raise Key("LINEAR_API_KEY is not set")
        if base and urllib.parse.urlsplit(base).hostname not in ("127.0.0.1", "localhost", "::1"):
            raise Fail("--api is for tests on this machine only")  # the key goes nowhere else
        self.url, self.opener = (base or BASE).rstrip("/") + "/graphql", urllib.request.build_opener(Stay)

    def __call__(self, query, **variables):
        request = urllib.request.Request(self.url, data=json.dumps({"query": query, "variables": variables}).encode(),
                                         headers={"Authorization": self.key, "Content-Type": "application/json"})
        status = 200
        try:
            with self.opener.open(request, timeout=TIMEOUT) as answer:
                text = answer.read()
        except urllib.error.HTTPError as err:  # GraphQL errors come with 400
            status, text = err.code, err.read(65536)
        try:
            got = json.loads(text.decode("utf-8"))
        except ValueError:
            raise Fail("Linear answers %d: %s" % (status, text[:200].decode("utf-8", "replace")))
        if got.get("errors"):
            e = got["errors"][0]
            said = (e.get("extensions") or {}).get("userPresentableMessage") or e.get("message", "")
            if status == 401 or (e.get("extensions") or {}).get("code") == "AUTHENTICATION_ERROR":
                raise Key("Linear refuses LINEAR_API_KEY: " + said)
            raise Fail("Linear answers: " + said)
        if status >= 400:
            raise Fail("Linear answers %d" % status)
        return got["data"]


def line(i):
    return "%s  [%s, %s] %s\n  %s  %s" % (i["identifier"], i["state"]["name"], i["priorityLabel"], i["title"],
                                         (i.get("assignee") or {}).get("displayName") or "nobody", i["url"])


def team(api, key):
    got = api("query($k: String!) { teams(filter: {key: {eqIgnoreCase: $k}}) { nodes { id key name states { nodes { id name type } } } } }", k=key)
    if not got["teams"]["nodes"]:
        raise Fail("there is no team %s; see: teams" % key)
    return got["teams"]["nodes"][0]


def one(api, ident):
    got = api("query($id: String!) { issue(id: $id) { id description createdAt creator { displayName } labels { nodes { name } } "
              "comments(first: 100) { nodes { body createdAt user { displayName } } pageInfo { hasNextPage } } " + ISSUE + " } }", id=ident)
    if not got.get("issue"):
        raise Fail("there is no issue %s" % ident)
    return got["issue"]


def person(api, who):
    if who == "none":
        return None
    if who == "me":
        return api("{ viewer { id } }")["viewer"]["id"]
    got = api("query($w: String!) { users(filter: {or: [{email: {eqIgnoreCase: $w}}, {displayName: {eqIgnoreCase: $w}}, {name: {eqIgnoreCase: $w}}]}) "
              "{ nodes { id displayName } } }", w=who)["users"]["nodes"]
    if len(got) != 1:
        raise Fail("%s is %s" % (who, "no user" if not got else "more than one user; give the mail address"))
    return got[0]["id"]


def state(t, name):
    for s in t["states"]["nodes"]:
        if s["name"].casefold() == name.casefold():
            return s["id"]
    raise Fail("there is no state %s in %s; there are: %s" % (name, t["key"], ", ".join(s["name"] for s in t["states"]["nodes"])))


def piped():
    return "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace").strip()


def changes(api, args, t):
    out = {}
    if args.title:
        out["title"] = args.title
    if args.priority is not None:
        out["priority"] = args.priority
    if args.assignee:
        out["assigneeId"] = person(api, args.assignee)
    if args.state:
        out["stateId"] = state(t, args.state)
    return out


def run(api, args):
    """What to print: a value for --json, and lines."""
    if args.what == "me":
        v = api("{ viewer { name email organization { name urlKey } } }")["viewer"]
        return v, ["%s <%s>, %s" % (v["name"], v["email"], v["organization"]["name"])]
    if args.what == "teams":
        v = api("{ teams(first: 100) { nodes { key name states { nodes { name type } } } } }")["teams"]["nodes"]
        return v, ["%s  %s\n  %s" % (t["key"], t["name"], ", ".join(s["name"] for s in t["states"]["nodes"])) for t in v]
    if args.what == "issues":
        f = {} if args.state else {"state": {"type": {"nin": ["completed", "canceled"]}}}
        if args.state:
            f["state"] = {"name": {"eqIgnoreCase": args.state}}
        if args.team:
            f["team"] = {"key": {"eqIgnoreCase": args.team}}
        if args.mine:
            f["assignee"] = {"isMe": {"eq": True}}
        got = api("query($f: IssueFilter, $n: Int) { issues(filter: $f, first: $n, orderBy: updatedAt) { nodes { " + ISSUE + " } pageInfo { hasNextPage } } }",
                  f=f, n=args.max)["issues"]
    elif args.what == "search":
        got = api("query($t: String!, $n: Int) { searchIssues(term: $t, first: $n) { nodes { " + ISSUE + " } pageInfo { hasNextPage } } }",
                  t=args.words, n=args.max)["searchIssues"]
    if args.what in ("issues", "search"):
        return got["nodes"], [line(i) for i in got["nodes"]] + (["(there are more; see --max)"] if got["pageInfo"]["hasNextPage"] else []) or ["nothing found"]
    if args.what == "issue":
        i = one(api, args.id)
        out = [line(i), "  by %s, %s; labels: %s" % ((i.get("creator") or {}).get("displayName", "?"), i["createdAt"],
                                                     ", ".join(l["name"] for l in i["labels"]["nodes"]) or "none"), "", i.get("description") or "(no text)"]
        out += ["\n%s, %s:\n%s" % ((c.get("user") or {}).get("displayName", "?"), c["createdAt"], c["body"]) for c in i["comments"]["nodes"]]
        return i, out + (["(there are more comments)"] if i["comments"]["pageInfo"]["hasNextPage"] else [])
    if args.what == "create":
        t = team(api, args.team)
        new = dict(changes(api, args, t), teamId=t["id"], description=piped())
        got = api("mutation($i: IssueCreateInput!) { issueCreate(input: $i) { success issue { " + ISSUE + " } } }", i=new)["issueCreate"]
    elif args.what == "update":
        i = one(api, args.id)
        new = changes(api, args, team(api, i["team"]["key"]) if args.state else None)
        if not new:
            raise Fail("nothing to change: give --state, --assignee, --priority or --title")
        got = api("mutation($id: String!, $i: IssueUpdateInput!) { issueUpdate(id: $id, input: $i) { success issue { " + ISSUE + " } } }", id=i["id"], i=new)["issueUpdate"]
    elif args.what == "comment":
        text, i = piped(), one(api, args.id)
        if not text:
            raise Fail("there is no text on standard input")
        got = api("mutation($i: CommentCreateInput!) { commentCreate(input: $i) { success comment { url } } }", i={"issueId": i["id"], "body": text})["commentCreate"]
        if not got["success"]:
            raise Fail("Linear did not take the comment")
        return got["comment"], [got["comment"]["url"]]
    else:
        v = api(args.text)
        return v, [json.dumps(v, ensure_ascii=False, indent=1)]
    if not got["success"]:
        raise Fail("Linear did not do it")
    return got["issue"], [line(got["issue"])]


def main(argv=None):
    ap = argparse.ArgumentParser(description="Linear issues.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true")
    common.add_argument("--api", help=argparse.SUPPRESS)
    sub = ap.add_subparsers(dest="what", required=True)
    add = lambda name: sub.add_parser(name, parents=[common])
    add("me")
    add("teams")
    p = add("issues")
    p.add_argument("--team")
    p.add_argument("--state")
    p.add_argument("--mine", action="store_true")
    p.add_argument("--max", type=int, default=50)
    p = add("search")
    p.add_argument("words")
    p.add_argument("--max", type=int, default=20)
    add("issue").add_argument("id")
    for name in ("create", "update"):
        p = add(name)
        if name == "create":
            p.add_argument("--team", required=True)
        else:
            p.add_argument("id")
        p.add_argument("--title", required=name == "create")
        p.add_argument("--priority", type=int, choices=range(5))
        p.add_argument("--assignee", help="me, none, a name or a mail address")
        p.add_argument("--state")
    add("comment").add_argument("id")
    add("query").add_argument("text")
    args = ap.parse_args(argv)
    try:
        v, lines = run(API(args.api), args)
    except Fail as err:
        print("linear: %s" % err, file=sys.stderr)
        return err.code
    except (OSError, ValueError, KeyError, TypeError) as err:
        print("linear: %s" % err, file=sys.stderr)
        return 1
    print(json.dumps(v, ensure_ascii=False, indent=1) if args.json else "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
