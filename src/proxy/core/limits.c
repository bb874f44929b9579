/* limits.c: the limits on sources; see limits.h. */
#include "config.h"

#include "base/log.h"
#include "proxy/core/limits.h"

/* How often the log names the same source. */
enum { TELL_MS = 60 * 1000 };

bool
limits_are_set(const struct limit_options *o)
{
	return o->conns > 0 || o->rate.count > 0;
}

/* An empty list would permit, and so exempt, all. */
static bool
is_exempt(const struct frontend_core *f, const struct peer *who)
{
	int n = f->options.limits.exempt;
	const struct acl *list;

	if (n < 0)
		return false;
	list = pool_acl(f->pool, (unsigned)n);
	return !acl_is_empty(list) && acl_permits(list, who);
}

struct source *
limits_find_source(const struct frontend_core *f, const struct peer *who)
{
	return is_exempt(f, who) ? NULL : source_limits_find(&f->sources, who);
}

struct source *
limits_source(struct frontend_core *f, const struct peer *who)
{
	struct source *s;

	if (!source_is_of(who) || is_exempt(f, who))
		return NULL;
	s = source_limits_get(&f->sources, who);
	if (s == NULL)
		f->stats->limits.untracked++;
	return s;
}

static const char *
limit_name(enum limit_verdict which)
{
	return which == LIMIT_CONNS ? "client_conns" : "client_rate";
}

void
limits_note(struct frontend_core *f, struct source *s, enum limit_verdict which)
{
	uint64_t now = loop_now(f->loop);
	char text[SOURCE_TEXT_MAX];

	f->stats->limits.beyond++;
	if (s->told != 0 && now - s->told < TELL_MS)
		return;
	s->told = now;
	log_warn("client over limit client=%s limit=%s conns=%u allowed=%llu "
		 "limited=%llu%s",
	    source_format(s, text), limit_name(which), (unsigned)s->conns,
	    (unsigned long long)s->passed, (unsigned long long)s->limited,
	    f->label);
}

enum limit_verdict
limits_check(const struct frontend_core *f, const struct peer *who)
{
	const struct source *s = limits_find_source(f, who);

	if (!f->limited || s == NULL)
		return LIMIT_WITHIN;
	return source_check(&f->sources, s, loop_now(f->loop));
}

bool
limits_pass_datagram(struct frontend_core *f, const struct peer *who)
{
	struct source *s = limits_source(f, who);
	enum limit_verdict v;

	if (s == NULL)
		return true;
	v = source_arrive(&f->sources, s, false, loop_now(f->loop));
	source_touch(&f->sources, s, false);
	if (v == LIMIT_WITHIN)
		return true;
	limits_note(f, s, v);
	return false;
}

bool
limits_pass_flow(struct frontend_core *f, const struct peer *who)
{
	struct source *s = limits_source(f, who);

	if (s == NULL || !source_is_full(&f->sources, s))
		return true;
	s->limited++;
	limits_note(f, s, LIMIT_CONNS);
	return false;
}
