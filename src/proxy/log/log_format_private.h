/* log_format_private.h: a format, compiled: log_format_new.c makes it,
 * log_format.c writes lines by it. */
#ifndef PEN_PROXY_LOG_FORMAT_PRIVATE_H
#define PEN_PROXY_LOG_FORMAT_PRIVATE_H

#include <limits.h>

#include "proxy/log/log_format.h"

/* The longest text before a value, with a NUL. */
enum { PIECE_MAX = 32 };

/* Text, then a field: " ms=" and what it took. */
struct piece {
	const char *text;
	size_t length;
	const struct record_field *field; /* NULL: none follows */
};

struct line {
	char *text;
	size_t length, max;
};

struct log_format {
	struct list link; /* of those that are shared */
	unsigned uses;
	char *given; /* the text of one that is shared; owned */
	void (*write)(const struct log_format *f,
	    const struct session_record *r, bool timed, struct line *l);
	enum record_scope scope;
	bool has_tls;
	char *text; /* owned; pieces point into it */
	struct piece *pieces;
	size_t count, without_tls;   /* those before the fields of TLS */
	bool special[UCHAR_MAX + 1]; /* bytes that a value cannot have as such
				      */
	struct log_format *message;  /* of the journal; owned */
};

/* Whether a quoted value may have the byte as it is. */
bool log_format_is_safe(unsigned char c);

void log_format_write_logfmt(const struct log_format *f,
    const struct session_record *r, bool timed, struct line *l);
void log_format_write_json(const struct log_format *f,
    const struct session_record *r, bool timed, struct line *l);
void log_format_write_journal(const struct log_format *f,
    const struct session_record *r, bool timed, struct line *l);
void log_format_write_template(const struct log_format *f,
    const struct session_record *r, bool timed, struct line *l);

#endif
