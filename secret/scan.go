package secret

import (
	"strings"
	"sync"
)

// What a byte may be the start or middle of. Most text is boring bytes, and
// passing over those is what the speed of the whole rests on.
const (
	boring  = iota
	assign  // = : JSON fields, assignments, headers, addresses, bot tokens
	dash    // - : token prefixes, flags, PEM blocks
	under   // _ : token prefixes
	dot     // . : JWT, SG.
	letterA // AKIA, AIza
	letterG // gAAAA
	letterB // Bearer
	maybe   // may begin something invisible
)

var interesting = sync.OnceValue(func() *[256]uint8 {
	var t [256]uint8
	for c, k := range map[byte]uint8{
		'=': assign, ':': assign, '-': dash, '_': under, '.': dot, 'A': letterA, 'g': letterG, 'B': letterB, 'b': letterB,
		0x7f: maybe, 0xc2: maybe, 0xcd: maybe, 0xe1: maybe, 0xe2: maybe, 0xef: maybe, 0xf3: maybe,
	} {
		t[c] = k
	}
	for c := range 0x20 {
		if c != '\n' && c != '\t' && c != '\r' {
			t[c] = maybe
		}
	}
	return &t
})

// scan appends what has the shape of a secret; hidden reports that s holds
// invisible characters.
func scan(s string, out []span) (hits []span, hidden bool) {
	t := interesting()
	for i := 0; i < len(s); i++ {
		k := t[s[i]]
		if k == boring {
			continue
		}
		var h span
		ok := false
		switch k {
		case assign:
			h, ok = atAssign(s, i)
			if s[i] == ':' && !ok {
				if h, ok = userinfo(s, i); !ok {
					h, ok = botToken(s, i)
				}
			}
		case dash:
			if strings.HasPrefix(s[i:], "-----BEGIN ") {
				h, ok = pemBlock(s, i)
			} else if i+2 < len(s) && s[i+1] == '-' || i+1 < len(s) && s[i+1] == 'u' {
				h, ok = atFlag(s, i)
			}
			if !ok {
				h, ok = vendor(s, i)
			}
		case under:
			h, ok = vendor(s, i)
		case dot:
			if strings.HasPrefix(s[i+1:], "eyJ") {
				h, ok = jwt(s, i)
			} else {
				h, ok = vendor(s, i)
			}
		case letterA, letterG:
			h, ok = cloudKey(s, i)
		case letterB:
			h, ok = bearer(s, i)
		case maybe:
			hidden = hidden || hiddenLen(s[i:]) > 0
		}
		if ok {
			out = append(out, h)
			if h.to > i+1 {
				// The rest of it may hold bytes that begin nothing else; what is
				// masked is gone. Invisible ones in it count all the same.
				hidden = hidden || hasHidden(s[i:h.to], t)
				i = h.to - 1
			}
		}
	}
	return out, hidden
}

func hasHidden(s string, t *[256]uint8) bool {
	for i := range len(s) {
		if t[s[i]] == maybe && hiddenLen(s[i:]) > 0 {
			return true
		}
	}
	return false
}

func tokenChar(c byte) bool { return alnum(c) || c == '_' || c == '-' }

// boundary reports whether a token may begin at i. In JSON text the byte before
// may be the n of \n.
func boundary(s string, i int) bool {
	if i == 0 || !tokenChar(s[i-1]) {
		return true
	}
	return i > 1 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r')
}

// A prefix begins a vendor's tokens. The weak ones are also ordinary words, so
// what follows must be a long unbroken mix of letters and digits.
type prefix struct {
	text string
	weak bool
}

var prefixes = sync.OnceValue(func() *[256][]prefix {
	var t [256][]prefix // by the character before the last
	add := func(weak bool, all ...string) {
		for _, p := range all {
			t[p[len(p)-2]] = append(t[p[len(p)-2]], prefix{p, weak})
		}
	}
	add(false, "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-", "pplx-",
		"bb_live_", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "SG.", "hf_", "npm_", "pypi-", "dop_v1_", "doo_v1_", "dor_v1_", "tvly-", "gsk_", "retaindb_", "key_live_")
	add(true, "fal_", "fc-", "r8_", "am_", "sk_", "exa_", "syt_", "hsk-", "mem0_", "brv_")
	return &t
})

// vendor looks for a token whose prefix ends at i.
func vendor(s string, i int) (span, bool) {
	if i < 1 {
		return span{}, false
	}
	for _, p := range prefixes()[s[i-1]] {
		from := i + 1 - len(p.text)
		if from < 0 || s[from:i+1] != p.text || !boundary(s, from) {
			continue
		}
		to := i + 1
		for to < len(s) && (tokenChar(s[to]) || s[to] == '.' && p.text == "SG.") {
			to++
		}
		if body := s[i+1 : to]; randomLooking(body, p.weak) {
			return span{from, to, mask(s[from:to])}, true
		}
	}
	return span{}, false
}

// randomLooking tells a token's body from words: scikit's sk-learn-contrib,
// npm_config_registry.
func randomLooking(body string, weak bool) bool {
	run, best, digit, upper, letter := 0, 0, false, false, false
	for i := range len(body) {
		c := body[i]
		if !alnum(c) {
			run = 0
			continue
		}
		run++
		best = max(best, run)
		digit = digit || c >= '0' && c <= '9'
		upper = upper || c >= 'A' && c <= 'Z'
		letter = letter || c > '9'
	}
	if weak {
		return best >= 16 && digit && letter
	}
	return best >= 16 || len(body) >= 10 && best >= 6 && (digit || upper)
}

// cloudKey looks for AWS and Google key ids and Fernet tokens, which have no
// punctuation to notice them by.
func cloudKey(s string, i int) (span, bool) {
	rest := s[i:]
	for _, p := range [...]struct {
		text  string
		least int
	}{{"AKIA", 20}, {"ASIA", 20}, {"AIza", 34}, {"gAAAA", 25}} {
		if !strings.HasPrefix(rest, p.text) || !boundary(s, i) {
			continue
		}
		to := i
		for to < len(s) && (tokenChar(s[to]) || s[to] == '=' && p.text[0] == 'g') {
			to++
		}
		if to-i >= p.least {
			return span{i, to, mask(s[i:to])}, true
		}
	}
	return span{}, false
}

// bearer looks for "Bearer TOKEN" outside a header.
func bearer(s string, i int) (span, bool) {
	if len(s)-i < 8 || !strings.EqualFold(s[i:i+7], "bearer ") || !boundary(s, i) {
		return span{}, false
	}
	from := i + 7
	to := tokenEnd(s, from)
	if to-from >= 16 && randomLooking(s[from:to], false) {
		return span{from, to, mask(s[from:to])}, true
	}
	return span{}, false
}

func tokenEnd(s string, i int) int {
	for i < len(s) && (tokenChar(s[i]) || strings.IndexByte(".+/=~", s[i]) >= 0) {
		i++
	}
	return i
}

// jwt looks for a JSON web token whose first dot is at i.
func jwt(s string, i int) (span, bool) {
	from := i
	for from > 0 && tokenChar(s[from-1]) {
		from--
	}
	at := strings.Index(s[from:i], "eyJ")
	if at < 0 || i-from-at < 13 {
		return span{}, false
	}
	from += at
	to := i + 1
	for dots := 0; to < len(s) && (tokenChar(s[to]) || s[to] == '.' && dots < 1); to++ {
		if s[to] == '.' {
			dots++
		}
	}
	if to-i < 11 {
		return span{}, false
	}
	return span{from, to, mask(s[from:to])}, true
}

// botToken looks for Telegram's 123456789:35 characters.
func botToken(s string, i int) (span, bool) {
	from := i
	for from > 0 && i-from < 11 && s[from-1] >= '0' && s[from-1] <= '9' {
		from--
	}
	to := i + 1
	for to < len(s) && tokenChar(s[to]) {
		to++
	}
	if i-from < 8 || i-from > 10 || to-i-1 < 30 || to-i-1 > 50 {
		return span{}, false
	}
	return span{from, to, "***"}, true
}

// pemBlock masks the inside of a private key.
func pemBlock(s string, i int) (span, bool) {
	head := s[i:min(len(s), i+80)]
	k := strings.Index(head, "PRIVATE KEY")
	if k < 0 || strings.IndexByte(head[:k], '\n') >= 0 {
		return span{}, false
	}
	e := strings.Index(head[k:], "-----")
	if e < 0 {
		return span{}, false
	}
	from := i + k + e + 5
	if n := strings.Index(s[from:min(len(s), from+32<<10)], "-----END"); n >= 0 && !strings.Contains(s[from:from+n], "-----BEGIN") {
		if strings.Trim(s[from:from+n], " \r\n\t\\nr") == "" {
			return span{}, false
		}
		return span{from, from + n, "***"}, true
	}
	// No end: as many lines as can belong to it.
	to := from
	for to < len(s) {
		line := s[to:]
		n := strings.IndexByte(line, '\n')
		if n < 0 {
			n = len(line) - 1
		}
		if text := strings.Trim(line[:n+1], " \r\n\t"); text != "" && (len(text) < 16 && to == from || tokenEnd(text, 0) != len(text)) {
			break
		}
		to += n + 1
	}
	if to == from || strings.TrimSpace(s[from:to]) == "" {
		return span{}, false
	}
	return span{from, to, "***"}, true
}
