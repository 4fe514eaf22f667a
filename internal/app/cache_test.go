package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/fakemodel"
)

// prompt is a request as a service's cache sees it: tools first, then the
// messages, whatever order the fields have in the body.
func promptOf(t *testing.T, r fakemodel.Request) []byte {
	t.Helper()
	var b struct {
		Tools    json.RawMessage
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(r.Body, &b); err != nil {
		t.Fatal(err)
	}
	out := append([]byte(nil), b.Tools...)
	for _, m := range b.Messages {
		out = append(append(out, '\n'), m...)
	}
	return out
}

func sharedPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// TestRequestsBeginAlike: what a request holds is the beginning of the next
// one, so that a service's cache pays, until a compaction; also when another
// process goes on with the session.
func TestRequestsBeginAlike(t *testing.T) {
	t.Parallel()
	w := &worker{window: 200_000}
	model := fakemodel.New(t, w.reply()).Repeat()
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q, context_length: %d}\n", model.V1(), w.window)})
	ask := Ask{Yolo: true}
	c, err := a.Converse(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	var before []byte
	worst, shorter, seen := 1.0, 0, 0
	for i := range 50 {
		if i == 25 {
			if c, err = a.Converse(t.Context(), Ask{Yolo: true, Resume: c.ID}); err != nil {
				t.Fatal(err)
			}
		}
		done, events := say(t, c, fmt.Sprintf("part %d of the work, say ü and <b>", i))
		if done.Status != agent.OK {
			t.Fatalf("turn %d: %v", i, done.Err)
		}
		n := compactions(events)
		shorter += n
		all := model.Requests()
		for _, r := range all[seen:] {
			if bytes.Contains(r.Body, []byte("running summary")) {
				continue
			}
			p := promptOf(t, r)
			if before != nil && n == 0 {
				share := float64(sharedPrefix(before, p)) / float64(len(before))
				if share < 0.97 {
					at := sharedPrefix(before, p)
					t.Fatalf("turn %d: only %.1f %% of the last request begins this one; then\n%.200s\nbecame\n%.200s", i, 100*share, before[at:], p[at:])
				}
				worst = min(worst, share)
			}
			before = p
		}
		seen = len(all)
	}
	t.Logf("%d requests, %d compactions; at least %.2f %% of a request begins the next one", seen, shorter, 100*worst)
}
