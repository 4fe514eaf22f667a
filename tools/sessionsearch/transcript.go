package sessionsearch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/chat"
)

const (
	longOutput, outputEnd = 500, 250 // characters of a tool output
	mostChars             = 100_000  // of a transcript
	mostParts             = 5        // of a compacted conversation
)

// transcript is what was said in the parts of a conversation that hold hits,
// cut to what lies around the query's words.
func (s search) transcript(ctx context.Context, t talk) (string, error) {
	var ids []string
	for _, h := range t.hits {
		if !slices.Contains(ids, h.SessionID) && len(ids) < mostParts {
			ids = append(ids, h.SessionID)
		}
	}
	slices.Sort(ids) // they begin with their time
	var b strings.Builder
	for _, id := range ids {
		rec, err := s.db.Load(ctx, id)
		if err != nil {
			return "", err
		}
		for _, m := range rec.Messages {
			b.WriteString(line(m))
		}
	}
	return around(b.String(), s.query, mostChars), nil
}

func line(m chat.Message) string {
	text := m.Content.String()
	switch {
	case m.Role == chat.Tool && m.Name == "session_search":
		return "" // a memory of other conversations
	case m.Role == chat.Tool:
		if n := utf8.RuneCountInString(text); n > longOutput {
			r := []rune(text)
			text = string(r[:outputEnd]) + "\n…[cut]…\n" + string(r[n-outputEnd:])
		}
		return fmt.Sprintf("[TOOL %s]: %s\n\n", m.Name, text)
	}
	var calls []string
	for _, c := range m.ToolCalls {
		calls = append(calls, c.Function.Name)
	}
	if len(calls) > 0 {
		text = strings.TrimSpace(text + "\n[calls " + strings.Join(calls, ", ") + "]")
	}
	return fmt.Sprintf("[%s]: %s\n\n", strings.ToUpper(string(m.Role)), text)
}

// around cuts a text to at most so many bytes where the most matches are, a
// quarter of it before the first one.
func around(text, query string, most int) string {
	if len(text) <= most {
		return text
	}
	at := places(text, query)
	from, best := 0, -1
	for i, p := range at {
		n := 0
		for _, q := range at[i:] {
			if q < p+most*3/4 {
				n++
			}
		}
		if n > best {
			best, from = n, p-most/4
		}
	}
	from = max(min(from, len(text)-most), 0)
	cut := strings.ToValidUTF8(text[from:from+most], "")
	if from > 0 {
		cut = "[… earlier part left out …]\n" + cut
	}
	if from+most < len(text) {
		cut += "\n[… later part left out …]"
	}
	return cut
}

// places are where the query is: as a phrase, else all its words near each
// other, else any of them.
func places(text, query string) []int {
	const near, most = 200, 2000
	low := lower(text)
	words := strings.FieldsFunc(lower(query), func(r rune) bool { return strings.ContainsRune(" \t\n\"*()+", r) })
	words = slices.DeleteFunc(words, func(w string) bool { return w == "and" || w == "or" || w == "not" })
	if len(words) == 0 {
		return nil
	}
	all := func(w string) []int {
		var at []int
		for i := 0; len(at) < most; {
			k := strings.Index(low[i:], w)
			if k < 0 {
				break
			}
			at = append(at, i+k)
			i += k + len(w)
		}
		return at
	}
	if at := all(strings.Join(words, " ")); len(at) > 0 {
		return at
	}
	lists := make([][]int, len(words))
	rarest := 0
	for i, w := range words {
		lists[i] = all(w)
		if len(lists[i]) < len(lists[rarest]) {
			rarest = i
		}
	}
	var together, any []int
	for _, p := range lists[rarest] {
		ok := true
		for _, l := range lists {
			ok = ok && slices.ContainsFunc(l, func(q int) bool { return max(p-q, q-p) <= near })
		}
		if ok {
			together = append(together, p)
		}
	}
	if len(together) > 0 {
		return together
	}
	for _, l := range lists {
		any = append(any, l...)
	}
	slices.Sort(any)
	return any
}

// lower is the text in lower case, byte for byte as long: places in it are
// places in the text.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if l := []rune(strings.ToLower(string(r))); len(l) == 1 && utf8.RuneLen(l[0]) == utf8.RuneLen(r) {
			return l[0]
		}
		return r
	}, s)
}
