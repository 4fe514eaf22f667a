package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/internal/config"
)

// asking is a program at a terminal where the lines are typed.
func asking(t *testing.T, typed string) (*env, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "typed")
	if err := os.WriteFile(name, []byte(typed), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	home := t.TempDir()
	var out, errs bytes.Buffer
	return &env{in: in, out: &out, err: &errs, asks: true, userHome: home, workDir: home, place: config.Place{Dir: home, Root: home}}, &out, &errs
}

func TestAgreed(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]int{"y\n": exitOK, "YES\n": exitOK, "\n": exitFailed, "n\n": exitFailed, "yy\n": exitFailed, "": exitFailed} {
		e, _, _ := asking(t, typed)
		if got := codeOf(e.agreed(t.Context(), false, "-y", "delete it")); got != want {
			t.Errorf("%q: exit %d, want %d", typed, got, want)
		}
	}
	e, _, said := asking(t, "")
	if err := e.agreed(t.Context(), true, "-y", "delete it"); err != nil || said.Len() > 0 {
		t.Errorf("%v, %q", err, said)
	}
	e.asks = false
	if err := e.agreed(t.Context(), false, "-y", "delete it"); codeOf(err) != exitUsage || !strings.Contains(err.Error(), "give -y") {
		t.Error(err)
	}
}

func codeOf(err error) int {
	var c *codeError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &c):
		return c.code
	}
	return exitFailed
}

func TestBrowse(t *testing.T) {
	t.Parallel()
	const old = `{"id":"a","title":"about cats","started_at":1700000001,"messages":[{"role":"user","content":"hello \u001b[31mred\u001b[0m","timestamp":1700000001}]}
{"id":"b","title":"about dogs","started_at":1700000002,"messages":[{"role":"user","content":"a zebra","timestamp":1700000002}]}
{"id":"c","title":"about owls","started_at":1700000003,"messages":[{"role":"user","content":"more","timestamp":1700000003}]}
`
	for _, c := range []struct{ name, typed, want string }{
		{"first", "1\n", "c"},
		{"second page", "\n1\n", "a"},
		{"words said", "zebra\n1\n", "b"},
		{"words of a title", "cats\n1\n", "a"},
		{"no such number", "7\n\n2\n", "b"},
		{"leave", "q\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, _, errs := asking(t, c.typed)
			db, err := e.open()
			if err != nil {
				t.Fatal(err)
			}
			st, err := db.DB()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := st.Import(t.Context(), strings.NewReader(old)); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := e.chooseSession(t.Context(), "", 2)
			if err != nil || got != c.want {
				t.Errorf("chose %q, want %q, %v\n%s", got, c.want, err, errs)
			}
			if strings.Contains(errs.String(), "\x1b") {
				t.Errorf("an escape sequence got through: %q", errs)
			}
		})
	}
	e, _, _ := asking(t, "")
	if _, err := e.chooseSession(t.Context(), "", 2); err != nil {
		t.Errorf("an empty home: %v", err)
	}
}

func TestParseAgeAndSize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{"90": 90 * 24 * time.Hour, "0": 0, "12h": 12 * time.Hour, "2w": 14 * 24 * time.Hour, "3d": 72 * time.Hour, "": -1, "h": -1, "-1": -1, "1.5": -1, "99999999999": -1} {
		if got, err := parseAge(in); err == nil != (want >= 0) || err == nil && got != want {
			t.Errorf("age %q: %v, %v", in, got, err)
		}
	}
	for in, want := range map[string]int64{"500MB": 500 << 20, "2gb": 2 << 30, "1.5K": 1536, "100": 100, "": -1, "MB": -1, "0": -1, "-5MB": -1, "1e30": -1, "nan": -1} {
		if got, err := parseSize(in); err == nil != (want > 0) || err == nil && got != want {
			t.Errorf("size %q: %v, %v", in, got, err)
		}
	}
}
