package shell

import (
	"regexp"
	"strings"
	"sync"
)

// language says how an interpreter is given a program, and how a program is
// recognised that only computes and prints.
type language struct {
	flags    string   // short options whose value is the program
	joined   bool     // the program may follow the letter at once
	long     []string // long options and subcommands whose value is the program
	takes    string   // other options that are followed by a value
	values   string   // letters after which the rest of the option is a value
	harmless func(code string) bool
}

// languageOf returns what is known of an interpreter.
func languageOf(name string) (language, bool) {
	stem := strings.TrimRight(name, "0123456789.")
	switch stem {
	case "python", "pypy", "ipython":
		return language{flags: "c", joined: true, takes: " -W -X ", values: "mWX", harmless: harmlessPython}, true
	case "perl", "raku":
		return language{flags: "eE", joined: true, values: "IMmDxCiF", harmless: harmlessPerl}, true
	case "ruby", "jruby":
		return language{flags: "e", joined: true, values: "rIEKxCF0", harmless: harmlessRuby}, true
	case "node", "nodejs":
		return language{flags: "ep", long: []string{"--eval", "--print"}, harmless: harmlessNode}, true
	case "bun":
		return language{flags: "ep", long: []string{"--eval", "--print"}, harmless: harmlessNode}, true
	case "deno":
		return language{long: []string{"eval"}, harmless: harmlessNode}, true
	case "php":
		return language{flags: "rBRE", joined: true, takes: " -d -c ", values: "dctz", harmless: harmlessPHP}, true
	case "lua", "luajit", "osascript", "Rscript", "groovy", "scala", "julia", "swipl", "ghc", "clojure", "elixir", "swift":
		return language{flags: "e", long: []string{"--eval"}, harmless: never}, true
	case "erl":
		return language{long: []string{"-eval"}, harmless: never}, true
	case "emacs", "octave", "sbcl", "guile", "racket", "crystal", "clj":
		return language{flags: "ce", long: []string{"--eval", "-eval", "--execute", "eval", "-f", "--funcall"}, harmless: never}, true
	case "tclsh", "expect", "jshell", "wish", "gnuplot", "irb", "ghci", "bpython":
		return language{harmless: never}, true
	}
	return language{}, false
}

func never(string) bool { return false }

// runInterpreter judges programs in other languages by what can be seen of
// them: a file is ordinary work, text on the command line is looked at.
func runInterpreter(j *judge, v *invocation) {
	if v.name() == "pwsh" || v.name() == "powershell" {
		runPowerShell(j, v)
		return
	}
	if v.name() == "perl" {
		editing(j, v)
	}
	l, _ := languageOf(v.name())
	args := v.args()
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.unknown && strings.HasPrefix(a.s, hole):
			if i == 0 {
				j.ask("unknown-command", v.node, "which program it runs is only known once it runs")
			}
			return
		case a.s == "-m" && strings.HasPrefix(v.name(), "py"):
			return
		case a.s == "-" || a.s == "/dev/stdin":
			j.fedInterpreter(v, l)
			return
		case strings.Contains(l.takes, " "+a.s+" "):
			i++
		case preloads(v.name(), a.s):
			j.ask("inline-code", v.node, "it loads code before the program")
			return
		case l.given(a.s):
			code := ""
			if _, value, ok := strings.Cut(a.s, "="); ok && strings.HasPrefix(a.s, "--") {
				code = value
			} else if k := strings.IndexAny(a.s, l.flags); l.joined && k > 0 && k < len(a.s)-1 {
				code = a.s[k+1:]
			} else if i+1 < len(args) {
				code = args[i+1].s
			}
			j.code(v, l, code)
			return
		case strings.HasPrefix(a.s, "-"):
		case v.name() == "deno" && (a.s == "run" || a.s == "x" || a.s == "install"), v.name() == "bun" && a.s == "run":
		default:
			switch {
			case a.proc != nil:
				j.ask("remote-code", v.node, "it runs what another command prints")
			case j.fetched[base(a.s)]:
				j.ask("remote-code", v.node, "it runs a file that the same command downloads")
			case strings.HasPrefix(a.s, "http://"), strings.HasPrefix(a.s, "https://"):
				j.ask("remote-code", v.node, "it runs a program from another machine")
			default: // a script that is a tool of its own: artisan, manage.py
				j.deeds(v.with(args[i:]))
			}
			return
		}
	}
	if v.has('V', "--version") || v.has('v') || v.has('h', "--help") {
		return
	}
	j.fedInterpreter(v, l)
}

// preloads reports whether an option loads code that is not known to only
// compute.
func preloads(program, option string) bool {
	switch {
	case program == "perl" && (strings.HasPrefix(option, "-M") || strings.HasPrefix(option, "-m")):
		name, _, _ := strings.Cut(strings.TrimLeft(option[2:], "-"), "=")
		name, _, _ = strings.Cut(name, " ")
		return !perlModule(name) && name != "open"
	case program == "ruby" && strings.HasPrefix(option, "-r"):
		switch option[2:] {
		case "json", "date", "time", "set", "csv", "yaml", "erb", "digest", "securerandom", "bigdecimal", "pp", "benchmark", "rubygems", "bundler/setup":
			return false
		}
		return option[2:] != "" && !strings.HasPrefix(option, "-r./")
	}
	return false
}

// given reports whether the program follows this option.
func (l language) given(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	for _, long := range l.long {
		if name == long {
			return true
		}
	}
	if l.flags == "" || len(option) < 2 || option[0] != '-' || option[1] == '-' {
		return false
	}
	if l.joined { // the letters before it must be options without a value
		k := strings.IndexAny(option, l.flags)
		return k > 0 && !strings.ContainsAny(option[:k], l.values)
	}
	return strings.ContainsAny(option[1:], l.flags)
}

func (j *judge) fedInterpreter(v *invocation, l language) {
	switch text, kind := j.input(v); kind {
	case inputKnown:
		j.code(v, l, text)
	case inputUnknown:
		j.ask("pipe-shell", v.node, "it runs a program that only comes to be known while it runs")
	case inputNone, inputFile:
	}
}

// code judges a program text. Only what computes and prints is let through:
// the rest can do anything, and is not read closely enough here.
func (j *judge) code(v *invocation, l language, code string) {
	if l.harmless != nil && !strings.Contains(code, hole) && !strings.Contains(code, item) && l.harmless(j.withoutReads(code)) {
		return
	}
	j.ask("inline-code", v.node, "it runs a program given on the command line")
}

// plainReads are the ways to read a file whose name stands there.
var plainReads = sync.OnceValue(func() *regexp.Regexp {
	const name = `(?:'([^'\\]*)'|"([^"\\]*)")`
	return regexp.MustCompile(`\b(?:open\(\s*(?:r?` + name + `)\s*(?:,\s*['"]r[bt]?['"]\s*)?(?:,\s*encoding\s*=\s*['"][\w-]+['"]\s*)?\)` +
		`|(?:require\(['"](?:node:)?fs['"]\)|fs)\.(?:readFileSync|existsSync|readdirSync)\(\s*` + name + `\s*(?:,\s*['"]utf-?8['"]\s*)?\)` +
		`|File\.(?:read|exist\?|readlines)\(\s*` + name + `\s*\))`)
})

// withoutReads takes reading plain files out of a program, so that what it
// does beside is seen. Reading keys stays.
func (j *judge) withoutReads(code string) string {
	return plainReads().ReplaceAllStringFunc(code, func(call string) string {
		for _, name := range plainReads().FindStringSubmatch(call)[1:] {
			if p, known := j.resolve(name); name != "" && (!known || j.keyFile(p) && !j.inTree(p) || strings.HasPrefix(p, "/dev/") || strings.HasPrefix(p, "/proc/")) {
				return call
			}
		}
		return "x"
	})
}

// harmlessNode allows what prints or reads a description of the project.
func harmlessNode(code string) bool {
	return !nodeHands().MatchString(nodeRequires().ReplaceAllString(code, ""))
}

var (
	nodeHands = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("\\b(require|import|eval|Function|constructor|globalThis|global|self|window|this|Reflect|Proxy|module|exports|Deno|Bun|fetch|WebSocket|XMLHttpRequest|WebAssembly|child_process|fs|net|http|https|vm|Worker|process\\s*\\.\\s*(?:binding|dlopen|kill|mainModule|chdir|abort|exit|setuid|_\\w*))\\b|process\\s*\\[|\\[[^\\]]*['\"`][^\\]]*\\+|\\]\\s*\\(|\\\\[ux]|__proto__")
	})
	nodeRequires = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\brequire\((['"])(?:(?:node:)?(?:path|os|util|url|querystring|crypto|assert|punycode|string_decoder|perf_hooks)|[\w@/.-]+\.json)['"]\)`)
	})
	perlHands = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("`|\\b(system|exec|qx|eval|evalbytes|open|sysopen|opendir|unlink|rename|rmdir|mkdir|chmod|chown|chdir|chroot|kill|fork|socket|connect|require|do|syscall|truncate|link|symlink|utime|readpipe|dbmopen|pipe|glob|bless|syswrite|sysread|sub|local\\s*\\$0|BEGIN|END|dump|ioctl|fcntl|exit\\s*\\(?\\s*system|shmwrite|kill|umask)\\b|->|&\\s*[\\$\\w{]|\\*\\{|<[^>\\s]*\\$|\\(\\?\\??\\{|@\\{\\s*\\[")
	})
	perlUses  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\buse\s+([\w:]+)`) })
	perlEvals = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bs\s*([^\w\s])(?:.*?)[^\\]?(?:.*?)[/|#,!}\])>~%@:^"']\w*e\w*(\s*[;}]|\s*$)`)
	})
	rubyHands = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("`|%x|\\b(system|exec|spawn|popen\\w*|fork|open|eval|\\w*_eval|\\w*_exec|send|__send__|public_send|method|const_get|load|require_relative|syscall|trap|at_exit|kill|IO|File|FileUtils|Dir|Kernel|Process|ObjectSpace|Socket|TCPSocket|Net|Open3|Pathname|Shellwords|Fiddle|Marshal|binding|instance_variable_set|define_method|PTY|URI|Signal|Thread)\\b")
	})
	rubyRequires = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\brequire\s*\(?\s*['"](?:json|date|time|set|digest|base64|securerandom|bigdecimal|csv|yaml|pp|erb|cgi|optparse|benchmark|rbconfig)['"]\s*\)?`)
	})
	phpCalls = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\w\\$>}\])]+)\s*\(`) })
	phpHands = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)`|\\b(include|require|include_once|require_once|new|eval|\\$\\$)\\b")
	})
)

// perlModule reports whether a module of Perl only computes.
func perlModule(name string) bool {
	switch name {
	case "strict", "warnings", "utf8", "feature", "List::Util", "Data::Dumper", "MIME::Base64", "JSON::PP", "Time::HiRes", "Time::Local", "Math::Trig", "bigint", "integer", "Encode", "Digest::MD5", "Digest::SHA", "Scalar::Util":
		return true
	}
	return false
}

func harmlessPerl(code string) bool {
	for _, m := range perlUses().FindAllStringSubmatch(code, -1) {
		if !perlModule(m[1]) {
			return false
		}
	}
	return !perlHands().MatchString(code) && !perlEvals().MatchString(code)
}

func harmlessRuby(code string) bool {
	code = rubyRequires().ReplaceAllString(code, "")
	return !rubyHands().MatchString(code) && !strings.Contains(code, "require")
}

func harmlessPHP(code string) bool {
	if phpHands().MatchString(code) {
		return false
	}
	for _, m := range phpCalls().FindAllStringSubmatch(code, -1) {
		switch strings.ToLower(m[1]) {
		case "phpversion", "date", "json_encode", "json_decode", "var_dump", "var_export", "print_r", "print", "echo", "strlen", "str_repeat", "md5", "sha1", "hash", "base64_encode", "base64_decode", "time", "microtime", "php_uname", "implode", "explode",
			"count", "strtoupper", "strtolower", "ucfirst", "trim", "sprintf", "printf", "number_format", "max", "min", "abs", "round", "array_sum", "array_keys", "array_values", "array", "range", "sys_get_temp_dir", "php_sapi_name", "extension_loaded",
			"get_loaded_extensions", "ini_get", "intdiv", "random_int", "rand", "mt_rand", "uniqid", "bin2hex", "hex2bin", "urlencode", "urldecode", "if", "foreach", "for", "while", "isset", "empty", "str_replace", "substr", "strrev", "in_array", "php_ini_loaded_file", "gettype", "is_array", "phpinfo":
		default:
			return false
		}
	}
	return true
}

var (
	// pythonHands are what a Python program needs to reach beyond computing and printing.
	pythonHands = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`__|\b(exec|eval|compile|getattr|setattr|globals|locals|vars|breakpoint|importlib|open)\s*\(|\b(write|unlink|rmtree|remove|rename|replace|rmdir|chmod|chown|kill|system|popen|spawn\w*|touch|mkdir|symlink_to|hardlink_to|write_text|write_bytes|to_csv|to_pickle|to_parquet|to_excel|to_sql|to_json|read_pickle|unsafe_load|full_load|load|loads|save|savetxt|tofile|dump)\s*\(|\bmodules\b|\bread_(csv|json|html|xml|sql\w*|excel|table)\s*\(\s*['"](\w+://|/etc|~|/root)`)
	})
	// pythonRisky are modules that act when they are imported, or are meant to.
	pythonRisky = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(antigravity|idlelib|pip|ensurepip|venv|turtledemo)\b`)
	})
	osImport = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|[;\n]\s*)import os\s*(?:;|\n|$)|\bos\s*,\s*|,\s*os\b`)
	})
	pythonImport = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(?:^|;|:)\s*(?:import\s+([\w., ]+)|from\s+([\w.]+)\s+import)`)
	})
	// pythonPlain are the uses of the words above that only compute or compile.
	pythonPlain = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(re\.compile|py_compile\.compile|json\.loads?|json\.dumps|tomllib\.loads?|yaml\.safe_load|sys\.(stdout|stderr)\.write|\w+\.replace)\s*\(|\.(remove)\(\d+\)|__name__|__version__|__file__|__doc__`)
	})
)

// importsAndPrints is a program that only shows whether a module is there.
var importsAndPrints = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:(?:import\s+[\w., ]+|from\s+[\w.]+\s+import\s+[\w, ]+)\s*(?:;|\n|$)\s*)+(?:print\(\s*(?:[\w.]+\.__(?:version|file|name|path)__|'[^'\\]*'|"[^"\\]*"|f?["']?\{?[\w.]+\.__version__\}?["']?)\s*\)\s*;?\s*)*$`)
})

// osUses are the uses of os that look and change nothing.
var osUses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bos\.(getcwd|cpu_count|listdir|getpid|uname|sep|linesep|name|getlogin|getuid|path\.(exists|isfile|isdir|join|basename|dirname|abspath|realpath|getsize|expanduser|splitext|relpath)|environ\.get|getenv|walk|scandir|stat|get_terminal_size)\b`)
})

// pythonStrings are strings that no code can be in: what is in them can only
// be run by calls that are seen.
var pythonStrings = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\w'"])(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")`)
})

func harmlessPython(code string) bool {
	if !strings.Contains(code, `'''`) && !strings.Contains(code, `"""`) {
		code = pythonStrings().ReplaceAllString(code, "${1}0")
	}
	if importsAndPrints().MatchString(code) && !pythonHands().MatchString(pythonPlain().ReplaceAllString(code, "(")) && !pythonRisky().MatchString(code) {
		return true
	}
	if looks := osUses().ReplaceAllString(code, "x"); !strings.Contains(looks, "os.") {
		code = osImport().ReplaceAllString(looks, "$1")
	}
	if pythonHands().MatchString(pythonPlain().ReplaceAllString(code, "(")) {
		return false
	}
	imports := 0
	for _, m := range pythonImport().FindAllStringSubmatch(code, -1) {
		imports++
		for name := range strings.SplitSeq(m[1]+m[2], ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			switch top, _, _ := strings.Cut(name, "."); top {
			case "", "json", "sys", "re", "math", "datetime", "time", "collections", "itertools", "functools", "pprint", "platform", "textwrap", "string", "random", "statistics", "py_compile",
				"hashlib", "base64", "csv", "decimal", "fractions", "calendar", "uuid", "operator", "numpy", "pandas", "torch", "yaml", "tomllib", "html", "unicodedata", "zoneinfo", "struct", "bisect", "heapq", "typing", "dataclasses", "enum", "locale", "site", "sysconfig",
				"secrets", "cmath", "colorsys", "difflib", "binascii", "zlib", "hmac", "keyword", "array", "copy", "numbers", "timeit", "dis", "ast", "tokenize", "inspect", "pkg_resources", "packaging", "matplotlib", "scipy", "sklearn", "django", "flask":
			default:
				return false
			}
		}
	}
	return imports == strings.Count(" "+strings.NewReplacer(";", " ", "\n", " ", ":", " ").Replace(code), " import ")
}
