/* log_format.c: templates of operators, and lines with values of strangers: a
 * line is one line and steers no terminal, and one of JSON is JSON. */
#include "config.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proxy/http/http_log.h"
#include "proxy/log/log_format.h"

static bool
is_plain(const char *text)
{
	while ((unsigned char)*text >= ' ' && *text != 0x7f)
		text++;
	return *text == '\0';
}

static void
check_line(const char *format, const char *line, size_t n, size_t most)
{
	size_t i;
#ifdef HAVE_JANSSON
	json_t *json;

	if (strcmp(format, "jsonl") == 0) {
		json = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
		FUZZ_MUST(json_is_object(json));
		json_decref(json);
	}
#endif
	FUZZ_MUST(n <= most);
	if (!is_plain(format)) /* as the operator wants it */
		return;
	for (i = 0; i < n; i++)
		FUZZ_MUST(((unsigned char)line[i] >= ' ' && line[i] != 0x7f) ||
		    (line[i] == '\n' && strcmp(format, "journal") == 0));
}

static struct record_text
some(const char *text, size_t most)
{
	size_t n = strlen(text);

	return (struct record_text){ text, n < most ? n : most };
}

/* The strings that came over the network, one behind the other. */
static void
write_line(const struct log_format *f, const char *format, const char *sni,
    const char *id, bool timed, bool request)
{
	static struct record_time when;
	struct peer client = { .family = AF_INET6, .port = 7 };
	struct request_record q = { .line = some(sni, HTTP_LOG_PATH_MAX),
		.method = some(id, 16),
		.path = some(sni, HTTP_LOG_PATH_MAX),
		.host = some(id, HTTP_LOG_HOST_MAX),
		.user_agent = some(sni, HTTP_LOG_AGENT_MAX),
		.referer = some(id, HTTP_LOG_REFERER_MAX),
		.first_us = UINT64_MAX };
	struct session_record r = { .time = &when,
		.request = request ? &q : NULL,
		.reason = REASON_DONE,
		.client = &client,
		.id = id,
		.id_n = strlen(id),
		.first_ms = UINT64_MAX,
		.tried = id,
		.sni = sni };
	char *line = malloc(LOG_FORMAT_ROOM);

	FUZZ_MUST(line != NULL);
	if (r.id_n > 128)
		r.id_n = 128;
	record_time_set(&when, 1795345200);
	check_line(format, line, log_format_line(f, &r, timed, line),
	    request ? (size_t)LOG_FORMAT_REQUEST_MAX
		    : (size_t)LOG_FORMAT_LINE_MAX);
	free(line);
}

FUZZ(log_format)
{
	static const char *const kinds[] = { "logfmt", "jsonl", "journal",
		"common" };
	uint8_t kind = fuzz_byte(&data, &size);
	size_t n = fuzz_byte(&data, &size);
	char *text, *sni, *id;
	struct log_format *f;
	const char *format;
	struct error e;
	bool request;

	n = n < size ? n : size;
	sni = fuzz_string(data, n);
	id = fuzz_string(data, n / 2);
	text = fuzz_string(data + n, size - n);
	format = kind % 8 < 4 ? kinds[kind % 8] : text;
	request = kind & 64;
	f = log_format_new(
	    format, request ? RECORD_REQUEST : RECORD_SESSION, &e);
	FUZZ_MUST(f != NULL || format == text);
	if (f != NULL)
		write_line(f, format, sni, id, kind & 128, request);
	log_format_free(f);
	free(text);
	free(sni);
	free(id);
	return 0;
}
