package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/hostshell"
)

// container is the one of a task. It is made at the first command, and again
// when somebody has removed it.
type container struct {
	engine *engine
	o      backend.Options
	set    settings

	mu   sync.Mutex
	id   string
	dirs dirs
}

// The labels by which containers are found again. Whose a container is stands
// in its name, because names can change and labels cannot.
const (
	labelHome = "hermes.home" // which home it belongs to, hashed
	labelTask = "hermes.task"
	labelSpec = "hermes.spec" // what it was made of, hashed
	labelKeep = "hermes.keep" // its files outlast it
)

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// ownName names a container after this program, so that others see whether
// its owner lives.
func ownName() string {
	self := hostshell.Self(kind)
	var id [4]byte
	copy(id[:], randomBytes())
	return fmt.Sprintf("hermes-%s-%d-%s", hex.EncodeToString(id[:]), self.PID, short(self.Start))
}

// owner says whether a container's owner is this program, or lives.
func owner(name string) (mine, lives bool) {
	part := strings.Split(strings.TrimPrefix(name, "/"), "-")
	if len(part) != 4 || part[0] != "hermes" {
		return false, true // somebody renamed it: it is theirs
	}
	pid, err := strconv.Atoi(part[2])
	if err != nil {
		return false, true
	}
	start := hostshell.Named(kind, pid).Start
	lives = start != "" && short(start) == part[3]
	return lives && pid == os.Getpid(), lives
}

// listed is a container as the engine lists it.
type listed struct {
	ID      string `json:"Id"`
	Names   []string
	State   string
	Created int64
	Labels  map[string]string
}

func (c *container) list(ctx context.Context) ([]listed, error) {
	filter, err := json.Marshal(map[string][]string{"label": {labelHome + "=" + short(c.o.Home)}})
	if err != nil {
		return nil, err
	}
	var all []listed
	err = c.engine.call(ctx, http.MethodGet, "/containers/json?all=true&filters="+url.QueryEscape(string(filter)), nil, &all)
	return all, err
}

// running returns the id of the container, which then runs.
func (c *container) running(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id != "" {
		return c.id, nil
	}
	spec, err := c.spec()
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	id, err := c.reuse(ctx, short(string(b)))
	if err != nil {
		return "", err
	}
	if id == "" {
		if id, err = c.create(ctx, spec, short(string(b))); err != nil {
			return "", err
		}
	}
	if err := c.engine.call(ctx, http.MethodPost, "/containers/"+id+"/start", nil, nil); err != nil {
		return "", fmt.Errorf("start the container: %w", err)
	}
	c.id = id
	return id, nil
}

func (c *container) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id == id {
		c.id = ""
	}
}

// keptFor is how long a stopped container that nobody came back to is kept.
// Its files are in a directory of this machine and stay.
const keptFor = 7 * 24 * time.Hour

// reuse finds the container of the task that an earlier environment left, and
// ends what programs left that are gone.
func (c *container) reuse(ctx context.Context, spec string) (string, error) {
	all, err := c.list(ctx)
	if err != nil {
		return "", err
	}
	found := ""
	var errs []error
	for _, l := range all {
		name := ""
		if len(l.Names) > 0 {
			name = l.Names[0]
		}
		mine, lives := owner(name)
		if lives && !mine {
			continue
		}
		same := l.Labels[labelTask] == c.o.Task && l.Labels[labelSpec] == spec
		switch {
		case same && found == "" && l.Labels[labelKeep] == "yes" && l.State != "dead" && l.State != "removing":
			found = l.ID
			if !mine {
				errs = append(errs, c.engine.call(ctx, http.MethodPost, "/containers/"+l.ID+"/rename?name="+ownName(), nil, nil))
			}
		case mine: // of another task, in use
		case l.Labels[labelKeep] != "yes" || time.Since(time.Unix(l.Created, 0)) > keptFor && l.State != "running":
			errs = append(errs, c.remove(ctx, l.ID))
		case l.State == "running":
			errs = append(errs, c.engine.call(ctx, http.MethodPost, "/containers/"+l.ID+"/stop?t=1", nil, nil))
		}
	}
	if err := errors.Join(errs...); err != nil && c.o.Log != nil {
		c.o.Log.Warn("containers of an earlier run were not ended", "err", err)
	}
	return found, nil
}

func (c *container) remove(ctx context.Context, id string) error {
	err := c.engine.call(ctx, http.MethodDelete, "/containers/"+id+"?force=true&v=true", nil, nil)
	if isStatus(err, http.StatusNotFound) || isStatus(err, http.StatusConflict) {
		return nil // it is gone, or going
	}
	return err
}

func (c *container) create(ctx context.Context, spec map[string]any, hash string) (string, error) {
	labels := map[string]string{labelHome: short(c.o.Home), labelTask: c.o.Task, labelSpec: hash, labelKeep: "no"}
	if c.set.Persistent {
		labels[labelKeep] = "yes"
	}
	spec["Labels"] = labels
	if err := c.dirs.make(); err != nil {
		return "", err
	}
	var made struct{ ID string }
	path := "/containers/create?name=" + ownName()
	err := c.engine.call(ctx, http.MethodPost, path, spec, &made)
	if err != nil && strings.Contains(err.Error(), "storage-opt") {
		// Only some file systems can limit a container's disk.
		if host, ok := spec["HostConfig"].(map[string]any); ok {
			delete(host, "StorageOpt")
			if c.o.Log != nil {
				c.o.Log.Warn("the container's disk is not limited", "err", err)
			}
			err = c.engine.call(ctx, http.MethodPost, path, spec, &made)
		}
	}
	if isStatus(err, http.StatusNotFound) {
		if err = c.pull(ctx); err == nil {
			err = c.engine.call(ctx, http.MethodPost, path, spec, &made)
		}
	}
	if err != nil {
		return "", fmt.Errorf("make a container of %s: %w", c.set.Image, err)
	}
	return made.ID, nil
}

// pull fetches the image.
func (c *container) pull(ctx context.Context) error {
	ref := c.set.Image
	tag := ""
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') && !strings.Contains(ref, "@") {
		ref, tag = ref[:i], ref[i+1:]
	} else if !strings.Contains(ref, "@") {
		tag = "latest"
	}
	q := url.Values{"fromImage": {ref}}
	if tag != "" {
		q.Set("tag", tag)
	}
	req, err := c.engine.request(ctx, http.MethodPost, "/images/create?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := c.engine.http.Do(req)
	if err != nil {
		return c.engine.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	if err := check(resp); err != nil {
		return fmt.Errorf("fetch it: %w", err)
	}
	for d := json.NewDecoder(resp.Body); d.More(); {
		var line struct{ Error string }
		if err := d.Decode(&line); err != nil {
			return fmt.Errorf("fetch it: %w", err)
		}
		if line.Error != "" {
			return fmt.Errorf("fetch it: %s", line.Error)
		}
	}
	return nil
}

// Close stops a container whose files are kept, and removes any other.
func (c *container) close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id == "" {
		return nil
	}
	id := c.id
	c.id = ""
	if !c.set.Persistent {
		return c.remove(ctx, id)
	}
	err := c.engine.call(ctx, http.MethodPost, "/containers/"+id+"/stop?t=1", nil, nil)
	if isStatus(err, http.StatusNotFound) || isStatus(err, http.StatusNotModified) {
		return nil
	}
	return err
}

// dirs are the directories of this machine that keep a container's files.
type dirs []string

func (d dirs) make() error {
	for _, dir := range d {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("directory of the container: %w", err)
		}
	}
	return nil
}

// spec is what the container is made of.
func (c *container) spec() (map[string]any, error) {
	s := c.set
	host := map[string]any{
		"Init": true, "CapDrop": []string{"ALL"}, "SecurityOpt": []string{"no-new-privileges"}, "PidsLimit": 256,
		"Tmpfs": map[string]string{
			"/tmp": "rw,exec,nosuid,size=512m,mode=1777", "/var/tmp": "rw,noexec,nosuid,size=256m,mode=1777", "/run": "rw,noexec,nosuid,size=64m",
		},
	}
	tmpfs := host["Tmpfs"].(map[string]string)
	caps := []string{"CHOWN", "DAC_OVERRIDE", "FOWNER"}
	if !s.HostUser {
		caps = append(caps, "SETGID", "SETUID")
	}
	host["CapAdd"] = caps
	if s.CPU > 0 {
		host["NanoCpus"] = int64(s.CPU * 1e9)
	}
	if s.Memory > 0 {
		host["Memory"] = int64(s.Memory) << 20
	}
	if s.Disk > 0 {
		host["StorageOpt"] = map[string]string{"size": fmt.Sprintf("%dm", s.Disk)}
	}
	if !s.Network {
		host["NetworkMode"] = "none"
	}
	binds, workspace, err := c.binds()
	if err != nil {
		return nil, err
	}
	if !workspace && !s.Persistent {
		tmpfs["/workspace"] = "rw,exec,nosuid,size=10g,mode=1777"
	}
	if !s.Persistent {
		tmpfs["/root"] = "rw,exec,nosuid,size=1g,mode=700"
	}
	host["Binds"] = binds
	spec := map[string]any{
		"Image": s.Image, "Entrypoint": []string{}, "Cmd": []string{"sleep", "2147483647"}, "WorkingDir": "/", "HostConfig": host,
	}
	if s.HostUser {
		spec["User"] = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	env := make([]string, 0, len(s.Env))
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	spec["Env"] = env
	return spec, nil
}

// home is where the container's user lives.
const home = "/root"

// binds are the directories and files of this machine that the container sees.
func (c *container) binds() (binds []string, workspace bool, err error) {
	s := c.set
	for _, v := range s.Volumes {
		from, to, ok := strings.Cut(v, ":")
		if !ok || from == "" || !strings.HasPrefix(to, "/") {
			return nil, false, fmt.Errorf("terminal.docker_volumes: %q is no host:container", v)
		}
		if from == "~" || strings.HasPrefix(from, "~/") {
			user, err := os.UserHomeDir()
			if err != nil {
				return nil, false, fmt.Errorf("terminal.docker_volumes: %w", err)
			}
			from = user + from[1:]
		}
		target, _, _ := strings.Cut(to, ":")
		workspace = workspace || target == "/workspace"
		binds = append(binds, from+":"+to)
	}
	if s.MountCwd && !workspace {
		binds, workspace = append(binds, c.o.Cwd+":/workspace"), true
	}
	c.dirs = nil
	if s.Persistent {
		base := s.Dir
		if base == "" {
			base = filepath.Join(c.o.Home, "sandboxes")
		}
		base = filepath.Join(base, "docker", short(c.o.Task))
		c.dirs = append(c.dirs, filepath.Join(base, "home"))
		binds = append(binds, c.dirs[0]+":"+home)
		if !workspace {
			c.dirs = append(c.dirs, filepath.Join(base, "workspace"))
			binds = append(binds, c.dirs[1]+":/workspace")
		}
	}
	for _, name := range c.o.Credentials(s.Creds) {
		file, err := backend.CredentialFile(c.o.Home, name)
		if err != nil {
			if c.o.Log != nil {
				c.o.Log.Warn("terminal.credential_files", "err", err)
			}
			continue
		}
		binds = append(binds, file+":"+home+"/.hermes/"+filepath.ToSlash(name)+":ro")
	}
	if skills := filepath.Join(c.o.Home, "skills"); c.o.Home != "" {
		if info, err := os.Stat(skills); err == nil && info.IsDir() {
			binds = append(binds, skills+":"+home+"/.hermes/skills:ro")
		}
	}
	return binds, workspace, nil
}
