/* log_line.c: lines that strangers send to penlogd. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "tools/log_line.h"

FUZZ(log_line)
{
	static struct web_line web;
	static struct pen_line pen;
	char host[LOG_HOST_MAX], again[LOG_HOST_MAX];
	bool datagram = fuzz_byte(&data, &size) & 1;
	char *line = fuzz_string(data, size);
	size_t n = strlen(line);

	if (web_line_parse(&web, line, 3600) == 0) {
		FUZZ_MUST(web.user >= line && web.user <= line + n);
		FUZZ_MUST(strlen(web.request) < LOG_REQUEST_MAX);
		FUZZ_MUST(!web.has_time ||
		    (web.begin <= web.end && web.end <= line + n));
	}
	if (pen_line_parse(&pen, line, datagram) == 0) {
		log_host(host, pen.client);
		log_host(again, host);
		FUZZ_MUST(strcmp(host, again) == 0);
	}
	free(line);
	return 0;
}
