/* finding.h: what is wrong, or worth knowing, of the machine and the network
 * around it, and the commands that fix it. */
#ifndef PEN_BASE_FINDING_H
#define PEN_BASE_FINDING_H

#include <stdbool.h>

enum finding_level {
	FINDING_NOTE,	 /* informative */
	FINDING_WARNING, /* it works, but less well, or not for all */
	FINDING_ERROR	 /* it does not work like this */
};

struct finding {
	enum finding_level level;
	bool at_start;	/* for the log, if pen is started nevertheless */
	char what[512]; /* a message without full stop */
	char fix[400];	/* commands; "": there are none */
};

typedef void finding_report_fn(void *arg, const struct finding *f);

/* Prints it to standard error; `arg` is a bool that an error makes true. */
finding_report_fn finding_print;
/* Logs it if it is for the log of a start. `arg` is not used. */
finding_report_fn finding_log;

#endif
