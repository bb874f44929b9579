/* changed.h: what a draft changes, as a set of bits. Each setting has those of
 * the member of struct config, or of struct process_plan, that its value is in;
 * each setting of a server those of its row. A participant of an apply has the
 * set that it depends on: see struct participant. */
#ifndef PEN_CONTROL_CHANGED_H
#define PEN_CONTROL_CHANGED_H

#include <stdint.h>

struct command;
struct plan;
struct process_plan;

#define CHANGED(bit) (UINT64_C(1) << (bit))

/* ---- servers ---- */

/* Or ports, or which servers there are. */
#define CHANGED_HOSTS	     CHANGED(0)
#define CHANGED_LIMITS	     CHANGED(1)
#define CHANGED_SERVER_TLS   CHANGED(2)
#define CHANGED_FORWARD	     CHANGED(3)
#define CHANGED_SERVER_CHECK CHANGED(4)
#define CHANGED_WEIGHT	     CHANGED(5)
#define CHANGED_PRIO	     CHANGED(6)
/* Of slow_start and others: only warnings depend on it. */
#define CHANGED_WARNED	     CHANGED(7)
/* What nothing but the server itself depends on. */
#define CHANGED_SERVER CHANGED(8)
#define CHANGED_SERVERS                                               \
	(CHANGED_HOSTS | CHANGED_LIMITS | CHANGED_SERVER_TLS |        \
	    CHANGED_FORWARD | CHANGED_SERVER_CHECK | CHANGED_WEIGHT | \
	    CHANGED_PRIO | CHANGED_WARNED | CHANGED_SERVER)

/* ---- a service ---- */

#define CHANGED_LISTEN	       CHANGED(9)
#define CHANGED_ROUTES	       CHANGED(10)
#define CHANGED_POOL	       CHANGED(11)
#define CHANGED_FRONTEND       CHANGED(12)
#define CHANGED_DNS	       CHANGED(13)
#define CHANGED_SOURCE	       CHANGED(14)
#define CHANGED_TLS	       CHANGED(15)
#define CHANGED_DSR	       CHANGED(16)
#define CHANGED_CHECKS	       CHANGED(17)
#define CHANGED_LOG_FORMAT     CHANGED(18)
#define CHANGED_REQUEST_LOG    CHANGED(19)
#define CHANGED_REQUEST_FORMAT CHANGED(20)
#define CHANGED_SESSION_LOG    CHANGED(21)
#define CHANGED_LOG_SAMPLE     CHANGED(22)
/* The others, and words that mean the same addresses. */
#define CHANGED_SERVICE CHANGED(23)

#define CHANGED_OF_SERVICE (CHANGED(24) - 1) /* all of the above */

/* ---- the process ---- */

#define CHANGED_ACLS	  CHANGED(24) /* the lists themselves */
#define CHANGED_WEB	  CHANGED(25) /* the address of the pages */
#define CHANGED_WEB_STATS CHANGED(26)
#define CHANGED_ON_STATE  CHANGED(27)
#define CHANGED_GEOIP	  CHANGED(28)
#define CHANGED_LOG	  CHANGED(29)
#define CHANGED_PEERS	  CHANGED(30)
#define CHANGED_WORKERS	  CHANGED(31)
#define CHANGED_PROCESS	  CHANGED(32) /* the others */
#define CHANGED_DUMP	  CHANGED(33)
#define CHANGED_DRAIN	  CHANGED(34)
#define CHANGED_DEBUG	  CHANGED(35)

/* ---- of both ---- */

/* Settings that name an access list. */
#define CHANGED_REFERENCES CHANGED(36)
/* Settings that can be set only at the start. */
#define CHANGED_AT_START CHANGED(37)
/* Services are added or removed. */
#define CHANGED_SERVICES CHANGED(38)
/* Names were looked up: servers that are the same may have other addresses. */
#define CHANGED_NAMES CHANGED(39)
/* The plan was made anew, by a reload: it lacks what follows from settings. */
#define CHANGED_ANEW CHANGED(40)
/* Of the first service: another one is added or removed, or changes in more
 * than settings of its servers. Its warnings of the process are of all. */
#define CHANGED_OTHERS CHANGED(41)
/* Nothing is open yet. All else has changed, too. */
#define CHANGED_FIRST CHANGED(42)
/* Set in any draft that comes into force, also in one that changes nothing. */
#define CHANGED_DRAFT CHANGED(43)

#define CHANGED_ALL (~UINT64_C(0))

/* Servers may be set, added or removed, or get other addresses: also those that
 * are the same in both plans, as ports and listening addresses decide which
 * addresses they may have. What reads `servers` of struct apply, or what the
 * pool has of servers, depends on all of it. */
#define CHANGED_SET                                                   \
	(CHANGED_SERVERS | CHANGED_NAMES | CHANGED_DNS | CHANGED_CHECKS | \
	    CHANGED_LISTEN)

/* The bits of a setting, of a service or of the process. */
uint64_t changed_setting(const struct command *row);
/* The bits in which two plans of a service differ. */
uint64_t plan_changed(const struct plan *a, const struct plan *b);
/* The same of the process. */
uint64_t process_plan_changed(
    const struct process_plan *a, const struct process_plan *b);

#endif
