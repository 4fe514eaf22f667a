package shell

import (
	"strings"

	"github.com/hermes-go/hermes/internal/urlsafe"
)

// containers judges the clients of container engines: what they delete, and
// what of this machine they hand to a container.
func containers(j *judge, v *invocation) {
	words := v.verbs(" -f --file -p --project-name -H --host --context -c --profile -v --volume --name -e --env -w -u --network --mount --entrypoint --platform -l --log-level ")
	if len(words) > 0 && (words[0] == "container" || words[0] == "image") {
		words = words[1:]
	}
	compose := strings.HasSuffix(v.name(), "-compose")
	if len(words) > 0 && words[0] == "compose" {
		words, compose = words[1:], true
	}
	if len(words) == 0 {
		return
	}
	many := v.more
	for _, a := range v.args() {
		many = many || a.unknown && a.s == hole && a.subst != nil
	}
	const deletes = "it deletes containers, images or volumes"
	switch words[0] {
	case "down":
		if compose && (v.has('v', "--volumes") || v.has(0xff, "--rmi")) {
			j.ask("delete-outside", v.node, deletes)
		}
	case "rm", "rmi", "remove":
		if v.has('f', "--force") || v.has('v', "--volumes") || many {
			j.ask("delete-outside", v.node, deletes)
		}
	case "stop", "kill", "pause", "restart":
		if many {
			j.ask("delete-outside", v.node, "it stops containers that are searched for")
		}
	case "run", "create", "up", "exec":
		j.handsOver(v)
	}
}

// clusters judges what is asked of a cluster beside the table: secrets shown,
// and pods that reach the machine they run on.
func clusters(j *judge, v *invocation) {
	words := v.verbs(" -n --namespace --context --kubeconfig --cluster --user -s --server -l --selector -o --output ")
	if len(words) > 1 && words[0] == "get" && strings.HasPrefix(words[1], "secret") && (v.has('o', "--output") || v.has(0xff, "--template")) {
		j.ask("secret-read", v.node, "it shows the secrets of a cluster")
	}
	for _, a := range v.args() {
		if strings.Contains(a.s, "hostPID") || strings.Contains(a.s, "hostPath") || strings.Contains(a.s, `"privileged"`) || a.s == "--privileged" || a.s == "--privileged=true" {
			j.ask("system", v.node, "the pod would reach the whole machine that it runs on")
			return
		}
	}
}

// handsOver asks where a container would reach the whole machine.
func (j *judge) handsOver(v *invocation) {
	args := v.args()
	for i, a := range args {
		name, value, joined := strings.Cut(a.s, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1].s
		}
		why := ""
		switch name {
		case "--privileged":
			why = "the container would reach the whole machine"
		case "--pid", "--ipc", "--userns", "--uts", "--cgroupns":
			if value == "host" {
				why = "the container would see what runs on this machine"
			}
		case "--cap-add", "--device", "--security-opt":
			if name != "--security-opt" || strings.Contains(value, "unconfined") || strings.Contains(value, "disable") {
				if name != "--device" || rawDisk().MatchString(value) || strings.HasPrefix(value, "/dev/mem") {
					why = "the container would have rights over this machine"
				}
			}
		case "-v", "--volume", "--mount":
			from, _, _ := strings.Cut(value, ":")
			for part := range strings.SplitSeq(value, ",") {
				if src, ok := strings.CutPrefix(part, "source="); ok {
					from = src
				} else if src, ok := strings.CutPrefix(part, "src="); ok {
					from = src
				}
			}
			if p, known := j.resolve(from); strings.ContainsAny(from, "/~") && known {
				if p == "/" || strings.HasSuffix(p, "docker.sock") || strings.HasSuffix(p, "podman.sock") || j.keyFile(p) || !strings.HasSuffix(value, ":ro") && !j.inTree(p) && (system(p) || j.hitsVital(p, false)) && p != "/etc/localtime" && p != "/etc/timezone" {
					why = "the container would reach what belongs to this machine: " + p
				}
			}
		}
		if why != "" {
			j.ask("system", v.node, why)
			return
		}
	}
}

// requesting judges requests to other machines by method and address.
func requesting(j *judge, v *invocation) {
	deletes, here, engine, posts, acts := false, false, false, false, false
	args := v.args()
	for i, a := range args {
		low := strings.ToLower(a.s)
		if urlsafe.Metadata(hostOf(low)) {
			j.ask("secret-read", v.node, "it asks for the credentials of this machine in its cloud")
			return
		}
		for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "0.0.0.0", ".local:", ".test/", "host.docker.internal"} {
			here = here || strings.Contains(low, host)
		}
		name, value, _ := strings.Cut(a.s, "=")
		if (name == "-X" || name == "--request" || name == "--method") && value == "" && i+1 < len(args) {
			value = args[i+1].s
		}
		for _, port := range []string{":9200", ":9201", ":5984", ":7700", ":6333", ":8086", ":8983", ":9090", ":8001", ":2379"} {
			engine = engine || strings.Contains(low, port)
		}
		posts = posts || name == "-d" || strings.HasPrefix(name, "--data") || strings.EqualFold(value, "POST") || strings.EqualFold(value, "PUT") || a.s == "-XPOST" || a.s == "-XPUT" || a.s == "POST" || a.s == "PUT"
		for _, act := range []string{"_delete_by_query", "delete-batch", "delete_series", "/dodelete", "_cluster/settings", "/_close", "/delete/", "/destroy", "/purge"} {
			acts = acts || strings.Contains(low, act)
		}
		deletes = deletes || strings.EqualFold(value, "DELETE") && strings.HasPrefix(a.s, "-") || strings.EqualFold(a.s, "-XDELETE") || a.s == "DELETE" && (v.name() == "http" || v.name() == "https" || v.name() == "xh")
	}
	if deletes && (!here || engine) || posts && acts {
		j.ask("remote-delete", v.node, "it deletes what lies on other machines")
	}
}

// hostOf is the host of an address as it is given to curl: the scheme may be
// left out.
func hostOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if i := strings.IndexAny(address, "/?#"); i >= 0 {
		address = address[:i]
	}
	address = address[strings.LastIndexByte(address, '@')+1:]
	if i := strings.LastIndexByte(address, ':'); i >= 0 && !strings.HasSuffix(address, "]") && strings.Count(address, ":") == 1 || i > 0 && strings.Contains(address, "]:") {
		address = address[:i]
	}
	return address
}
