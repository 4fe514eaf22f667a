package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/internal/shell"
)

// longLived says why a command does not belong in the foreground, or "". It
// looks at command words only: "cat nohup.out" and "pip install uvicorn" are
// ordinary commands.
func longLived(list []shell.Command) string {
	waits := slices.ContainsFunc(list, func(c shell.Command) bool { return c.Name == "wait" || c.Name == "kill" })
	for _, c := range list {
		for _, name := range append(slices.Clone(c.Wrappers), c.Name) {
			if name == "nohup" || name == "setsid" || name == "disown" {
				return fmt.Sprintf("%s leaves a process behind that nobody looks after. Run the command itself with background=true: it gets a session_id for the process tool.", name)
			}
		}
		if c.Background && !waits {
			return fmt.Sprintf("& leaves %s running behind the command, unseen. Run it with background=true: it gets a session_id for the process tool.", orWord(c.Name, "a process"))
		}
		if slices.Contains(c.Wrappers, "timeout") || asksForHelp(c.Args) || c.Background {
			continue
		}
		if what := server(c); what != "" {
			return fmt.Sprintf("%s does not end by itself. Run it with background=true, and watch_patterns to learn when it is ready.", what)
		}
	}
	return ""
}

func orWord(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func asksForHelp(args []string) bool {
	for _, a := range args {
		switch a {
		case "--help", "--version", "-h", "-v", "-V", "help", "version":
			return true
		}
	}
	return false
}

// server names a command that runs until somebody stops it.
func server(c shell.Command) string {
	var ops []string
	for _, a := range c.Args {
		if !strings.HasPrefix(a, "-") {
			ops = append(ops, a)
		}
	}
	first, second := at(ops, 0), at(ops, 1)
	name := c.Name
	if name == "npx" || name == "bunx" || name == "pnpx" || name == "uvx" || name == "pipx" && first == "run" {
		name, first, second = first, second, at(ops, 2)
	}
	switch name {
	case "npm", "pnpm", "yarn", "bun":
		script := first
		if first == "run" || first == "run-script" {
			script = second
		}
		switch script {
		case "dev", "start", "serve", "watch":
			return name + " " + script
		}
	case "docker", "docker-compose", "podman":
		if (name == "docker-compose" && first == "up" || first == "compose" && second == "up") && !detached(c.Args) {
			return "docker compose up"
		}
	case "next", "nuxt", "astro":
		if first == "dev" || first == "start" {
			return name + " " + first
		}
	case "vite":
		if first == "" || first == "dev" || first == "serve" || first == "preview" {
			return name
		}
	case "nodemon", "uvicorn", "gunicorn", "hypercorn", "live-server", "http-server", "ngrok", "webpack-dev-server":
		return name
	case "flask", "php", "rails", "jekyll", "hugo", "mkdocs":
		if first == "run" && name == "flask" || first == "serve" || first == "server" || name == "rails" && first == "s" || name == "php" && slices.Contains(c.Args, "-S") {
			return name + " " + orWord(first, "-S")
		}
	case "tail", "journalctl":
		for _, a := range c.Args {
			if a == "-f" || a == "-F" || a == "--follow" {
				return name + " " + a
			}
		}
	}
	if strings.HasPrefix(name, "python") {
		if i := slices.Index(c.Args, "-m"); i >= 0 && i+1 < len(c.Args) {
			switch m := c.Args[i+1]; m {
			case "http.server", "uvicorn", "gunicorn", "SimpleHTTPServer":
				return name + " -m " + m
			}
		}
	}
	return ""
}

func detached(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "-d" || a == "--detach" || a == "--wait" })
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}
