package secret

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Redactor takes secrets out of text. Known values go first, also encoded
// (base64, base32, URL, JSON, hex, reversed, ROT13; wrapped or in a dump), then whatever has the shape of one: assignments to
// names such as API_KEY, JSON fields, Authorization headers, vendors' token
// prefixes, private keys, passwords in addresses. It is safe for concurrent
// use, and text without a secret is returned as it is.
type Redactor struct {
	known func() []string
	built atomic.Pointer[built]

	mu   sync.Mutex
	seen []string // recognised by their shape: from then on they are known
}

type built struct {
	all, strong *matcher
	values      []string // those of strong
}

// NewRedactor hides the given values, those of eight bytes or more, besides
// everything that looks like a secret.
func NewRedactor(values ...string) *Redactor {
	return &Redactor{known: func() []string { return values }}
}

// Redactor hides what the store knows, now and later.
func (s *Store) Redactor() *Redactor { return s.redactor }

// forget makes the next use look at the values again.
func (r *Redactor) forget() { r.built.Store(nil) }

func (r *Redactor) values() *built {
	b := r.built.Load()
	if b == nil {
		var values []string
		if r.known != nil {
			values = r.known()
		}
		r.mu.Lock()
		values = append(slices.Clone(values), r.seen...)
		r.mu.Unlock()
		b = &built{all: newMatcher(values)}
		b.strong = b.all
		b.values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return len(v) < minSecret || len(v) < 16 && !tokenLike(v) })
		if len(b.values) < len(values) {
			b.strong = newMatcher(b.values)
		}
		r.built.Store(b)
	}
	return b
}

type span struct {
	from, to int
	mask     string
}

// Redact returns s with every secret masked: *** for most, the first six and
// last four characters for a vendor's token of 18 characters and more.
func (r *Redactor) Redact(s string) string {
	out, found := redact(s, r.values().all, true)
	if r.remember(found) { // it may stand there in other forms too
		out, _ = redact(out, r.values().all, false)
	}
	return out
}

// mostSeen bounds the values that are remembered: with many the search is slow.
const mostSeen = 32

// remember keeps values that were recognised by their shape, where they look
// like nothing else, and reports whether one of them is new.
func (r *Redactor) remember(found []string) (more bool) {
	if len(found) == 0 {
		return false
	}
	r.mu.Lock()
	for _, v := range found {
		if len(r.seen) < mostSeen && len(v) >= partSize && len(v) <= 512 && tokenLike(v) && strings.ContainsAny(v, "0123456789") && !strings.ContainsAny(v, " \n\t/") && !slices.Contains(r.seen, v) {
			r.seen = append(r.seen, strings.Clone(v)) // not the text around it
			more = true
		}
	}
	r.mu.Unlock()
	if more {
		r.forget()
	}
	return more
}

// Known masks only values that are known, and of those only what no word of a
// language is. It is for what a person or a model writes: there a mask costs
// more than in what a tool answers, and shapes mean less.
func (r *Redactor) Known(s string) string {
	out, _ := redact(s, r.values().strong, false)
	return out
}

// Begun is how many bytes at the end of s may be the beginning of a value that
// Known masks: a text that arrives in pieces is masked up to there.
func (r *Redactor) Begun(s string) int {
	most := 0
	for _, v := range r.values().values {
		for n := min(len(v)-1, len(s)); n > most; n-- {
			if v[n-1] == s[len(s)-1] && strings.HasSuffix(s, v[:n]) {
				most = n
			}
		}
	}
	return most
}

// redact masks what is found; found are the values that only their shape gave away.
func redact(s string, m *matcher, shapes bool) (out string, found []string) {
	// A mask may bring two halves of another value together, hence the rounds;
	// each shortens the text.
	for round := 0; ; round++ {
		hits := m.find(s, nil)
		if round == 0 {
			hidden := !shapes
			if shapes {
				known := len(hits)
				hits, hidden = scan(s, hits)
				for _, h := range hits[known:] {
					if h.mask == "***" { // a service's token is known by its prefix wherever it stands
						found = append(found, s[h.from:h.to])
					}
				}
			}
			if hidden {
				hits = throughHidden(m, s, hits, shapes)
			}
			hits = disguised(m, s, hits, shapes)
		}
		if len(hits) == 0 {
			return s, found
		}
		s = apply(s, hits)
	}
}

// RedactBytes is Redact for bytes; the argument is not changed, and is itself
// returned when it holds no secret.
func (r *Redactor) RedactBytes(b []byte) []byte {
	s := string(b)
	if out := r.Redact(s); out != s {
		return []byte(out)
	}
	return b
}

func apply(s string, hits []span) string {
	slices.SortStableFunc(hits, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var b strings.Builder
	b.Grow(len(s))
	last := 0
	for i := 0; i < len(hits); {
		h := hits[i]
		for i++; i < len(hits) && hits[i].from < h.to; i++ {
			if hits[i] != h { // parts of one may show in the mask of the other
				h.to, h.mask = max(h.to, hits[i].to), "***"
			}
		}
		b.WriteString(s[last:h.from])
		b.WriteString(h.mask)
		last = h.to
	}
	b.WriteString(s[last:])
	return b.String()
}

// throughHidden looks again at a copy without colours, control and zero-width
// characters, which can stand in the middle of a secret and be invisible.
func throughHidden(m *matcher, s string, hits []span, shapes bool) []span {
	clean, at := visible(s)
	if len(clean) == len(s) {
		return hits
	}
	found := m.find(clean, nil)
	if shapes {
		found, _ = scan(clean, found)
	}
	for _, h := range found {
		hits = append(hits, span{at[h.from], at[h.to-1] + 1, h.mask})
	}
	return hits
}

// visible drops what is not seen; at gives each kept byte's place in s.
func visible(s string) (clean string, at []int) {
	first := 0
	for first < len(s) && hiddenLen(s[first:]) == 0 {
		first++
	}
	if first == len(s) { // as most text is
		return s, nil
	}
	b := append(make([]byte, 0, len(s)), s[:first]...)
	at = make([]int, first, len(s))
	for i := range at {
		at[i] = i
	}
	for i := first; i < len(s); {
		if n := hiddenLen(s[i:]); n > 0 {
			i += n
			continue
		}
		b = append(b, s[i])
		at = append(at, i)
		i++
	}
	return string(b), at
}

// hiddenLen is the length of the invisible sequence s begins with, 0 for none.
func hiddenLen(s string) int {
	if c := s[0]; c >= ' ' && c < 0x7f {
		return 0
	}
	has := func(p string) bool { return strings.HasPrefix(s, p) }
	switch c := s[0]; {
	case c == 0x1b:
		return escapeLen(s)
	case c < 0x20 && c != '\n' && c != '\t' && c != '\r', c == 0x7f:
		return 1
	case c == 0xc2 && len(s) > 1 && (s[1] == 0xad || s[1] >= 0x80 && s[1] < 0xa0 && s[1] != 0x85):
		return 2
	case c == 0xcd && has("\u034f"):
		return 2
	case c == 0xe1 && len(s) > 2 && s[1] == 0xa0 && s[2] >= 0x8b && s[2] <= 0x8f:
		return 3
	case c == 0xe2 && len(s) > 2 && s[1] == 0x80 && (s[2] >= 0x8b && s[2] <= 0x8f || s[2] >= 0xaa && s[2] <= 0xae),
		c == 0xe2 && len(s) > 2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf:
		return 3
	case c == 0xef && (has("\ufeff") || len(s) > 2 && s[1] == 0xb8 && s[2] >= 0x80 && s[2] <= 0x8f):
		return 3
	case c == 0xf3 && len(s) > 3 && s[1] == 0xa0 && (s[2] == 0x80 || s[2] == 0x81):
		return 4
	}
	return 0
}

// escapeLen is the length of a terminal escape sequence.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s) && i < 64; i++ {
			if c := s[i]; c >= 0x40 && c <= 0x7e {
				return i + 1
			} else if c < 0x20 || c > 0x3f {
				return 2
			}
		}
		return 2
	case ']':
		for i := 2; i < len(s) && i < 2048; i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] < 0x20:
				return 2
			}
		}
		return 2
	}
	return 1
}

// Mask is how a secret is shown to its owner: the first and last four
// characters, nothing of one shorter than twelve.
func Mask(value string) string {
	if len(value) < 12 {
		return "***"
	}
	return value[:4] + "..." + value[len(value)-4:]
}

// mask is how a vendor's token is shown everywhere else.
func mask(token string) string {
	if len(token) < 18 {
		return "***"
	}
	return token[:6] + "..." + token[len(token)-4:]
}

// secrets lists the values to hide: of declared secrets and of names that say
// what they are.
func (s *Store) secrets() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []string
	add := func(name, v string) {
		declared := s.vars[name].Secret
		if !declared && !holdsSecret(name) || !Usable(v) || len(v) < minSecret {
			return
		}
		if !declared && (number(v) && class(name) != passwordName || existingPath(v)) {
			return
		}
		out = append(out, v)
	}
	for n, v := range s.file {
		add(n, v)
	}
	for n, v := range s.process {
		add(n, v)
	}
	for v := range s.learned {
		out = append(out, v)
	}
	return out
}
