/* value_private.h: what a kind of value can do. */
#ifndef PEN_CONTROL_VALUE_PRIVATE_H
#define PEN_CONTROL_VALUE_PRIVATE_H

#include "control/value/value.h"

/* Here `value` is the value itself. */
struct value_kind {
	/* Sets it from the words of a command; `no`: of "no NAME". Returns 0,
	 * or -1 with a short message. */
	int (*set)(const struct command *row, void *value,
	    const struct words *w, bool no, struct error *e);
	/* Appends it as the words of that command. Returns false if it has
	 * none: "no NAME" sets it. See value_words(). */
	bool (*words)(
	    const struct command *row, const void *value, struct buffer *out);
	/* Prints it as commands. NULL: "NAME WORDS", or "no NAME" where there
	 * are none. */
	void (*print)(
	    const struct command *row, const void *value, struct buffer *out);
	/* Reports it as text. NULL: the words. */
	void (*answer)(
	    const struct command *row, const void *value, struct buffer *out);
	/* Reports it as a field. NULL: the words as one text, or null where
	 * there are none. */
	void (*emit)(struct fields *f, const char *key,
	    const struct command *row, const void *value);
	/* Compares two values. NULL: their bytes are compared. */
	bool (*equal)(const struct command *row, const void *a, const void *b);
	size_t size;
	/* Visits the strings that it owns. NULL: it owns none. */
	int (*each_text)(const struct command *row, void *value,
	    int (*visit)(char **text));
	bool one;    /* it is set by one argument, no more and no less */
	bool number; /* one that setting it answers with */
};

extern const struct value_kind
    /* value_number.c */
    value_kind_flag,
    value_kind_tristate, value_kind_number, value_kind_unsigned, value_kind_int,
    value_kind_seconds, value_kind_rate, value_kind_mode, value_kind_observe,
    /* value_acl.c */
    value_kind_acl, value_kind_forwarded,
    /* value_word.c */
    value_kind_text, value_kind_choice, value_kind_bits, value_kind_name,
    value_kind_self, value_kind_host, value_kind_check, value_kind_cookie,
    value_kind_identity,
    /* value_address.c */
    value_kind_source, value_kind_own_addresses, value_kind_port,
    /* value_certificate.c */
    value_kind_certificates, value_kind_keys,
    /* value_peers.c */
    value_kind_peers;

/* Returns -1 with the arguments that are expected. */
int value_expects(const struct command *row, struct error *e);
/* equal() and each_text() of a value that is one text. */
bool value_equal_texts(const struct command *row, const void *a, const void *b);
int value_each_of_text(
    const struct command *row, void *value, int (*visit)(char **text));
/* The number at `value`. */
void value_store_number(const struct command *row, void *value, uint64_t n);
uint64_t value_get_number(const struct command *row, const void *value);

#endif
