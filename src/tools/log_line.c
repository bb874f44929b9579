/* log_line.c: see log_line.h. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/words.h"
#include "tools/log_line.h"

void
log_host(char host[LOG_HOST_MAX], const char *text)
{
	char plain[PEER_TEXT_MAX];
	struct addr a;
	struct peer p;

	if (addr_parse_ip(&a, text, 0) == 0) {
		peer_from_addr(&p, &a);
		text = peer_format_host(&p, plain);
	}
	snprintf(host, LOG_HOST_MAX, "%s", text);
}

/* Copies the word at *at, which moves after the blanks that follow it. Returns
 * 0, or -1 if there is none or it is too long. */
static int
log_line_take_word(const char **at, char word[LOG_HOST_MAX])
{
	size_t n = strcspn(*at, " \t\r\n");

	if (n == 0 || n >= LOG_HOST_MAX)
		return -1;
	memcpy(word, *at, n);
	word[n] = '\0';
	*at += n;
	*at += strspn(*at, " \t");
	return 0;
}

/* ---- pen's ---- */

static int
take_seconds(const char **at, int64_t *seconds)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return -1;
	*seconds = strtoll(*at, &end, 10);
	if (*end != ' ')
		return -1;
	*at = end + strspn(end, " ");
	return 0;
}

/* Cuts a request as pen's log does. */
static void
cut_request(char request[LOG_REQUEST_MAX], size_t n)
{
	request[n] = '\0';
	text_make_printable(request, n);
}

int
pen_line_parse(struct pen_line *p, const char *line, bool datagram)
{
	char word[LOG_HOST_MAX];
	size_t n;

	p->time = 0;
	if (datagram) {
		if (line[0] != '+' || line[1] != ' ')
			return -1;
		line += 2;
	}
	if (log_line_take_word(&line, word) < 0)
		return -1;
	log_host(p->client, word);
	if ((!datagram && take_seconds(&line, &p->time) < 0) ||
	    log_line_take_word(&line, word) < 0)
		return -1;
	log_host(p->server, word);
	n = strcspn(line, "\r\n");
	if (n == 0)
		return -1;
	if (n > LOG_REQUEST_MAX - 1)
		n = LOG_REQUEST_MAX - 1;
	memcpy(p->request, line, n);
	cut_request(p->request, n);
	return 0;
}

/* ---- of web servers ---- */

/* Days from 1970 to a date of the Gregorian calendar, whose year is counted
 * from March here. */
static int64_t
days_before(int year, int month, int day)
{
	int y = year - (month < 3), m = (month + 9) % 12;
	int64_t days = 365 * (int64_t)y + y / 4 - y / 100 + y / 400;

	return days + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int
month_number(const char *name)
{
	static const char all[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const char *at = strstr(all, name);

	return at != NULL && (at - all) % 3 == 0 ? (int)(at - all) / 3 + 1 : 0;
}

/* "14/Nov/2023:22:13:20 +0100" */
static bool
parse_time(const char *text, int zone, int64_t *time)
{
	int day, year, hour, minute, second, east, n, month;
	char name[4], sign;

	n = sscanf(text, "%2d/%3[A-Za-z]/%4d:%2d:%2d:%2d %c%4d", &day, name,
	    &year, &hour, &minute, &second, &sign, &east);
	if (n < 6 || (month = month_number(name)) == 0)
		return false;
	if (n == 8 && (sign == '+' || sign == '-')) {
		zone = (east / 100 * 60 + east % 100) * 60;
		zone = sign == '-' ? -zone : zone;
	}
	*time = days_before(year, month, day) * 86400 + hour * 3600 +
	    minute * 60 + second - zone;
	return true;
}

/* Takes one byte of the text between quotes: nginx escapes as \xHH, Apache in
 * other ways, too. A backslash before anything else is a backslash. */
static char
take_byte(const char **at)
{
	static const char escapes[] = "\"\\bnrtv", bytes[] = "\"\\\b\n\r\t\v";
	const char *s = *at, *which;
	char hex[3];

	if (s[0] != '\\' || s[1] == '\0') {
		*at = s + 1;
		return s[0];
	}
	if (s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
	    isxdigit((unsigned char)s[3])) {
		memcpy(hex, s + 2, 2);
		hex[2] = '\0';
		*at = s + 4;
		return (char)strtol(hex, NULL, 16);
	}
	which = strchr(escapes, s[1]);
	*at = s + (which != NULL ? 2 : 1);
	return which != NULL ? bytes[which - escapes] : s[0];
}

/* What pen does not write of a long one is left out; and one that never came is
 * empty. */
static int
take_request(const char *at, char request[LOG_REQUEST_MAX])
{
	size_t n = 0;
	char c;

	if (*at++ != '"')
		return -1;
	while (*at != '"') {
		if (*at == '\0')
			return -1;
		c = take_byte(&at);
		if (n < LOG_REQUEST_MAX - 1)
			request[n++] = c;
	}
	cut_request(request, n);
	return 0;
}

int
web_line_parse(struct web_line *w, const char *line, int zone)
{
	const char *at;

	w->user = line + strcspn(line, " \t\r\n");
	if (w->user == line || *w->user != ' ')
		return -1;
	w->begin = strchr(w->user, '[');
	w->end = w->begin != NULL ? strchr(w->begin, ']') : NULL;
	if (w->end == NULL)
		return -1;
	w->begin++;
	w->has_time = parse_time(w->begin, zone, &w->time);
	at = w->end + 1;
	at += strspn(at, " \t");
	return take_request(at, w->request);
}
