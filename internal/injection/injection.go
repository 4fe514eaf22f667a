// Package injection finds text that tries to steer a model rather than to
// inform it, in what an agent is about to remember and in the files of a
// project. It is a list of weak signals, not a boundary: the boundary is what
// tools may do.
package injection

import (
	"fmt"
	"regexp"
	"sync"
)

// Finding is a text that was found suspicious.
type Finding struct{ Rule string }

func (f *Finding) Error() string {
	return fmt.Sprintf("the text was refused by the injection scan (rule %s); write plain facts", f.Rule)
}

// audience is where a rule applies.
type audience int

const (
	notes     audience = 1 << iota // what a model wants to remember
	documents                      // files that people write for a project
)

type rule struct {
	name  string
	where audience
	re    *regexp.Regexp
}

// U+200D is left out: it joins emoji.
const invisible = "[\u200b\u200c\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000E0020-\U000E007F]"

var rules = sync.OnceValue(func() []rule {
	var all []rule
	for _, r := range []struct {
		name  string
		where audience
		re    string
	}{
		{"invisible_characters", notes | documents, invisible},
		{"prompt_injection", notes | documents, `(?i)\b(ignore|forget)\s+(\w+\s+){0,2}(previous|all|above|prior)\s+(\w+\s+)?(instructions|prompts|rules)`},
		{"role_hijack", notes, `(?i)\byou are now\b`},
		{"deception_hide", notes | documents, `(?i)\bdo not (tell|inform) the user\b`},
		{"sys_prompt_override", notes | documents, `(?i)\bsystem prompt override\b`},
		{"disregard_rules", notes | documents, `(?i)\bdisregard\s+(your|all|any|previous|prior)\s+(\w+\s+)?(rules|instructions|guidelines)`},
		{"bypass_restrictions", notes | documents, `(?i)\bact as (if|though) (you have |there are )?no (restrictions|limits|rules)`},
		{"html_comment_injection", documents, `(?i)<!--[^>]*\b(ignore|override|system|secret|hidden)\b[^>]*-->`},
		{"hidden_div", documents, `(?i)<\s*div\s+style\s*=\s*["'][^"']*display\s*:\s*none`},
		{"translate_execute", documents, `(?i)\btranslate\b.{0,60}\binto\b.{0,60}\band\s+(execute|run|eval)\b`},
		{"exfil_curl", notes | documents, `(?i)\b(curl|wget)\b[^\n]*\$\{?\w*(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)`},
		{"read_secrets", notes | documents, `(?i)\bcat\s+[^\n]*(\.env\b|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)`},
		{"ssh_backdoor", notes, `(?i)authorized_keys`},
		{"ssh_access", notes, `(\$HOME|~)/\.ssh\b`},
		{"hermes_env", notes, `(\$HOME|~)/\.hermes/\.env`},
	} {
		all = append(all, rule{r.name, r.where, regexp.MustCompile(r.re)})
	}
	return all
})

func scan(text string, a audience) error {
	for _, r := range rules() {
		if r.where&a != 0 && r.re.MatchString(text) {
			return &Finding{r.name}
		}
	}
	return nil
}

// Note judges what a model wants to remember; the error is a *Finding.
func Note(text string) error { return scan(text, notes) }

// Line judges one line of a document; the error is a *Finding.
func Line(text string) error { return scan(text, documents) }
