/* processors.h: how many processors this process may use. */
#ifndef PEN_CONTROL_PROCESSORS_H
#define PEN_CONTROL_PROCESSORS_H

/* The number of processors that this process may use, at least 1: those of its
 * affinity mask, or fewer where its control group, or one above it, has a
 * quota: as many as can use up the quota. `root` is "", or in tests a directory
 * with files as in /proc and /sys. */
unsigned processors_count(const char *root);

/* The second part: the quota, rounded up; 0: there is none. */
unsigned processors_quota(const char *root);

#endif
