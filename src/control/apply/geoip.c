/* geoip.c: see geoip.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/watched_file.h"
#include "base/words.h"
#include "control/apply/geoip.h"
#include "control/plan/origin.h"

/* How often to see whether the file has changed. */
enum { WATCH_MS = 5000 };

struct geoip {
	struct pen *pen;
	struct watched_file file;
	struct settling settling;
	struct timer timer;
	struct countries *new; /* what the pool gets next */
};

/* Opens the file. After chroot() its path may lead nowhere, while its directory
 * is still open. */
static int
open_database(struct geoip *g, struct error *e)
{
	const struct watched_file *w = &g->file;
	char path[400];
	int n = snprintf(
	    path, sizeof(path), "/proc/self/fd/%d/%s", w->dir, w->name);

	if (n >= (int)sizeof(path) || access(path, R_OK) < 0)
		return countries_open(g->new, w->path, e);
	return countries_open(g->new, path, e);
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
read_again(struct geoip *g)
{
	struct error why;
	int rc;

	watched_file_note(&g->file);
	rc = open_database(g, &why);
	process_role_mute(g->pen, true);
	if (rc == 0)
		geoip_take(g);
	if (settling_read(&g->settling, rc == 0, loop_now(g->pen->loop)))
		log_warn("geoip: database not reloaded, keeping the old one "
			 "file=%s error=\"%s\"",
		    g->file.path, why.text);
	process_role_mute(g->pen, false);
}

static void
geoip_set_timer(struct geoip *g)
{
	unsigned ms = sooner_ms(
	    WATCH_MS, settling_wait_ms(&g->settling, loop_now(g->pen->loop)));

	(void)timer_start(g->pen->loop, &g->timer, ms);
}

static void
geoip_on_time(struct timer *t)
{
	geoip_refresh(container_of(t, struct geoip, timer));
}

void
geoip_refresh(struct geoip *g)
{
	bool changed;

	if (g == NULL)
		return;
	changed = watched_file_has_changed(&g->file);
	if (settling_is_due(&g->settling, changed, loop_now(g->pen->loop)))
		read_again(g);
	geoip_set_timer(g);
}

/* ---- life ---- */

void
geoip_free(struct geoip *g)
{
	if (g == NULL)
		return;
	timer_fini(&g->timer);
	countries_free(g->new);
	watched_file_fini(&g->file);
	free(g);
}

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
	timer_init(&g->timer, geoip_on_time);
	watched_file_none(&g->file);
	if (watched_file_init(&g->file, path, e) == 0) {
		watched_file_note(&g->file);
		if (open_database(g, &why) == 0)
			return g;
		error_set(e, "geoip \"%.300s\": %.150s", path, why.text);
	}
	geoip_free(g);
	return NULL;
}

int
geoip_try(const struct pen *p, struct error *e)
{
	const char *path = p->plan->process->geoip;
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
geoip_prepare(struct apply_all *a, struct error *e)
{
	const char *path = a->draft->process->geoip;

	if (path == NULL)
		return 0;
	a->geoip = geoip_new(a->pen, path, e);
	if (a->geoip != NULL)
		return 0;
	origin_add(a->draft, "geoip", e);
	return -1;
}

void
geoip_commit(struct apply_all *a)
{
	struct countries *known = pool_countries(a->pen->service->pool);

	geoip_free(a->pen->geoip);
	a->pen->geoip = a->geoip;
	if (a->geoip == NULL) {
		(void)countries_open(known, NULL, NULL);
		return;
	}
	geoip_take(a->geoip);
	geoip_set_timer(a->geoip);
}

void
geoip_cancel(struct apply_all *a)
{
	geoip_free(a->geoip);
	a->geoip = NULL;
}
