package store

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
)

// The file takes at most 2.2 times the text it holds where that is ASCII, and
// 6 times where it is Chinese. The texts are as long as those of people and
// models, their words as often as Zipf has it. There are some megabytes of it:
// in a small file the free pages that merging an index leaves weigh more.
func TestSize(t *testing.T) {
	t.Parallel()
	if racing {
		t.Skip("sizes are the same without the race detector, and SQLite is ten times as fast")
	}
	r := rand.New(rand.NewPCG(3, 4))
	vocabulary := make([]string, 20_000)
	for i := range vocabulary {
		var b strings.Builder
		for range 2 + r.IntN(4) {
			b.WriteByte("bcdfghklmnprstvw"[r.IntN(16)])
			b.WriteByte("aeiou"[r.IntN(5)])
		}
		vocabulary[i] = b.String()
	}
	hanzi := rand.NewZipf(r, 1.05, 8, 3500)
	chinese := make([]string, len(vocabulary)) // words of one to three characters
	for i := range chinese {
		for range 1 + r.IntN(3) {
			chinese[i] += string(rune(0x4e00 + hanzi.Uint64()))
		}
	}
	words := rand.NewZipf(r, 1.05, 3, uint64(len(vocabulary)-1))
	for _, c := range []struct {
		name  string
		limit float64
		text  func() string
	}{
		{"ascii", 2.2, func() string {
			var b strings.Builder
			for range 60 + r.IntN(80) {
				b.WriteString(vocabulary[words.Uint64()])
				b.WriteString([]string{" ", " ", " ", ", ", ". "}[r.IntN(5)])
			}
			return b.String()
		}},
		{"chinese", 6, func() string {
			var b strings.Builder
			for range 80 + r.IntN(100) {
				b.WriteString(chinese[words.Uint64()])
				if r.IntN(6) == 0 {
					b.WriteString("，")
				}
			}
			return b.String()
		}},
	} {
		d := open(t)
		total := 0
		var m []chat.Message
		for range 2000 {
			s := c.text()
			total += len(s)
			m = append(m, chat.UserText(s))
		}
		for i := 0; i < len(m); i += 20 {
			say(t, d, NewID(d.now()), m[i:i+20]...)
		}
		if err := d.writer.script(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(d.Path())
		if err != nil {
			t.Fatal(err)
		}
		ratio := float64(st.Size()) / float64(total)
		t.Logf("%s: %.1f MB of text, %.2f times as much on disk", c.name, float64(total)/1e6, ratio)
		if ratio > c.limit {
			t.Errorf("%s: %.2f times the text, at most %.1f", c.name, ratio, c.limit)
		}
	}
}
