package agent

import (
	"strings"
	"testing"

	"github.com/hermes-go/hermes/secret"
)

// However an answer is cut into pieces, a secret in it is masked, and nothing
// else is lost or changed.
func TestVeilMasksAcrossPieces(t *testing.T) {
	t.Parallel()
	const first, second = "tok-9f8e7d6c5b4a3210", "secret-value-w0rth-hiding"
	r := secret.NewRedactor(first, second)
	for _, text := range []string{
		"the key is " + first + " and " + second + ", to be used to",
		first, first + second, second[:12] + first + "tok", "tok-9f8e", "plain text to end with to", strings.Repeat("tok-tok-", 20),
	} {
		want := r.Known(text)
		for size := 1; size < 40; size++ {
			v := veil{mask: r}
			var got strings.Builder
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				got.WriteString(v.pass(rest[:n]))
				rest = rest[n:]
			}
			got.WriteString(v.rest())
			if got.String() != want {
				t.Errorf("in pieces of %d: %q, want %q", size, got.String(), want)
			}
		}
	}
}
