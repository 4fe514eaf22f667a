#!/usr/bin/env python3
"""Say what an image is: format, size, and what the camera wrote into it.

Standard library only; reads JPEG, PNG, GIF, WebP, BMP and TIFF headers. Exit
0: all were read; 1: some were not; 2: wrong use.
"""
import argparse
import json
import struct
import sys

TAGS = {0x010F: "make", 0x0110: "model", 0x0112: "orientation", 0x0131: "software", 0x0132: "changed", 0x013B: "artist", 0x8298: "copyright",
        0x9003: "taken", 0x9011: "offset", 0x829A: "exposure", 0x829D: "aperture", 0x8827: "iso", 0x920A: "focal_length", 0xA434: "lens"}
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 9: 4, 10: 8}
TURNED = {1: "upright", 2: "mirrored", 3: "upside down", 4: "upside down, mirrored", 5: "on its side, mirrored",
          6: "turn right to see it upright", 7: "on its side, mirrored", 8: "turn left to see it upright"}


def tiff(data):
    """The directories of a TIFF structure, which is also what EXIF is."""
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if not order or struct.unpack(order + "H", data[2:4])[0] != 42:
        raise ValueError("its EXIF data is damaged")

    def values(kind, count, at):
        n = SIZES.get(kind, 0) * count
        if not n or n > 65536:
            return None
        raw = data[at: at + 4][:n] if n <= 4 else data[struct.unpack(order + "I", data[at: at + 4])[0]:][:n]
        if len(raw) < n:
            return None
        if kind == 2:
            return raw.split(b"\0")[0].decode("utf-8", "replace").strip()
        if kind in (5, 10):
            nums = struct.unpack("%s%d%s" % (order, 2 * count, "I" if kind == 5 else "i"), raw)
            return [a / b if b else 0.0 for a, b in zip(nums[::2], nums[1::2])]
        return list(struct.unpack("%s%d%s" % (order, count, {1: "B", 3: "H", 4: "I", 7: "B", 9: "i"}[kind]), raw))

    def directory(at):
        out = {}
        if at + 2 > len(data):
            return out
        for i in range(struct.unpack(order + "H", data[at: at + 2])[0]):
            e = at + 2 + 12 * i
            if e + 12 > len(data):
                break
            tag, kind, count = struct.unpack(order + "HHI", data[e: e + 8])
            out[tag] = values(kind, count, e + 8)
        return out

    return directory(struct.unpack(order + "I", data[4:8])[0]), directory


def one(v):
    return v[0] if isinstance(v, list) and len(v) == 1 else v


def exif(data):
    out = {}
    first, directory = tiff(data)
    all_tags = dict(first)
    if first.get(0x8769):
        all_tags.update(directory(first[0x8769][0]))
    for tag, name in TAGS.items():
        if all_tags.get(tag) not in (None, "", []):
            out[name] = one(all_tags[tag])
    if out.get("orientation") in TURNED:
        out["orientation"] = "%d (%s)" % (out["orientation"], TURNED[out["orientation"]])
    if isinstance(out.get("exposure"), float) and 0 < out["exposure"] < 1:
        out["exposure"] = "1/%d s" % round(1 / out["exposure"])
    if first.get(0x8825):
        gps = directory(first[0x8825][0])
        lat, lon = gps.get(2), gps.get(4)
        if isinstance(lat, list) and isinstance(lon, list) and len(lat) == len(lon) == 3:
            deg = lambda v, ref: round((v[0] + v[1] / 60 + v[2] / 3600) * (-1 if ref in ("S", "W") else 1), 6)
            out["gps"] = [deg(lat, gps.get(1)), deg(lon, gps.get(3))]
    return out


def jpeg(data):
    out, at = {"format": "JPEG"}, 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            raise ValueError("it is damaged at byte %d" % at)
        mark = data[at + 1]
        if mark == 0xFF or mark == 0x01 or 0xD0 <= mark <= 0xD8:
            at += 1 if mark == 0xFF else 2
            continue
        if mark in (0xD9, 0xDA):
            break
        n = struct.unpack(">H", data[at + 2: at + 4])[0]
        body = data[at + 4: at + 2 + n]
        if mark in (0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF) and len(body) >= 6:
            out["height"], out["width"] = struct.unpack(">HH", body[1:5])
            out["colours"] = {1: "grey", 3: "colour", 4: "CMYK"}.get(body[5], str(body[5]))
        elif mark == 0xE1 and body[:6] == b"Exif\0\0":
            out.update(exif(body[6:]))
        at += 2 + n
    return out


def png(data):
    out, at = {"format": "PNG"}, 8
    while at + 8 <= len(data):
        n, kind = struct.unpack(">I4s", data[at: at + 8])
        body = data[at + 8: at + 8 + n]
        if kind == b"IHDR" and len(body) >= 10:
            out["width"], out["height"], depth, colour = struct.unpack(">IIBB", body[:10])
            out["colours"] = {0: "grey", 2: "colour", 3: "palette", 4: "grey with transparency", 6: "colour with transparency"}.get(colour, "?") + ", %d bit" % depth
        elif kind == b"acTL" and len(body) >= 4:
            out["frames"] = struct.unpack(">I", body[:4])[0]
        elif kind == b"eXIf":
            out.update(exif(body))
        elif kind == b"tEXt" and b"\0" in body:
            key, text = body.split(b"\0", 1)
            out[key.decode("latin-1").lower()] = text.decode("latin-1")[:200]
        at += 12 + n
    return out


def webp(data):
    out, at = {"format": "WebP"}, 12
    while at + 8 <= len(data):
        kind, n = struct.unpack("<4sI", data[at: at + 8])
        body = data[at + 8: at + 8 + n]
        if kind == b"VP8X" and len(body) >= 10:
            out["width"], out["height"] = (1 + int.from_bytes(body[i: i + 3], "little") for i in (4, 7))
        elif kind == b"VP8 " and len(body) >= 10 and "width" not in out:
            out["width"], out["height"] = (v & 0x3FFF for v in struct.unpack("<HH", body[6:10]))
        elif kind == b"VP8L" and len(body) >= 5 and "width" not in out:
            bits = int.from_bytes(body[1:5], "little")
            out["width"], out["height"] = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        elif kind == b"EXIF":
            out.update(exif(body[6:] if body[:6] == b"Exif\0\0" else body))
        at += 8 + n + (n & 1)
    return out


def inspect(data):
    if data[:3] == b"\xff\xd8\xff":
        out = jpeg(data)
    elif data[:8] == b"\x89PNG\r\n\x1a\n":
        out = png(data)
    elif data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        out = {"format": "GIF", "width": struct.unpack("<H", data[6:8])[0], "height": struct.unpack("<H", data[8:10])[0]}
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        out = webp(data)
    elif data[:2] == b"BM" and len(data) >= 26:
        out = dict(zip(("width", "height"), (abs(v) for v in struct.unpack("<ii", data[18:26]))), format="BMP")
    elif data[:4] in (b"II*\0", b"MM\0*"):
        first, _ = tiff(data)
        out = dict(exif(data), format="TIFF", width=one(first.get(0x100)), height=one(first.get(0x101)))
    elif data[4:8] == b"ftyp":
        raise ValueError("HEIC, AVIF or video: convert it first (magick F out.jpg, or sips on a Mac)")
    else:
        raise ValueError("no image of a kind that is known")
    if not out.get("width") or not out.get("height"):
        raise ValueError("%s, but its size cannot be read; is it whole?" % out["format"])
    return out


def main(argv=None):
    ap = argparse.ArgumentParser(description="Say what an image is.")
    ap.add_argument("file", nargs="+")
    ap.add_argument("--json", action="store_true")
    args = ap.parse_args(argv)
    found, failed = [], 0
    for path in args.file:
        try:
            with open(path, "rb") as f:
                data = f.read(64 << 20)
            found.append(dict({"file": path, "bytes": len(data)}, **inspect(data)))
        except (OSError, ValueError, struct.error) as err:
            print("imginfo: %s: %s" % (path, err), file=sys.stderr)
            failed += 1
    if args.json:
        json.dump(found, sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        for f in found:
            print("%s: %s, %d x %d, %d bytes" % (f.pop("file"), f.pop("format"), f.pop("width"), f.pop("height"), f.pop("bytes")))
            for k, v in f.items():
                print("  %s: %s" % (k, "%.6f, %.6f" % tuple(v) if k == "gps" else v))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
