/* geoip.c: see geoip.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/watched_file.h"
#include "base/words.h"
#include "control/apply/geoip.h"
#include "control/plan/origin.h"

/* How often to see whether the file has changed; what is copied at a time, and
 * how soon the next piece follows. */
enum { WATCH_MS = 5000, PIECE = 1 << 16, PIECES = 16, NEXT_MS = 1 };

struct geoip {
	struct pen *pen;
	struct watched_file file;
	struct settling settling;
	struct timer timer;
	/* While it is copied; else -1. */
	int from, to;
	struct file_id id; /* of what is copied */
	struct countries *new;
};

/* ---- the copy ---- */

static void
close_copy(struct geoip *g)
{
	if (g->from >= 0)
		close(g->from);
	if (g->to >= 0)
		close(g->to);
	g->from = g->to = -1;
}

static int
memory_file(void)
{
#ifdef HAVE_MEMFD_CREATE
	return memfd_create("pen-geoip", MFD_CLOEXEC);
#else
	errno = ENOSYS;
	return -1;
#endif
}

/* Begins to copy the file. Returns 0, or -1 with errno. */
static int
begin_copy(struct geoip *g)
{
	close_copy(g);
	watched_file_note(&g->file);
	g->id = g->file.seen;
	g->from = openat(
	    g->file.dir, g->file.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	g->to = g->from >= 0 ? memory_file() : -1;
	if (g->to < 0)
		return -1;
#ifdef POSIX_FADV_WILLNEED
	(void)posix_fadvise(g->from, 0, 0, POSIX_FADV_WILLNEED);
#endif
	return 0;
}

/* Copies some pieces. Returns 1 if there is more to copy, 0 at the end, or -1
 * with errno. */
static int
copy_piece(struct geoip *g)
{
	char piece[PIECE];
	ssize_t n;
	int i;

	for (i = 0; i < PIECES; i++) {
		n = read(g->from, piece, sizeof(piece));
		if (n <= 0)
			return (int)n;
		if (write(g->to, piece, (size_t)n) != n)
			return -1;
	}
	return 1;
}

/* Opens the whole copy; the mapping stays when it is closed. A new root may not
 * have its path. */
static int
open_copy(struct geoip *g, struct error *e)
{
	char path[64];
	struct file_id now;

	file_id_read(&now, g->file.dir, g->file.name);
	if (!file_id_equal(&now, &g->id))
		return error_set(e, "has changed while it was read");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", g->to);
	return countries_open(
	    g->new, access(path, R_OK) == 0 ? path : g->file.path, e);
}

/* ---- a file that has changed ---- */

static void
geoip_take(struct geoip *g)
{
	char made[32];
	time_t when = (time_t)countries_made(g->new);
	struct tm tm;

	if (gmtime_r(&when, &tm) == NULL ||
	    strftime(made, sizeof(made), "%Y-%m-%d", &tm) == 0)
		made[0] = '\0';
	countries_take(pool_countries(g->pen->service->pool), g->new);
	log_info("geoip: database read file=%s built=%s", g->file.path, made);
}

/* The leader of workers reads the same file, and logs that. */
static void
end_copy(struct geoip *g, int rc, struct error *why)
{
	team_hush(g->pen, true);
	if (rc == 0)
		geoip_take(g);
	close_copy(g);
	if (settling_read(&g->settling, rc == 0, loop_now(g->pen->loop)))
		log_warn("geoip: database not reloaded, keeping the old one "
			 "file=%s error=\"%s\"",
		    g->file.path, why->text);
	team_hush(g->pen, false);
}

static void
start_copy(struct geoip *g)
{
	struct error why;
	int rc;

	if (begin_copy(g) == 0)
		return;
	rc = errno == ENOSYS ? countries_open(g->new, g->file.path, &why)
			     : error_set(&why, "%s", strerror(errno));
	end_copy(g, rc, &why);
}

static void
geoip_go_on(struct geoip *g)
{
	struct error why;
	int rc = copy_piece(g);

	if (rc == 1)
		return;
	rc = rc == 0 ? open_copy(g, &why)
		     : error_set(&why, "%s", strerror(errno));
	end_copy(g, rc, &why);
}

static void
geoip_set_timer(struct geoip *g)
{
	unsigned ms = g->from >= 0
	    ? NEXT_MS
	    : sooner_ms(WATCH_MS,
		  settling_wait_ms(&g->settling, loop_now(g->pen->loop)));

	(void)timer_start(g->pen->loop, &g->timer, ms);
}

static void
geoip_check_file(struct geoip *g)
{
	bool changed = watched_file_has_changed(&g->file);

	if (settling_is_due(&g->settling, changed, loop_now(g->pen->loop)))
		start_copy(g);
}

static void
geoip_on_time(struct timer *t)
{
	struct geoip *g = container_of(t, struct geoip, timer);

	if (g->from >= 0)
		geoip_go_on(g);
	else
		geoip_check_file(g);
	geoip_set_timer(g);
}

void
geoip_refresh(struct geoip *g)
{
	if (g == NULL || g->from >= 0)
		return;
	geoip_check_file(g);
	geoip_set_timer(g);
}

/* ---- life ---- */

void
geoip_free(struct geoip *g)
{
	if (g == NULL)
		return;
	timer_fini(&g->timer);
	close_copy(g);
	countries_free(g->new);
	watched_file_fini(&g->file);
	free(g);
}

/* The file is mapped at first, which shows that it is valid. */
static struct geoip *
geoip_new(struct pen *p, const char *path, struct error *e)
{
	struct geoip *g = calloc(1, sizeof(*g));
	struct error why;

	if (g == NULL || (g->new = countries_new()) == NULL) {
		free(g);
		error_set(e, "out of memory");
		return NULL;
	}
	g->pen = p;
	g->from = g->to = -1;
	timer_init(&g->timer, geoip_on_time);
	watched_file_none(&g->file);
	if (countries_open(g->new, path, &why) < 0)
		error_set(e, "geoip \"%.300s\": %.150s", path, why.text);
	else if (watched_file_init(&g->file, path, e) == 0)
		return g;
	geoip_free(g);
	return NULL;
}

int
geoip_try(struct pen *p, struct error *e)
{
	const char *path = p->plan->config.geoip;
	struct error why;

	if (path == NULL ||
	    countries_open(pool_countries(p->service->pool), path, &why) == 0)
		return 0;
	error_set(e, "geoip \"%.300s\": %.150s", path, why.text);
	origin_add(p->plan, "geoip", e);
	return -1;
}

/* ---- taking part in a change; see apply.h ---- */

int
geoip_prepare(struct apply *a, struct error *e)
{
	const char *path = a->wanted->config.geoip;
	bool same = text_equal(path, a->now->config.geoip);

	a->geoip_changed = a->first ? path != NULL : !same;
	if (!a->geoip_changed || path == NULL)
		return 0;
	a->geoip = geoip_new(a->pen, path, e);
	if (a->geoip != NULL)
		return 0;
	origin_add(a->wanted, "geoip", e);
	return -1;
}

void
geoip_commit(struct apply *a)
{
	struct countries *known = pool_countries(a->service->pool);

	if (!a->geoip_changed)
		return;
	geoip_free(a->pen->geoip);
	a->pen->geoip = a->geoip;
	if (a->geoip == NULL) {
		(void)countries_open(known, NULL, NULL);
		return;
	}
	countries_take(known, a->geoip->new);
	start_copy(a->geoip);
	geoip_set_timer(a->geoip);
}

void
geoip_cancel(struct apply *a)
{
	geoip_free(a->geoip);
	a->geoip = NULL;
}
