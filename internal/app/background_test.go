package app

import (
	"strings"
	"testing"
	"time"
)

// TestBackgroundIsToldInTheNextTurn: what the model asked to be told of comes
// with the next message.
func TestBackgroundIsToldInTheNextTurn(t *testing.T) {
	t.Parallel()
	a := home(t, nil)
	c, err := a.Converse(t.Context(), Ask{Provider: "offline"})
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) {
		t.Helper()
		for _, err := range c.Turn(t.Context(), text) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	say(`use the terminal tool with command="echo built" background=true notify_on_complete=true`)
	for _, j := range a.pool.Jobs().List(c.Key()) {
		select {
		case <-j.Done():
		case <-time.After(20 * time.Second):
			t.Fatal("the command did not end")
		}
	}
	before := len(c.History)
	say("read nosuch.txt")
	first := c.History[before].Content.String()
	if !strings.HasPrefix(first, "[Background process proc_") || !strings.Contains(first, "exit code 0") || !strings.Contains(first, "built") || !strings.HasSuffix(first, "\n\nread nosuch.txt") {
		t.Errorf("the message is %q", first)
	}
	before = len(c.History)
	say("read nosuch.txt")
	if got := c.History[before].Content.String(); got != "read nosuch.txt" {
		t.Errorf("told twice: %q", got)
	}
}
