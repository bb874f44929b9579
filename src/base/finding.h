/* finding.h: what is wrong, or worth knowing, of the machine and the network
 * around it, and the commands that fix it. All that can be found is in tables
 * of rows, whose texts have names in braces where values stand. */
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

struct finding_row {
	enum finding_level level;
	bool at_start; /* see struct finding */
	const char *says, *fix; /* fix: NULL: none */
};

/* Whom findings are reported to, and the values that rows get. */
struct finding_writer {
	finding_report_fn *report;
	void *arg;

	/* Private. */
	struct finding_value {
		const char *name; /* not owned */
		char text[304];
	} value[20];
	unsigned values;
};

/* Sets the value of a name, or replaces it. */
void finding_set(struct finding_writer *w, const char *name, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));
/* Reports a row with the values that were set. What does not fit is left
 * out. */
void finding_write(struct finding_writer *w, const struct finding_row *row);

/* Prints it to standard error; `arg` is a bool that an error makes true. */
finding_report_fn finding_print;
/* Logs it if it is for the log of a start. `arg` is not used. */
finding_report_fn finding_log;

#endif
