/* metrics_process.c: the families of metrics that are no counters: what this
 * pen and its services are, and how long things took. */
#include "config.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/apply/tls_config.h"
#include "control/report/fit.h"
#include "control/report/metrics_private.h"
#include "control/life/context.h"
#include "pool/balance.h"

static void
all_info(
    const struct family *f, const struct service *svc, const struct lines *out)
{
	char labels[128];

	snprintf(labels, sizeof(labels), "version=\"%s\",balance=\"%s\"",
	    PACKAGE_VERSION, svc->plan->config->pool.balance->name);
	metric_number(out, f, labels, 1);
}

static void
process_start(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	metric_number(out, f, NULL, (uint64_t)p->started_wall);
}

static void
process_draining(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	metric_number(out, f, NULL, p->phase == PHASE_DRAINING);
}

static void
process_sessions_max(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	metric_number(out, f, NULL, p->plan->process->conn_max_all);
}

static void
all_max(
    const struct family *f, const struct service *svc, const struct lines *out)
{
	const char *from = (const void *)frontend_options(svc->frontend);
	uint64_t value;

	memcpy(&value, from + f->offset, sizeof(value));
	metric_number(out, f, NULL, value);
}

static void
all_fit(
    const struct family *f, const struct service *svc, const struct lines *out)
{
	metric_number(out, f, NULL, fit_service(svc));
}

static void
process_reload(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	metric_number(out, f, NULL, !p->reload_failed);
}

static void
process_loaded(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	metric_number(out, f, NULL, (uint64_t)p->loaded_wall);
}

/* Two may have the same name and file, so they have numbers. Of very many these
 * are the first. */
static void
all_certificates(
    const struct family *f, const struct service *svc, const struct lines *out)
{
	enum { MOST = 1000 };
	char labels[400], name[154], file[154];
	struct tls_certificate c;
	unsigned i;

	for (i = 0; i < MOST && tls_config_certificate(svc, i, &c); i++) {
		snprintf(labels, sizeof(labels),
		    "certificate=\"%u\",side=\"%s\",name=\"%s\",file=\"%s\"", i,
		    c.to_servers ? "server" : "client",
		    metric_escape(
			name, sizeof(name), c.name != NULL ? c.name : ""),
		    metric_escape(
			file, sizeof(file), c.file != NULL ? c.file : ""));
		metric_number(out, f, labels, (uint64_t)c.ends);
	}
}

/* ---- the process in the system ---- */

static void
process_cpu(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	struct rusage u;

	(void)p;
	if (getrusage(RUSAGE_SELF, &u) == 0)
		metric_seconds(out, f, NULL,
		    (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) *
			    1000000 +
			(uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec));
}

/* Only Linux has it in a file. */
static void
process_memory(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages;

	(void)p;
	if (file == NULL)
		return;
	if (fscanf(file, "%*u %llu", &pages) == 1)
		metric_number(
		    out, f, NULL, pages * (uint64_t)sysconf(_SC_PAGESIZE));
	fclose(file);
}

/* Newer kernels have their number, without a walk (Linux 6.2). */
static void
process_files(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	static const char path[] = "/proc/self/fd";
	struct stat st;
	uint64_t n = 0;
	DIR *dir;

	(void)p;
	if (stat(path, &st) == 0 && st.st_size > 0) {
		metric_number(out, f, NULL, (uint64_t)st.st_size);
		return;
	}
	dir = opendir(path);
	if (dir == NULL)
		return;
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	metric_number(out, f, NULL, n > 3 ? n - 3 : 0); /* ".", "..", dir */
}

static void
process_files_max(
    const struct family *f, const struct pen *p, const struct lines *out)
{
	struct rlimit most;

	(void)p;
	if (getrlimit(RLIMIT_NOFILE, &most) == 0)
		metric_number(out, f, NULL, (uint64_t)most.rlim_cur);
}

/* ---- times ---- */

/* `offset` is that of a struct duration in struct frontend_durations. */
static void
all_durations(
    const struct family *f, const struct service *svc, const struct lines *out)
{
	const char *from =
	    (const void *)&frontend_stats(svc->frontend)->durations;

	metric_duration(out, f, NULL, (const void *)(from + f->offset));
}

#define DURATION(member)      \
	.all = all_durations, \
	.offset = offsetof(struct frontend_durations, member)

#define MAX(member) \
	.all = all_max, .offset = offsetof(struct frontend_options, member)

static const struct family families[] = {
	{ "process_start_time_seconds", METRIC_GAUGE, "Start time, Unix time.",
	    .process = process_start },
	{ "process_cpu_seconds", METRIC_COUNTER, "CPU time used.",
	    .process = process_cpu },
	{ "process_resident_memory_bytes", METRIC_GAUGE, "Resident memory.",
	    .process = process_memory },
	{ "process_open_fds", METRIC_GAUGE, "Descriptors that are open.",
	    .process = process_files },
	{ "process_max_fds", METRIC_GAUGE, "Descriptors that may be open.",
	    .process = process_files_max },
	{ "pen_config_last_reload_successful", METRIC_GAUGE,
	    "1: the last reload, or startup, succeeded.",
	    .process = process_reload },
	{ "pen_config_last_reload_success_timestamp_seconds", METRIC_GAUGE,
	    "Time of the last successful reload or start, Unix "
	    "time.",
	    .process = process_loaded },
	{ "pen_sessions_max", METRIC_GAUGE,
	    "Limit of open sessions (conn_max); 0: no limit.",
	    MAX(sessions_max) },
	{ "pen_sessions_max_all", METRIC_GAUGE,
	    "Limit of open sessions of all services (conn_max_all); 0: no "
	    "limit.",
	    .process = process_sessions_max },
	{ "pen_sessions_connecting_max", METRIC_GAUGE,
	    "Limit of sessions that wait for a server to answer "
	    "(pending_max); 0: no limit.",
	    MAX(pending_max) },
	{ "pen_certificate_expiry_seconds", METRIC_GAUGE,
	    "Expiry of a certificate, Unix time.", .all = all_certificates },
	{ "pen_info", METRIC_GAUGE, "Version and algorithm of this pen.",
	    .all = all_info },
	{ "pen_fit", METRIC_GAUGE,
	    "1: the service can serve, as /readyz and fit_file have it.",
	    .all = all_fit },
	{ "pen_start_time_seconds", METRIC_GAUGE, "Start time, Unix time.",
	    .process = process_start },
	{ "pen_draining", METRIC_GAUGE,
	    "1 while pen is stopping and accepts no new clients.",
	    .process = process_draining },
	{ "pen_connect_duration_seconds", METRIC_HISTOGRAM,
	    "Connect times of servers.", DURATION(connect) },
	{ "pen_first_byte_duration_seconds", METRIC_HISTOGRAM,
	    "From the start of a session, or a DNS query, to the first byte of "
	    "the response.",
	    DURATION(first_byte) },
	{ "pen_session_duration_seconds", METRIC_HISTOGRAM,
	    "Durations of sessions.", DURATION(session) },
};

const struct family *
metrics_of_process(unsigned number)
{
	return number < sizeof(families) / sizeof(families[0])
	    ? &families[number]
	    : NULL;
}
