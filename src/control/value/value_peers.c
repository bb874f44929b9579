/* value_peers.c: one text with a line for each: "ADDRESS:PORT FILE". */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/value/spec.h"
#include "control/value/value_peers.h"
#include "control/value/value_private.h"

bool
peer_spec_next(const char **rest, struct peer_spec *p)
{
	char at[ADDR_TEXT_MAX];
	const char *line = *rest;
	size_t n, k;

	if (line == NULL || *line == '\0')
		return false;
	n = strcspn(line, "\n");
	k = strcspn(line, " ");
	snprintf(at, sizeof(at), "%.*s", (int)k, line);
	(void)spec_parse_ip(&p->at, at, 0); /* it was right when it was set */
	snprintf(p->file, sizeof(p->file), "%.*s", (int)(n - k - 1),
	    line + k + 1);
	*rest = line + n + 1;
	return true;
}

static void
add_line(struct buffer *text, const struct addr *at, const char *file)
{
	char host[ADDR_TEXT_MAX];

	reply_add(text, "%s %s\n", addr_format(at, host), file);
}

/* Copies all but the one at that address. Returns how many. */
static unsigned
copy_others(const char *value, const struct addr *at, struct buffer *text)
{
	struct peer_spec p;
	unsigned n = 0;

	while (peer_spec_next(&value, &p))
		if (!addr_equal(&p.at, at)) {
			add_line(text, &p.at, p.file);
			n++;
		}
	return n;
}

static int
set_text_of(char **value, struct buffer *text, struct error *e)
{
	bool empty = buffer_length(text) == 0;
	int rc = buffer_append(text, "", 1);

	if (rc == 0)
		rc = text_set(value, empty ? NULL : buffer_bytes(text));
	buffer_fini(text);
	return rc == 0 ? 0 : error_set(e, "out of memory");
}

static int
parse_peer(const struct command *row, const struct words *w, bool no,
    struct addr *at, struct error *e)
{
	if (w->count != (no ? 1 : 3) ||
	    (!no && strcmp(w->word[1], "key") != 0))
		return value_expects(row, e);
	if (spec_parse_ip(at, w->word[0], 0) < 0 || addr_port(at) == 0)
		return error_set(e,
		    "\"%.100s\" is not an IP address with a port", w->word[0]);
	if (!no && strlen(w->word[2]) >= PEER_FILE_MAX)
		return error_set(e, "the name of the file is too long");
	return 0;
}

/* Adds a peer, in place of one with the same address, or removes it. */
static int
set_peer(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	char **list = value;
	struct buffer text;
	struct addr at;
	unsigned others;

	if (no && w->count == 0)
		return text_set(list, NULL);
	if (parse_peer(row, w, no, &at, e) < 0)
		return -1;
	buffer_init(&text);
	others = copy_others(*list, &at, &text);
	if (!no && others == PEERS_MAX) {
		buffer_fini(&text);
		return error_set(e, "at most %d", PEERS_MAX);
	}
	if (!no)
		add_line(&text, &at, w->word[2]);
	return set_text_of(list, &text, e);
}

/* ---- as text ---- */

static void
print_words(
    const struct peer_spec *p, const char *name, struct buffer *out)
{
	char host[ADDR_TEXT_MAX], front[ADDR_TEXT_MAX + 64];

	snprintf(front, sizeof(front), "%s%s%s key", name,
	    name[0] != '\0' ? " " : "", addr_format(&p->at, host));
	reply_command(out, front, p->file);
}

static void
print_peers(const struct command *row, const void *value, struct buffer *out)
{
	const char *list = *(char *const *)value;
	struct peer_spec p;

	reply_add(out, "no %s\n", row->name);
	while (peer_spec_next(&list, &p))
		print_words(&p, row->name, out);
}

static void
answer_peers(const struct command *row, const void *value, struct buffer *out)
{
	const char *list = *(char *const *)value;
	struct peer_spec p;

	(void)row;
	while (peer_spec_next(&list, &p))
		print_words(&p, "", out);
}

/* The addresses; the files are in the text alone. */
static void
emit_peers(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	const char *list = *(char *const *)value, *texts[PEERS_MAX];
	char host[PEERS_MAX][ADDR_TEXT_MAX];
	struct peer_spec p;
	unsigned n;

	(void)row;
	for (n = 0; n < PEERS_MAX && peer_spec_next(&list, &p); n++)
		texts[n] = addr_format(&p.at, host[n]);
	fields_json_texts(f, key, texts, n);
}

const struct value_kind value_kind_peers = {
	.set = set_peer,
	.print = print_peers,
	.answer = answer_peers,
	.emit = emit_peers,
	.equal = value_equal_texts,
	.each_text = value_each_of_text,
	.size = sizeof(char *),
};
