package secret

import (
	"strings"
)

// atAssign looks for NAME=value, name: value, "name": "value" and headers, with
// the separator at i.
func atAssign(s string, i int) (span, bool) {
	end := i
	for n := 0; end > 0 && blank(s[end-1]) && n < 4; n++ {
		end--
	}
	spaced := end < i
	closed := false
	if end > 0 && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '`') {
		closed = true
		end--
		for end > 0 && s[end-1] == '\\' {
			end--
		}
	}
	start := end
	for start > 0 && end-start < maxName && (alnum(s[start-1]) || s[start-1] == '_' || s[start-1] == '-') {
		start--
	}
	if end-start < 2 || end-start < 3 && !strings.EqualFold(s[start:end], "pw") {
		return span{}, false
	}
	c := class(s[start:end])
	if n := s[start:end]; n == "PWD" || n == "OLDPWD" {
		return span{}, false
	}
	query := start > 0 && (s[start-1] == '?' || s[start-1] == '&')
	upper := strings.IndexFunc(s[start:end], func(r rune) bool { return r >= 'a' && r <= 'z' }) < 0
	switch {
	case query && c == plainName && queryName(s[start:end]):
		c = tokenName
	case c == plainName && upper && s[i] == '=' && !spaced && strings.HasSuffix(s[start:end], "_KEY"):
		c = tokenName
	case c == plainName || c == limitName:
		return span{}, false
	}
	from := i + 1
	if !closed && start > 0 && from < len(s) && s[from] == s[start-1] && strings.IndexByte("\"'`", s[from]) >= 0 {
		return span{}, false // "TOKEN=" + x in a program
	}
	if n := s[start:end]; s[i] == ':' && !closed && (strings.EqualFold(n, "pass") || strings.EqualFold(n, "pw")) {
		return span{}, false // the PASS: of a test run
	}
	if from < len(s) && (s[from] == '=' || s[from] == ':' || s[from] == '~') {
		return span{}, false // a comparison, a C++ or Rust path
	}
	if from < len(s) && s[from] == '>' {
		from++
	}
	for from < len(s) && blank(s[from]) {
		from++
		spaced = true
	}
	if closing(s, from) {
		return span{}, false
	}
	v := valueAt(s, from)
	v.line = start == 0 || s[start-1] == '\n' || lineLead(s, start)
	if c == headerName && s[i] == '=' && spaced && !v.quoted {
		return span{}, false // a program: authorization = headers.get(...)
	}
	if c == headerName || strings.HasPrefix(strings.ToLower(v.text), "bearer ") {
		return header(s, v)
	}
	v.env = s[i] == '=' && !spaced && (upper || query || v.line && !strings.HasSuffix(v.text, ",") && !strings.HasSuffix(v.text, ")"))
	if query {
		v.cut("&#")
	} else if !v.quoted && !(v.env && v.line) {
		v.cut(",;&)]}>|")
	}
	if !v.secret(c) {
		return span{}, false
	}
	to := v.from + len(v.text)
	for len(v.text) >= maxJudged && to < len(s) && s[to] > ' ' && strings.IndexByte("\"'`<>\\", s[to]) < 0 {
		to++
	}
	return span{v.from, to, "***"}, true
}

// maxJudged is how much of a value is looked at to judge it; one that is a
// secret is masked whole. Without a bound hostile text would take for ever.
const maxJudged = 2048

// queryName reports parameters of addresses that grant access though their
// names say nothing elsewhere.
func queryName(n string) bool {
	switch strings.ToLower(n) {
	case "key", "sig", "signature", "auth", "x-amz-signature", "x-amz-security-token", "x-goog-signature", "code":
		return true
	}
	return false
}

// lineLead reports whether only "export ", a list dash, a diff sign or a grep
// place stands before the name.
func lineLead(s string, start int) bool {
	at := strings.LastIndexByte(s[max(0, start-80):start], '\n')
	lead := s[max(0, start-80)+at+1 : start]
	if at < 0 && start > 80 {
		return false
	}
	t := strings.TrimRight(lead, " \t")
	return t == "" || strings.HasSuffix(t, "export") && strings.TrimLeft(t, " \t") == "export" || t == "-" || t == "+" ||
		strings.HasSuffix(t, ":") && len(t) == len(lead)
}

// A value is what stands after a separator.
type value struct {
	text   string
	from   int
	quoted bool
	env    bool // NAME=value without blanks, as in a .env file or a shell
	line   bool // the name begins the line
}

func (v *value) cut(at string) {
	if i := strings.IndexAny(v.text, at); i >= 0 {
		v.text = v.text[:i]
	}
}

func valueAt(s string, from int) value {
	i := from
	for i < len(s) && i < from+3 && s[i] == '\\' {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'' || s[i] == '`') {
		q, esc := s[i], i > from
		i++
		stop := min(len(s), i+maxJudged)
		for j := i; j < stop; j++ {
			if s[j] == q && (esc || j == i || s[j-1] != '\\' || doubled(s, j)) {
				end := j
				for esc && end > i && s[end-1] == '\\' {
					end--
				}
				return value{text: s[i:end], from: i, quoted: true}
			}
			if s[j] == '\n' && !esc { // an open quote: do not swallow the text after it
				return value{text: s[i:j], from: i, quoted: true}
			}
		}
		return value{text: s[i:stop], from: i, quoted: true}
	}
	i = from
	for i < len(s) && i < from+maxJudged && s[i] > ' ' && strings.IndexByte("\"'`<>\\", s[i]) < 0 {
		i++
	}
	return value{text: s[from:i], from: from}
}

// doubled reports whether the quote at j stands after an even number of
// backslashes, so that it is not escaped.
func doubled(s string, j int) bool {
	n := 0
	for j-1-n >= 0 && s[j-1-n] == '\\' {
		n++
	}
	return n%2 == 0
}

// secret judges whether the value of a name of class c is one.
func (v *value) secret(c nameClass) bool {
	t := v.text
	if len(t) < 4 || !Usable(t) || typeWord(t) || masked(t) {
		return false
	}
	if strings.IndexByte("${<%[(*", t[0]) >= 0 && !(c == passwordName && v.quoted && t[0] != '$' && t[0] != '<' && t[0] != '{') {
		return false
	}
	if strings.Contains(t, "${") || strings.Contains(t, "{{") {
		return false
	}
	if number(t) {
		return c == passwordName && (v.env || v.quoted) || len(t) >= 16 && !strings.Contains(t, ".")
	}
	if t[0] == '#' && len(t) <= 9 && strings.Trim(t[1:], "0123456789abcdefABCDEF") == "" {
		return false // a colour
	}
	if strings.HasPrefix(t, "/") || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "~/") {
		if strings.Count(t, "/") > 1 && strings.Trim(strings.ToLower(t), "abcdefghijklmnopqrstuvwxyz0123456789/._-~") == "" && len(t) < 200 {
			return false
		}
	}
	if strings.HasPrefix(t, "http://") || strings.HasPrefix(t, "https://") {
		return false
	}
	if c == passwordName && (v.quoted && !strings.ContainsAny(t, " \n") || v.env) {
		return !strings.ContainsAny(t, "([") || v.quoted
	}
	if v.env && !strings.ContainsAny(t, "([") {
		return len(t) >= 6 || c == passwordName
	}
	if strings.ContainsAny(t, " ()[\n") {
		return c == passwordName && v.quoted && len(t) < 80 && !strings.Contains(t, ". ")
	}
	if !v.quoted && (dotted(t) || identifier(t) && (c != passwordName || !strings.ContainsAny(t, "0123456789"))) {
		return false
	}
	return tokenLike(t)
}

// dotted reports whether t reads as a name of a program: self.api_key2.
func dotted(t string) bool {
	parts := strings.Split(t, ".")
	for _, p := range parts {
		if p == "" || p[0] >= '0' && p[0] <= '9' || strings.Trim(p, wordChars) != "" {
			return false
		}
	}
	return len(parts) > 1
}

const wordChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// identifier reports whether t may well be a variable or a type: TokenV2.
func identifier(t string) bool {
	if t[0] >= '0' && t[0] <= '9' || strings.Trim(t, wordChars) != "" {
		return false
	}
	digits, upper := 0, 0
	for i := range len(t) {
		if t[i] >= '0' && t[i] <= '9' {
			digits++
		} else if t[i] >= 'A' && t[i] <= 'Z' {
			upper++
		}
	}
	return digits <= 2 && len(t) < 24 && (digits > 0 || upper > 0) || digits == 0 && upper > 0
}

// closing reports whether the quote at i ends a text that began on its line, as
// in "Password: ", so that what follows is no value.
func closing(s string, i int) bool {
	if i >= len(s) || s[i] != '"' && s[i] != '\'' && s[i] != '`' {
		return false
	}
	from := max(0, i-1000)
	if n := strings.LastIndexByte(s[from:i], '\n'); n >= 0 {
		from += n + 1
	} else if from > 0 {
		return false
	}
	open := false
	for j := from; j < i; j++ {
		if s[j] != s[i] || j > 0 && s[j-1] == '\\' {
			continue
		}
		if s[i] == '\'' && j > 0 && alnum(s[j-1]) && alnum(s[j+1]) { // it's
			continue
		}
		open = !open
	}
	return open
}

// tokenLike tells a token from an identifier, a dotted name or a word.
func tokenLike(t string) bool {
	if len(t) < 6 {
		return false
	}
	digits, upper, sep, other := 0, 0, 0, 0
	for i := range len(t) {
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
		case c == '_' || c == '.' || c == '-':
			sep++
		default:
			other++
		}
	}
	letters := len(t) - digits - sep - other
	switch {
	case letters+sep == len(t): // words only
		return sep == 0 && (len(t) >= 16 || len(t) >= 12 && upper == 0)
	case sep > 0 && other == 0 && digits <= 2 && len(t) < 24: // token_2, v1.5
		return false
	case digits > 0 && letters > 0:
		return true
	}
	return len(t) >= 10 && other > 0 && letters > 0 && strings.IndexByte(t, ':') < 0
}

func typeWord(t string) bool {
	switch strings.ToLower(t) {
	case "string", "str", "secretstr", "bool", "boolean", "number", "integer", "object", "undefined", "unknown", "required", "optional", "true", "false",
		"bytes", "bearer", "basic", "token", "password", "secret", "apikey", "api_key", "redacted", "[redacted]", "disabled", "enabled", "default", "auto", "self", "this":
		return true
	}
	return false
}

// masked recognises our own masks, so that a second pass changes nothing.
func masked(t string) bool {
	return strings.HasPrefix(t, "***") || len(t) == 13 && t[6:9] == "..." || len(t) == 11 && t[4:7] == "..."
}

// header masks the credentials of an Authorization header.
func header(s string, v value) (span, bool) {
	from := v.from
	stop := from + len(v.text)
	if !v.quoted {
		stop = min(len(s), from+4*maxJudged)
	}
	scheme, _, two := strings.Cut(s[from:min(stop, from+16)], " ")
	named := false
	if two {
		switch strings.ToLower(scheme) {
		case "bearer", "basic", "token", "digest", "apikey", "bot", "negotiate":
			from += len(scheme) + 1
			named = true
		}
	}
	for from < stop && s[from] == ' ' {
		from++
	}
	to := from
	for to < stop && s[to] > ' ' && strings.IndexByte("\\,\"'`", s[to]) < 0 {
		to++
	}
	t := s[from:to]
	if len(t) < 4 || strings.IndexByte("${<%*[", t[0]) >= 0 || masked(t) || typeWord(t) || strings.Contains(t, "://") {
		return span{}, false
	}
	// Prose speaks of the header too.
	if named && !randomLooking(t, false) && strings.IndexFunc(t[1:], func(r rune) bool { return r < 'a' || r > 'z' }) < 0 || !named && (!tokenLike(t) || dotted(t)) {
		return span{}, false
	}
	return span{from, to, mask(t)}, true
}

// userinfo masks the password of scheme://user:password@host, with the colon
// of the scheme at i.
func userinfo(s string, i int) (span, bool) {
	if i < 2 || !strings.HasPrefix(s[i:], "://") || !alnum(s[i-1]) {
		return span{}, false
	}
	from := i + 3
	end, at := from, -1
	for end < len(s) && s[end] > ' ' && strings.IndexByte("/?#\"'`<>\\", s[end]) < 0 {
		if s[end] == '@' {
			at = end
		}
		end++
	}
	if at < 0 {
		return span{}, false
	}
	user, pass, two := strings.Cut(s[from:at], ":")
	if two && pass != "" {
		if strings.IndexByte("${<%*[", pass[0]) >= 0 && pass[0] != '%' {
			return span{}, false
		}
		return span{from + len(user) + 1, at, "***"}, true
	}
	if len(user) >= 16 && tokenLike(user) || two && len(user) >= 12 && tokenLike(user) {
		return span{from, from + len(user), "***"}, true
	}
	return span{}, false
}

// atFlag masks what follows --password, --api-key and curl's -u, with the first
// dash at i.
func atFlag(s string, i int) (span, bool) {
	if i > 0 && s[i-1] > ' ' && strings.IndexByte("\"'`,[(", s[i-1]) < 0 {
		return span{}, false
	}
	end := i + 1
	for end < len(s) && end-i < maxName && tokenChar(s[end]) {
		end++
	}
	name := strings.TrimLeft(s[i:end], "-")
	from := end
	user := name == "user" && s[i+1] == '-'
	if s[i+1] == 'u' {
		if user = true; len(name) > 1 { // -uNAME:PASSWORD
			from = i + 2
		}
	}
	if from < len(s) && s[from] == '=' && !user {
		return span{}, false // an assignment: seen to at its =
	}
	var c nameClass
	if !user {
		if c = class(name); c != tokenName && c != passwordName {
			return span{}, false
		}
	}
	// In a list of arguments quotes and a comma stand between.
	for from < len(s) && from < end+6 && strings.IndexByte(" \t\"',=", s[from]) >= 0 && !(s[from] == '"' && from > end && s[from-1] == '"') {
		from++
	}
	if from == end {
		return span{}, false
	}
	quote := byte(0)
	if q := s[from-1]; q == '"' || q == '\'' {
		quote = q
	}
	to := from
	for to < len(s) && s[to] != '\n' && (quote != 0 && s[to] != quote || quote == 0 && s[to] > ' ' && strings.IndexByte("\"'`,;|&)]", s[to]) < 0) {
		to++
	}
	if to == from || s[from] == '-' || s[from] == '$' || s[from] == '<' || s[from] == '{' {
		return span{}, false
	}
	if !user {
		if quote == 0 && prose(s[from:to]) {
			return span{}, false
		}
		v := value{text: s[from:to], from: from, quoted: quote != 0, env: true}
		return span{from, to, "***"}, v.secret(c)
	}
	if !fetching(s, i) {
		return span{}, false
	}
	name, pass, two := strings.Cut(s[from:to], ":")
	switch {
	case two && pass != "" && !masked(pass) && pass[0] != '$':
		return span{from + len(name) + 1, to, "***"}, true
	case two && pass == "" && len(name) >= 8 && !masked(name), !two && len(name) >= 16 && tokenLike(name):
		return span{from, from + len(name), "***"}, true
	}
	return span{}, false
}

// prose reports words that follow a flag in a sentence about it.
func prose(w string) bool {
	switch strings.Trim(strings.ToLower(w), ".,:") {
	case "option", "options", "flag", "flags", "argument", "arguments", "parameter", "instead", "and", "or", "is", "are", "was", "to", "the", "with", "for", "from", "when", "must", "should",
		"will", "may", "can", "has", "not", "which", "that", "value", "values", "command", "given", "here", "too", "also", "then":
		return true
	}
	return false
}

// fetching reports whether the command the flag at i belongs to is one whose -u
// takes a name and a password.
func fetching(s string, i int) bool {
	line := s[max(0, i-400):i]
	if n := strings.LastIndexAny(line, "\n;|"); n >= 0 {
		line = line[n:]
	}
	return strings.Contains(line, "curl") || strings.Contains(line, "wget") || strings.Contains(line, "http")
}
