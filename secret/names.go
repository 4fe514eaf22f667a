package secret

import (
	"os"
	"strings"
)

// nameClass says what a variable, field or flag of some name holds.
type nameClass uint8

const (
	plainName    nameClass = iota
	limitName              // max_tokens and the like: numbers, never masked as such
	tokenName              // a token, a key: looks random
	passwordName           // a password: may look like anything
	headerName             // Authorization: a scheme, then a token
)

// maxName bounds how far a name is read backwards.
const maxName = 64

// class judges a name by its words: SOME_API_KEY, accessToken, db-password.
func class(name string) nameClass {
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	if !mayBeSecret(name) {
		return plainName
	}
	var buf [maxName]byte // the letters in lower case
	var ends [8]uint8     // where its words end
	n, w := 0, 0
	end := func() {
		if w > 0 && n < len(ends) && (n == 0 || w > int(ends[n-1])) {
			ends[n] = uint8(w)
			n++
		}
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		up := c >= 'A' && c <= 'Z'
		if up && i > 0 && lower(name[i-1]) || !alnum(c) {
			end()
		}
		if up {
			c += 'a' - 'A'
		}
		if alnum(c) {
			buf[w] = c
			w++
		}
	}
	end()
	all := string(buf[:w]) // short ones stay on the stack
	var words [len(ends)]string
	for i, from := 0, 0; i < n; i++ {
		words[i] = all[from:ends[i]]
		from = int(ends[i])
	}
	return classOf(words[:n])
}

// mayBeSecret is a cheap look for the two letters each word of classOf has.
func mayBeSecret(name string) bool {
	for i := 0; i+1 < len(name); i++ {
		switch next := name[i+1] | 0x20; name[i] | 0x20 {
		case 'k', 's', 'b':
			if next == 'e' {
				return true
			}
		case 'p':
			if next == 'a' || next == 'w' {
				return true
			}
		case 'c':
			if next == 'r' {
				return true
			}
		case 'a':
			if next == 'u' {
				return true
			}
		case 'j':
			if next == 'w' {
				return true
			}
		}
	}
	return false
}

func classOf(words []string) nameClass {
	found := plainName
	for i, w := range words {
		last := i == len(words)-1
		c := plainName
		switch w {
		case "password", "passwd", "passphrase", "passwort", "secret", "secrets", "credential", "credentials":
			c = passwordName
		case "pass", "pw", "pwd":
			if last {
				c = passwordName
			}
		case "token", "apikey", "apitoken", "authtoken", "accesstoken", "secretkey", "privatekey", "accesskey", "bearer", "jwt":
			c = tokenName
		case "tokens":
			c = limitName
		case "authorization":
			if last {
				c = headerName
			}
		case "auth":
			if last && len(words) > 1 {
				c = tokenName
			}
		case "key":
			if i > 0 && keyOwner(words[i-1]) {
				c = tokenName
			}
		}
		found = max(found, c)
	}
	if found == plainName || found == limitName || len(words) < 2 {
		return found
	}
	switch words[len(words)-1] {
	case "url", "uri", "path", "file", "dir", "type", "name", "names", "endpoint", "header", "prefix", "suffix", "env", "var",
		"count", "limit", "limits", "size", "len", "length", "usage", "used", "budget", "ttl", "timeout", "expiry", "expires", "expiration",
		"at", "in", "format", "pattern", "regex", "field", "status", "algorithm", "alg", "policy", "version", "mode", "enabled", "required", "cost", "price", "rate", "ratio", "window", "index", "idx", "hash", "kind", "source", "provider", "label", "description", "hint", "help":
		return limitName
	}
	switch words[0] {
	case "max", "min", "num", "total", "n", "has", "is", "no", "avg", "per":
		return limitName
	}
	return found
}

// keyOwner reports words that make of a key one that opens something.
func keyOwner(w string) bool {
	switch w {
	case "api", "secret", "private", "access", "auth", "encryption", "signing", "master", "service", "account", "client", "app", "license",
		"subscription", "shared", "session", "deploy", "admin", "ssh", "gpg", "webhook", "storage", "server", "bot", "consumer":
		return true
	}
	return false
}

// holdsSecret judges a variable of the environment, where a bare KEY at the end
// means a secret too.
func holdsSecret(name string) bool {
	switch class(name) {
	case tokenName, passwordName, headerName:
		return name != "PWD" && name != "OLDPWD"
	case limitName:
		return false
	}
	n := strings.ToUpper(name)
	return n == "KEY" || strings.HasSuffix(n, "_KEY") || strings.HasSuffix(n, "APIKEY")
}

// IsSecretName reports whether what stands under a name (of a variable, a field,
// a setting) is to be kept from view: api_key, accessToken, DB_PASSWORD; not
// max_tokens, token_url or a keyboard.
func IsSecretName(name string) bool { return holdsSecret(name) }

func lower(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func number(s string) bool {
	if hex, ok := strings.CutPrefix(s, "0x"); ok && len(hex) <= 16 {
		return strings.Trim(hex, "0123456789abcdefABCDEF") == ""
	}
	return s != "" && strings.Trim(s, "0123456789_,.-+") == ""
}

// existingPath tells SSH_KEY=/home/u/.ssh/id from a key.
func existingPath(v string) bool {
	if v == "" || (v[0] != '/' && v[0] != '~' && v[0] != '.') {
		return false
	}
	if strings.HasPrefix(v, "~/") {
		return true
	}
	_, err := os.Stat(v)
	return err == nil
}
