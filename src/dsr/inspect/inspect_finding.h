/* inspect_finding.h: how findings are worded and reported. */
#ifndef PEN_DSR_INSPECT_FINDING_H
#define PEN_DSR_INSPECT_FINDING_H

#include "dsr/inspect/inspect.h"

enum { INSPECT_PATH = 64 };

/* Where findings are reported to. */
struct inspect_sink {
	inspect_report_fn *report;
	void *arg;
};

/* Begins a finding; inspect_tell() reports it, inspect_fix() with a command. */
void inspect_say(struct inspect_finding *f, enum inspect_level level,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void inspect_tell(const struct inspect_sink *sink, struct inspect_finding *f);
void inspect_fix(const struct inspect_sink *sink, struct inspect_finding *f,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The setting's name for sysctl(8); names of interfaces may have dots. */
const char *inspect_setting(char path[INSPECT_PATH], const char *family,
    const char *interface, const char *name);

#endif
