package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Validate checks the file's structure: what every setting's type, the shape of
// the provider lists and misplaced keys tell. It looks at the file alone and
// finds nothing in a missing one.
func (c *Config) Validate() []Problem {
	v := validator{c: c}
	v.providers()
	v.fallback()
	v.misplaced()
	v.walk(c.file, nil)
	return v.found
}

type validator struct {
	c     *Config
	found []Problem
}

func (v *validator) add(s Severity, key string, t *tree, message, hint string) {
	p := Problem{Severity: s, Key: key, Message: message, Hint: hint}
	if t != nil {
		p.Line = t.line
	}
	v.found = append(v.found, p)
}

func (v *validator) providers() {
	old := v.c.file.m["custom_providers"]
	switch {
	case old == nil || old.kind == nullKind:
	case old.kind == mapKind:
		v.add(Error, "custom_providers", old, "custom_providers is a map", "it must be a list: put a dash before each entry, or use providers")
		if old.m["fallback_model"] != nil {
			v.add(Error, "custom_providers.fallback_model", old.m["fallback_model"], "fallback_model stands inside custom_providers", "move it to the top level")
		}
	case old.kind != listKind:
		v.add(Error, "custom_providers", old, "custom_providers is no list", "each entry needs name and base_url")
	default:
		for i, e := range old.list {
			key := fmt.Sprintf("custom_providers[%d]", i)
			if e.kind != mapKind {
				v.add(Warning, key, e, key+" is no map", "each entry needs name and base_url")
				continue
			}
			for _, k := range []string{"name", "base_url"} {
				if empty(e.m[k]) {
					v.add(Warning, key, e, fmt.Sprintf("%s has no %s", key, k), "each entry needs name and base_url")
				}
			}
			if e.m["fallback_model"] != nil {
				v.add(Error, key, e, "fallback_model stands inside custom_providers", "move it to the top level")
			}
		}
		if m := v.c.file.m["model"]; len(old.list) > 0 && (m == nil || empty(m)) {
			v.add(Warning, "model", old, "custom_providers without model", "set model.default and model.provider to use one of them")
		}
	}
	now := v.c.file.m["providers"]
	if now == nil || now.kind != mapKind {
		return
	}
	for _, name := range now.keys {
		e, key := now.m[name], "providers."+name
		if e.kind != mapKind {
			v.add(Error, key, e, key+" is no map", "it needs base_url")
			continue
		}
		at := ""
		for _, k := range []string{"base_url", "api", "url"} {
			if at == "" {
				at = scalarText(e.m[k])
			}
		}
		if u, err := url.Parse(at); at != "" && !strings.Contains(at, "${") && (err != nil || u.Scheme == "" || u.Host == "") {
			v.add(Warning, key, e, fmt.Sprintf("%s: %q is no address with scheme and host", key, at), "such as http://localhost:8000/v1")
		}
		for _, k := range e.keys {
			if snakeKey := snake(k); snakeKey != k && !strings.Contains(k, "_") {
				v.add(Warning, key+"."+k, e.m[k], fmt.Sprintf("%s.%s is spelled %s", key, k, snakeKey), "rename it")
			} else if !slices.Contains(providerFields[:], k) {
				v.add(Warning, key+"."+k, e.m[k], fmt.Sprintf("%s.%s is not known", key, k), "remove it, or check the spelling")
			}
		}
	}
}

// providerFields are the fields an entry of providers may have.
var providerFields = [...]string{
	"name", "api", "url", "base_url", "api_key", "key_env", "api_key_env", "api_mode", "transport", "default_model", "model", "models",
	"context_length", "rate_limit_delay", "request_timeout_seconds", "stale_timeout_seconds", "headers", "extra_body", "enabled", "max_tokens",
}

func (v *validator) fallback() {
	old := v.c.file.m["fallback_model"]
	if old == nil || old.kind == nullKind {
		return
	}
	entries := old.list
	switch old.kind {
	case mapKind:
		entries = []*tree{old}
	case listKind:
	default:
		v.add(Error, "fallback_model", old, "fallback_model is neither a map nor a list", "write provider and model below it")
		return
	}
	for _, e := range entries {
		if e.kind != mapKind {
			v.add(Error, "fallback_model", e, "fallback_model holds an entry that is no map", "write provider and model")
			continue
		}
		for _, k := range []string{"provider", "model"} {
			if empty(e.m[k]) {
				v.add(Warning, "fallback_model", e, "fallback_model has no "+k, "both provider and model are needed")
			}
		}
	}
}

func (v *validator) misplaced() {
	for _, k := range []string{"base_url", "api_key", "rate_limit_delay", "api_mode", "provider"} {
		t := v.c.file.m[k]
		if t == nil {
			continue
		}
		hint := "move it into model, or run: hermes config migrate"
		if k == "rate_limit_delay" {
			hint = "move it into the provider's entry"
		}
		v.add(Warning, k, t, k+" at the top level is misplaced", hint)
	}
}

// walk checks types and finds keys nobody declared.
func (v *validator) walk(t *tree, at []string) {
	for _, name := range t.keys {
		val, keys := t.m[name], append(slices.Clone(at), name)
		if val.env {
			continue
		}
		if len(at) == 0 && slices.Contains([]string{"base_url", "api_key", "rate_limit_delay", "api_mode", "provider", "max_turns", "providers", "custom_providers", "fallback_model"}, name) {
			continue // looked at above, or an old place that still works
		}
		k, known := describeKeys(keys)
		exact := known && len(strings.Split(k.Path, ".")) == len(keys)
		switch {
		case exact && k.Type != Map && k.Type != Any:
			if val.kind != nullKind && !fits(k, val) {
				v.add(Error, JoinPath(keys), val, fmt.Sprintf("%s takes %s", JoinPath(keys), wants(k)), fmt.Sprintf("set it with: hermes config set %s ...", JoinPath(keys)))
			}
		case exact && k.Type == Map && val.kind != mapKind && val.kind != nullKind:
			v.add(Error, JoinPath(keys), val, JoinPath(keys)+" takes a map", "write its entries below it")
		case known && !section(keys):
		case section(keys):
			if val.kind == mapKind {
				v.walk(val, keys)
			} else if val.kind != nullKind {
				v.add(Error, JoinPath(keys), val, JoinPath(keys)+" is a section of settings", "write them below it, such as "+firstIn(keys))
			}
		default:
			path := JoinPath(keys)
			if !oldKey(path) {
				p := Problem{Severity: Warning, Key: path, Line: val.line, Unknown: true, Message: path + " is not known here and has no effect"}
				if p.Hint = "check the spelling; if no other program reads it: hermes config unset " + path; sibling(path) != "" {
					p.Hint = "did you mean " + sibling(path) + "?"
				}
				v.found = append(v.found, p)
			} else if !empty(val) {
				v.add(Warning, path, val, path+" is an old key", "run: hermes config migrate")
			}
		}
	}
}

// oldKey tells of keys that migration moves elsewhere.
func oldKey(path string) bool {
	return strings.HasPrefix(path, "compression.summary_") || path == "display.tool_progress_overrides"
}

// sibling is a key beside an unknown one that it may be a slip of.
func sibling(path string) string {
	parent := path[:strings.LastIndexByte(path, '.')+1]
	for _, n := range near(path) {
		if n[:strings.LastIndexByte(n, '.')+1] == parent {
			return n
		}
	}
	return ""
}

func wants(k Key) string {
	if len(k.Choices) > 0 {
		return "one of " + strings.Join(k.Choices, ", ")
	}
	switch k.Type {
	case Bool:
		return "true or false"
	case Int:
		return "a whole number"
	case Float:
		return "a number"
	}
	return "a " + string(k.Type)
}

// fits is suits for what stands in a file, where a placeholder may still be
// text.
func fits(k Key, t *tree) bool {
	switch k.Type {
	case Text:
		if t.kind == listKind || t.kind == mapKind {
			return false
		}
		return len(k.Choices) == 0 || t.text == "" || slices.ContainsFunc(k.Choices, func(c string) bool { return strings.EqualFold(c, t.text) })
	case List:
		return t.kind != mapKind || k.Path == "fallback_providers"
	}
	return strings.Contains(t.text, "${") || suits(k, t)
}

// Unknown lists the keys of the file that nobody declared, as dotted paths.
func (c *Config) Unknown() []string {
	v := validator{c: c}
	v.walk(c.file, nil)
	var out []string
	for _, p := range v.found {
		if p.Unknown {
			out = append(out, p.Key)
		}
	}
	return out
}
