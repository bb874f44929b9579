/* choices.c: the words of settings that are one of a list, and the names of
 * access levels. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "control/value/access.h"
#include "control/value/choices.h"
#include "control/value/dsr_fast.h"
#include "control/value/sandbox_mode.h"
#include "net/sock_group.h"
#include "pool/pool.h"
#include "proxy/frontend/frontend.h"
#include "tls/tls_settings.h"

const struct choice choices_access[] = {
	{ "read", ACCESS_LOOK, NULL },
	{ "operate", ACCESS_OPERATE, NULL },
	{ "admin", ACCESS_ADMIN, NULL },
	{ "look", ACCESS_LOOK, NULL }, /* what read was called before */
	{ NULL, 0, NULL },
};

const struct choice choices_admin[] = {
	{ "up", SERVER_ENABLED, NULL },
	{ "drain", SERVER_DRAINING, NULL },
	{ "maint", SERVER_DISABLED, NULL },
	{ "down", SERVER_DISABLED, NULL }, /* what it was called before */
	{ NULL, 0, NULL },
};

const struct choice choices_check_initial[] = {
	{ "up", SERVER_INITIAL_UP, NULL },
	{ "down", SERVER_INITIAL_DOWN, NULL },
	{ "checked", SERVER_INITIAL_CHECKED, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_dsr_forward[] = {
	{ "mac", SERVER_FORWARD_MAC, NULL },
	{ "tunnel", SERVER_FORWARD_TUNNEL, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_dsr_fast[] = {
	{ "auto", DSR_FAST_AUTO, NULL },
	{ "on", DSR_FAST_ON, NULL },
	{ "off", DSR_FAST_OFF, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_fastclose[] = {
	{ "up", FASTCLOSE_UP, NULL },
	{ "down", FASTCLOSE_DOWN, NULL },
	{ "both", FASTCLOSE_BOTH, NULL },
	{ "off", FASTCLOSE_OFF, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_failback[] = {
	{ "never", FAILBACK_NEVER, NULL },
	{ "idle", FAILBACK_IDLE, NULL },
	{ "now", FAILBACK_NOW, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_limit_action[] = {
	{ "refuse", LIMIT_ACTION_REFUSE, NULL },
	{ "delay", LIMIT_ACTION_DELAY, NULL },
	{ "tarpit", LIMIT_ACTION_TARPIT, NULL },
	{ "abuse", LIMIT_ACTION_ABUSE, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_spin[] = {
	{ "off", false, NULL },
	{ "auto", true, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_log_lines[] = {
	{ "text", false, NULL },
	{ "jsonl", true, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_syslog_facility[] = {
	{ "daemon", LOG_DAEMON, NULL },
	{ "user", LOG_USER, NULL },
	{ "mail", LOG_MAIL, NULL },
	{ "auth", LOG_AUTH, NULL },
	{ "authpriv", LOG_AUTHPRIV, NULL },
	{ "lpr", LOG_LPR, NULL },
	{ "news", LOG_NEWS, NULL },
	{ "uucp", LOG_UUCP, NULL },
	{ "cron", LOG_CRON, NULL },
	{ "ftp", LOG_FTP, NULL },
	{ "local0", LOG_LOCAL0, NULL },
	{ "local1", LOG_LOCAL1, NULL },
	{ "local2", LOG_LOCAL2, NULL },
	{ "local3", LOG_LOCAL3, NULL },
	{ "local4", LOG_LOCAL4, NULL },
	{ "local5", LOG_LOCAL5, NULL },
	{ "local6", LOG_LOCAL6, NULL },
	{ "local7", LOG_LOCAL7, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_workers_by[] = {
	{ "address", SOCK_GROUP_BY_ADDRESS, NULL },
	{ "connection", SOCK_GROUP_BY_CONNECTION, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_sandbox[] = {
	{ "off", SANDBOX_OFF, NULL },
	{ "log", SANDBOX_LOG, SANDBOX_REFUSED },
	{ "on", SANDBOX_ON, SANDBOX_REFUSED },
	{ NULL, 0, NULL },
};

const struct choice choices_may_be_down[] = {
	{ "off", false, NULL },
	{ "on", true, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_on_down[] = {
	{ "keep", SERVER_ON_DOWN_KEEP, NULL },
	{ "cut", SERVER_ON_DOWN_CUT, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_on_up[] = {
	{ "keep", SERVER_ON_UP_KEEP, NULL },
	{ "cut", SERVER_ON_UP_CUT, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_quiet_end[] = {
	{ "http", QUIET_END_HTTP, NULL },
	{ "all", QUIET_END_ALL, NULL },
	{ "none", QUIET_END_NONE, NULL },
	{ NULL, 0, NULL },
};

/* 0: no words of its own. */
const struct choice choices_server_check[] = {
	{ "off", 1, NULL },
	{ "default", 0, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_server_forward[] = {
	{ "mac", SERVER_FORWARD_MAC, NULL },
	{ "tunnel", SERVER_FORWARD_TUNNEL, NULL },
	{ "default", SERVER_FORWARD_AS_SET, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_server_on_down[] = {
	{ "keep", SERVER_ON_DOWN_KEEP, NULL },
	{ "cut", SERVER_ON_DOWN_CUT, NULL },
	{ "default", SERVER_ON_DOWN_AS_SET, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_proxy[] = {
	{ "off", PROXY_OFF, NULL },
	{ "1", PROXY_V1, NULL },
	{ "2", PROXY_V2, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_server_proxy[] = {
	{ "off", SERVER_PROXY_OFF, NULL },
	{ "1", SERVER_PROXY_V1, NULL },
	{ "2", SERVER_PROXY_V2, NULL },
	{ "default", SERVER_PROXY_AS_SET, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_server_tls[] = {
	{ "on", SERVER_TLS_ON, NULL },
	{ "off", SERVER_TLS_OFF, NULL },
	{ "default", SERVER_TLS_AS_SET, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_tls_min[] = {
	{ "tls1.2", 12, NULL },
	{ "tls1.3", 13, NULL },
	{ NULL, 0, NULL },
};

/* Classic Pen's choice; what is broken is refused rather than taken for
 * something else. */
const struct choice choices_tls_protocol[] = {
	{ "ssl23", 12, NULL },
	{ "tls1.2", 12, NULL },
	{ "tls1.3", 13, NULL },
	{ "ssl2", 0, "SSL 2 is broken and refused (RFC 6176)" },
	{ "ssl3", 0, "SSL 3 is broken and refused (RFC 7568)" },
	{ "tls1", 0, "TLS 1.0 is obsolete and refused (RFC 8996)" },
	{ "tls1.0", 0, "TLS 1.0 is obsolete and refused (RFC 8996)" },
	{ "tls1.1", 0, "TLS 1.1 is obsolete and refused (RFC 8996)" },
	{ NULL, 0, NULL },
};

/* Those of 0 are what is so anyway. */
const struct choice choices_tls_options[] = {
	{ "no_sslv2", 0, NULL },
	{ "no_sslv3", 0, NULL },
	{ "no_tlsv1", 0, NULL },
	{ "no_tlsv1.1", 0, NULL },
	{ "no_tlsv1.2", TLS_NO_1_2, NULL },
	{ "no_tlsv1.3", TLS_NO_1_3, NULL },
	{ "cipher_server_preference", TLS_SERVER_PREFERENCE, NULL },
	{ NULL, 0, NULL },
};

const struct choice choices_udp_proxy[] = {
	{ "off", UDP_PROXY_OFF, NULL },
	{ "first", UDP_PROXY_FIRST, NULL },
	{ "every", UDP_PROXY_EVERY, NULL },
	{ NULL, 0, NULL },
};

const struct choice *
choice_find(const struct choice *list, const char *word)
{
	for (; list->word != NULL; list++)
		if (strcmp(list->word, word) == 0)
			return list;
	return NULL;
}

const char *
choice_name(const struct choice *list, int value)
{
	for (; list->word != NULL; list++)
		if (list->value == value && list->refused == NULL)
			return list->word;
	return "";
}

const char *
choices_sentence(const struct choice *list, char text[CHOICES_TEXT_MAX])
{
	size_t n = 0;
	bool last;

	text[0] = '\0';
	for (; list->word != NULL && n < CHOICES_TEXT_MAX; list++) {
		if (list->refused != NULL)
			continue;
		last = list[1].word == NULL || list[1].refused != NULL;
		n += (size_t)snprintf(text + n, CHOICES_TEXT_MAX - n, "%s%s",
		    n == 0     ? ""
			: last ? " or "
			       : ", ",
		    list->word);
	}
	return text;
}

const char *
access_name(enum access a)
{
	return choice_name(choices_access, (int)a);
}

int
access_find(const char *name, enum access *a)
{
	const struct choice *found = choice_find(choices_access, name);

	if (found == NULL)
		return -1;
	*a = (enum access)found->value;
	return 0;
}
