/* log_line.h: lines of logs: of web servers, in the common or combined format
 * of Apache, and of pen. */
#ifndef PEN_TOOLS_LOG_LINE_H
#define PEN_TOOLS_LOG_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a request pen writes 1000 bytes, see proxy/log/requestlog.c: requests are
 * compared so far. */
enum { LOG_HOST_MAX = 256, LOG_REQUEST_MAX = 1000 + 1 };

/* ADDRESS IDENT USER [14/Nov/2023:22:13:20 +0000] "REQUEST" STATUS BYTES .. */
struct web_line {
	const char *user;  /* what follows the address, its blank included */
	const char *begin; /* what stands between [ and ], and after that */
	const char *end;
	bool has_time;
	int64_t time; /* seconds since 1970 */
	char request[LOG_REQUEST_MAX]; /* without escapes, as pen writes it */
};

/* Parses a line, which it points into. `zone`: seconds east of UTC, for times
 * that have no zone. Returns 0, or -1 if it is no such line: an address and a
 * request are needed. */
int web_line_parse(struct web_line *w, const char *line, int zone);

/* CLIENT EPOCH SERVER REQUEST, or + CLIENT SERVER REQUEST with `datagram` */
struct pen_line {
	char client[LOG_HOST_MAX], server[LOG_HOST_MAX];
	int64_t time; /* not of datagrams */
	char request[LOG_REQUEST_MAX];
};

int pen_line_parse(struct pen_line *p, const char *line, bool datagram);

/* Writes an address as all logs write it: "::1" for "0:0:0:0:0:0:0:1". What is
 * no address stays as it is. */
void log_host(char host[LOG_HOST_MAX], const char *text);

#endif
