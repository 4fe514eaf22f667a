package shell

import (
	"strings"
	"sync"
)

var winIndex = sync.OnceValue(func() map[string][]*deed {
	index := map[string][]*deed{}
	all := winDeeds()
	for i := range all {
		for name := range strings.FieldsSeq(all[i].programs) {
			index[name] = append(index[name], &all[i])
		}
	}
	return index
})

func winDeeds() []deed {
	const (
		machine = "it changes how this machine is set up"
		service = "it stops or changes a service"
		remote  = "it runs code from somewhere else, or on another machine"
	)
	return []deed{
		{programs: "format-volume clear-disk initialize-disk", rule: "format-disk", reason: "it would format a disk", bare: true, hard: true},
		{programs: "format", rule: "format-disk", reason: "it would format a disk", words: "*:", hard: true},
		{programs: "stop-computer restart-computer", rule: "power", reason: "it would stop the machine", bare: true, hard: true},
		{programs: "shutdown", rule: "power", reason: "it would stop the machine", words: "** /s|** /r|** /p|** /h|** /sg|** /g", options: "-s|-r|-p|-h|-g", hard: true},
		{programs: "diskpart remove-partition resize-partition set-disk mountvol fsutil bcdedit bcdboot bootrec reagentc", rule: "disk", reason: "it changes disks, their partitions or how the machine starts", bare: true, shows: "/enum|fsinfo|volume diskfree|list"},
		{programs: "vssadmin wbadmin wmic", rule: "delete-outside", reason: "it deletes backups, or acts through WMI", words: "delete|** delete|** call|** create"},
		{programs: "cipher", rule: "delete-outside", reason: "it overwrites what was deleted", words: "/w*"},
		{programs: "stop-service restart-service set-service new-service remove-service suspend-service", rule: "service", reason: service, bare: true},
		{programs: "sc", rule: "service", reason: service, words: "stop|delete|config|create|failure|pause|sdset"},
		{programs: "net net1", rule: "account", reason: "it changes services, shares or who may use this machine", words: "stop|start|user *|localgroup *|group *|share *|use * *|accounts *"},
		{programs: "stop-process spps kill", rule: "kill", reason: "it ends processes, perhaps many of one name", options: "-name|-force|-processname", bare: true},
		{programs: "taskkill", rule: "kill", reason: "it ends processes, perhaps many of one name", words: "** /f|** /im"},
		{programs: "reg", rule: "system", reason: "it changes the registry", words: "add|delete|import|copy|restore|load|unload|save"},
		{programs: "set-itemproperty sp new-itemproperty remove-itemproperty rp clear-itemproperty", rule: "system", reason: "it changes the registry or settings of files", bare: true},
		{programs: "regedit", rule: "system", reason: "it changes the registry", words: "/s"},
		{programs: "set-executionpolicy set-mppreference add-mppreference remove-mppreference disable-computerrestore set-date set-timezone rename-computer add-computer remove-computer enable-psremoting set-wsmanquickconfig dism enable-windowsoptionalfeature disable-windowsoptionalfeature uninstall-windowsfeature remove-windowsfeature remove-appxpackage uninstall-package uninstall-module powercfg sfc", rule: "system", reason: machine, bare: true, shows: "/list|/query|/l|/q"},
		{programs: "netsh set-netfirewallprofile new-netfirewallrule remove-netfirewallrule disable-netadapter set-dnsclientserveraddress new-netroute remove-netroute set-netipaddress route", rule: "network-setup", reason: "it changes the network or the firewall of this machine", bare: true, shows: "** show|print"},
		{programs: "new-localuser remove-localuser set-localuser add-localgroupmember remove-localgroupmember disable-localuser enable-localuser new-aduser remove-aduser set-adaccountpassword", rule: "account", reason: "it changes who may use this machine", bare: true},
		{programs: "schtasks", rule: "schedule", reason: "it schedules commands that run later, unseen", words: "/create|/change|/delete|/run"},
		{programs: "register-scheduledtask new-scheduledtask set-scheduledtask unregister-scheduledtask register-wmievent at", rule: "schedule", reason: "it schedules commands that run later, unseen", bare: true},
		{programs: "icacls cacls takeown set-acl attrib", rule: "permissions", reason: "it changes who may use files", words: "** /grant*|** /deny|** /setowner|** /f|** /reset|** /remove*"},
		{programs: "clear-eventlog remove-eventlog clear-history wevtutil", rule: "traces", reason: "it hides what was done", bare: true, shows: "qe|el|gl"},
		{programs: "invoke-command icm enter-pssession new-pssession invoke-wmimethod invoke-cimmethod psexec winrs", rule: "remote-code", reason: remote, bare: true},
		{programs: "rundll32 regsvr32 mshta installutil cmstp odbcconf wscript cscript forfiles", rule: "inline-code", reason: "it runs code through another program", bare: true},
		{programs: "certutil", rule: "remote-code", reason: remote, options: "-urlcache|-decode|-decodehex|-addstore|-delstore", words: "/urlcache|/decode|/addstore"},
		{programs: "bitsadmin msiexec", rule: "remote-code", reason: remote, words: "/transfer|/i|/x|/package|** http*", options: "-i|-x"},
		{programs: "add-type new-object", rule: "inline-code", reason: "it compiles code, or opens connections", words: "*net.*|*sockets*|-comobject|system.net.*|net.webclient", options: "-typedefinition|-memberdefinition|-comobject"},
		{programs: "cmdkey vaultcmd convertfrom-securestring get-storedcredential", rule: "secret-read", reason: "it shows or changes stored passwords", bare: true},
		{programs: "uninstall-package", rule: "package-removal", reason: "it removes software from this machine", bare: true},
	}
}
