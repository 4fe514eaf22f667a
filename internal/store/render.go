package store

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

func heading(l *line) string {
	if t := str(l.Title); t != "" {
		return t
	}
	return "Session " + l.ID
}

func facts(l *line) string {
	f := []string{l.ID, l.Source}
	if m := str(l.Model); m != "" {
		f = append(f, m)
	}
	return strings.Join(append(f, fromEpoch(l.Started).UTC().Format("2006-01-02 15:04 UTC"), fmt.Sprintf("%d messages", len(l.Messages))), " · ")
}

func who(m chat.Message) string {
	switch m.Role {
	case chat.User:
		return "User"
	case chat.Assistant:
		return "Assistant"
	case chat.Tool:
		return strings.TrimSpace("Tool " + m.Name)
	}
	return strings.ToTitle(string(m.Role[:min(1, len(m.Role))])) + string(m.Role[min(1, len(m.Role)):])
}

// messages decodes the rows; one that cannot be is shown by its text.
func (l *line) messages() []chat.Message {
	out := make([]chat.Message, len(l.Messages))
	for i := range l.Messages {
		r := l.Messages[i].row()
		m, err := r.toMessage()
		if err != nil {
			m = chat.Message{Role: chat.Role(r.role), Content: chat.Text(r.text[colContent].String)}
		}
		if m.Role == chat.Tool && !r.text[colName].Valid {
			m.Name = unnamed
		}
		out[i] = m
	}
	nameResults(out)
	return out
}

func writeMarkdown(w io.Writer, l *line) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", strings.TrimSpace(heading(l)), facts(l))
	for _, m := range l.messages() {
		fmt.Fprintf(&b, "## %s\n\n", who(m))
		switch text := parts(m.Content); {
		case m.Role == chat.Tool:
			b.WriteString(fence("", text))
		case text != "":
			b.WriteString(strings.TrimSpace(text) + "\n\n")
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "`%s`\n\n", strings.ReplaceAll(c.Function.Name, "`", "'"))
			b.WriteString(fence("json", c.Function.Arguments))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fence puts text into a code block that nothing in it can close.
func fence(lang, text string) string {
	ticks := "```"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	return ticks + lang + "\n" + strings.TrimRight(text, "\n") + "\n" + ticks + "\n\n"
}

// parts is the text of a content with a word for each picture.
func parts(c chat.Content) string {
	if c.Parts == nil {
		return c.Text
	}
	var out []string
	for _, p := range c.Parts {
		switch {
		case p.Type == "text":
			out = append(out, p.Text)
		case p.Type == "image_url" && !strings.HasPrefix(p.ImageURL, "data:"):
			out = append(out, "[image: "+p.ImageURL+"]")
		default:
			out = append(out, "["+p.Type+"]")
		}
	}
	return strings.Join(out, "\n\n")
}

const (
	htmlHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Sessions</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
article{border-left:4px solid #ccc;padding:.1rem 1rem;margin:1rem 0}article.user{border-color:#2a6}article.assistant{border-color:#26a}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0}.text{font:inherit}pre.code{background:#f4f4f4;padding:.5rem}small{color:#666}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}pre.code{background:#2a2a2a}}
</style></head><body>
`
	htmlFoot = "</body></html>\n"
)

// writeHTML writes a page without scripts or outside references; every text is
// escaped, since it came from models and tools.
func writeHTML(w io.Writer, l *line) error {
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1><p><small>%s</small></p>\n", html.EscapeString(heading(l)), html.EscapeString(facts(l)))
	for _, m := range l.messages() {
		class := "other"
		if m.Role == chat.User || m.Role == chat.Assistant {
			class = string(m.Role)
		}
		fmt.Fprintf(&b, "<article class=%q><h2>%s</h2>", class, html.EscapeString(who(m)))
		text := html.EscapeString(parts(m.Content))
		switch {
		case m.Role == chat.Tool:
			fmt.Fprintf(&b, `<details><summary>%s</summary><pre class="code">%s</pre></details>`, html.EscapeString(clip(parts(m.Content), previewLen)), text)
		case text != "":
			fmt.Fprintf(&b, `<pre class="text">%s</pre>`, text)
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, `<details><summary>%s</summary><pre class="code">%s</pre></details>`, html.EscapeString(c.Function.Name), html.EscapeString(c.Function.Arguments))
		}
		b.WriteString("</article>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
