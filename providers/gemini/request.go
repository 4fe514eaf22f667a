package gemini

import (
	"encoding/json"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/wire"
	"github.com/hermes-go/hermes/provider"
)

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text      string        `json:"text,omitempty"`
	Inline    *blob         `json:"inlineData,omitempty"`
	File      *file         `json:"fileData,omitempty"`
	Call      *functionCall `json:"functionCall,omitempty"`
	Result    *functionResp `json:"functionResponse,omitempty"`
	Thought   bool          `json:"thought,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MIME string `json:"mimeType"`
	Data string `json:"data"`
}

type file struct {
	URI string `json:"fileUri"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResp struct {
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type declarations struct {
	List []declaration `json:"functionDeclarations"`
}

// Build implements wire.Format.
func (f *format) Build(r *provider.Request, tools []wire.Tool, a wire.Adapted) (wire.Outgoing, error) {
	var b wire.Body
	if r.System != "" {
		b.Set("systemInstruction", content{Parts: []part{{Text: chat.ValidUTF8(r.System)}}})
	}
	b.Set("contents", contents(r, a))
	if len(tools) > 0 {
		d := declarations{make([]declaration, len(tools))}
		for i, t := range tools {
			d.List[i] = declaration{t.Name, chat.ValidUTF8(t.About), t.Parameters}
		}
		b.Set("tools", []declarations{d})
	}
	if c := config(r, a); len(c) > 0 {
		b.Set("generationConfig", c)
	}
	b.Merge(r.Options.Extra)
	body, err := b.Payload()
	if err != nil {
		return wire.Outgoing{}, err
	}
	method := "streamGenerateContent?alt=sse"
	if a.NoStream {
		method = "generateContent"
	}
	return wire.Outgoing{URL: address(f.e.BaseURL, r.Model, method), Header: f.header(), Body: body}, nil
}

func config(r *provider.Request, a wire.Adapted) map[string]any {
	o := &r.Options
	c := map[string]any{}
	if o.MaxTokens > 0 {
		c["maxOutputTokens"] = o.MaxTokens
	}
	if o.Temperature != nil && !a.NoTemperature {
		c["temperature"] = *o.Temperature
	}
	// A thinking field that is there but says "off" is refused by some models,
	// so off is said by leaving it out.
	if t := thinking(r.Model, o.Effort); t != nil && !a.NoEffort {
		c["thinkingConfig"] = t
	}
	return c
}

func thinking(model, effort string) map[string]any {
	if effort == "" || effort == "none" {
		return nil
	}
	t := map[string]any{"includeThoughts": true}
	switch {
	case strings.Contains(model, "gemini-2.5"):
		return t
	case !strings.Contains(model, "gemini-3"):
		return nil
	}
	level := map[string]string{"minimal": "low", "low": "low", "medium": "medium"}[effort]
	if level == "" || level == "medium" && strings.Contains(model, "pro") {
		level = "high"
	}
	t["thinkingLevel"] = level
	return t
}

// contents writes the conversation. Results are told by the tool's name, which
// is looked up by the call's id.
func contents(r *provider.Request, a wire.Adapted) []content {
	called := wire.Called(r.Messages)
	var list []content
	add := func(role string, parts ...part) {
		if n := len(list); n > 0 && list[n-1].Role == role {
			list[n-1].Parts = append(list[n-1].Parts, parts...)
			return
		}
		list = append(list, content{role, parts})
	}
	for i := range r.Messages {
		m := r.Messages[i].Sanitize()
		switch m.Role {
		case chat.Tool:
			name := called[m.ToolCallID]
			if name == "" {
				name = m.Name
			}
			if name == "" {
				continue
			}
			add("user", part{Result: &functionResp{name, result(m.Content)}})
			for _, p := range m.Content.Parts {
				if p.Type == "image_url" {
					add("user", image(p.ImageURL))
				}
			}
		case chat.Assistant:
			if parts := spoken(&m, r.Model, a); len(parts) > 0 {
				add("model", parts...)
			}
		default:
			parts := parts(m.Content)
			if len(parts) == 0 {
				parts = []part{{Text: "(empty message)"}}
			}
			add("user", parts...)
		}
	}
	return list
}

// unsigned stands for a signature that is not known, as the service's manual
// says: calls of another model in this conversation have none.
const unsigned = "skip_thought_signature_validator"

func spoken(m *chat.Message, model string, a wire.Adapted) []part {
	out := parts(m.Content)
	if s := signature(m.Extra); s != "" && len(out) > 0 && !a.NoThinking {
		out[len(out)-1].Signature = s
	}
	for i, c := range m.ToolCalls {
		p := part{Call: &functionCall{Name: c.Function.Name, Args: wire.Arguments(c.Function.Arguments)}}
		if !a.NoThinking {
			p.Signature = signature(c.Extra)
		}
		if p.Signature == "" && i == 0 && strings.Contains(model, "gemini-3") {
			p.Signature = unsigned
		}
		out = append(out, p)
	}
	return out
}

type extraContent struct {
	Google struct {
		Signature string `json:"thought_signature"`
	} `json:"google"`
}

// signature reads a thought signature from where Gemini's compatible address
// has it too, so that a session may change between the two.
func signature(extra map[string]json.RawMessage) string {
	var e extraContent
	if json.Unmarshal(extra["extra_content"], &e) != nil {
		return ""
	}
	return e.Google.Signature
}

func signed(s string) json.RawMessage {
	var e extraContent
	e.Google.Signature = s
	return wire.Raw(e)
}

func parts(c chat.Content) []part {
	var out []part
	for _, p := range wire.Parts(c) {
		switch p.Type {
		case "text", "input_text", "output_text":
			if p.Text != "" {
				out = append(out, part{Text: p.Text})
			}
		case "image_url":
			out = append(out, image(p.ImageURL))
		default:
			out = append(out, part{Text: "(" + p.Type + " that this model cannot take)"})
		}
	}
	return out
}

func image(url string) part {
	if mime, data, ok := wire.DataURL(url); ok {
		return part{Inline: &blob{mime, data}}
	}
	return part{File: &file{url}}
}

// result is a tool's result as the object that the format demands.
func result(c chat.Content) json.RawMessage {
	text := c.String()
	if fields := wire.Fields(json.RawMessage(text)); fields != nil {
		return json.RawMessage(strings.TrimSpace(text))
	}
	return wire.Raw(map[string]string{"result": text})
}
