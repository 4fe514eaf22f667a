#!/usr/bin/env python3
"""Weather of a place from Open-Meteo.

Standard library only. Exit 0: answered; 1: the place or the service was not
found; 2: wrong use.
"""
import argparse
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT, LIMIT = 30, 4 << 20
CODES = {0: "clear", 1: "mostly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "freezing fog", 51: "light drizzle", 53: "drizzle",
         55: "heavy drizzle", 56: "freezing drizzle", 57: "freezing drizzle", 61: "light rain", 63: "rain", 65: "heavy rain", 66: "freezing rain",
         67: "freezing rain", 71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains", 80: "light showers", 81: "showers",
         82: "violent showers", 85: "snow showers", 86: "heavy snow showers", 95: "thunderstorm", 96: "thunderstorm with hail", 99: "thunderstorm with hail"}


def ask(args, base, path, params):
    url = (args.api.rstrip("/") if args.api else base) + path + "?" + urllib.parse.urlencode(params)
    request = urllib.request.Request(url, headers={"User-Agent": "hermes-weather-skill/1.0"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return json.loads(answer.read(LIMIT).decode("utf-8"))
    except urllib.error.HTTPError as err:
        try:
            why = json.loads(err.read(65536).decode("utf-8", "replace")).get("reason") or err.reason
        except (ValueError, AttributeError):
            why = err.reason
        raise ValueError("the service answers %d: %s" % (err.code, why))


def place(args):
    m = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*", args.place)
    if m:
        return float(m.group(1)), float(m.group(2)), args.place
    words = [w.strip() for w in args.place.split(",") if w.strip()]
    got = ask(args, "https://geocoding-api.open-meteo.com", "/v1/search", {"name": words[0] if words else "", "count": 10}).get("results") or []
    if len(words) > 1:  # "Paris, Texas": what follows must be the region or the country
        got = [r for r in got if any(words[-1].casefold() in (r.get(k) or "").casefold() for k in ("country", "country_code", "admin1"))]
    if not got:
        raise ValueError("no place is called %s" % args.place)
    r = got[0]
    return r["latitude"], r["longitude"], ", ".join(x for x in (r["name"], r.get("admin1"), r.get("country")) if x)


def main(argv=None):
    ap = argparse.ArgumentParser(description="Weather of a place.")
    ap.add_argument("place", help="a name, or LATITUDE,LONGITUDE")
    ap.add_argument("--days", type=int, default=5, choices=range(1, 17), metavar="1-16")
    ap.add_argument("--hours", type=int, default=0, help="also so many hours from now on")
    ap.add_argument("--us", action="store_true", help="Fahrenheit, miles and inches")
    ap.add_argument("--json", action="store_true")
    ap.add_argument("--api", help=argparse.SUPPRESS)
    args = ap.parse_args(argv)
    try:
        lat, lon, name = place(args)
        params = {"latitude": lat, "longitude": lon, "timezone": "auto", "forecast_days": max(args.days, min(16, args.hours // 24 + 2)),
                  "current": "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m,precipitation",
                  "daily": "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,wind_gusts_10m_max,sunrise,sunset"}
        if args.hours:
            params["hourly"] = "temperature_2m,weather_code,precipitation_probability,precipitation,wind_speed_10m"
        if args.us:
            params.update(temperature_unit="fahrenheit", wind_speed_unit="mph", precipitation_unit="inch")
        w = ask(args, "https://api.open-meteo.com", "/v1/forecast", params)
        if args.json:
            print(json.dumps(dict(w, place=name), ensure_ascii=False, indent=1))
            return 0
        u, c = w["current_units"], w["current"]
        t, mm, v = u["temperature_2m"], u["precipitation"], u["wind_speed_10m"]
        sky = lambda code: CODES.get(code, "code %s" % code)
        n = lambda x: "-" if x is None else "%g" % x
        print("%s, %s (%s)" % (name, c["time"], w.get("timezone", "")))
        print("now: %s, %s%s (feels like %s%s), humidity %s%%, wind %s %s" % (sky(c["weather_code"]), n(c["temperature_2m"]), t, n(c["apparent_temperature"]), t,
                                                                          n(c["relative_humidity_2m"]), n(c["wind_speed_10m"]), v))
        d = w["daily"]
        for i, day in enumerate(d["time"][: args.days]):
            print("%s  %s, %s to %s%s, rain %s %s (%s%%), gusts %s %s, sun %s-%s" % (
                day, sky(d["weather_code"][i]), n(d["temperature_2m_min"][i]), n(d["temperature_2m_max"][i]), t, n(d["precipitation_sum"][i]), mm,
                n(d["precipitation_probability_max"][i]), n(d["wind_gusts_10m_max"][i]), v, d["sunrise"][i][-5:], d["sunset"][i][-5:]))
        if args.hours:
            h = w["hourly"]
            start = next((i for i, at in enumerate(h["time"]) if at[:13] >= c["time"][:13]), 0)
            for i in range(start, min(start + args.hours, len(h["time"]))):
                print("%s  %s, %s%s, rain %s%% %s %s, wind %s %s" % (h["time"][i].replace("T", " "), sky(h["weather_code"][i]), n(h["temperature_2m"][i]), t,
                                                                   n(h["precipitation_probability"][i]), n(h["precipitation"][i]), mm, n(h["wind_speed_10m"][i]), v))
        return 0
    except (OSError, ValueError) as err:
        print("weather: %s" % err, file=sys.stderr)
    except (KeyError, IndexError, TypeError) as err:
        print("weather: the answer is not as expected: %r" % err, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
