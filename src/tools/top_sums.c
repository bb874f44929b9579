/* top_sums.c: see top_sums.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "tools/top_sums.h"

static double
number_after(const struct words *w, const char *key)
{
	return strtod(top_value_of(w, key), NULL);
}

static void
add_words(struct top_sums *s, const struct words *w)
{
	const char *role = top_value_of(w, "role");
	double p99 = number_after(w, "answer_p99_us");

	s->directors += *role != '\0';
	s->active += strcmp(role, "active") == 0;
	s->frames += number_after(w, "frame_rate");
	s->bytes += number_after(w, "byte_rate");
	s->resolvers += *top_value_of(w, "queries") != '\0';
	s->queries += number_after(w, "queries");
	s->servfail += number_after(w, "servfail");
	if (p99 > s->p99_us)
		s->p99_us = p99;
}

void
top_sums_add(struct top_sums *s, const char *line)
{
	char *copy = strdup(line), *rest;
	struct words w;

	if (copy != NULL && words_split(&w, copy, &rest) == 0)
		add_words(s, &w);
	free(copy);
}

/* Appends. */
static void
add_direct(char text[TOP_LINE], const struct top_sums *s)
{
	char role[64] = "active", frames[16], bytes[16];
	size_t n = strlen(text);

	if (s->active == 0) {
		snprintf(text + n, TOP_LINE - n, ", standby");
		return;
	}
	if (s->active < s->directors)
		snprintf(role, sizeof(role), "%u of %u directors active",
		    s->active, s->directors);
	top_format_amount(frames, sizeof(frames), s->frames);
	top_format_amount(bytes, sizeof(bytes), s->bytes);
	snprintf(text + n, TOP_LINE - n, ", %s, %s frames/s, %sB/s", role,
	    frames, bytes);
}

/* Counters may begin again. */
static double
growth_of(double now, double before)
{
	return now >= before ? now - before : now;
}

static void
add_dns(char text[TOP_LINE], const struct top_sums *s,
    const struct top_sums *before)
{
	double queries = growth_of(s->queries, before->queries);
	double failed = growth_of(s->servfail, before->servfail);
	size_t n = strlen(text);

	snprintf(text + n, TOP_LINE - n, ", SERVFAIL %.1f%%, p99 %.*fms",
	    queries > 0 ? 100 * failed / queries : 0, s->p99_us < 10000,
	    s->p99_us / 1000);
}

const char *
top_sums_text(char text[TOP_LINE], const struct top_sums *s,
    const struct top_sums *before)
{
	*text = '\0';
	if (s->directors > 0)
		add_direct(text, s);
	if (s->resolvers > 0)
		add_dns(text, s, before);
	return text;
}
