package config

import (
	"net/url"
	"strings"
)

// normalise gives old spellings their present place, so that owners read one
// form. The file is not touched: Migrate does that when asked.
func normalise(root *tree) {
	model := root.m["model"]
	if model != nil && (model.kind == textKind || model.kind == intKind || model.kind == floatKind) {
		m := newMap()
		m.line = model.line
		if model.text != "" {
			m.put("default", &tree{kind: textKind, text: model.text, line: model.line})
		}
		root.put("model", m)
		model = m
	}
	if model == nil || model.kind != mapKind {
		model = newMap()
	}
	if v := model.m["model"]; v != nil && empty(model.m["default"]) {
		model.put("default", v)
	}
	for _, k := range []string{"provider", "base_url"} {
		if v := root.m[k]; v != nil && v.kind == textKind && empty(model.m[k]) {
			model.put(k, v)
		}
	}
	if len(model.keys) > 0 {
		root.put("model", model)
	}
	move(root, "max_turns", "agent", "max_turns")
	move(root, "fallback_model", "", "fallback_providers")
	if t := root.m["fallback_providers"]; t != nil && t.kind == mapKind {
		root.put("fallback_providers", &tree{kind: listKind, list: []*tree{t}, line: t.line})
	}
	for _, k := range []string{"provider", "model", "base_url"} {
		if v := root.find([]string{"compression", "summary_" + k}); v != nil && !empty(v) &&
			empty(root.find([]string{"auxiliary", "compression", k})) {
			root.section("auxiliary").section("compression").put(k, v)
		}
	}
	customProviders(root)
}

// move copies a root key to its present place when nothing is there.
func move(root *tree, from, section, to string) {
	v := root.m[from]
	if empty(v) {
		return
	}
	dst := root
	if section != "" {
		if s := root.m[section]; s != nil && s.kind != mapKind && s.kind != nullKind {
			return
		}
		dst = root.section(section)
	}
	if empty(dst.m[to]) {
		dst.put(to, v)
	}
}

// section returns the map under key, making one where nothing stands.
func (t *tree) section(key string) *tree {
	if s := t.m[key]; s != nil && s.kind == mapKind {
		return s
	}
	s := newMap()
	t.put(key, s)
	return s
}

func empty(t *tree) bool {
	return t == nil || t.kind == nullKind || (t.kind == textKind && t.text == "") ||
		(t.kind == listKind && len(t.list) == 0) || (t.kind == mapKind && len(t.keys) == 0)
}

// customProviders adds the entries of the legacy list to the providers map.
func customProviders(root *tree) {
	old := root.m["custom_providers"]
	if old == nil || old.kind != listKind {
		return
	}
	if p := root.m["providers"]; p != nil && p.kind != mapKind && p.kind != nullKind {
		return
	}
	for _, e := range old.list {
		if e.kind != mapKind {
			continue
		}
		slug := providerSlug(scalarText(e.m["name"]), scalarText(e.m["base_url"]))
		if slug == "" {
			continue
		}
		to := root.section("providers")
		if to.m[slug] == nil {
			to.put(slug, e)
		}
	}
}

func scalarText(t *tree) string {
	if t == nil || t.kind == mapKind || t.kind == listKind {
		return ""
	}
	return t.text
}

// providerSlug is the original's rule: the name in lower case with dashes for
// spaces and without parentheses, the host for a nameless one.
func providerSlug(name, base string) string {
	s := strings.ToLower(strings.TrimSpace(name))
	s = strings.NewReplacer(" ", "-", "(", "", ")", "").Replace(s)
	if s != "" {
		return s
	}
	if u, err := url.Parse(base); err == nil {
		return u.Hostname()
	}
	return ""
}
