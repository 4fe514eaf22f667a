package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	// sqlQuoted are comments and strings: what is in them is data.
	sqlQuoted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)'(?:[^'\\]|\\.|'')*'|--[^\n]*|/\*.*?\*/`)
	})
	sqlDrops = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^\s*(drop\s+(table|database|schema|view|materialized|index|user|role|keyspace|tablespace|type|function|collection|column|owned|trigger|sequence|extension)\b|truncate\b|alter\s+table\b.*\bdrop\b|alter\s+(user|role|login)\b|grant\b|revoke\b|reassign\s+owned\b|reset\s+(master|slave|replica)\b|flush\s+(privileges|logs)\b|purge\s+binary\b|shutdown\b|(pg_)?terminate|set\s+password\b|create\s+(user|role)\b|copy\b.*\b(from|to)\s+program\b|load\s+data\b|attach\s+database\b.*/)`)
	})
	sqlChanges = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)\b(delete\s+from|update\s+(?:only\s+|ignore\s+|low_priority\s+)*[\w."\x60\[\]]+\s+(?:as\s+\w+\s+|\w+\s+)?set)\b`)
	})
	sqlCondition = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)\bwhere\s+(.+)$`)
	})
	sqlAlways = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^\s*\(?\s*(true|not\s+false|1|(\d+)\s*=\s*\d+|''\s*=\s*'')\s*\)?\s*(returning\b.*)?$|\bor\s+(true|1\s*=\s*1)\b`)
	})
	sqlLeaves = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?im)(^|\s)(\\!|\.shell\b|\.system\b|\\o\s*\||\\copy\b.*\bprogram\b)|^\s*system\s+\S|\bsys_exec\s*\(|\bxp_cmdshell\b|\binto\s+(out|dump)file\b|\bpg_terminate_backend\b|\.load\s|\bload_extension\s*\(`)
	})
)

// sql judges clients of databases by the statements that they are given.
func sql(j *judge, v *invocation) {
	text := make([]string, 0, 4)
	for _, a := range v.args() {
		text = append(text, a.s)
	}
	if in, kind := j.input(v); kind == inputKnown {
		text = append(text, in)
	}
	for _, s := range text {
		for _, prefix := range []string{"--command=", "--execute=", "--query=", "--eval=", "-c", "-e", "-q", "-Q"} {
			if rest, ok := strings.CutPrefix(s, prefix); ok {
				s = rest
				break
			}
		}
		j.statements(v, s)
	}
}

func (j *judge) statements(v *invocation, text string) {
	if sqlLeaves().MatchString(text) {
		j.ask("inline-code", v.node, "it runs a command, or writes a file, from inside a database client")
		return
	}
	for statement := range strings.SplitSeq(sqlQuoted().ReplaceAllString(text, "''"), ";") {
		if sqlDrops().MatchString(statement) {
			j.ask("sql", v.node, "it drops, empties or opens what a database holds")
			return
		}
		if sqlChanges().MatchString(statement) {
			if m := sqlCondition().FindStringSubmatch(statement); m == nil || sqlAlways().MatchString(m[1]) {
				j.ask("sql", v.node, "it deletes or changes all rows of a table")
				return
			}
		}
	}
}

var emptiesStore = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(flush(all|db)|shutdown|debug\s+\w+|script\s+flush|acl\s+(setuser|deluser)|config\s+(set|rewrite))\b|\b(dropDatabase|dropUser|dropAllUsersFromDatabase|shutdownServer)\s*\(|\.drop(Index(es)?)?\s*\(|\b(deleteMany|remove|updateMany)\s*\(\s*(\{\s*\}|\s*\))`)
})

// keyValue judges clients of databases that do not speak SQL.
func keyValue(j *judge, v *invocation) {
	text := v.verbs(" -h -p -a -n -u -s --host --port --user --pass --username --password --authenticationDatabase ")
	if len(text) > 1 {
		text = append(text, strings.Join(text, " "))
	}
	for _, a := range v.args() {
		text = append(text, strings.TrimPrefix(a.s, "--eval="))
	}
	if in, kind := j.input(v); kind == inputKnown {
		text = append(text, strings.Split(in, "\n")...)
	}
	if slices.ContainsFunc(text, emptiesStore().MatchString) {
		j.ask("sql", v.node, "it empties a database")
	}
	if slices.Contains(text, "--scan") || !slices.ContainsFunc(text, func(s string) bool { return strings.EqualFold(s, "del") || strings.EqualFold(s, "unlink") }) {
		return
	}
	if v.more || slices.ContainsFunc(v.args(), func(a arg) bool { return a.unknown }) {
		j.ask("sql", v.node, "which keys it deletes is only known once it runs")
	}
}
