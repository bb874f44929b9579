/* geoip.h: the database of countries in force, and the file it comes from.
 *
 * The file is mapped, and opened anew when its name leads to another one. So it
 * has to be replaced by rename(2): a lookup in a file that was cut ends the
 * process. */
#ifndef PEN_CONTROL_GEOIP_H
#define PEN_CONTROL_GEOIP_H

#include "control/apply/apply.h"

struct geoip;

/* Taking part in a change; see apply.h. */
int geoip_prepare(struct apply_all *a, struct error *e);
void geoip_commit(struct apply_all *a);
void geoip_cancel(struct apply_all *a);

/* Opens the database of the plan in force, for --check and --explain. Returns
 * 0, or -1 with a full message. */
int geoip_try(const struct pen *p, struct error *e);
/* Reads the file again if it has changed. NULL is fine. */
void geoip_refresh(struct geoip *g);
/* NULL is fine. */
void geoip_free(struct geoip *g);

#endif
