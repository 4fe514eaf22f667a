package skills

import (
	"strings"
	"testing"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	const arxiv, ddg = "research/arxiv/scripts/search_arxiv.py", "research/duckduckgo-search/scripts/ddg.py"
	for _, tt := range []struct {
		name, script, stdin string
		args                []string
		code                int
		want                []string
	}{
		{"arxiv text", arxiv, "", []string{"--file", "testdata/arxiv.xml"}, 0, []string{"2 of 2 papers", "On a Thing That Matters  [2001.00001v2]", "Ada Example, Bertil Beispiel", "2020-01-01  (cs.LG, stat.ML)", "We show a thing. It matters.", "https://arxiv.org/abs/math/0211159v1"}},
		{"arxiv json", arxiv, "", []string{"--file", "testdata/arxiv.xml", "--json"}, 0, []string{`"title": "Écoulement"`, `"pdf": "https://arxiv.org/pdf/2001.00001v2"`, `"comment": "5 pages"`}},
		{"arxiv refuses", arxiv, "", []string{"--file", "testdata/arxiv_error.xml"}, 1, []string{"incorrect id format for x"}},
		{"arxiv is no XML", arxiv, "", []string{"--file", "skills.go"}, 1, []string{"search_arxiv: "}},
		{"arxiv address", arxiv, "", []string{"--url", `"graph networks" fast`, "--author", "Ada Example", "--sort", "date"}, 0, []string{"search_query=all%3A%22graph+networks%22+AND+all%3Afast+AND+au%3A%22Ada+Example%22", "sortBy=submittedDate"}},
		{"arxiv without a question", arxiv, "", nil, 2, []string{"say what to look for"}},
		{"ddg", ddg, "", []string{"--file", "testdata/ddg.html"}, 0, []string{"iter package\nhttps://pkg.go.dev/iter\nBasic definitions for iterators.\n", "Range & functions\nhttps://go.dev/blog/range-functions\nA post.\n"}},
		{"ddg asks for a human", ddg, "", []string{"--file", "testdata/ddg_challenge.html"}, 2, []string{"whether you are human"}},
		{"ddg strips", ddg, "<p>One <b>two</b></p><script>x()</script><ul><li>a</li></ul>", []string{"--strip"}, 0, []string{"One two\na\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := run(t, tt.stdin, tt.script, tt.args...)
			if code != tt.code {
				t.Errorf("exit %d, want %d: %s", code, tt.code, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stdout+stderr, want) {
					t.Errorf("no %q in %s%s", want, stdout, stderr)
				}
			}
			if strings.Contains(stdout, "An ad.") {
				t.Error("an advertisement is taken for a result")
			}
		})
	}
}
