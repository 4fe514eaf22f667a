#!/usr/bin/env python3
"""Look where a connection fails: name, port, TLS, HTTP.

Standard library only. Exit 0: all steps of all targets work; 1: one does not,
or a certificate ends soon; 2: wrong use.
"""
import argparse
import datetime
import http.client
import json
import socket
import ssl
import sys
import time
import urllib.parse

PORTS = {"http": 80, "https": 443, "ssh": 22, "postgres": 5432, "postgresql": 5432, "mysql": 3306, "redis": 6379, "smtp": 25, "imaps": 993, "smtps": 465, "ldaps": 636}
TLS = {443, 465, 636, 853, 993, 995, 8443}


def target(text):
    """Host, port, TLS or not, path for HTTP or None."""
    try:
        parts = urllib.parse.urlsplit(text if "://" in text else "//" + text)
        host, port = parts.hostname, parts.port
    except ValueError as err:
        raise ValueError("%s: %s" % (text, err))
    if not host:
        raise ValueError("%s names no host" % text)
    scheme = parts.scheme
    if port is None:
        port = PORTS.get(scheme or "https")
        if port is None:
            raise ValueError("%s: say which port, as %s:PORT" % (text, host))
    http_path = None
    if scheme in ("http", "https"):
        http_path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    return host, port, scheme in ("https", "imaps", "smtps", "ldaps") or (not scheme and port in TLS), http_path


def certificate(sock, host, context, report):
    with context.wrap_socket(sock, server_hostname=host) as tls:
        cert = tls.getpeercert()
        report.update(tls=tls.version(), cipher=tls.cipher()[0])
        if cert and "notAfter" in cert:
            end = datetime.datetime.fromtimestamp(ssl.cert_time_to_seconds(cert["notAfter"]), datetime.timezone.utc)
            name = lambda key: ", ".join(v for rdn in cert.get(key, ()) for k, v in rdn if k in ("commonName", "organizationName"))
            report.update(certificate_until=end.strftime("%Y-%m-%d"), certificate_days=(end - datetime.datetime.now(datetime.timezone.utc)).days,
                          issuer=name("issuer"), names=[v for _, v in cert.get("subjectAltName", ())][:10])


def step(steps, name, fn, good):
    began = time.monotonic()
    try:
        value = fn()
        steps.append({"step": name, "ok": True, "ms": round((time.monotonic() - began) * 1000), "text": good(value)})
        return value
    except (OSError, ValueError, http.client.HTTPException) as err:
        text = {socket.timeout: "timed out: dropped on the way, wrong address, route or firewall"}.get(type(err), "")
        if isinstance(err, ConnectionRefusedError):
            text = "refused: nothing listens there, or a firewall says no"
        elif isinstance(err, ssl.SSLCertVerificationError):
            text = "certificate refused: %s" % err.verify_message
        elif isinstance(err, socket.gaierror):
            text = "the name is not known to the resolver (%s)" % err.strerror
        steps.append({"step": name, "ok": False, "ms": round((time.monotonic() - began) * 1000), "text": text or str(err) or type(err).__name__})
        return None


def check(text, args, context):
    host, port, tls, path = target(text)
    report = {"target": text, "host": host, "port": port, "steps": []}
    steps = report["steps"]
    found = step(steps, "name", lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM),
                 lambda v: ", ".join(dict.fromkeys(a[4][0] for a in v)))
    if not found:
        return report
    live = None
    for family, kind, proto, _, address in dict.fromkeys(found):
        def connect():
            s = socket.socket(family, kind, proto)
            s.settimeout(args.timeout)
            try:
                s.connect(address)
            except BaseException:
                s.close()
                raise
            s.close()
            return address
        if step(steps, "connect " + address[0], connect, lambda a: "port %d is open" % port):
            live = live or address
    if not live:
        return report
    report["reached"] = live[0]
    if tls:
        more = {}
        step(steps, "tls", lambda: certificate(socket.create_connection(live[:2], args.timeout), host, context, more) or more,
             lambda v: "%s, until %s (%s days), by %s" % (v.get("tls"), v.get("certificate_until"), v.get("certificate_days"), v.get("issuer")))
        report.update(more)
        if "certificate_days" in more and more["certificate_days"] < args.warn_days:
            steps.append({"step": "certificate", "ok": False, "ms": 0, "text": "ends in %d days" % more["certificate_days"]})
        if not steps[-1]["ok"] and "tls" not in more:
            return report
    if path is not None:
        def ask():
            kind = http.client.HTTPSConnection if tls else http.client.HTTPConnection
            more = {"context": context} if tls else {}
            c = kind(host, port, timeout=args.timeout, **more)
            try:
                c.request("GET", path, headers={"User-Agent": "hermes-netcheck/1.0"})
                r = c.getresponse()
                return r.status, r.reason, r.getheader("Location"), r.getheader("Server")
            finally:
                c.close()
        got = step(steps, "http", ask, lambda v: "%d %s%s%s" % (v[0], v[1], ", to " + v[2] if v[2] else "", ", server " + v[3] if v[3] else ""))
        if got:
            report["status"] = got[0]
            if got[0] >= 500:
                steps[-1]["ok"] = False
    return report


def main(argv=None):
    ap = argparse.ArgumentParser(description="Look where a connection fails.")
    ap.add_argument("target", nargs="+", help="an address, HOST or HOST:PORT")
    ap.add_argument("--timeout", type=float, default=8, help="seconds of each step")
    ap.add_argument("--warn-days", type=int, default=14, help="a certificate that ends sooner is a fault")
    ap.add_argument("--ca", metavar="FILE", help="certificates to trust beside the system's")
    ap.add_argument("--json", action="store_true")
    args = ap.parse_args(argv)
    if not 0 < args.timeout <= 120:
        ap.error("--timeout takes seconds, at most 120")
    try:
        context = ssl.create_default_context()
        if args.ca:
            context.load_verify_locations(args.ca)
        reports = [check(t, args, context) for t in args.target]
    except (OSError, ValueError) as err:
        print("netcheck: %s" % err, file=sys.stderr)
        return 2
    # one address of several may fail: the host is reached all the same
    bad = [r for r in reports if "reached" not in r or any(not s["ok"] for s in r["steps"] if not s["step"].startswith("connect"))]
    if args.json:
        json.dump(reports, sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        for r in reports:
            print(r["target"])
            for s in r["steps"]:
                print("  %-4s %-28s %5d ms  %s" % ("ok" if s["ok"] else "FAIL", s["step"], s["ms"], s["text"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
