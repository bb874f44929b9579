/* expand.h: servers written as "NAME*", or as the name of a service: each
 * address of the name is a server.
 *
 *     server 3 address web* port 80       the operator's
 *        |-- first address                server 3 itself
 *        '-- every other address          a server of its own, at a free number
 *
 * With the name of a service, as _http._tcp.web.test, it is each target of its
 * SRV records (RFC 2782), whose ports, weights and priorities count instead of
 * the operator's.
 *
 * The others are part of the plan, so that commands and reports have them, but
 * they are not written: they come from the name each time. They have the
 * settings of the operator's, but for what he does to one of them: drain, down
 * and up. An address that the name has no more is a server that is removed: no
 * new clients, and those there are stay. */
#ifndef PEN_CONTROL_EXPAND_H
#define PEN_CONTROL_EXPAND_H

#include "control/apply/names.h"
#include "control/plan/plan.h"

struct apply;

/* Whether the server stands for all addresses of a name. */
bool expand_is_wanted(const struct server_plan *s);
/* Copies the name to look up, without the star, to `name`; false if it is too
 * long. */
bool expand_name(const struct server_plan *s, char name[SPEC_TEXT_MAX]);

/* Makes the servers of the draft those that its names have addresses for, but
 * for those that are pen itself when names are looked up again. A name that was
 * not looked up, or not found, keeps those that it has in the plan in force;
 * servers keep their numbers, too. Returns 0, or -1 with a full message. */
int expand_names(const struct apply *a, struct error *e);

#endif
