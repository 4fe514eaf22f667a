package sensitive

import "testing"

func TestKeys(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"/home/u/.ssh/id_rsa": true, "/home/u/.ssh/work": true, "/home/u/.ssh": true, "/home/u/.ssh/id_rsa.pub": false, "/home/u/.ssh/config": false, "/home/u/.ssh/known_hosts": false,
		"/HOME/U/.SSH/ID_RSA": true, "/backup/id_ed25519": true, "/home/u/.aws/credentials": true, "/home/u/.aws/config": false, "/home/u/credentials": false,
		"/etc/shadow": true, "/home/u/shadow": false, "/etc/passwd": false, "/etc/ssh/ssh_host_rsa_key": true, "/etc/ssh/ssh_host_rsa_key.pub": false, "/etc/ssl/private/x": true,
		"/home/u/.kube/config": true, "/home/u/.config/gh/hosts.yml": true, "/home/u/.docker/config.json": true, "/proc/1/environ": true, "/home/u/.hermes/.env": true,
		"/home/u/.netrc": true, "/home/u/project/main.go": false, "/home/u/.gnupg/pubring.kbx": true, "/home/u/.bashrc": false,
	} {
		if got := Keys(p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}

func TestStartup(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"/home/u/.bashrc": true, "/home/u/.zshenv": true, "/home/u/.ssh/authorized_keys": true, "/home/u/.ssh/x": true, "/w/.git/hooks/pre-commit": true, "/w/.git/config": false,
		"/w/.env": true, "/w/.env.local": true, "/w/.env.example": false, "/home/u/.config/autostart/x.desktop": true, "/home/u/Library/LaunchAgents/x.plist": true,
		"/home/u/.config/fish/functions/x.fish": true, "/home/u/.hermes/config.yaml": true, "/w/config.yaml": false, "/home/u/notes.txt": false, "/home/u/.gitconfig": true, "/home/u/.kube/config": true,
	} {
		if got := Startup(p); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}
