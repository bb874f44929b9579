/* check_spec.h: how servers are checked, in the words of the operator and
 * compiled: "http /health status 200". A spec is shared by all servers that are
 * checked so: it is counted. */
#ifndef PEN_PROXY_CHECK_SPEC_H
#define PEN_PROXY_CHECK_SPEC_H

#include "proxy/check/check.h"

/* Compiles KIND ARGUMENTS..; a single word with blanks in it is split first.
 * NULL with a short message. The caller has a reference. */
struct check_spec *check_spec_new(const struct words *w, struct error *e);
/* The same from check_spec_text(). */
struct check_spec *check_spec_read(const char *text, struct error *e);
/* The same of one kind, from its arguments. */
struct check_spec *check_spec_of(
    const struct check_kind *kind, const struct words *w, struct error *e);
struct check_spec *check_spec_hold(struct check_spec *s);
void check_spec_drop(struct check_spec *s); /* NULL is fine */

/* The check as words that check_spec_read() understands. */
const char *check_spec_text(const struct check_spec *s);
/* The name of a kind; NULL after the last one. */
const char *check_spec_kind_name(unsigned i);
const struct check_kind *check_spec_kind(const struct check_spec *s);
/* The settings that the kind's parse() has made. */
const void *check_spec_settings(const struct check_spec *s);
/* Whether it sends datagrams. */
bool check_spec_sends_datagrams(const struct check_spec *s);
/* Whether the kind of a check_spec_text() may talk TLS. */
bool check_spec_may_talk_tls(const char *text);
/* How TLS is talked; NULL: it is not. */
const struct check_tls *check_spec_tls(const struct check_spec *s);
/* The program that it runs, with its arguments as in check.h, or NULL. */
char *const *check_spec_program(const struct check_spec *s);
/* Both may be NULL. */
bool check_spec_equal(const struct check_spec *a, const struct check_spec *b);

#endif
