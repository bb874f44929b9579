/* processors.h: how many processors this process may use. */
#ifndef PEN_CONTROL_PROCESSORS_H
#define PEN_CONTROL_PROCESSORS_H

/* Those of its affinity mask, or fewer where the control group of the process,
 * or one above it, has a quota: so many that they can use it up. At least 1.
 * `root` is "", or in tests a directory with files as in /proc and /sys. */
unsigned processors_count(const char *root);

/* The second part: the quota, rounded up; 0: there is none. */
unsigned processors_quota(const char *root);

#endif
