package store

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
)

var (
	thorough = flag.Bool("store.thorough", false, "damage every page, and let processes meet for a minute")
	bigSize  = flag.Int("store.messages", 20_000, "messages in the database that searching is measured on")
	bigFile  = flag.String("store.file", "", "where that database is kept between runs; not kept by default")
)

// Of 1,000,000 messages: `common` stands in every second one, `rareword` in
// about 20; the rest are words of Zipf's distribution, one message in 20 is
// Chinese with some English in it.
func bigText(r *rand.Rand, z *rand.Zipf, i int) string {
	if i%20 == 7 {
		return fmt.Sprintf("我们%d周讨论了数据库备份方案的细节，使用postgres%d和%s，然后检查日志", i%53, i%97, hanzi(r))
	}
	var b strings.Builder
	for k := range 12 {
		if k > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "w%d", z.Uint64())
	}
	if i%2 == 0 {
		b.WriteString(" common")
	}
	if i%50_000 == 123 {
		b.WriteString(" rareword")
	}
	return b.String()
}

func hanzi(r *rand.Rand) string {
	out := make([]rune, 6)
	for i := range out {
		out[i] = rune(0x4e00 + r.IntN(3000))
	}
	return string(out)
}

func bigDB(tb testing.TB) *DB {
	tb.Helper()
	path := *bigFile
	if path == "" {
		path = filepath.Join(tb.TempDir(), "state.db")
	}
	_, err := os.Stat(path)
	d := openAt(tb, path)
	if err == nil {
		return d
	}
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 4, 200_000)
	start := time.Now()
	var list []chat.Message
	for i := 0; i < *bigSize; {
		id := fmt.Sprintf("s%07d", i)
		if err := d.Create(ctx, Session{ID: id, Title: fmt.Sprint("session ", i)}); err != nil {
			tb.Fatal(err)
		}
		list = list[:0]
		for range 100 {
			list = append(list, chat.UserText(bigText(r, z, i)))
			i++
		}
		if err := d.Append(ctx, id, list...); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Logf("%d messages written in %v", *bigSize, time.Since(start))
	return d
}

func BenchmarkSearch(b *testing.B) {
	d := bigDB(b)
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"rare", Query{Text: "rareword"}},
		{"common", Query{Text: "common"}},
		{"common newest", Query{Text: "common", Newest: true}},
		{"both", Query{Text: "common rareword"}},
		{"two common", Query{Text: "common w1"}},
		{"phrase", Query{Text: `"w1 w2"`}},
		{"prefix", Query{Text: "rarew*"}},
		{"or", Query{Text: "rareword OR nowhere"}},
		{"not", Query{Text: "common NOT w1"}},
		{"absent", Query{Text: "nowhereatall"}},
		{"role", Query{Text: "common", Roles: []string{"user"}}},
		{"chinese", Query{Text: "备份方案"}},
		{"chinese 2", Query{Text: "日志"}},
		{"chinese rare 2", Query{Text: "丈七"}},
		{"chinese 1", Query{Text: "的"}},
		{"chinese rare 1", Query{Text: "龟"}},
		{"mixed", Query{Text: "postgres13 日志"}},
		{"glued", Query{Text: "postgres13"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			n := 0
			for b.Loop() {
				t := time.Now()
				n = 0
				for _, err := range d.Search(b.Context(), c.q) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				took = append(took, time.Since(t))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(n), "hits")
		})
	}
}

// BenchmarkBig does to a large database what every turn does.
func BenchmarkBig(b *testing.B) {
	d := bigDB(b)
	ctx := b.Context()
	id := NewID(time.Now())
	if err := d.Create(ctx, Session{ID: id}); err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			e, err := Open(d.Path(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := e.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			t := time.Now()
			if err := d.Append(ctx, id, chat.UserText("please look at the nightly backup of the postgres server and tell me why it took so long")); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(t))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	})
	b.Run("load 100", func(b *testing.B) {
		for b.Loop() {
			if r, err := d.Load(ctx, "s0000100"); err != nil || len(r.Messages) != 100 {
				b.Fatal(err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if l, err := d.List(ctx, Filter{}); err != nil || len(l) != 20 {
				b.Fatal(err)
			}
		}
	})
	b.Run("latest", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.Latest(ctx, "cli"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("delete", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			gone := fmt.Sprint(id, "-", i)
			say(b, d, gone, slices.Repeat([]chat.Message{chat.UserText("to be deleted")}, 100)...)
			b.StartTimer()
			if err := d.Delete(ctx, gone); err != nil {
				b.Fatal(err)
			}
		}
	})
}
