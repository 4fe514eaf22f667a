// Package sensitive knows by their paths the files that hold keys, and those
// that are run at every login or tell other programs what to run. It reads no
// file and follows no link: whoever asks resolves the path first. It is the one
// list for the file tools and for the judge of commands.
package sensitive

import (
	"path"
	"strings"
)

// Keys reports whether what is in a file are keys or passwords: a private key,
// the credentials of a cloud, the passwords of the machine. The path is
// absolute, clean and with slashes; capitals do not matter.
func Keys(p string) bool {
	p = strings.ToLower(p)
	dir, b := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	switch b {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss", "id_ecdsa_sk", "id_ed25519_sk", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".git-credentials", ".pypirc", ".npmrc", ".vault-token", ".dockercfg", ".htpasswd",
		"application_default_credentials.json", "accesstokens.json", "msal_token_cache.json", "logins.json", "key4.db", "key3.db", "login data", "cookies", "cookies.sqlite", "wallet.dat", "krb5.keytab",
		".history", ".bash_history", ".zsh_history", ".mysql_history", ".psql_history", ".python_history":
		return true
	case "shadow", "gshadow", "master.passwd", "opasswd":
		return strings.HasPrefix(p, "/etc/") || strings.HasPrefix(p, "/private/etc/")
	case "credentials", "credentials.json", "credentials.tfrc.json", "access_tokens.db", "credentials.db", "credentials.toml":
		return has(p, "/.aws/", "/gcloud/", "/.terraform.d/", "/.cargo/", "/.gem/")
	case "hosts.yml":
		return strings.HasSuffix(dir, "/gh")
	case "config.json":
		return strings.HasSuffix(dir, "/.docker")
	case "config":
		return strings.HasSuffix(dir, "/.kube")
	case "token":
		return has(p, "/secrets/kubernetes.io/")
	case "environ", "kcore", "mem":
		return strings.HasPrefix(p, "/proc/") || p == "/dev/mem"
	case ".env", "auth.json":
		return strings.HasSuffix(dir, "/.hermes")
	}
	if strings.HasPrefix(b, "ssh_host_") && strings.HasSuffix(b, "_key") {
		return dir == "/etc/ssh"
	}
	// Whole directories of keys, and what lies in them.
	for _, d := range [...]string{"/.ssh", "/.gnupg", "/.aws", "/.azure", "/.config/gcloud", "/.password-store", "/.local/share/keyrings", "/library/keychains", "/etc/ssl/private"} {
		switch {
		case strings.HasSuffix(p, d):
			return true
		case !strings.Contains(p, d+"/"):
		case d == "/.ssh":
			return !strings.HasSuffix(b, ".pub") && !strings.HasPrefix(b, "known_hosts") && b != "config" && b != "authorized_keys"
		case d == "/.aws", d == "/.azure":
			return b != "config"
		default:
			return true
		}
	}
	return false
}

// Startup reports whether writing to a file makes programs run what they did
// not, or lets somebody in: start-up files of shells, settings of git and
// package managers, hooks, authorised keys.
func Startup(p string) bool {
	p = strings.ToLower(p)
	dir, b := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	switch b {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".shrc", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc",
		".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", "config.fish", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".rprofile", ".pythonrc",
		".netrc", ".pgpass", ".npmrc", ".pypirc", ".my.cnf", ".git-credentials", ".gitconfig", ".env", ".bash_history", ".zsh_history", "authorized_keys":
		return true
	case "credentials":
		return strings.HasSuffix(dir, "/.aws")
	case "config.yaml", "auth.json":
		return has(p, "/.hermes/")
	}
	if strings.HasPrefix(b, ".env.") && b != ".env.example" && b != ".env.sample" && b != ".env.template" {
		return true
	}
	if !strings.Contains(p, "/.") && !strings.Contains(p, "/library/") {
		return false
	}
	return strings.HasSuffix(p, "/.ssh") || has(p, "/.ssh/", "/.gnupg/", "/.git/hooks/", "/.aws/", "/.azure/", "/.kube/", "/.docker/", "/.config/gh/", "/.config/gcloud/", "/.config/autostart/", "/.config/systemd/user/", "/.config/git/",
		"/.config/fish/", "/.config/environment.d/", "/.local/share/systemd/user/", "/library/launchagents/", "/library/launchdaemons/", "/com.apple.loginwindow.")
}

func has(p string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(p, part) {
			return true
		}
	}
	return false
}
