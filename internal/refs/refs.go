// Package refs puts what a message refers to with @ behind the message: files,
// folders, changes in git. The message itself stays to the letter but for the
// references. It reads inside the working directory only, and no place where
// keys lie; sending is not its matter.
package refs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Options say where a message was written.
type Options struct {
	Dir      string // the working directory
	Home     string // the program's home
	UserHome string
	Window   int // tokens the model takes; 0: unknown
	Redact   func(string) string
	Git      func(ctx context.Context, args ...string) (string, error) // runs git in Dir
}

// Expanded is a message with its attachments.
type Expanded struct {
	Text     string
	Warnings []string // what could not be attached, or is large; they are in Text too
}

// ErrTooLarge says that a message may not be sent with all it refers to.
var ErrTooLarge = errors.New("the message refers to more than the model's context window can take beside the conversation")

const (
	charsPerToken = 4
	warnShare     = 0.25
	mostShare     = 0.50
)

// ref is one reference.
type ref struct {
	start, end int // of the token in the message
	kind       string
	value      string
	from, to   int // lines; 0: all
}

func (r ref) String() string {
	s := "@" + r.kind
	if r.value != "" {
		s += ":" + r.value
	}
	if r.from > 0 {
		s += ":" + strconv.Itoa(r.from)
		if r.to != r.from {
			s += "-" + strconv.Itoa(r.to)
		}
	}
	return s
}

var (
	bare   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@(diff|staged)\b`) })
	valued = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^@(file|folder|git|url):(`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+'|[^\\s`\"']\\S*)")
	})
	lines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:(\d+)(?:-(\d+))?`) })
)

// find returns the references of a text in order.
func find(text string) []ref {
	var out []ref
	for i := 0; i < len(text); {
		at := strings.IndexByte(text[i:], '@')
		if at < 0 {
			break
		}
		at += i
		i = at + 1
		if before, _ := utf8.DecodeLastRuneInString(text[:at]); at > 0 && (before == '/' || before == '_' || unicode.IsLetter(before) || unicode.IsDigit(before)) {
			continue
		}
		if m := bare().FindStringSubmatch(text[at:]); m != nil {
			out = append(out, ref{start: at, end: at + len(m[0]), kind: m[1]})
			i = at + len(m[0])
			continue
		}
		m := valued().FindStringSubmatch(text[at:])
		if m == nil {
			continue
		}
		r := ref{start: at, kind: m[1]}
		value := m[2]
		if q := value[0]; q == '`' || q == '"' || q == '\'' {
			r.value, r.end = value[1:len(value)-1], at+len(m[0])
			if l := lines().FindStringSubmatch(text[r.end:]); l != nil && r.kind == "file" {
				r.from, r.to = span(l)
				r.end += len(l[0])
			}
		} else {
			value = trimTail(value)
			r.value, r.end = value, at+1+len(m[1])+1+len(value)
			if c := strings.IndexByte(value, ':'); c > 0 && r.kind == "file" {
				if l := lines().FindStringSubmatch(value[c:]); l != nil && len(l[0]) == len(value)-c {
					r.value = value[:c]
					r.from, r.to = span(l)
				}
			}
		}
		if r.value != "" {
			out = append(out, r)
			i = r.end
		}
	}
	return out
}

func span(m []string) (from, to int) {
	from, _ = strconv.Atoi(m[1]) // digits; one too large for an int is out of the file
	to = from
	if m[2] != "" {
		to, _ = strconv.Atoi(m[2])
	}
	return from, to
}

// trimTail drops what belongs to the sentence: punctuation and closers that
// nothing opened.
func trimTail(s string) string {
	for s != "" {
		last := s[len(s)-1]
		switch {
		case s == "." || s == "..": // the directory itself
			return s
		case strings.IndexByte(",.;!?", last) >= 0:
		case last == ')' && strings.Count(s, "(") < strings.Count(s, ")"),
			last == ']' && strings.Count(s, "[") < strings.Count(s, "]"),
			last == '}' && strings.Count(s, "{") < strings.Count(s, "}"),
			last == '>' && strings.Count(s, "<") < strings.Count(s, ">"):
		default:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// Has reports whether a text refers to anything.
func Has(text string) bool { return strings.Contains(text, "@") && len(find(text)) > 0 }

// Expand attaches what a message refers to. Where something cannot be attached
// the model and the person are told; ErrTooLarge means that it must not be sent.
func Expand(ctx context.Context, text string, o Options) (Expanded, error) {
	list := find(text)
	if len(list) == 0 {
		return Expanded{Text: text}, nil
	}
	var out Expanded
	var body, attached strings.Builder
	at, seen := 0, map[string]bool{}
	for _, r := range list {
		body.WriteString(text[at:r.start])
		at = r.end
		if seen[r.String()] {
			continue
		}
		seen[r.String()] = true
		block, err := o.read(ctx, r)
		if err != nil {
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %v", r, err))
			continue
		}
		if o.Redact != nil {
			block = o.Redact(block)
		}
		fmt.Fprintf(&attached, "\n\n%s (%d tokens)\n%s", r, len(block)/charsPerToken+1, block)
	}
	body.WriteString(text[at:])
	tokens := attached.Len() / charsPerToken
	if o.Window > 0 {
		switch share := float64(tokens) / float64(o.Window); {
		case share > mostShare:
			return out, fmt.Errorf("%w: about %d tokens of %d; it was not sent: refer to fewer lines (@file:PATH:10-80)", ErrTooLarge, tokens, o.Window)
		case share > warnShare:
			out.Warnings = append(out.Warnings, fmt.Sprintf("what is attached takes about %d tokens of a window of %d", tokens, o.Window))
		}
	}
	out.Text = body.String()
	if len(out.Warnings) > 0 {
		out.Text += "\n\n--- Context Warnings ---\n- " + strings.Join(out.Warnings, "\n- ")
	}
	if attached.Len() > 0 {
		out.Text += "\n\n--- Attached Context ---" + attached.String()
	}
	return out, nil
}
