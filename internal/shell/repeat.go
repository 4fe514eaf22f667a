package shell

import "strings"

// most is how many of the items that a command is repeated for are looked at.
const mostItems = 50

// repeated judges what xargs runs when what it reads is written in the
// command. It reports whether that was so.
func (j *judge) repeated(v, inner *invocation) bool {
	if inner.raw == nil {
		return false
	}
	for _, a := range v.args() {
		if strings.HasPrefix(a.s, "-d") || strings.HasPrefix(a.s, "--delim") || strings.HasPrefix(a.s, "-a") || strings.HasPrefix(a.s, "--arg-file") || a.unknown {
			return false
		}
		if a.s == inner.raw[0].s {
			break
		}
	}
	text, kind := j.input(v)
	if kind != inputKnown {
		return false
	}
	items := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == 0 || inner.place == "" && (r == ' ' || r == '\t') })
	if len(items) > mostItems {
		return false
	}
	j.each(inner, items)
	return true
}

// each judges a command once for every item, or once with all of them.
func (j *judge) each(inner *invocation, items []string) {
	run := func(argv []arg) {
		c := inner.with(argv)
		c.raw, c.more, c.fed = nil, false, false
		j.call(c)
	}
	if inner.place == "" {
		argv := append([]arg{}, inner.raw...)
		for _, s := range items {
			argv = append(argv, arg{s: strings.Trim(s, `'"`), quoted: true})
		}
		run(argv)
		return
	}
	for _, s := range items {
		argv := append([]arg{}, inner.raw...)
		for i := range argv {
			argv[i].s = strings.ReplaceAll(argv[i].s, inner.place, strings.TrimSpace(s))
		}
		run(argv)
	}
}

// runParallel judges GNU parallel: its words are shell text that is repeated
// for every item, and without words the items themselves are.
func runParallel(j *judge, v *invocation) {
	args := v.args()
	for len(args) > 0 && strings.HasPrefix(args[0].s, "-") && args[0].s != "--" {
		takes := len(args[0].s) == 2 && strings.Contains("jSNLnIaPC", args[0].s[1:]) || strings.Contains(" --jobs --sshlogin --colsep --delay --timeout --joblog --results --retries --tmpdir --workdir --arg-file --max-procs --max-args ", " "+args[0].s+" ")
		args = args[1:]
		if takes && len(args) > 0 {
			args = args[1:]
		}
	}
	end := 0
	for end < len(args) && !strings.HasPrefix(args[end].s, ":::") {
		end++
	}
	words, rest := args[:end], args[end:]
	var items []string
	known := len(rest) > 0 && rest[0].s == ":::"
	for _, a := range rest[min(1, len(rest)):] {
		if a.unknown || a.glob || strings.HasPrefix(a.s, ":::") {
			known = false
		}
		items = append(items, a.s)
	}
	if len(rest) == 0 {
		if text, kind := j.input(v); kind == inputKnown {
			known, items = true, strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		}
	}
	if len(items) > mostItems {
		known = false
	}
	var parts []string
	unknown := false
	for _, a := range words {
		parts, unknown = append(parts, a.s), unknown || a.unknown
	}
	switch text := strings.Join(parts, " "); {
	case unknown:
		j.ask("unknown-command", v.node, "what it runs is only known once it runs")
	case len(words) == 0 && !known:
		if len(rest) > 0 || v.stmt != nil && j.stdin[v.stmt] != nil {
			j.ask("unknown-command", v.node, "what it runs is only known once it runs")
		}
	case known:
		for _, s := range items {
			if len(words) > 0 { // then an item is one word of it
				s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
			}
			one := strings.NewReplacer("{}", s, "{.}", s, "{/}", s, "{1}", s).Replace(text)
			if one == text {
				one = strings.TrimSpace(text + " " + s)
			}
			j.text(one, v.node)
		}
	default:
		inner := v.with(shellText(words))
		inner.more, inner.fed = true, true
		inner.argv = fill(inner.argv, "{}")
		j.call(inner)
	}
}
