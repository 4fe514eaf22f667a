package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hermes-go/hermes/internal/sensitive"
)

// readsFiles reports whether a program hands on what is in the files that it
// is given, so that keys in them would be shown or copied.
func readsFiles(name string) bool {
	switch name {
	case "cat", "tac", "less", "more", "head", "tail", "nl", "bat", "batcat", "view", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "awk", "gawk", "mawk", "nawk", "sed", "gsed",
		"cut", "sort", "uniq", "strings", "xxd", "hexdump", "hd", "od", "base64", "base32", "basenc", "rev", "fold", "fmt", "pr", "paste", "comm", "diff", "cmp", "split", "csplit", "jq", "yq", "column", "expand", "iconv", "dd", "openssl",
		"cp", "gcp", "ditto", "pax", "sqlite3", "install", "scp", "sftp", "rsync", "ln", "tar", "bsdtar", "gtar", "zip", "7z", "7za", "gzip", "bzip2", "xz", "zstd", "cpio", "ar", "nc", "ncat", "socat", "mail", "mutt", "sendmail", "mailx",
		"source", ".", "mapfile", "readarray", "vi", "vim", "nvim", "nano", "emacs", "ed", "john", "hashcat", "ssh2john", "ssh2john.py", "tee", "pbcopy", "xclip", "wl-copy", "curl", "wget", "python", "python3", "perl", "ruby", "node", "php", "pandoc", "docker", "aws", "gsutil", "rclone", "s3cmd", "gpg2john":
		return true
	}
	return false
}

// keyFile knows the files whose contents are keys.
func (j *judge) keyFile(p string) bool {
	if j.env.Private != "" && path.Dir(p) == j.env.Private && (path.Base(p) == ".env" || path.Base(p) == "auth.json") {
		return true
	}
	return sensitive.Keys(p)
}

// reading asks where keys would be shown, copied or sent.
func (j *judge) reading(v *invocation) {
	if !readsFiles(v.name()) {
		return
	}
	last := len(v.args()) - 1
	for i, a := range v.args() {
		if i == last && (v.name() == "cp" || v.name() == "gcp" || v.name() == "ditto" || v.name() == "install" || v.name() == "ln" || v.name() == "tee") {
			break // what is written is judged as writing
		}
		s := a.s
		if i > 0 && (v.args()[i-1].s == "-i" || v.args()[i-1].s == "-F") && (v.name() == "scp" || v.name() == "sftp" || v.name() == "rsync") {
			continue // the key to log in with
		}
		switch {
		case strings.HasPrefix(s, "if="), strings.HasPrefix(s, "-i"), strings.HasPrefix(s, "-in"), strings.HasPrefix(s, "--file="), strings.HasPrefix(s, "--body-file="), strings.HasPrefix(s, "--post-file="):
			if _, value, ok := strings.Cut(s, "="); ok {
				s = value
			}
		case strings.HasPrefix(s, "-"):
			continue
		}
		if at := strings.IndexByte(s, '@'); at >= 0 && (v.name() == "curl" || v.name() == "wget") {
			s = s[at+1:]
		}
		if p, known := j.resolve(s); known && j.keyFile(p) && !j.inTree(p) {
			j.ask("secret-read", v.node, "it shows or copies keys or passwords: "+p)
			return
		} else if known && a.glob && j.keyGlob(p) {
			j.ask("secret-read", v.node, "it may show or copy keys or passwords: "+p)
			return
		}
	}
}

// keyGlob is keyFile for a pattern.
func (j *judge) keyGlob(p string) bool {
	if !strings.Contains(p, "/.") && !strings.HasPrefix(p, "/etc/") && !strings.HasPrefix(p, "/home/*") && !strings.HasPrefix(p, "/root/") {
		return false
	}
	for _, f := range []string{"/etc/shadow", "/etc/gshadow", j.env.Home + "/.ssh/id_rsa", j.env.Home + "/.ssh/id_ed25519", j.env.Home + "/.aws/credentials", j.env.Home + "/.netrc"} {
		if ok, err := path.Match(p, f); err == nil && ok {
			return true
		}
	}
	return strings.Contains(p, "/.ssh/") || strings.Contains(p, "/.gnupg/")
}

// readsKeys judges a redirection from a file.
func (j *judge) readsKeys(r *syntax.Redirect, p string) {
	if q, known := j.resolve(p); known && j.keyFile(q) && !j.inTree(q) {
		j.ask("secret-read", r, "it shows or copies keys or passwords: "+q)
	}
}

// traces judges hiding what was done.
func traces(j *judge, v *invocation) {
	for _, a := range v.args() {
		switch {
		case v.name() == "set" && a.s == "history" && v.args()[0].s == "+o",
			v.name() == "history" && (strings.HasPrefix(a.s, "-c") || strings.HasPrefix(a.s, "-d") || strings.HasPrefix(a.s, "-wc")),
			v.name() == "unset" && (a.s == "HISTFILE" || a.s == "PROMPT_COMMAND"):
			j.ask("traces", v.node, "it hides what was done from the history")
			return
		}
	}
}

// making judges making empty files, pipes and directories.
func making(j *judge, v *invocation) {
	for _, a := range v.operands() {
		if v.name() == "mkfifo" || v.name() == "mknod" {
			j.fetched[base(a.s)] = true // who writes into it is not known
		}
		j.write(v.node, a)
	}
}
