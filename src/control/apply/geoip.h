/* geoip.h: the database of countries in force, and the file it comes from.
 *
 *     file --copied piece by piece--> memory --opened--> the pool's countries
 *
 * A copy in memory cannot change, be cut short or wait for a disk while clients
 * are looked up. It is made in the loop, so much of it in each turn that
 * traffic goes on, and takes the place of the database before it once it is
 * whole and valid. Where a file cannot be in memory (memfd_create), or
 * cannot be opened there (chroot without /proc), the file itself is mapped. */
#ifndef PEN_CONTROL_GEOIP_H
#define PEN_CONTROL_GEOIP_H

#include "control/apply/apply.h"

struct geoip;

/* Taking part in a change; see apply.h. */
int geoip_prepare(struct apply *a, struct error *e);
void geoip_commit(struct apply *a);
void geoip_cancel(struct apply *a);

/* Opens the database of the plan in force, for --check and --explain. Returns
 * 0, or -1 with a full message. */
int geoip_try(struct pen *p, struct error *e);
/* Reads the file again if it has changed. NULL is fine. */
void geoip_refresh(struct geoip *g);
/* NULL is fine. */
void geoip_free(struct geoip *g);

#endif
