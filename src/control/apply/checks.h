/* checks.h: checks of servers of the plan in force. */
#ifndef PEN_CONTROL_CHECKS_H
#define PEN_CONTROL_CHECKS_H

#include "control/apply/apply.h"
#include "proxy/check_spec.h"

struct facts;

/* Checks that the draft has what its health checks need. Returns 0, or -1 with
 * a sentence. */
int checks_check(struct apply *a, struct error *e);
/* Compiles what the draft says, and makes room for it. Returns 0, or -1 with a
 * sentence and everything as it was. */
int checks_prepare(struct apply *a, struct error *e);
/* Servers are checked so from now on; those that were checked so already, at
 * the same addresses, go on undisturbed. */
void checks_commit(struct apply *a);
/* Checks them as before. */
void checks_cancel(struct apply *a);
/* Asks no server any more; what is known of them stays. */
void checks_stop(struct pen *p);
/* Ends all checks. */
void checks_free(struct pen *p);

/* Tells the check of a server, its last result, how long that took, and how
 * many results in a row of how many stand against the server's state. */
void checks_tell(struct facts *f, const struct pen *p, const struct server *s);

/* How the server in the slot is to be checked, in words (proxy/check_spec.h);
 * NULL: it is not. */
const char *checks_text(const struct plan *p, unsigned slot);
/* Whether any server is to be. */
bool checks_are_wanted(const struct plan *p);
/* Whether who gives the command may set the program that the check runs, if it
 * runs one, and whether it can be executed; and that of all checks, for
 * --check. Return 0, or -1 with a sentence. */
int checks_try_program(
    const struct pen *p, const struct check_spec *s, struct error *e);
int checks_try_programs(const struct pen *p, struct error *e);
/* What a check is, in words: TRAIT_CHECK*; and plan_traits() with those of the
 * check for all. */
unsigned checks_traits(const char *text);
unsigned checks_all_traits(const struct plan *p);
/* Whether the draft may check servers in another way than before. */
bool checks_may_differ(const struct apply *a);
/* Whether all of its servers may be concerned, not only those that it sets. */
bool checks_concern_all(const struct apply *a);
/* The port for checks of the server that is not its own: set, or the first that
 * clients come to, where it has none; 0: none. */
uint16_t checks_other_port(const struct plan *p, const struct server_plan *s);
/* The port to ask the server at; 0: none. */
uint16_t checks_port(const struct plan *p, const struct server_plan *s);
/* The port of "dsr" where the listening address has none; 0: none. */
uint16_t checks_dsr_port(
    const struct check_settings *s, const struct check_spec *spec);

#endif
