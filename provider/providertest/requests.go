package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/fakemodel"
)

// testStable: equal requests are equal bytes, and building one changes nothing
// of the caller's.
func testStable(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.Text("ok")).Repeat()
	r, same := Conversation(s.Model), Conversation(s.Model)
	for range 3 {
		if got := watch(context.Background(), s.open(t, server), r); got.err != nil {
			t.Fatal(got.err)
		}
	}
	if !reflect.DeepEqual(r, same) {
		t.Error("the request was changed")
	}
	for _, req := range server.Requests()[1:] {
		if !bytes.Equal(req.Body, server.Requests()[0].Body) {
			t.Errorf("different bytes:\n%s\n%s", server.Requests()[0].Body, req.Body)
		}
	}
}

func testBadSchema(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.Text("ok")).Repeat()
	bad := Weather()
	bad.Function.Name, bad.Function.Parameters = "bad", json.RawMessage(`{"$ref":"#/nowhere"}`)
	c := s.open(t, server)
	r := s.ask("hi", bad, Weather())
	got := watch(context.Background(), c, r)
	if got.err != nil || len(got.notices) != 1 || !strings.Contains(got.notices[0], "bad") {
		t.Errorf("got %+v", got)
	}
	if again := watch(context.Background(), c, r); len(again.notices) != 0 {
		t.Errorf("told again: %q", again.notices)
	}
	if names := server.Requests()[0].Tools(); len(names) != 1 || names[0] != "weather" {
		t.Errorf("offered %q", names)
	}
}

var update = flag.Bool("update", false, "rewrite golden files")

func testGolden(t *testing.T, s Suite) {
	if s.Golden == "" {
		t.Skip("this suite has none")
	}
	server := fakemodel.New(t, fakemodel.Text("ok"))
	if got := watch(context.Background(), s.open(t, server), Conversation(s.Model)); got.err != nil {
		t.Fatal(got.err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, server.Requests()[0].Body, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	name := filepath.Join("testdata", s.Golden)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the request is not %s (run with -update and look at the difference):\n%s", name, got.Bytes())
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
