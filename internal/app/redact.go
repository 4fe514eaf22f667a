package app

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/tool"
)

// redactResults is middleware that keeps secrets from the model: whatever a
// tool answers is masked, and the result says that it was.
func redactResults(r *secret.Redactor) func(tool.Handler) tool.Handler {
	return func(next tool.Handler) tool.Handler {
		return func(ctx context.Context, c *tool.Call) (any, error) {
			v, err := next(ctx, c)
			if err != nil {
				return nil, tool.MapFailure(err, func(text string) string { return maskFailure(r, text) })
			}
			out, isOutput := v.(tool.Output)
			if !isOutput {
				out.Value = v
			}
			raw, ok := out.Value.(json.RawMessage)
			if !ok {
				return v, nil
			}
			masked := maskJSON(r, raw)
			if bytes.Equal(masked, raw) {
				return v, nil
			}
			out.Value = json.RawMessage(tool.AddField(masked, "_redacted", maskedNote))
			if isOutput {
				return out, nil
			}
			return out.Value, nil
		}
	}
}

const maskedNote = "secrets in this result are masked; use them by the names of their variables"

// maskFailure masks a failure's text, and says so where it is an object.
func maskFailure(r *secret.Redactor, text string) string {
	if json.Valid([]byte(text)) {
		masked := maskJSON(r, json.RawMessage(text))
		if string(masked) != text {
			masked = tool.AddField(masked, "_redacted", maskedNote)
		}
		return string(masked)
	}
	return r.Redact(text)
}

// maskJSON masks secrets in JSON text and returns JSON text.
func maskJSON(r *secret.Redactor, raw json.RawMessage) json.RawMessage {
	masked := r.RedactBytes(raw)
	if bytes.Equal(masked, raw) || json.Valid(masked) {
		return masked
	}
	// A mask took a quote or a backslash with it: go through the texts one by
	// one instead.
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return json.RawMessage(`{"error":"the result held secrets and could not be masked"}`)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(maskTexts(r, v)) != nil {
		return json.RawMessage(`{"error":"the result held secrets and could not be masked"}`)
	}
	return bytes.TrimSpace(buf.Bytes())
}

func maskTexts(r *secret.Redactor, v any) any {
	switch v := v.(type) {
	case string:
		return r.Redact(v)
	case []any:
		for i := range v {
			v[i] = maskTexts(r, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = maskTexts(r, v[k])
		}
	}
	return v
}
