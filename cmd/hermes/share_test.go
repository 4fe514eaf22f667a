package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/flock"
)

// newest is the id of the session that was used last.
func (h *house) newest() string {
	h.Helper()
	out, _ := h.ok("sessions", "list", "--json")
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) == 0 {
		h.Fatalf("%v: %s", err, out)
	}
	return list[0].ID
}

// asked returns what the user had said by the request that ends in text.
func (h *house) asked(text string) []string {
	h.Helper()
	for _, r := range h.model.Requests() {
		var said []string
		for _, m := range r.Messages() {
			if m.Role == chat.User {
				said = append(said, m.Content.String())
			}
		}
		if len(said) > 0 && said[len(said)-1] == text {
			return said
		}
	}
	h.Errorf("nobody asked %q", text)
	return nil
}

// Two programs on one conversation take turns: each answers with all that the
// other has said, and nothing is lost or there twice.
func TestTwoOnOneConversation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.talk()
	a.say("one by a")
	b := h.talk("--resume", h.newest())
	said := []string{"one by a"}
	for _, turn := range []struct {
		who  *talker
		text string
	}{{b, "two by b"}, {a, "three by a"}, {a, "four by a"}, {b, "five by b"}} {
		turn.who.say(turn.text)
		said = append(said, turn.text)
		if got := h.asked(turn.text); !slices.Equal(got, said) {
			t.Errorf("%q was asked after %q", turn.text, got)
		}
	}
	h.stored(said...)

	// What one takes back is gone for the other, too.
	if _, err := fmt.Fprintln(b.in, "/undo"); err != nil {
		t.Fatal(err)
	}
	b.say("five again by b")
	a.say("six by a")
	said = append(said[:4], "five again by b", "six by a")
	if got := h.asked("six by a"); !slices.Equal(got, said) {
		t.Errorf("after an undo elsewhere it was asked after %q", got)
	}
	h.stored(said...)

	// Where one has shortened it, the other follows.
	for n := range 12 {
		a.say(fmt.Sprint(n, strings.Repeat(" many words", 400)))
	}
	if _, err := fmt.Fprintln(a.in, "/compress"); err != nil {
		t.Fatal(err)
	}
	a.say("seven by a")
	b.say("eight by b")
	told := [2]string{a.leave(), b.leave()}
	h.clean("a", told[0])
	h.clean("b", told[1])
	if ids := [2]string{lastLine(told[0]), lastLine(told[1])}; ids[0] != ids[1] || !strings.HasSuffix(ids[0], h.newest()) {
		t.Errorf("they went on in %q", ids)
	}
	out, _ := h.ok("sessions", "show", h.newest(), "--json")
	for _, text := range []string{"seven by a", "eight by b"} {
		if n := strings.Count(out, `"`+text+`"`); n != 1 {
			t.Errorf("%q is there %d times", text, n)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(h.dir, "sessions", "drafts", "*")); len(left) > 0 {
		t.Errorf("locks are left: %v", left)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// At the same moment: a turn is whole before the next one begins.
func TestTwoAtOnceOnOneConversation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.talk()
	a.say("the beginning")
	b := h.talk("--resume", h.newest())
	var wg sync.WaitGroup
	var want []string
	for who, k := range map[string]*talker{"a": a, "b": b} {
		for n := range 8 {
			want = append(want, fmt.Sprintf("%s says %d", who, n))
		}
		wg.Go(func() {
			for n := range 8 {
				k.say(fmt.Sprintf("%s says %d", who, n))
			}
		})
	}
	wg.Wait()
	for _, k := range []*talker{a, b} {
		if err := k.in.Close(); err != nil {
			t.Error(err)
		}
		if err := k.cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, k.errs)
		}
	}
	out, _ := h.ok("sessions", "export", "-")
	if n := strings.Count(out, "\n"); n != 1 {
		t.Fatalf("%d sessions", n)
	}
	var s struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := 0; i+1 < len(s.Messages); i += 2 {
		q, r := s.Messages[i], s.Messages[i+1]
		if q.Role != "user" || r.Content != answerTo(q.Content) {
			t.Errorf("message %d: %q is followed by %q", i, q.Content, r.Content)
		}
		got = append(got, q.Content)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, append([]string{}, append(want, "the beginning")...)) {
		t.Errorf("stored %q", got)
	}
}

// Whoever comes while the other one is at work says so and waits; when the
// other one is killed, it goes on with what that one has left.
func TestWaitForTheOther(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprint("killed ", killed), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			begun, goOn := make(chan struct{}, 4), make(chan struct{})
			h.model = fakemodel.New(t, fakemodel.Reply{Func: func(r fakemodel.Request) fakemodel.Reply {
				m := r.Messages()
				last := m[len(m)-1].Content.String()
				if last == "slow" {
					begun <- struct{}{}
					select {
					case <-goOn:
					case <-t.Context().Done():
					}
				}
				return fakemodel.Text(answerTo(last))
			}}).Repeat()
			h.configure()
			a := h.talk()
			a.say("first")
			id := h.newest()
			if _, err := fmt.Fprintln(a.in, "slow"); err != nil {
				t.Fatal(err)
			}
			<-begun
			b := h.talk("--resume", id)
			if _, err := fmt.Fprintln(b.in, "/undo"); err != nil { // no time for that
				t.Fatal(err)
			}
			if _, err := fmt.Fprintln(b.in, "after it"); err != nil {
				t.Fatal(err)
			}
			waitFor(t, b.errs, "this waits until it is done")
			if killed {
				_ = a.cmd.Process.Kill()
				_ = a.cmd.Wait() // killed on purpose
			} else {
				close(goOn)
				waitFor(t, a.out, answerTo("slow"))
				a.leave()
			}
			after := "after it"
			if killed { // a question without an answer is asked together with the next one
				after = "slow\n\nafter it"
			}
			waitFor(t, b.out, answerTo(after))
			if err := b.in.Close(); err != nil {
				t.Error(err)
			}
			_ = b.cmd.Wait() // exit code 1: the /undo failed
			if said := b.errs.String(); !strings.Contains(said, "try again when it is done") {
				t.Errorf("an undo in between: %s", said)
			}
			if killed {
				h.asked(after)
			} else {
				h.asked("after it")
				h.stored("first", "slow", "after it")
			}
			if _, err := os.Stat(filepath.Join(h.dir, "sessions", "drafts", id+".txt")); err == nil {
				t.Error("the lock is left")
			}
		})
	}
}

// waitFor waits until a program has said something.
func waitFor(t *testing.T, w *watched, text string) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for !strings.Contains(w.String(), text) {
		select {
		case <-w.news:
		case <-limit.C:
			t.Fatalf("never said %q but %q", text, w)
		}
	}
}

// Waiting can be given up; what was not sent is said not to be, and the
// conversation goes on.
func TestStopWaiting(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.talk()
	a.say("first")
	id := h.newest()
	l, err := flock.Try(filepath.Join(h.dir, "sessions", "drafts", id+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(a.in, "in vain"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, a.errs, "this waits until it is done")
	if err := a.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	waitFor(t, a.errs, "the message was not sent")
	if err := a.cmd.Wait(); a.cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("it ended with %v\n%s", err, a.errs)
	}
	l.Remove()
	h.ask("after all", "--resume", id)
	h.stored("first", "after all")
}
