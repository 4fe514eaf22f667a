package files

import (
	"fmt"
	"strings"
)

// MaskLoss reports an edit that would put masked text where a secret stands:
// a line of the new content that is an old one with its secret masked. Without
// it, a model that reads a file and writes it back destroys the secrets in it.
func (v *View) MaskLoss(c *Current, content string) error {
	if v.redact == nil || !c.Exists || c.Opaque != nil || !looksMasked(content) {
		return nil
	}
	have := maskedLines(c.Text.Content)
	suspects := map[string]bool{}
	for line := range maskedLines(content) {
		if !have[line] {
			suspects[line] = true
		}
	}
	if len(suspects) == 0 {
		return nil // what looks masked is what the file really holds
	}
	shown, masked := v.Redact(c.Text.Content)
	if !masked {
		return nil
	}
	for line := range maskedLines(shown) {
		if suspects[line] {
			return fmt.Errorf("the new content holds the masked text %q where %s holds a secret: the secret would be lost; nothing was written. Change only the other lines, with patch", line, c.Given)
		}
	}
	return nil
}

// looksMasked tells of text that can be what a redactor makes.
func looksMasked(s string) bool { return strings.Contains(s, "***") || strings.Contains(s, "...") }

func maskedLines(text string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		if looksMasked(line) {
			set[strings.TrimSpace(line)] = true
		}
	}
	return set
}

// MaskKeys masks the lines of private keys that begin before the lines shown,
// where a redactor that sees only those cannot know what they are. before is
// the text above them.
func MaskKeys(before string, shown []string) bool {
	i := strings.LastIndex(before, "-----BEGIN ")
	if i < 0 {
		return false
	}
	head, _, _ := strings.Cut(before[i:], "\n")
	if !strings.Contains(head, "PRIVATE KEY") || strings.Contains(before[i:], "-----END ") {
		return false
	}
	masked := false
	for j, line := range shown {
		if strings.Contains(line, "-----END ") {
			break
		}
		shown[j], masked = "***", true
	}
	return masked
}

// Redacts tells whether secrets are masked here at all.
func (v *View) Redacts() bool { return v.redact != nil }

// HidesIn tells whether a text that was not found in a file is found in what
// the model was shown of it: it holds masked secrets.
func (v *View) HidesIn(c *Current, text string) bool {
	if v.redact == nil || !looksMasked(text) {
		return false
	}
	masked, changed := v.Redact(c.Text.Content)
	return changed && strings.Contains(masked, strings.TrimSpace(text))
}
