package secret

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
)

// quoteEach is what printf %q makes of a text.
func quoteEach(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < '0' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// wrap breaks a line as base64, xxd -p and fold do.
func wrap(s string, width int) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n")
		s = s[width:]
	}
	return b.String() + s + "\n"
}

// xxdDump prints as xxd does; odDump as od -tx1, words as hexdump and od -x.
func xxdDump(s string) string {
	return dumpAs(s, func(at int, p string) string {
		var groups strings.Builder
		for i := 0; i < len(p); i += 2 {
			fmt.Fprintf(&groups, "%x ", p[i:min(i+2, len(p))])
		}
		return fmt.Sprintf("%08x: %-40s %s", at, groups.String(), p)
	})
}

func odDump(s string) string {
	return dumpAs(s, func(at int, p string) string { return fmt.Sprintf("%07o% x", at, " "+p)[:7] + fmt.Sprintf(" % x", p) })
}

func wordDump(s string) string {
	return dumpAs(s, func(at int, p string) string {
		line := fmt.Sprintf("%07x", at)
		for i := 0; i < len(p); i += 2 {
			pair := []byte(p[i:min(i+2, len(p))] + "\x00")
			line += fmt.Sprintf(" %02x%02x", pair[1], pair[0])
		}
		return line
	})
}

func dumpAs(s string, line func(at int, piece string) string) string {
	var b strings.Builder
	s = strings.ReplaceAll(s, "\n", ".")
	for at := 0; at < len(s); at += 16 {
		b.WriteString(line(at, s[at:min(at+16, len(s))]) + "\n")
	}
	return b.String()
}

// A value that is known is found in every form a shell gives it in one step.
func TestKnownValuesInDisguise(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"canary-7Qz9_Lr2+Xw4/Vb6=Nm8", `it's "a" pass phrase & more`} {
		r := NewRedactor(value)
		file := "# settings\nFIRST=1\nCANARY='" + value + "'\nLAST=2\n" + strings.Repeat("# more text of no interest\n", 6)
		b64 := base64.StdEncoding.EncodeToString
		for name, text := range map[string]string{
			"base64, wrapped": wrap(b64([]byte(file)), 76), "base64, narrow": wrap(b64([]byte(file)), 20), "base64, URL": base64.RawURLEncoding.EncodeToString([]byte(file)),
			"base32, wrapped": wrap(base32.StdEncoding.EncodeToString([]byte(file)), 76),
			"xxd -p":          wrap(hex.EncodeToString([]byte(file)), 60), "hex, upper": strings.ToUpper(hex.EncodeToString([]byte(file))), "hex, spaced": fmt.Sprintf("% x", file),
			"xxd": xxdDump(file), "hexdump -C": hex.Dump([]byte(file)), "od -tx1": odDump(file), "hexdump": wordDump(file),
			"base64 in an address": url.QueryEscape(b64([]byte("u:" + value))), "base64 twice": b64([]byte(b64([]byte(value)))), "HTML": html.EscapeString(file),
			"printf %q": quoteEach(value), "declare -p": `declare -x CANARY="` + strings.NewReplacer(`"`, `\"`, `$`, `\$`).Replace(value) + `"`, "set": "CANARY='" + strings.ReplaceAll(value, "'", `'\''`) + "'",
			"rev": reversed(value), "rot13": rot13(file), "all percent": escaped(file, "%"), "all escaped": escaped(file, `\x`),
			"a character a line": strings.Join(strings.Split(value, ""), "\n"), "a blank between": strings.Join(strings.Split(value, ""), " "),
			"as it is": file,
		} {
			got := r.Redact(text)
			if got == text {
				t.Errorf("%s is not masked:\n%s", name, text)
			}
			for _, sign := range []string{value, value[9:], reversed(value)} {
				if strings.Contains(got, sign) {
					t.Errorf("%s: %q is left in\n%s", name, sign, got)
				}
			}
			quoted, err := json.Marshal(map[string]string{"output": text})
			if err != nil {
				t.Fatal(err)
			}
			if r.Redact(string(quoted)) == string(quoted) {
				t.Errorf("%s in JSON is not masked:\n%s", name, quoted)
			}
		}
		// What a mask leaves of a dump is not enough to go on.
		for _, text := range []string{xxdDump(file), hex.Dump([]byte(file))} {
			got := r.Redact(text)
			for i := range len(value) - 7 {
				if strings.Contains(got, value[i:i+8]) || strings.Contains(got, hex.EncodeToString([]byte(value[i:i+8]))) {
					t.Errorf("%q is left in\n%s", value[i:i+8], got)
				}
			}
		}
	}
}

// A secret nobody declared is recognised through base64 as it is without.
func TestShapesInBase64(t *testing.T) {
	t.Parallel()
	r := NewRedactor()
	file := "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPL1\naws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY1\n"
	text := "before\n" + wrap(base64.StdEncoding.EncodeToString([]byte(file)), 76) + "after\n"
	if got := r.Redact(text); got != "before\n***\nafter\n" {
		t.Errorf("got %q", got)
	}
	for _, in := range []string{
		wrap(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("ordinary text, nothing to hide in it. ", 20))), 76),
		strings.Repeat("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n", 4),
		"internal/store/testdata/sessions/original_schema_v11_with_messages.sql",
		hex.Dump([]byte("nothing to hide in this file, really")), xxdDump("nothing to hide in this file, really"),
	} {
		if got := r.Redact(in); got != in {
			t.Errorf("changed\n%s\n%s", in, got)
		}
	}
}

// What was recognised once is known from then on, within the same text too.
func TestRecognisedValuesAreRemembered(t *testing.T) {
	t.Parallel()
	r := NewRedactor()
	const value = "b7Yx3Rk9Vz1Fm5Lp"
	if got := r.Redact(value); got != value {
		t.Errorf("a value that nothing gives away became %q", got)
	}
	if got := r.Redact(`{"password": "` + value + `"} ` + reversed(value)); got != `{"password": "***"} ***` {
		t.Error(got)
	}
	if got := r.Redact("it is "+value) + r.Known(" "+escaped(value, "")); got != "it is *** ***" {
		t.Error(got)
	}
	for i := range 2 * mostSeen {
		r.Redact(fmt.Sprintf("password=%d-Qz8Lr2Xw4Vb6", i))
	}
	if len(r.seen) != mostSeen {
		t.Errorf("%d values are remembered", len(r.seen))
	}
	for _, plain := range []string{"a word like password", "b7Yx3Rk9", "MAX_TOKENS=100000"} {
		if got := r.Redact(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}
