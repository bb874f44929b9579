/* http_identity.h: the field by which a request is found in the logs of pen
 * and of its servers: what a trusted client sends in it, else a value that no
 * other request has. Pure. */
#ifndef PEN_PROXY_HTTP_IDENTITY_H
#define PEN_PROXY_HTTP_IDENTITY_H

#include "proxy/http/http_field.h"

/* Bytes of its name, with its NUL; of a value that is taken; of a line with a
 * value that is made. */
enum {
	HTTP_IDENTITY_NAME = 41,
	HTTP_IDENTITY_MAX = 128,
	HTTP_IDENTITY_LINE = HTTP_IDENTITY_NAME + 36
};

/* What the connections of a frontend have together. */
struct http_identities {
	size_t length; /* of the name; 0: none is wanted */
	char name[HTTP_IDENTITY_NAME];
	/* The same in lower case, with '-' for all but letters and digits. */
	char like[HTTP_IDENTITY_NAME];
	uint64_t high, next; /* both begin with any number */
};

/* Of a connection: that of the last request. */
struct http_identity {
	struct http_identities *all; /* not owned */
	bool trusted;		     /* the client is */
	bool kept;		     /* its value is */
	bool drops;		     /* a line of the section goes */
	size_t length;
	char text[HTTP_IDENTITY_MAX];
};

/* Whether that may be the name: a token, and of no field that decides where a
 * request ends, or goes. */
bool http_identity_name_is_valid(const char *name);
void http_identities_set(struct http_identities *all, const char *name);

/* Whether a line of a section, without its CRLF, is such a field, also to
 * servers that cannot distinguish '-' and '_'. */
bool http_identity_is_line(
    const struct http_identity *id, struct http_text line);
/* Whether one of a section is. */
bool http_identity_is_in(
    const struct http_identity *id, struct http_text section);
/* Finds, or makes, that of the request with this complete header section. */
void http_identity_find(struct http_identity *id, struct http_text section);
/* The line that is added, with its CRLF; returns its length, 0: none is. */
size_t http_identity_line(
    const struct http_identity *id, char line[HTTP_IDENTITY_LINE]);

#endif
