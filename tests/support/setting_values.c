/* setting_values.c: values by what the help has as arguments, and by name. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/certs.h"
#include "support/mmdb.h"
#include "support/suite.h"
#include "support/setting_values.h"

static const char *cert_file, *key_file, *other_cert, *ca_file, *crl_file,
    *ocsp_file, *password_file, *ticket_file, *peer_file, *geoip_file, *program,
    *directory, *more_sites, *log_file, *free_place;
static const char *base_lines[SETTING_BASES];

static const struct special {
	const char *name;
	const char *value, *const *file; /* the value, or where it is */
} special[] = {
	{ "balance", "leastconn", NULL },
	{ "check", "connect", NULL },
	{ "dsr_gateway", "192.0.2.1", NULL },
	{ "dsr_if", "none0", NULL },
	{ "dsr_ip", "192.0.2.1", NULL },
	{ "dsr_link", "packet", NULL },
	{ "forwarded", "replace", NULL },
	{ "geoip", NULL, &geoip_file },
	{ "http_request_id", "X-Trace", NULL },
	{ "log", NULL, &log_file },
	{ "log_format", "common", NULL },
	{ "log_sample", "7", NULL },
	{ "observe", "5xx 7/3", NULL },
	{ "on_state", NULL, &program },
	{ "peer", NULL, &peer_file },
	{ "peer_listen", NULL, &peer_file },
	{ "resolver", "127.0.0.1", NULL },
	{ "session_log", NULL, &log_file },
	{ "source", "127.0.0.1", NULL },
	{ "ssl_alpn", "h2", NULL },
	{ "ssl_ca_dir", NULL, &directory },
	{ "ssl_ca_file", NULL, &other_cert },
	{ "ssl_cert", NULL, &other_cert },
	{ "ssl_ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256", NULL },
	{ "ssl_ciphersuites", "TLS_AES_128_GCM_SHA256", NULL },
	{ "ssl_crl", NULL, &crl_file },
	{ "ssl_groups", "X25519", NULL },
	{ "ssl_key", NULL, &key_file },
	{ "ssl_ocsp_response", NULL, &ocsp_file },
	{ "ssl_option", "no_tlsv1.2", NULL },
	{ "ssl_password", NULL, &password_file },
	{ "ssl_refuse_names", "b.test", NULL },
	{ "ssl_sni_path", NULL, &more_sites },
	{ "ssl_ticket_key", NULL, &ticket_file },
	{ "ssl_upstream_alpn", "h2", NULL },
	{ "ssl_upstream_ca", NULL, &ca_file },
	{ "ssl_upstream_cert", NULL, &other_cert },
	{ "ssl_upstream_key", NULL, &key_file },
	{ "syslog_facility", "local3", NULL },
	{ "web", NULL, NULL },
	{ "web_host", "a.test", NULL },
	{ "workers", "3", NULL },
};

/* Settings that this machine or build may lack, or that do not go with
 * workers. */
static const char *const may_lack[] = { "geoip", "peer", "peer_listen",
	"sandbox", "transparent" };

/* A command has the name of an option that is no setting. */
static const char *const no_setting[] = { "explain" };

static bool
is_in(const char *const *list, size_t n, const char *name)
{
	while (n > 0)
		if (strcmp(list[--n], name) == 0)
			return true;
	return false;
}

#define IS_IN(list, name) is_in(list, sizeof(list) / sizeof((list)[0]), name)

bool
setting_may_lack(const char *name)
{
	return IS_IN(may_lack, name);
}

enum setting_base
setting_base_for(const char *name)
{
	return strncmp(name, "ssl_upstream_", 13) == 0 ? SETTING_UPSTREAM
	    : strncmp(name, "ssl_", 4) == 0	       ? SETTING_TLS
						       : SETTING_PLAIN;
}

const char *
setting_base_lines(enum setting_base base)
{
	return base_lines[base];
}

/* ---- what the program prints ---- */

/* Values have no keys. */
const char *
setting_next_name(const char **json)
{
	const char *end;

	while ((*json = strchr(*json, '"')) != NULL) {
		end = strchr(*json + 1, '"');
		if (end[1] == ':') {
			*json += 1;
			end = text("%.*s", (int)(end - *json), *json);
			*json += strlen(end) + 1;
			return end;
		}
		*json = end + 1;
	}
	return NULL;
}

/* Up to the end of the object. */
const char *
setting_in_json(const char *json, const char *name)
{
	const char *at = strstr(json, text("\"%s\":", name));

	ck_assert_msg(at != NULL, "%s: %s", name, json);
	at += strlen(name) + 3;
	return text("%.*s", (int)strcspn(at, ",}\n"), at);
}

const char *
setting_arguments(const char *name, const char *help)
{
	const char *end;

	if (strncmp(help, "error", 5) == 0)
		return NULL;
	end = strstr(help, "  ");
	if (end == NULL || end > strchr(help, '\n'))
		end = strchr(help, '\n');
	help += strlen(name);
	return help < end ? text("%.*s", (int)(end - help - 1), help + 1) : "";
}

/* ---- values ---- */

static const struct special *
find_special(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (strcmp(special[i].name, name) == 0)
			return &special[i];
	return NULL;
}

static const char *
special_value(const struct special *s)
{
	if (s->value != NULL)
		return s->value;
	return s->file != NULL ? *s->file : free_place;
}

/* The first of the words between | that is not `now`, in quotes. */
static const char *
another_choice(const char *args, const char *now)
{
	const char *word;
	size_t n;

	args += *args == '[';
	for (; *args != '\0'; args += n + (args[n] == '|')) {
		n = strcspn(args, "|]");
		word = text("%.*s", (int)n, args);
		if (strcmp(text("\"%s\"", word), now) != 0)
			return word;
		if (args[n] == ']')
			break;
	}
	return NULL;
}

/* `now` is the value in JSON. NULL: it takes something else. */
static const char *
another_value(const char *args, const char *now)
{
	static const char *const numbers[] = { "[N]", "[SEC]", "[DAYS]",
		"[PORT]" };
	double n = strtod(now, NULL);

	if (IS_IN(numbers, args))
		return text("%.0f", n + 1);
	if (strcmp(args, "[BITS]") == 0)
		return text("%.0f", n - 1);
	if (strcmp(args, "[PERCENT]") == 0)
		return n < 50 ? "60" : "40";
	if (strcmp(args, "[SIZE]") == 0)
		return strcmp(now, "65536") != 0 ? "64k" : "32k";
	if (strcmp(args, "[N/SEC]") == 0)
		return "1000/1";
	if (strcmp(args, "[MODE]") == 0)
		return "0640";
	if (strcmp(args, "[LIST]") == 0)
		return "7";
	if (strcmp(args, "[FILE]") == 0)
		return scratch("file");
	if (strcmp(args, "[NAME]") == 0)
		return "name";
	return strchr(args, '|') != NULL ? another_choice(args, now) : NULL;
}

const char *
setting_line(const char *name, const char *args, const char *now)
{
	const struct special *s = find_special(name);
	const char *value;

	if (IS_IN(no_setting, name))
		return NULL;
	if (s != NULL)
		return text("%s %s", name, special_value(s));
	if (*args == '\0')
		return strcmp(now, "true") == 0 ? text("no %s", name) : name;
	value = another_value(args, now);
	ck_assert_msg(value != NULL, "%s %s: a value is needed in `special`",
	    name, args);
	return text("%s %s", name, value);
}

const char *
setting_line_of_server(const char **help)
{
	const char *at, *name, *arg, *value;
	size_t n;

	while ((at = strchr(*help, '[')) != NULL) {
		*help = at + 1;
		n = strcspn(at + 1, " |]");
		if (at[1 + n] != ' ')
			continue;
		name = text("%.*s", (int)n, at + 1);
		/* that also takes it out at once; that is no setting */
		if (strcmp(name, "blacklist") == 0 || strcmp(name, "wait") == 0)
			continue;
		arg = at + n + 2;
		value = strncmp(arg, "A]", 2) == 0	? "7"
		    : strncmp(arg, "IP]", 3) == 0	? "127.0.0.2"
		    : strncmp(arg, "IP|", 3) == 0	? "127.0.0.1"
		    : strncmp(arg, "KIND", 4) == 0	? "connect"
		    : strcspn(arg, "|") < strcspn(arg, "]")
		    ? text("%.*s", (int)strcspn(arg, "|"), arg)
		    : "3";
		return text("server 0 %s %s", name, value);
	}
	return NULL;
}

/* ---- files ---- */

void
setting_values_begin(const struct endpoint *place)
{
	struct cert *ca = cert_new(&(struct cert_wish){
		.name = "an authority", .is_ca = true });
	struct cert *site =
	    cert_new(&(struct cert_wish){ .name = "a.test", .issuer = ca });
	struct cert *more =
	    cert_new(&(struct cert_wish){ .name = "b.test", .issuer = ca });
	struct mmdb *countries = mmdb_new(MMDB_NESTED);
	char bytes[81];

	free_place = place->text;
	ca_file = cert_write(ca, "ca.pem");
	cert_file = cert_write_all(site, "a.pem");
	key_file = cert_write_key(site, "a.key");
	other_cert = cert_write_all(more, "b.pem");
	crl_file = cert_write_crl(ca, NULL, "crl.pem");
	ocsp_file = cert_write_ocsp(site, "ocsp.der");
	password_file = scratch("password");
	write_file(password_file, "secret\n");
	memset(bytes, 'k', 80);
	bytes[80] = '\0';
	ticket_file = scratch("tickets");
	write_file(ticket_file, bytes);
	write_file(scratch("peer.key"), bytes);
	ck_assert_int_eq(chmod(ticket_file, 0600), 0);
	ck_assert_int_eq(chmod(scratch("peer.key"), 0600), 0);
	peer_file = text("%s key %s", place->text, scratch("peer.key"));
	geoip_file = scratch("countries");
	mmdb_add(countries, "127.0.0.0/8", "SE");
	mmdb_write(countries, geoip_file, 1700000000);
	program = scratch_program("program", "exit 0\n");
	directory = scratch("certs");
	ck_assert_int_eq(mkdir(directory, 0755), 0);
	write_file(scratch("certs/ca.pem"), contents(ca_file));
	more_sites = scratch("more");
	ck_assert_int_eq(mkdir(more_sites, 0755), 0);
	ck_assert_int_eq(mkdir(scratch("sites"), 0755), 0);
	log_file = scratch("log");
	base_lines[SETTING_PLAIN] = "http\n";
	base_lines[SETTING_TLS] = text("ssl_cert %s\nssl_ca_file %s\n"
				    "ssl_sni_path %s\n",
	    cert_file, ca_file, scratch("sites"));
	base_lines[SETTING_UPSTREAM] = text("ssl_upstream\nssl_upstream_ca %s\n"
					 "ssl_upstream_cert %s\n",
	    other_cert, cert_file);
	cert_free(more);
	cert_free(site);
	cert_free(ca);
}
