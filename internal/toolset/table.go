package toolset

// sets are the toolsets by name. Of two that hold the same tool, the first is
// its home. A tool that is registered under one of these names belongs to it,
// listed or not.
var sets = [...]Set{
	{Name: "web", About: "Search the web and read pages", Tools: []string{"web_search", "web_extract"}},
	{Name: "search", About: "Search the web only", Tools: []string{"web_search"}},
	{Name: "vision", About: "Look at images", Tools: []string{"vision_analyze"}},
	{Name: "video", About: "Look at videos", Tools: []string{"video_analyze"}},
	{Name: "image_gen", About: "Make images", Tools: []string{"image_generate"}},
	{Name: "terminal", About: "Run commands and processes", Tools: []string{"terminal", "process"}},
	{Name: "moa", About: "Ask several models and merge their answers", Tools: []string{"mixture_of_agents"}},
	{Name: "skills", About: "List, read and write skills", Tools: []string{"skills_list", "skill_view", "skill_manage"}},
	{Name: "browser", About: "Drive a browser", Tools: []string{
		"browser_navigate", "browser_snapshot", "browser_click", "browser_type", "browser_scroll", "browser_back",
		"browser_press", "browser_get_images", "browser_vision", "browser_console", "browser_cdp", "browser_dialog", "web_search",
	}},
	{Name: "cronjob", About: "Schedule prompts", Tools: []string{"cronjob"}},
	{Name: "messaging", About: "Send messages to other chats", Tools: []string{"send_message"}},
	{Name: "rl", About: "Train models", Tools: rlTools},
	{Name: "file", About: "Read, write, patch and search files", Tools: []string{"read_file", "write_file", "patch", "search_files"}},
	{Name: "tts", About: "Speak a text", Tools: []string{"text_to_speech"}},
	{Name: "todo", About: "Keep a plan", Tools: []string{"todo"}},
	{Name: "memory", About: "Remember facts for later sessions", Tools: []string{"memory"}},
	{Name: "session_search", About: "Search earlier sessions", Tools: []string{"session_search"}},
	{Name: "clarify", About: "Ask the user a question", Tools: []string{"clarify"}},
	{Name: "code_execution", About: "Run code that calls tools", Tools: []string{"execute_code"}},
	{Name: "delegation", About: "Hand work to a child agent", Tools: []string{"delegate_task"}},
	{Name: "homeassistant", About: "Control a smart home", Tools: []string{"ha_list_entities", "ha_get_state", "ha_list_services", "ha_call_service"}},
	{Name: "kanban", About: "Work on the cards of a board", Tools: []string{
		"kanban_show", "kanban_complete", "kanban_block", "kanban_heartbeat", "kanban_comment", "kanban_create", "kanban_link",
	}},
	{Name: "discord", About: "Read Discord and open threads", Tools: []string{"discord"}},
	{Name: "discord_admin", About: "Administer a Discord server", Tools: []string{"discord_admin"}},
	{Name: "yuanbao", About: "Groups, messages and stickers of Yuanbao", Tools: yuanbaoTools},
	{Name: "feishu_doc", About: "Read Feishu documents", Tools: []string{"feishu_doc_read"}},
	{Name: "feishu_drive", About: "Read and write comments in Feishu Drive", Tools: []string{
		"feishu_drive_list_comments", "feishu_drive_list_comment_replies", "feishu_drive_reply_comment", "feishu_drive_add_comment",
	}},
	{Name: "spotify", About: "Control Spotify", Tools: []string{
		"spotify_playback", "spotify_devices", "spotify_queue", "spotify_search", "spotify_playlists", "spotify_albums", "spotify_library",
	}},
	{Name: "debugging", About: "What debugging takes", Tools: []string{"terminal", "process"}, Includes: []string{"web", "file"}},
	{Name: "safe", About: "Nothing that touches this machine", Includes: []string{"web", "vision", "image_gen"}},
}

var rlTools = []string{
	"rl_list_environments", "rl_select_environment", "rl_get_current_config", "rl_edit_config", "rl_start_training",
	"rl_check_status", "rl_stop_training", "rl_get_results", "rl_list_runs", "rl_test_inference",
}

var yuanbaoTools = []string{"yb_query_group_info", "yb_query_group_members", "yb_send_dm", "yb_search_sticker", "yb_send_sticker"}

// legacy are names of an older configuration.
var legacy = [...]Set{
	{Name: "web_tools", Tools: []string{"web_search", "web_extract"}},
	{Name: "terminal_tools", Tools: []string{"terminal"}},
	{Name: "vision_tools", Tools: []string{"vision_analyze"}},
	{Name: "moa_tools", Tools: []string{"mixture_of_agents"}},
	{Name: "image_tools", Tools: []string{"image_generate"}},
	{Name: "skills_tools", Tools: []string{"skills_list", "skill_view", "skill_manage"}},
	{Name: "browser_tools", Tools: []string{
		"browser_navigate", "browser_snapshot", "browser_click", "browser_type", "browser_scroll", "browser_back",
		"browser_press", "browser_get_images", "browser_vision", "browser_console",
	}},
	{Name: "cronjob_tools", Tools: []string{"cronjob"}},
	{Name: "rl_tools", Tools: rlTools},
	{Name: "file_tools", Tools: []string{"read_file", "write_file", "patch", "search_files"}},
	{Name: "tts_tools", Tools: []string{"text_to_speech"}},
}

// preset is a platform's toolset as it differs from the core.
type preset struct {
	platform string // the toolset is called hermes-PLATFORM
	plus     []string
	minus    []string
	chat     bool // part of hermes-gateway
}

const presetPrefix = "hermes-"

var unattended = []string{"skill_manage", "clarify", "cronjob", "send_message"}

var presets = [...]preset{
	{platform: "cli"},
	{platform: "cron"},
	// What is measured or learned from must not change the skills of the home,
	// and nobody is there to be asked.
	{platform: "batch", minus: unattended},
	{platform: "rl", minus: unattended},
	{platform: "telegram", chat: true},
	{platform: "whatsapp", chat: true},
	{platform: "slack", chat: true},
	{platform: "signal", chat: true},
	{platform: "bluebubbles", chat: true},
	{platform: "homeassistant", chat: true},
	{platform: "email", chat: true},
	{platform: "mattermost", chat: true},
	{platform: "matrix", chat: true},
	{platform: "dingtalk", chat: true},
	{platform: "weixin", chat: true},
	{platform: "qqbot", chat: true},
	{platform: "wecom", chat: true},
	{platform: "wecom-callback", chat: true},
	{platform: "sms", chat: true},
	{platform: "webhook", chat: true},
	{platform: "discord", chat: true, plus: []string{"discord", "discord_admin"}},
	{platform: "feishu", chat: true, plus: []string{
		"feishu_doc_read", "feishu_drive_list_comments", "feishu_drive_list_comment_replies", "feishu_drive_reply_comment", "feishu_drive_add_comment",
	}},
	{platform: "yuanbao", chat: true, plus: yuanbaoTools},
	{platform: "acp", minus: []string{
		"image_generate", "text_to_speech", "clarify", "cronjob", "send_message",
		"ha_list_entities", "ha_get_state", "ha_list_services", "ha_call_service",
		"kanban_show", "kanban_complete", "kanban_block", "kanban_heartbeat", "kanban_comment", "kanban_create", "kanban_link",
	}},
	{platform: "api-server", minus: []string{
		"text_to_speech", "clarify", "send_message",
		"kanban_show", "kanban_complete", "kanban_block", "kanban_heartbeat", "kanban_comment", "kanban_create", "kanban_link",
	}},
}

// configurable are the toolsets that a person switches, in the order of the
// checklist.
var configurable = [...]string{
	"web", "browser", "terminal", "file", "code_execution", "vision", "video", "image_gen", "moa", "tts", "skills", "todo",
	"memory", "session_search", "clarify", "delegation", "cronjob", "messaging", "rl", "homeassistant", "spotify",
	"discord", "discord_admin", "yuanbao",
}

// defaultOff are off until a person chooses them.
var defaultOff = [...]string{"moa", "homeassistant", "rl", "spotify", "discord", "discord_admin", "video"}

// restricted are for one platform only.
var restricted = [...]struct{ set, platform string }{{"discord", "discord"}, {"discord_admin", "discord"}}
