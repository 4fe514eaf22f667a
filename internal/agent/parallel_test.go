package agent

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// Cases 4 to 6 and 33: what may run at the same time.
func TestParallel(t *testing.T) {
	t.Parallel()
	job := func(name, path string) chat.ToolCall {
		return call("", name, fmt.Sprintf(`{"path":%q,"ms":100}`, path))
	}
	cases := map[string]struct {
		calls []chat.ToolCall
		took  time.Duration
	}{
		"8 reads":                        {[]chat.ToolCall{job("get", "1"), job("get", "2"), job("get", "3"), job("get", "4"), job("get", "5"), job("get", "6"), job("get", "7"), job("get", "8")}, 100},
		"9 reads are two rounds":         {[]chat.ToolCall{job("get", "1"), job("get", "2"), job("get", "3"), job("get", "4"), job("get", "5"), job("get", "6"), job("get", "7"), job("get", "8"), job("get", "9")}, 200},
		"4 write below a patched one":    {[]chat.ToolCall{job("write_file", "/w/a"), job("patch", "/w/a/b")}, 200},
		"5 read and terminal":            {[]chat.ToolCall{job("read_file", "/a"), job("terminal", "")}, 200},
		"6 clarify":                      {[]chat.ToolCall{job("get", "/a"), job("clarify", "/b"), job("get", "/c")}, 300},
		"33 reads and a write elsewhere": {[]chat.ToolCall{job("read_file", "/a"), job("read_file", "/b"), job("read_file", "/c"), job("write_file", "/d")}, 100},
		"33 read and write of one":       {[]chat.ToolCall{job("read_file", "/a"), job("write_file", "/a")}, 200},
		"33 reads of one":                {[]chat.ToolCall{job("read_file", "/a"), job("read_file", "/a/../a")}, 100},
		"names that only begin alike":    {[]chat.ToolCall{job("write_file", "/w/a"), job("write_file", "/w/ab")}, 100},
		"two chains":                     {[]chat.ToolCall{job("write_file", "/a"), job("write_file", "/b"), job("patch", "/a"), job("patch", "/b")}, 200},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, calls(c.calls...), text("ok"))
				began := time.Now()
				done, events := w.say("go")
				want(t, "status", done.Status, OK)
				want(t, "took", time.Since(began), c.took*time.Millisecond)
				for i, e := range of[ToolEnd](events) {
					want(t, "order", e.ID, w.session.History[1].ToolCalls[i].ID)
				}
				if w.tools.most > 8 {
					t.Errorf("%d at once", w.tools.most)
				}
			})
		})
	}
}
