package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"
)

func checkJSON(_ context.Context, in Input, text string) ([]string, string) {
	text = strings.TrimPrefix(text, "\uFEFF")
	if json.Valid([]byte(text)) {
		return nil, ""
	}
	if commented(in.Name) && json.Valid(plainJSON(text)) {
		return nil, ""
	}
	dec := json.NewDecoder(strings.NewReader(text))
	var v any
	err := dec.Decode(&v)
	at := dec.InputOffset()
	var bad *json.SyntaxError
	switch {
	case errors.As(err, &bad):
		at = max(bad.Offset-1, 0)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err, at = errors.New("unexpected end of the text"), int64(len(text))
	case err == nil:
		err = errors.New("extra data after the value")
	}
	line, col := position(text, int(at))
	return []string{fmt.Sprintf("JSONDecodeError: %v (line %d, column %d)", err, line, col)}, ""
}

// commented tells of files whose readers allow comments and trailing commas.
func commented(name string) bool {
	name = filepath.ToSlash(name)
	base := strings.ToLower(path.Base(name))
	return strings.HasPrefix(base, "tsconfig") || strings.HasPrefix(base, "jsconfig") || base == "devcontainer.json" ||
		base == "deno.json" || base == "api-extractor.json" || strings.HasPrefix(base, ".") ||
		strings.Contains(name, "/.vscode/") || strings.HasPrefix(name, ".vscode/")
}

// plainJSON takes comments and trailing commas out.
func plainJSON(text string) []byte {
	var b bytes.Buffer
	comma := -1 // where a comma stands after which nothing came yet
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			b.WriteString(text[i:min(end+1, len(text))])
			i, comma = end, -1
		case strings.HasPrefix(rest, "//"):
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				i += n
			} else {
				i = len(text)
			}
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				return nil
			}
			i += n + 1
		case c == ',':
			comma = b.Len()
			b.WriteByte(c)
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			b.WriteByte(c)
		default:
			if (c == ']' || c == '}') && comma >= 0 {
				b.Bytes()[comma] = ' '
			}
			comma = -1
			b.WriteByte(c)
		}
	}
	return b.Bytes()
}

func checkYAML(_ context.Context, _ Input, text string) ([]string, string) {
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		switch {
		case errors.Is(err, io.EOF):
			return nil, ""
		case err != nil && strings.Contains(text, "{{"):
			return nil, "it looks like a template, which only becomes YAML later"
		case err != nil:
			return []string{"YAMLError: " + strings.TrimPrefix(err.Error(), "yaml: ")}, ""
		}
	}
}

func checkTOML(_ context.Context, _ Input, text string) ([]string, string) {
	var v map[string]any
	_, err := toml.Decode(text, &v)
	var bad toml.ParseError
	switch {
	case err == nil:
		return nil, ""
	case errors.As(err, &bad):
		msg := bad.Message
		if msg == "" {
			_, msg, _ = strings.Cut(strings.TrimPrefix(bad.Error(), "toml: "), ": ")
		}
		_, col := position(text, bad.Position.Start)
		return []string{fmt.Sprintf("TOMLDecodeError: %s (line %d, column %d)", msg, bad.Position.Line, col)}, ""
	}
	return []string{"TOMLDecodeError: " + strings.TrimPrefix(err.Error(), "toml: ")}, ""
}

func checkGo(_ context.Context, _ Input, text string) ([]string, string) {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.AllErrors|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return nil, ""
	}
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("SyntaxError: %s (line %d, column %d)", e.Msg, e.Pos.Line, e.Pos.Column))
	}
	return out, ""
}

func checkShell(_ context.Context, _ Input, text string) ([]string, string) {
	first, _, _ := strings.Cut(text, "\n")
	lang := syntax.LangBash
	switch {
	case strings.HasPrefix(first, "#!") && strings.Contains(first, "zsh"), strings.HasPrefix(first, "#!") && strings.Contains(first, "fish"):
		return nil, "only sh and bash are checked"
	case strings.HasPrefix(first, "#!") && strings.Contains(first, "mksh"):
		lang = syntax.LangMirBSDKorn
	}
	_, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	var bad syntax.ParseError
	switch {
	case err == nil:
		return nil, ""
	case errors.As(err, &bad):
		return []string{fmt.Sprintf("SyntaxError: %s (line %d, column %d)", bad.Text, bad.Pos.Line(), bad.Pos.Col())}, ""
	}
	return []string{"SyntaxError: " + err.Error()}, ""
}
