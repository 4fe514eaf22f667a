package shell

import (
	"strings"
	"sync"
)

// deed is something that programs do about which a person decides, and how
// to tell it from the words of the command.
type deed struct {
	programs     string // by name
	rule, reason string
	words        string // the subcommands that mean it, "|" between; "": every use
	options      string // the options that mean it, whatever the subcommand
	shows        string // the subcommands and options with which it is only shown
	takes        string // options that are followed by a value
	bare         bool   // it needs no arguments
	hard         bool   // nobody decides: it is never run
}

func (d *deed) class() Class {
	if d.hard {
		return Hardline
	}
	return Ask
}

// deedsOf returns what is known of a program.
func deedsOf(program string) []*deed { return deedIndex()[program] }

var deedIndex = sync.OnceValue(func() map[string][]*deed {
	index := map[string][]*deed{}
	all := deeds()
	for i := range all {
		d := &all[i]
		for name := range strings.FieldsSeq(d.programs) {
			index[name] = append(index[name], d)
		}
	}
	return index
})

// meant reports whether a command does it.
func (d *deed) meant(v *invocation) bool {
	args := v.args()
	if len(args) == 0 && !v.more {
		return d.bare
	}
	for _, a := range args {
		if a.s == "--help" || a.s == "--version" || a.s == "--dryrun" || a.s == "--dry-run" || strings.HasPrefix(a.s, "--dry-run=") && a.s != "--dry-run=none" {
			return false
		}
	}
	words := v.verbs(d.takes)
	if len(words) > 1 && words[len(words)-1] == "help" || len(words) > 0 && words[0] == "help" {
		return false
	}
	if d.shows != "" && d.told(args, words, d.shows) {
		return false
	}
	if d.words == "" && d.options == "" {
		return true
	}
	return d.told(args, words, d.words) || d.told(args, words, d.options)
}

// told reports whether one of the patterns is met: an option, or subcommands.
func (d *deed) told(args []arg, words []string, patterns string) bool {
	for pattern := range strings.SplitSeq(patterns, "|") {
		if pattern == "" {
			continue
		}
		if pattern[0] == '-' && hasOption(args, pattern) || pattern[0] != '-' && startsWith(words, pattern) {
			return true
		}
	}
	return false
}

// hasOption finds an option; a single letter also among others.
func hasOption(args []arg, option string) bool {
	for _, a := range args {
		name, _, _ := strings.Cut(a.s, "=")
		switch {
		case a.s == "--":
			return false
		case name == option, a.s == option, strings.HasSuffix(option, "*") && strings.HasPrefix(name, option[:len(option)-1]):
			return true
		case len(option) == 2 && len(name) > 2 && name[0] == '-' && name[1] != '-' && strings.IndexByte(name, option[1]) > 0:
			return true
		}
	}
	return false
}

// startsWith matches subcommands: * is any one of them, ** any number at the
// beginning, and a * at the end of a word any end. A word that is not known
// may be every one but after **.
func startsWith(words []string, pattern string) bool {
	want := strings.Fields(pattern)
	if want[0] == "**" {
		for i := range words {
			if wordsMatch(words[i:], want[1:], false) {
				return true
			}
		}
		return false
	}
	return wordsMatch(words, want, true)
}

func wordsMatch(words, want []string, guess bool) bool {
	if len(words) < len(want) {
		return false
	}
	for i, w := range want {
		if words[i] != w && !like(words[i], w) && !(guess && words[i] == hole) {
			return false
		}
	}
	return true
}

// like matches a word with a * at one or both of its ends.
func like(word, pattern string) bool {
	stem, open := strings.CutSuffix(pattern, "*")
	rest, begins := strings.CutPrefix(stem, "*")
	switch {
	case open && begins:
		return strings.Contains(word, rest)
	case open:
		return strings.HasPrefix(word, stem)
	}
	return begins && strings.HasSuffix(word, rest)
}

// deeds is what is known, by what it does.
func deeds() []deed {
	const (
		machine  = "it changes how this machine is set up"
		network  = "it changes the network or the firewall of this machine"
		account  = "it changes who may use this machine"
		removal  = "it removes software from this machine"
		elsewere = "it deletes what lies on other machines"
		volumes  = "it deletes containers, images or volumes"
		disk     = "it changes disks or what is on them as a whole"
		service  = "it stops or disables a service"
		database = "it empties a database"
		publish  = "it publishes something that cannot be taken back"
	)
	return []deed{
		// Software.
		{programs: "apt apt-get aptitude", rule: "package-removal", reason: removal, words: "remove|purge|autoremove|autopurge|dist-clean"},
		{programs: "dpkg rpm", rule: "package-removal", reason: removal, options: "-r|-P|--remove|--purge|-e|--erase|--force-*|--nodeps", shows: "-q|-l|-L|-s|-S|--list*|--query|-V|--verify"},
		{programs: "dnf yum microdnf zypper tdnf", rule: "package-removal", reason: removal, words: "remove|erase|autoremove|rm|swap|module remove|history undo|history rollback"},
		{programs: "pacman yay paru pamac", rule: "package-removal", reason: removal, options: "-R|--remove", words: "remove", shows: "-Q|-S|-F"},
		{programs: "apk opkg pkg pkgin port xbps guix slackpkg eopkg", rule: "package-removal", reason: removal, words: "del|delete|remove|uninstall|autoremove|purge"},
		{programs: "snap flatpak brew choco winget scoop nix-env emerge", rule: "package-removal", reason: removal, words: "remove|uninstall|rm|autoremove", options: "--zap|--unmerge|--depclean|--uninstall"},
		{programs: "xbps-remove removepkg pkg_delete nix-collect-garbage", rule: "package-removal", reason: removal, bare: true},
		{programs: "conda mamba micromamba", rule: "package-removal", reason: "it removes a whole environment", words: "env remove", options: "--all", shows: "install|update|create|list|search|clean|run"},
		{programs: "npm pnpm yarn cargo gem twine poetry uv flit hatch pdm vsce ovsx goreleaser", rule: "publish", reason: publish, words: "publish|unpublish|upload|push|yank|owner add|owner remove|owner rm|deprecate|npm publish|release|access revoke|access set|access grant|team destroy|team rm|team add|token revoke|org rm|org set|dist-tag add|dist-tag rm|hook rm", shows: "-n|--snapshot"},
		{programs: "dotnet", rule: "publish", reason: publish, words: "nuget push|nuget delete"},
		{programs: "mvn gradle gradlew mvnw", rule: "publish", reason: publish, words: "** deploy|** publish|** release:perform"},

		// Accounts.
		{programs: "useradd userdel usermod adduser deluser addgroup delgroup groupadd groupdel groupmod gpasswd newusers chpasswd vipw vigr pw smbpasswd chfn kadmin kadmin.local sysadminctl dseditgroup", rule: "account", reason: account, bare: true, shows: "-h|usershow|groupshow"},
		{programs: "passwd", rule: "account", reason: account, bare: true, shows: "-S|--status"},
		{programs: "chsh", rule: "account", reason: account, bare: true, shows: "-l|--list-shells"},
		{programs: "chage", rule: "account", reason: account, shows: "-l|--list"},
		{programs: "visudo", rule: "account", reason: account, bare: true, shows: "-c|--check"},
		{programs: "dscl", rule: "account", reason: account, words: "** create|** delete|** passwd|** append", options: "-create|-delete|-passwd|-append|-change|-merge"},
		{programs: "journalctl", rule: "traces", reason: "it deletes logs", options: "--vacuum-*|--rotate"},
		{programs: "wevtutil logrotate", rule: "traces", reason: "it deletes logs", words: "cl", options: "-f|--force"},
		{programs: "spctl", rule: "system", reason: machine, options: "--master-disable|--global-disable|--add|--remove|--disable"},
		{programs: "defaults", rule: "system", reason: "it makes something run at every login", words: "write com.apple.loginwindow|write /*|write loginwindow"},
		{programs: "loginctl", rule: "account", reason: "it ends somebody's session", words: "terminate-*|kill-*|disable-linger|enable-linger"},

		// Network.
		{programs: "iptables ip6tables ebtables arptables", rule: "network-setup", reason: network, shows: "-L|-S|-C|--list|--list-rules|--check|-h|-V"},
		{programs: "iptables-restore ip6tables-restore ifup ifdown dhclient dhcpcd wg-quick", rule: "network-setup", reason: network, bare: true},
		{programs: "nft", rule: "network-setup", reason: network, words: "add|create|insert|delete|destroy|flush|replace|rename|reset|import", options: "-f|--file|-i"},
		{programs: "ufw", rule: "network-setup", reason: network, shows: "status|show|version|app list|app info"},
		{programs: "firewall-cmd", rule: "network-setup", reason: network, shows: "--state|--list-*|--get-*|--query-*|--info-*|--check-config"},
		{programs: "ip", rule: "network-setup", reason: network, words: "* add|* a|* append|* change|* replace|* set|* del|* delete|* d|* flush|* f|* restore|* attach|* up|* down", takes: " -n -netns -f -family "},
		{programs: "ifconfig iwconfig", rule: "network-setup", reason: network, words: "* *"},
		{programs: "route", rule: "network-setup", reason: network, words: "add|del|delete|change|flush"},
		{programs: "arp", rule: "network-setup", reason: network, options: "-d|-s|-f|--delete|--set"},
		{programs: "nmcli", rule: "network-setup", reason: network, words: "* add|* delete|* modify|* up|* down|* edit|* disconnect|* connect|* wifi connect|* off|* wifi off|* reload|* import|* set", takes: " -f -t -g --fields --get-values "},
		{programs: "tc brctl ipset conntrack ovs-vsctl bridge", rule: "network-setup", reason: network, words: "* add|* del|* delete|* change|* replace|add*|del*|create|destroy|flush|swap|set", options: "-D|-F|-I|-U|--delete|--flush"},
		{programs: "networksetup", rule: "network-setup", reason: network, options: "-set*|-remove*|-create*|-add*|-delete*|-rename*"},
		{programs: "pfctl", rule: "network-setup", reason: network, shows: "-s|-n"},
		{programs: "ethtool", rule: "network-setup", reason: network, options: "-s|-A|-C|-G|-K|-L|-E|-f|-r|--change|--reset|--flash"},
		{programs: "networkctl rfkill tailscale wg", rule: "network-setup", reason: network, words: "down|up|delete|block|logout|reconfigure|set|setconf|syncconf|addconf"},
		{programs: "resolvectl", rule: "network-setup", reason: network, words: "dns * *|domain * *|revert|default-route * *"},

		// The machine.
		{programs: "insmod rmmod kexec depmod", rule: "system", reason: machine, shows: "-n"},
		{programs: "modprobe", rule: "system", reason: machine, shows: "-n|-c|-D|--show-depends|--showconfig|--resolve-alias|--dry-run"},
		{programs: "sysctl", rule: "system", reason: machine, words: "*=*", options: "-w|-p|-f|--write|--load|--system"},
		{programs: "setenforce setsebool semanage semodule aa-disable aa-complain aa-teardown aa-enforce apparmor_parser update-grub grub-install update-initramfs mkinitcpio dracut update-ca-certificates update-ca-trust swapoff update-rc.d chkconfig insserv sysrc csrutil rtcwake kextload kextunload", rule: "system", reason: machine, bare: true, shows: "-l|--list|-v|show|status|export|list"},
		{programs: "auditctl", rule: "system", reason: machine, shows: "-l|-s"},
		{programs: "timedatectl hostnamectl localectl", rule: "system", reason: machine, words: "set-*|hostname *|icon-name *|chassis *"},
		{programs: "hostname domainname", rule: "system", reason: machine, words: "*", shows: "-f|-i|-I|-s|-d|-A"},
		{programs: "hwclock", rule: "system", reason: machine, options: "-w|-s|--set|--systohc|--hctosys|--adjust"},
		{programs: "date", rule: "system", reason: machine, options: "-s|--set", shows: "-d|--date|-r|-f|-j|-v"},
		{programs: "update-alternatives alternatives", rule: "system", reason: machine, shows: "--display|--list|--query|--get-selections"},
		{programs: "mount", rule: "system", reason: "it mounts or unmounts file systems", shows: "-l|-h|-V"},
		{programs: "umount", rule: "system", reason: "it mounts or unmounts file systems"},
		{programs: "enable", rule: "unknown-command", reason: "it loads code into the shell", options: "-f"},
		{programs: "hash", rule: "unknown-command", reason: "it makes a name stand for another program", options: "-p"},
		{programs: "xkill", rule: "kill", reason: "it ends programs", bare: true},
		{programs: "bq", rule: "remote-delete", reason: elsewere, words: "rm"},
		{programs: "sc", rule: "service", reason: service, words: "stop|delete|config|create"},
		{programs: "loginctl", rule: "power", reason: "it would stop the machine", words: "poweroff|reboot|halt|kexec", hard: true},
		{programs: "loginctl", rule: "power", reason: "it puts the machine to sleep", words: "suspend|hibernate|hybrid-sleep|suspend-then-hibernate"},
		{programs: "systemctl", rule: "service", reason: "it changes which services start with the machine", words: "enable|reenable|preset|preset-all|set-default|edit|link|revert|daemon-reexec|set-property|set-environment|switch-root|unmask|import-environment", takes: " -H -M -t -p --host --machine --type --property -n -o "},
		{programs: "resize2fs xfs_repair xfs_growfs e2label sg_format growpart partx kpartx nwipe scrub sfill sswap sdmem extundelete ntfsfix ntfsresize woeusb ventoy asr ddrescue partclone.ext4 mkusb", rule: "disk", reason: disk, shows: "-n|-P|-s|-l|-V|--show|--list"},
		{programs: "badblocks debugfs flashrom minipro", rule: "disk", reason: disk, options: "-w|-E|--erase|--write"},
		{programs: "efibootmgr", rule: "system", reason: machine, options: "-b|-B|-c|-o|-n|-N|-O|-t|-T|-a|-A|-d|-D|--create|--delete-*|--bootorder|--bootnext|--active|--inactive"},
		{programs: "nvram", rule: "system", reason: machine, words: "*=*", options: "-d|-c|-f"},
		{programs: "rc-update", rule: "system", reason: machine, words: "add|del|delete|-d"},
		{programs: "fsck e2fsck fsck.ext4 fsck.ext3 fsck.ext2 fsck.xfs fsck.vfat", rule: "disk", reason: disk, bare: true, shows: "-n|-N"},
		{programs: "tune2fs", rule: "disk", reason: disk, shows: "-l"},
		{programs: "hdparm", rule: "disk", reason: disk, options: "--security-*|--make-bad-sector|--trim-sector-ranges|--write-sector|--fwdownload|--yes-i-know-what-i-am-doing|-Y|-y|-s"},
		{programs: "nvme", rule: "disk", reason: disk, words: "format|sanitize|delete-ns|create-ns|write|write-zeroes|fw-*|reset|subsystem-reset"},
		{programs: "lvremove vgremove pvremove lvreduce vgreduce lvresize vgexport lvconvert pvcreate vgcreate pvmove", rule: "disk", reason: disk},
		{programs: "lvm", rule: "disk", reason: disk, words: "lvremove|vgremove|pvremove|lvreduce|vgreduce|lvresize|pvcreate"},
		{programs: "mdadm", rule: "disk", reason: disk, shows: "-D|-Q|-E|--detail|--query|--examine|--monitor|--detail-platform"},
		{programs: "cryptsetup", rule: "disk", reason: disk, words: "luksFormat|luksErase|erase|luksKillSlot|luksRemoveKey|luksChangeKey|reencrypt|format|plainFormat|luksHeaderRestore|tcryptFormat"},
		{programs: "zfs zpool", rule: "disk", reason: disk, words: "destroy|rollback|remove|detach|offline|labelclear|create|promote|receive|recv|export|replace|split"},
		{programs: "btrfs bcachefs", rule: "disk", reason: disk, words: "subvolume delete|sub delete|su de|device delete|device remove|dev delete|balance|check|rescue|filesystem resize|format"},
		{programs: "diskutil", rule: "disk", reason: disk, words: "erase*|partitionDisk|reformat|zeroDisk|randomDisk|secureErase|apfs delete*|apfs erase*|unmount*|eject|resizeVolume|mergePartitions|splitPartition|cs delete*|appleRAID delete"},
		{programs: "tmutil", rule: "disk", reason: "it deletes backups", words: "delete*|disable|restore"},
		{programs: "restic borg duplicity", rule: "remote-delete", reason: "it deletes backups", words: "forget|prune|delete|recreate|compact|remove-*|collection-status --force"},

		// Services.
		{programs: "apachectl apache2ctl httpd nginx supervisorctl lighttpd", rule: "service", reason: service, words: "stop|restart|graceful-stop|shutdown|quit"},
		{programs: "pg_ctl pg_ctlcluster", rule: "service", reason: service, words: "stop|restart|* * stop|* * restart|kill"},

		// Containers and clusters.
		{programs: "docker podman nerdctl", rule: "delete-outside", reason: volumes, words: "volume rm|volume remove|system prune|system reset|* prune|swarm leave|stack rm|pod rm|pod kill|service rm|node rm|secret rm|config rm|machine rm|context rm|plugin rm|buildx rm"},
		{programs: "minikube kind k3d multipass eksctl kops lxc incus crc colima limactl qm pct virsh VBoxManage vboxmanage docker-machine vagrant argocd nomad helmfile consul rancher k0s linode-cli", rule: "remote-delete", reason: "it deletes a machine or a cluster", words: "delete|purge|destroy|undefine|rm|reset|** delete|** destroy|** unregistervm|kv delete|job stop"},
		{programs: "kubeadm", rule: "remote-delete", reason: "it takes a cluster apart", words: "reset"},
		{programs: "kubectl oc", rule: "remote-delete", reason: elsewere, words: "delete|drain|cordon|taint|config delete-*|config unset|adm drain|adm prune|rollout undo", takes: " -n --namespace --context --kubeconfig --cluster --user -s --server -f --filename -l --selector "},
		{programs: "kubectl oc", rule: "remote-delete", reason: elsewere, options: "--replicas=0|--prune|--force", takes: " -n --namespace "},
		{programs: "helm", rule: "remote-delete", reason: elsewere, words: "uninstall|delete|del|un", takes: " -n --namespace --kube-context --kubeconfig "},
		{programs: "terraform tofu terragrunt pulumi cdk cdktf", rule: "remote-delete", reason: elsewere, words: "** destroy|state rm|workspace delete|stack rm|force-unlock|run-all destroy", options: "-destroy|--destroy", takes: " --stack -s "},
		{programs: "gcloud az doctl heroku fly flyctl gh glab ibmcloud oci hcloud scw vultr-cli yc aliyun firebase netlify vercel now wrangler railway supabase serverless sls sam copilot eb platform cf openstack nova glance cinder neutron civo exo stripe hub lando dvc loft ko krunvm ia kaggle keybase pio doppler crane gcrane fastboot adb orb  picotool dolt immich-go shopify eas expo amplify cloudflared fastly ", rule: "remote-delete", reason: elsewere, words: "** delete|** destroy|** *-delete|** destroy-*|** remove|** remove-*|** rm|** erase|** format|** revoke|** deprovision|** uninstall|** reboot|** stop|** purge|** *:destroy|** *:delete|** *:reset|** db reset|** undeploy|** disable-*|** terminate|** deallocate|db reset|delete|remove"},
		{programs: "qm pct pvesh pveum pvesm", rule: "remote-delete", reason: "it stops or deletes a machine", words: "des*|del*|sh|shu*|reb*|reset|stop|rollback|u d *|f *", options: "--delete"},
		{programs: "lxc-destroy lxc-stop k3s-uninstall.sh k3s-killall.sh steamos-factory-reset eclean-kernel", rule: "remote-delete", reason: "it deletes a machine or a cluster", bare: true},
		{programs: "fuser", rule: "kill", reason: "it ends whatever uses a file", options: "-k|--kill"},
		{programs: "ss", rule: "network-setup", reason: network, options: "-K|--kill"},
		{programs: "tcpkill", rule: "network-setup", reason: network},
		{programs: "nix-env", rule: "package-removal", reason: removal, options: "-e"},
		{programs: "nix-store nix", rule: "package-removal", reason: removal, words: "store delete|store gc|profile remove|profile wipe-history", options: "--delete|--gc"},
		{programs: "nala urpme synopkg cards swupd", rule: "package-removal", reason: removal, words: "remove|purge|autoremove|autopurge|uninstall|bundle-remove", options: "-e"},
		{programs: "fdupes jdupes rdfind rmlint czkawka_cli dupeguru", rule: "delete-unknown", reason: "what it deletes is only known once it runs", words: "** true|** delete", options: "-d|-N|--delete|-deleteduplicates|-D"},
		{programs: "timeshift snapper rusnapshot", rule: "delete-outside", reason: "it deletes or restores snapshots of the system", words: "delete|** delete|** rollback|undochange|** undochange|** delete *", options: "--delete|--delete-all|--restore|--del|--clean"},
		{programs: "trash-empty", rule: "delete-outside", reason: "it empties the trash", bare: true},
		{programs: "brew", rule: "package-removal", reason: removal, words: "bundle cleanup|untap|services stop|services kill"},
		{programs: "mkcert", rule: "system", reason: "it changes which certificates this machine trusts", options: "-install|-uninstall"},
		{programs: "xhost", rule: "permissions", reason: "it lets others use this screen and keyboard", words: "+*"},
		{programs: "tccutil pwpolicy fdesetup softwareupdate systemsetup scutil mdutil", rule: "system", reason: machine, words: "reset|disable|enable|add|remove|** reset", options: "-disableuser|-enableuser|-set*|--set|-E|-i|-r|-X", shows: "-list*|-get*|--get"},
		{programs: "virt-sysprep virt-customize guestfish", rule: "remote-delete", reason: "it changes a machine as a whole"},
		{programs: "exim postsuper", rule: "delete-outside", reason: "it deletes mail", options: "-Mrm|-d"},
		{programs: "lpadmin cupsdisable cupsctl", rule: "service", reason: "it changes the printers of this machine"},
		{programs: "gpg-card ykman pkcs11-tool", rule: "secret-read", reason: "it changes or deletes keys on a card", words: "** reset|factory-reset|** delete", options: "-b|--delete-object"},
		{programs: "udisksctl", rule: "system", reason: "it mounts or unmounts file systems", words: "unmount|power-off|mount|loop-delete|lock"},
		{programs: "systemctl", rule: "power", reason: "it would stop the machine", words: "soft-reboot|hybrid-sleep|suspend-then-hibernate|exit|halt|sleep", takes: " -H -M -t -p "},
		{programs: "gh glab", rule: "remote-delete", reason: "it deletes or hands over what lies elsewhere", words: "repo archive|repo rename|repo transfer"},
		{programs: "aws", rule: "remote-delete", reason: elsewere, words: "s3 rm|s3 rb|* delete-*|* terminate-*|* deregister-*|* purge-*|* remove-*|* stop-*|* reboot-*|* admin-delete-*|* cancel-*|* detach-*|* disassociate-*|* unsubscribe|* disable-*|* revoke-*|* reset-*|* batch-delete-*|* schedule-key-deletion|* put-bucket-policy|* put-user-policy|* attach-user-policy|* attach-role-policy|* create-access-key", options: "--delete", takes: " --profile --region --output --endpoint-url --query "},
		{programs: "gsutil", rule: "remote-delete", reason: elsewere, words: "rm|rb|-m rm|** rm", options: "-d", shows: "ls|cp|cat|stat|du", takes: " -h -o "},
		{programs: "rclone", rule: "remote-delete", reason: elsewere, words: "delete|deletefile|purge|sync|move|moveto|cleanup|rmdirs|bisync"},
		{programs: "s3cmd s4cmd s5cmd mc azcopy b2 swift", rule: "remote-delete", reason: elsewere, words: "del|rb|rm|remove|delete*|expire|mirror", options: "--delete-removed|--delete-destination"},
		{programs: "vault etcdctl", rule: "remote-delete", reason: elsewere, words: "delete|del|kv delete|kv destroy|kv metadata delete|secrets disable|auth disable|policy delete|operator seal|lease revoke|token revoke|member remove|auth disable"},
		{programs: "rabbitmqctl rabbitmqadmin kafka-topics kafka-topics.sh kafka-consumer-groups nodetool", rule: "remote-delete", reason: "it deletes queues or their messages", words: "reset|force_reset|purge_queue|delete_*|delete|purge|stop|stop_app|decommission|removenode|assassinate", options: "--delete|--delete-offsets"},

		// Databases by their own tools.
		{programs: "dropdb dropuser pg_dropcluster", rule: "sql", reason: "it drops a database"},
		{programs: "mysqladmin mariadb-admin", rule: "sql", reason: "it drops or stops a database", words: "** drop|** shutdown|** kill|** flush-*|** password", takes: " -u -h -P -S --user --host --port "},
		{programs: "pg_restore", rule: "sql", reason: "it drops what it restores over", options: "-c|--clean"},
		{programs: "rails rake", rule: "sql", reason: database, words: "** db:drop*|** db:reset*|** db:purge*|** db:schema:load*|** db:migrate:reset*|** db:truncate_all"},
		{programs: "artisan migrate flyway liquibase dbmate prisma sequelize sequelize-cli typeorm knex alembic mikro-orm drizzle-kit goose atlas ecto", rule: "sql", reason: database, words: "** migrate:fresh|** migrate:reset|** migrate:refresh|** db:wipe|** clean|** dropAll|** drop-all|** drop|** migrate reset|** db:drop|** db:drop:all|** schema:drop|** migrate:rollback|** downgrade base|reset|down|** schema:fresh|** schema clean", options: "--force-reset|--accept-data-loss"},
		{programs: "manage.py django-admin", rule: "sql", reason: database, words: "flush|reset_db|sqlflush|* zero|migrate * zero"},
		{programs: "mix", rule: "sql", reason: database, words: "ecto.drop|ecto.reset|ecto.rollback"},
		{programs: "mongorestore", rule: "sql", reason: database, options: "--drop"},

		// Keys.
		{programs: "systemd-run", rule: "schedule", reason: "it schedules commands that run later, unseen", options: "--on-calendar|--on-boot|--on-startup|--on-active|--on-unit-active|--on-unit-inactive|--timer-property"},
		{programs: "launchctl", rule: "schedule", reason: "it makes something run at every login, or stops it", words: "submit|load|bootstrap|enable"},
		{programs: "ngrok localtunnel lt devtunnel bore zrok frpc", rule: "network", reason: "it opens this machine to others", words: "http|tcp|tls|start|host|share|local", options: "--port|-p|-c"},
		{programs: "code cloudflared tailscale", rule: "network", reason: "it opens this machine to others", words: "tunnel|tunnel run *|funnel|serve", options: "--url"},
		{programs: "psexec.py wmiexec.py smbexec.py atexec.py dcomexec.py evil-winrm crackmapexec netexec nxc impacket-psexec impacket-wmiexec", rule: "remote-code", reason: "it runs commands on another machine"},
		{programs: "laZagne.py lazagne.py mimipenguin.sh mimipenguin.py", rule: "secret-read", reason: "it reads passwords", bare: true},
		{programs: "dsenableroot", rule: "account", reason: account, bare: true},
		{programs: "mdatp", rule: "system", reason: "it changes the protection of this machine", words: "config|exclusion"},
		{programs: "xattr", rule: "permissions", reason: "it takes the mark off files that come from other machines", words: "com.apple.quarantine"},
		{programs: "gcloud", rule: "account", reason: "it gives somebody rights", words: "iam service-accounts keys create|** add-iam-policy-binding|** set-iam-policy|iam roles create"},
		{programs: "az", rule: "account", reason: "it gives somebody rights", words: "role assignment create|ad sp create*|ad sp credential reset|ad app credential reset|keyvault secret show"},
		{programs: "kubectl oc", rule: "account", reason: "it gives somebody rights", words: "create clusterrolebinding|create rolebinding|create token|adm policy"},
		{programs: "aws", rule: "secret-read", reason: "it shows stored passwords", words: "secretsmanager get-secret-value|ec2 get-password-data|iam create-login-profile|sts get-session-token"},
		{programs: "op doppler", rule: "remote-delete", reason: "it deletes stored passwords", words: "** delete|** remove|** revoke"},
		{programs: "pm2 forever", rule: "service", reason: service, words: "delete|kill|del|stopall"},
		{programs: "deck velero argo linkerd istioctl flux", rule: "remote-delete", reason: elsewere, words: "** reset|** sync|uninstall|** delete|** rollback"},
		{programs: "java", rule: "remote-delete", reason: elsewere, words: "** delete-*"},
		{programs: "wrangler vercel netlify", rule: "remote-delete", reason: "it brings back an older release", words: "** rollback"},
		{programs: "aws", rule: "remote-delete", reason: "it changes where names lead, or stored passwords", words: "route53 change-resource-record-sets|secretsmanager put-*|secretsmanager update-*|ssm put-parameter", takes: " --profile --region --output --endpoint-url --query "},
		{programs: "nsupdate", rule: "remote-delete", reason: "it changes where names lead", bare: true},
		{programs: "kafka-topics kafka-consumer-groups kafka-configs kafka-acls kafka-delete-records kafka-configs.sh kafka-acls.sh kafka-consumer-groups.sh", rule: "remote-delete", reason: "it deletes queues or their messages", options: "--delete|--remove|--reset-offsets|--delete-config|--offset-json-file|--delete-offsets"},
		{programs: "restic", rule: "remote-delete", reason: "it deletes backups", words: "** forget|key remove|unlock|** prune"},
		{programs: "mc", rule: "remote-delete", reason: elsewere, words: "** remove|** delete|** disable|** unset"},
		{programs: "rclone", rule: "remote-delete", reason: elsewere, words: "dedupe"},
		{programs: "vault", rule: "remote-delete", reason: elsewere, words: "** secrets disable|** auth disable|** delete|** destroy"},
		{programs: "az", rule: "remote-delete", reason: elsewere, words: "** delete-*|** untag"},
		{programs: "curl openssl", rule: "inline-code", reason: "it loads code into itself", options: "--engine|-engine|-provider-path"},
		{programs: "apt apt-get dpkg", rule: "inline-code", reason: "it runs a command beside", options: "--pre-invoke|--post-invoke"},
		{programs: "hg", rule: "unknown-command", reason: "it is told to run another command", options: "--config"},
		{programs: "gpg gpg2", rule: "secret-read", reason: "it shows or deletes private keys", options: "--export-secret-*|--delete-secret-*|--delete-keys|--delete-key|--export-secret-subkeys|--delete-secret-and-public-key"},
		{programs: "unshadow hashdump mimipenguin secretsdump.py lazagne", rule: "secret-read", reason: "it reads passwords"},
		{programs: "security", rule: "secret-read", reason: "it reads or changes stored passwords", words: "find-generic-password|find-internet-password|dump-keychain|delete-*|export|add-trusted-cert|authorizationdb|unlock-keychain|set-*"},
		{programs: "secret-tool pass gopass", rule: "secret-read", reason: "it shows or deletes stored passwords", words: "lookup|search|clear|rm|remove|delete|show"},
		{programs: "ssh-copy-id", rule: "secret-file", reason: "it lets a key log in on another machine"},
		{programs: "setfacl", rule: "permissions", reason: "it lets everybody write, or changes rights of whole directories", words: "*o:*w*|** o::*w*|** other:*w*|** other::*w*", options: "-R|-b|-k|--recursive|--restore"},
		{programs: "setcap", rule: "permissions", reason: "it lets a program do what its user may not"},
		{programs: "chattr", rule: "permissions", reason: machine},
	}
}
