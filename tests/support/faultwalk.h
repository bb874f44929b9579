/* faultwalk.h: pen with calls that fail (faults.h), servers behind it and all
 * kinds of clients before it, which do not fail the test when pen does not
 * serve them.
 *
 * There are three services: web, with a health check, tls and udp; a page, a
 * control socket, and all the logs. */
#ifndef PEN_TEST_FAULTWALK_H
#define PEN_TEST_FAULTWALK_H

#include <stdbool.h>

#include "support/faults.h"
#include "support/penrun.h"

/* What became of a client. Silent: neither an answer nor an end. */
enum outcome { SERVED, REFUSED, SILENT };

struct faultwalk_act {
	const char *name;
	enum outcome (*run)(void);
	/* what it suffers is counted, or logged */
	bool counts;
};

struct faultwalk {
	struct faults *faults;
	struct pen pen;
	struct endpoint front, tls, udp, web, ctl, more;
	const char *conf, *pid_file;
	int kept;	 /* a connection to `front` */
	int patience_ms; /* of clients */
	unsigned tried, findings;
};
extern struct faultwalk walk;
/* Ends with one without a name. The first is about walk.kept. */
extern const struct faultwalk_act faultwalk_acts[];

/* Can calls fail in this build? NULL, or why not. */
const char *faultwalk_lacks(void);
/* Servers and a configuration; one in so many sites fails, or all with
 * PEN_TEST_FULL. */
void faultwalk_begin(unsigned of);
/* Of this call all sites fail, and no others. */
void faultwalk_only(const char *call);
/* Writes the configuration; `more`: with a service, server and setting more. */
void faultwalk_configure(bool more);
/* Starts pen, in the foreground or not, or lets it start and serve. */
void faultwalk_start(bool foreground);
void faultwalk_up(void);
/* Says what has been tried, and fails the test for what was found. */
void faultwalk_end(const char *name);

/* The next new site fails, until the end of this; which returns whether one
 * has. */
void faultwalk_arm(void);
bool faultwalk_disarm(void);
/* This error lasts, until the same. */
void faultwalk_last(int error);
/* Notes that what has failed last had this effect; the test fails later, with
 * all of them. Has it seen enough? */
void faultwalk_found(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));
bool faultwalk_is_full(void);

/* What a line to the control socket is answered with; its outcome. */
enum outcome faultwalk_ask(const char *line, const char **answer);
/* A new walk.kept instead of one that has ended. */
void faultwalk_keep(void);

#endif
