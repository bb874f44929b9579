/* inspect_private.h: what both judges, and both who look, share. */
#ifndef PEN_DSR_INSPECT_PRIVATE_H
#define PEN_DSR_INSPECT_PRIVATE_H

#include "dsr/inspect/inspect.h"

enum { INSPECT_PATH = 64 };

/* Whom findings are told to. */
struct inspect_ear {
	inspect_report_fn *report;
	void *arg;
};

/* Begins a finding; inspect_tell() reports it, inspect_mend() with a command. */
void inspect_say(struct inspect_finding *f, enum inspect_level level,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void inspect_tell(const struct inspect_ear *ear, struct inspect_finding *f);
void inspect_mend(const struct inspect_ear *ear, struct inspect_finding *f,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Whether it is the same address; ports do not count. */
bool inspect_same_ip(const struct peer *a, const struct peer *b);
/* The setting's name for sysctl(8); names of interfaces may have dots. */
const char *inspect_setting(char path[INSPECT_PATH], const char *family,
    const char *interface, const char *name);

/* ---- inspect_fast.c ---- */

/* What keeps a fast path that is wanted from working: on the machine; and on the
 * link that opened, where that is not clear from the machine. */
void inspect_judge_fast(const struct inspect_machine *m,
    const struct inspect_wish *w, const struct inspect_ear *ear);
void inspect_judge_fast_link(const struct inspect_segment *s,
    const struct inspect_wish *w, const struct inspect_ear *ear);

/* ---- inspect_linux.c ---- */

/* What only Linux tells: offloads, rights, forwarding, routes. */
void inspect_look_linux(
    struct inspect_machine *m, const struct inspect_wish *w);

#endif
