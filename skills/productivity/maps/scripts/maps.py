#!/usr/bin/env python3
"""Places, addresses and routes from OpenStreetMap's public services.

Standard library only. Exit 0: found; 1: not found or not answered; 2: wrong
use.
"""
import argparse
import json
import math
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT, LIMIT = 40, 8 << 20
NOMINATIM, OVERPASS = "https://nominatim.openstreetmap.org", "https://overpass-api.de"
ROUTERS = {"car": ("https://router.project-osrm.org", "driving"), "bike": ("https://routing.openstreetmap.de/routed-bike", "bike"),
           "foot": ("https://routing.openstreetmap.de/routed-foot", "foot")}


class Fail(Exception):
    pass


class Asker:
    def __init__(self, api):
        self.api, self.before = api, 0.0

    def __call__(self, base, path, data=None):
        if not self.api:  # the rules of the services: one request a second
            time.sleep(max(0.0, self.before + 1.1 - time.monotonic()))
        url = (self.api.rstrip("/") if self.api else base) + path
        request = urllib.request.Request(url, data=data, headers={"User-Agent": "hermes-maps-skill/1.0"})
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                return json.loads(answer.read(LIMIT).decode("utf-8"))
        except urllib.error.HTTPError as err:
            busy = err.code in (429, 503, 504)
            try:
                text = json.loads(err.read(65536).decode("utf-8", "replace")).get("message") or err.reason
            except (ValueError, AttributeError):
                text = err.reason
            raise Fail("%s answers %d: %s%s" % (urllib.parse.urlsplit(url).hostname, err.code, text, "; wait a minute" if busy else ""))
        finally:
            self.before = time.monotonic()


def point(text):
    m = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*", text)
    if not m:
        return None
    lat, lon = float(m.group(1)), float(m.group(2))
    if abs(lat) > 90 or abs(lon) > 180:
        raise Fail("%s: latitude comes first, at most 90; longitude at most 180" % text)
    return lat, lon


def search(ask, words, n):
    return ask(NOMINATIM, "/search?" + urllib.parse.urlencode({"q": words, "format": "jsonv2", "limit": n, "addressdetails": 0}))


def place(ask, text):
    """Coordinates and name of a point or of words."""
    p = point(text)
    if p:
        return p, text
    got = search(ask, text, 1)
    if not got:
        raise Fail("no place is called %s" % text)
    return (float(got[0]["lat"]), float(got[0]["lon"])), got[0]["display_name"]


def straight(a, b):
    la, lb = math.radians(a[0]), math.radians(b[0])
    h = math.sin((lb - la) / 2) ** 2 + math.cos(la) * math.cos(lb) * math.sin(math.radians(b[1] - a[1]) / 2) ** 2
    return 12742 * math.asin(math.sqrt(min(1, h)))


def far(meters):
    return "%.1f km" % (meters / 1000) if meters >= 1000 else "%d m" % meters


def long(s):
    return "%d h %02d min" % (s // 3600, s // 60 % 60) if s >= 3600 else "%d min" % max(1, round(s / 60))


def run(ask, args):
    if args.what == "find":
        got = search(ask, args.words, args.max)
        return got, ["%s,%s  %s (%s)" % (r["lat"], r["lon"], r["display_name"], r.get("type", "")) for r in got]
    if args.what == "at":
        p = point(args.point)
        if not p:
            raise Fail("%s: write LATITUDE,LONGITUDE" % args.point)
        r = ask(NOMINATIM, "/reverse?" + urllib.parse.urlencode({"lat": p[0], "lon": p[1], "format": "jsonv2"}))
        if "error" in r:
            raise Fail(r["error"])
        return r, [r["display_name"]]
    if args.what == "route":
        (a, name_a), (b, name_b) = place(ask, args.start), place(ask, args.end)
        base, profile = ROUTERS[args.by]
        got = ask(base, "/route/v1/%s/%s,%s;%s,%s?overview=false&steps=%s" % (profile, a[1], a[0], b[1], b[0], "true" if args.steps else "false"))
        if got.get("code") != "Ok" or not got.get("routes"):
            raise Fail("there is no way: %s" % got.get("message", got.get("code")))
        r = got["routes"][0]
        out = ["from %s" % name_a, "to   %s" % name_b, "%s, %s by %s (straight line %.1f km)" % (far(r["distance"]), long(r["duration"]), args.by, straight(a, b))]
        for leg in r["legs"] if args.steps else []:
            for s in leg["steps"]:
                m = s["maneuver"]
                out.append("  %8s  %s %s %s" % (far(s["distance"]), m["type"], m.get("modifier", ""), s.get("name", "")))
        return got, out
    p, _ = place(ask, args.point)
    if not re.fullmatch(r"[A-Za-z0-9_:-]{1,60}", args.kind):
        raise Fail("%s is no value of a tag, such as cafe or pharmacy" % args.kind)
    keys = ("amenity", "shop", "tourism", "leisure", "public_transport", "railway", "healthcare")
    where = "(around:%d,%f,%f)" % (args.within, p[0], p[1])
    query = "[out:json][timeout:25];(%s);out center %d;" % ("".join('nwr["%s"="%s"]%s;' % (k, args.kind, where) for k in keys), 200)
    got = ask(OVERPASS, "/api/interpreter", urllib.parse.urlencode({"data": query}).encode())
    if got.get("remark"):
        raise Fail("the answer is not whole: " + got["remark"])
    found = []
    for e in got.get("elements") or []:
        at, t = e if "lat" in e else e.get("center") or {}, e.get("tags") or {}
        if "lat" in at:
            street = " ".join(x for x in (t.get("addr:street"), t.get("addr:housenumber")) if x)
            found.append({"meters": round(straight(p, (at["lat"], at["lon"])) * 1000), "name": t.get("name", "(no name)"), "at": "%s,%s" % (at["lat"], at["lon"]),
                          "street": street, "hours": t.get("opening_hours", ""), "website": t.get("website") or t.get("contact:website", "")})
    found.sort(key=lambda f: f["meters"])
    found = found[: args.max]
    return found, ["%5d m  %s  %s" % (f["meters"], f["name"], ", ".join(f[k] for k in ("street", "hours", "website", "at") if f[k])) for f in found]


def main(argv=None):
    ap = argparse.ArgumentParser(description="Places, addresses and routes.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true")
    common.add_argument("--api", help=argparse.SUPPRESS)
    sub = ap.add_subparsers(dest="what", required=True)
    p = sub.add_parser("find", parents=[common])
    p.add_argument("words")
    p.add_argument("--max", type=int, default=5)
    sub.add_parser("at", parents=[common]).add_argument("point", help="LATITUDE,LONGITUDE")
    p = sub.add_parser("route", parents=[common])
    p.add_argument("start")
    p.add_argument("end")
    p.add_argument("--by", choices=sorted(ROUTERS), default="car")
    p.add_argument("--steps", action="store_true")
    p = sub.add_parser("near", parents=[common])
    p.add_argument("point", help="LATITUDE,LONGITUDE or words")
    p.add_argument("kind")
    p.add_argument("--within", type=int, default=1000, help="meters")
    p.add_argument("--max", type=int, default=15)
    args = ap.parse_args(argv)
    try:
        value, lines = run(Asker(args.api), args)
    except (Fail, OSError, ValueError, KeyError) as err:
        print("maps: %s" % err, file=sys.stderr)
        return 1
    if not lines:
        print("maps: nothing found", file=sys.stderr)
        return 1
    print(json.dumps(value, ensure_ascii=False, indent=1) if args.json else "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
