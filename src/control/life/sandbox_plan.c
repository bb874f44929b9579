/* sandbox_plan.c: the files and programs of a plan. */
#include "config.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "control/life/sandbox_files.h"
#include "control/life/sandbox_plan.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"
#include "control/value/value_peers.h"
#include "net/program/starter.h"
#include "proxy/check/check_spec.h"

/* What libraries and metrics read. */
static const char *const read_by_all[] = { "/etc/gai.conf", "/etc/group",
	"/etc/host.conf", "/etc/hosts", "/etc/localtime", "/etc/nsswitch.conf",
	"/etc/passwd", "/etc/protocols", "/etc/services", "/usr/share/zoneinfo",
	"/proc/self", "/proc/sys/net/ipv4", "/proc/sys/net/core",
	"/proc/meminfo", "/dev/random", "/dev/urandom", NULL };
/* The system's certificates, where distributions keep them. */
static const char *const read_for_tls[] = { "/etc/ssl", "/etc/pki",
	"/usr/lib/ssl", "/usr/share/ca-certificates",
	"/usr/local/share/ca-certificates", "/usr/share/pki",
	"/etc/ca-certificates", NULL };

struct notes {
	const struct pen *pen;
	int rules;   /* -1: none */
	bool in_root; /* in a root directory of pen's own */
	bool logged; /* each is logged */
	struct buffer *list; /* of lines; NULL: none */
	bool *failed;	     /* to make it */
};

/* Adds a line with the path, in which symbolic links are resolved; those of
 * /proc would be of this process. */
static void
note_line(const struct notes *n, const char *kind, const char *path)
{
	char real[PATH_MAX];
	const char *text = strncmp(path, "/proc/", 6) != 0 &&
		realpath(path, real) != NULL
	    ? real
	    : path;

	if (strchr(text, '\n') != NULL ||
	    buffer_append(n->list, kind, 2) < 0 ||
	    buffer_append(n->list, text, strlen(text)) < 0 ||
	    buffer_append(n->list, "\n", 1) < 0)
		*n->failed = true;
}

/* Notes a path that the process uses: in the log, in the sandbox's rules, in
 * the list for an upgrade, as far as `n` has these. */
static void
note_path(const struct notes *n, const char *path, enum sandbox_use use)
{
	if (n->logged)
		log_info("sandbox: %s %s",
		    use == SANDBOX_WRITE ? "reads and writes" : "reads", path);
	if (n->rules >= 0)
		sandbox_files_add(n->rules, path, use);
	if (n->list != NULL && access(path, F_OK) == 0)
		note_line(n, use == SANDBOX_WRITE ? "w " : "r ", path);
}

/* The directory of a file, however it is written, without symbolic links. */
static bool
directory_of(const char *file, char real[PATH_MAX])
{
	const char *slash = strrchr(file, '/');
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%.*s",
		   slash == NULL ? 1 : (int)(slash - file) + 1,
		   slash == NULL ? "." : file) < (int)sizeof(path) &&
	    realpath(path, real) != NULL;
}

/* A file that is replaced is another one: its directory counts. All there is,
 * "/", is for files in a root directory of pen's own. */
static void
note_directory(const struct notes *n, const char *file, enum sandbox_use use)
{
	char path[PATH_MAX];

	if (!directory_of(file, path))
		return;
	note_path(n, strcmp(path, "/") != 0 || n->in_root ? path : file, use);
}

/* The file, and the one that a symbolic link leads to now. */
static void
note_file(const struct notes *n, const char *file, enum sandbox_use use)
{
	char real[PATH_MAX];

	note_directory(n, file, use);
	if (realpath(file, real) != NULL && strcmp(real, file) != 0)
		note_directory(n, real, use);
}

/* A directory, and files elsewhere that links in it lead to. */
static void
note_links(const struct notes *n, const char *path)
{
	char file[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	DIR *d = opendir(path);

	note_path(n, path, SANDBOX_READ);
	while (d != NULL && (entry = readdir(d)) != NULL)
		if (snprintf(file, sizeof(file), "%s/%s", path, entry->d_name) <
			(int)sizeof(file) &&
		    lstat(file, &st) == 0 && S_ISLNK(st.st_mode))
			note_file(n, file, SANDBOX_READ);
	if (d != NULL)
		closedir(d);
}

static void
note_read(const struct notes *n, const char *path)
{
	struct stat st;

	if (path == NULL || stat(path, &st) < 0)
		return; /* "auto", "off", an address; or it is refused later */
	if (S_ISDIR(st.st_mode))
		note_links(n, path);
	note_file(n, path, SANDBOX_READ);
}

static void
note_written(const struct notes *n, const char *path)
{
	if (path != NULL)
		note_file(n, path, SANDBOX_WRITE);
}

static void
note_socket(const struct notes *n, const struct addr *at)
{
	if (at->u.sa.sa_family == AF_UNIX && at->u.un.sun_path[0] != '\0')
		note_written(n, at->u.un.sun_path);
}

/* ---- what a plan has ---- */

/* Notes the file of a log, if it is a file and not "auto" or HOST:PORT. */
static void
note_log(const struct notes *n, const char *to)
{
	if (to != NULL && (strchr(to, '/') != NULL || access(to, F_OK) == 0))
		note_written(n, to);
}

/* Notes the files of a service; *names is set if it has a server by name. */
static void
note_service(const struct notes *n, const struct plan *p, bool *names)
{
	const struct tls_settings *tls = &p->config->tls;
	const struct server_plan *s;
	const struct command *row;
	unsigned i;

	TABLE_EACH_OF (SCOPE_SERVICE, row)
		if (row->kind == KIND_FILE)
			note_read(n, setting_string(p, row));
	note_written(n, p->config->fit_file);
	for (i = 0; i < tls->pairs; i++) {
		note_read(n, tls->pair[i].cert);
		note_read(n, tls->pair[i].key);
	}
	for (i = 0; i < p->listen.count; i++)
		note_socket(n, &p->listen.entry[i].at);
	for (i = 0; (s = plan_slot(p, i)) != NULL && !*names; i++)
		*names = plan_server_has_name(s);
	note_log(n, p->config->session_log);
	note_log(n, p->config->request_log.to);
}

static void
note_lists(const struct notes *n, const struct plan_acls *acls)
{
	struct acl_item item;
	const struct acl *l;
	char word[ACL_WORD_MAX];
	unsigned i;

	for (i = 0; (l = plan_acls_at(acls, i, word)) != NULL; i++) {
		memset(&item, 0, sizeof(item));
		while (acl_next(l, &item))
			if (item.entry == NULL)
				note_read(n, item.path);
	}
}

/* `include` of a pattern reads what is there at the next reload. */
static void
note_included(const struct notes *n)
{
	const struct buffer *all = &n->pen->included;
	const char *at, *end;
	char path[PATH_MAX];

	if (buffer_length(all) == 0)
		return;
	at = all->data + all->start;
	end = at + buffer_length(all);
	for (; at < end; at += strlen(at) + 1) {
		snprintf(
		    path, sizeof(path), "%.*s", (int)strcspn(at, "*?["), at);
		note_directory(n, path, SANDBOX_READ);
		note_read(n, at);
	}
}

static enum sandbox_use
config_use(const char *file)
{
	char path[PATH_MAX];

	return directory_of(file, path) && strcmp(path, "/etc") != 0
	    ? SANDBOX_WRITE
	    : SANDBOX_READ;
}

/* The command `write` replaces the file of the configuration. In /etc itself it
 * may not. */
static void
note_config(const struct notes *n, const char *file)
{
	char path[PATH_MAX];

	if (file == NULL)
		return;
	note_directory(n, file, config_use(file));
	if (realpath(file, path) != NULL)
		note_directory(n, path, config_use(path));
}

static bool
is_read(const struct command *row)
{
	return row->offset != offsetof(struct process_plan, run.directory) &&
	    row->offset != offsetof(struct process_plan, on_state);
}

static void
note_keys(const struct notes *n, const char *peers)
{
	struct peer_spec spec;

	while (peer_spec_next(&peers, &spec))
		note_read(n, spec.file);
}

static void
note_process(const struct notes *n)
{
	const struct process_plan *p = n->pen->plan->process;
	const struct command *row;
	unsigned i, k;

	TABLE_EACH_OF (SCOPE_PROCESS, row)
		if (row->kind == KIND_FILE && is_read(row))
			note_read(n, setting_string(n->pen->plan, row));
	note_keys(n, p->peers);
	note_keys(n, p->peer_listen);
	note_config(n, p->file);
	note_written(n, p->run.pid_file);
	note_written(n, p->web_stats);
	note_log(n, p->log);
	if (p->web != NULL && p->web[0] == '/')
		note_written(n, p->web);
	for (i = 0; i < p->control_count; i++)
		for (k = 0; k < p->controls[i].at.count; k++)
			note_socket(n, &p->controls[i].at.entry[k].at);
	/* opened again for the log */
	note_path(n, "/proc/self/fd/1", SANDBOX_WRITE);
	note_path(n, "/proc/self/fd/2", SANDBOX_WRITE);
	note_path(n, "/dev/null", SANDBOX_WRITE);
}

static void
note_system(const struct notes *n, bool names, bool frames)
{
	const char *const *path;

	for (path = read_by_all; *path != NULL; path++)
		note_path(n, *path, SANDBOX_READ);
	for (path = read_for_tls; *path != NULL; path++)
		note_path(n, *path, SANDBOX_READ);
	/* resolv.conf and hosts are replaced by others */
	if (names) {
		note_path(n, "/etc", SANDBOX_READ);
		note_file(n, "/etc/resolv.conf", SANDBOX_READ);
	} else {
		note_path(n, "/etc/resolv.conf", SANDBOX_READ);
	}
	if (frames) {
		note_path(n, "/proc", SANDBOX_READ);
		note_path(n, "/sys", SANDBOX_READ);
	}
}

static void
note_all(const struct notes *n, bool frames)
{
	const struct pen *p = n->pen;
	const struct plan *one;
	bool names = false;
	unsigned i;

	for (i = 0; (one = plan_service_at(p->plan, i)) != NULL; i++)
		note_service(n, one, &names);
	note_lists(n, &p->plan->process->acls);
	note_included(n);
	note_process(n);
	note_system(n, names, frames);
}

void
sandbox_plan_files(const struct pen *p, int rules, bool frames, bool in_root,
    bool logged)
{
	const struct notes n = { p, rules, in_root, logged, NULL, NULL };

	note_all(&n, frames);
}

bool
sandbox_plan_has_unix(const struct plan *p)
{
	const struct plan *one;
	unsigned i, k;

	if (p->process->web != NULL && p->process->web[0] == '/')
		return true;
	for (i = 0; (one = plan_service_at(p, i)) != NULL; i++) {
		if (plan_any_server(one, TRAIT_PATH))
			return true;
		for (k = 0; k < one->listen.count; k++)
			if (one->listen.entry[k].at.u.sa.sa_family == AF_UNIX)
				return true;
	}
	return false;
}

/* ---- programs ---- */

/* Calls `fn` with the program of a check, if it has one. Returns 0, or -1 with
 * errno ENOMEM. */
static int
check_program(const char *text, void (*fn)(void *arg, char *const *argv),
    void *arg)
{
	struct check_spec *spec;
	char *const *program;
	struct error e;

	if (text == NULL || strcmp(text, "off") == 0)
		return 0;
	spec = check_spec_read(text, &e);
	if (spec == NULL)
		return -1;
	program = check_spec_program(spec);
	if (program != NULL)
		fn(arg, program);
	check_spec_drop(spec);
	return 0;
}

static int
each_program(const struct pen *p, void (*fn)(void *arg, char *const *argv),
    void *arg)
{
	char *on_state[] = { p->plan->process->on_state, NULL };
	const struct server_plan *server;
	const struct plan *one;
	unsigned i, k;
	int rc = 0;

	if (on_state[0] != NULL)
		fn(arg, on_state);
	for (i = 0; (one = plan_service_at(p->plan, i)) != NULL; i++) {
		rc |= check_program(one->config->checks.text, fn, arg);
		for (k = 0; (server = plan_slot(one, k)) != NULL; k++)
			rc |= check_program(server->check, fn, arg);
	}
	return rc;
}

struct permission {
	struct starter *starter;
	int rc;
};

static void
permit_program(void *arg, char *const *argv)
{
	struct permission *to = arg;

	to->rc |= starter_permit(to->starter, argv);
}

int
sandbox_plan_programs(const struct pen *p, struct starter *s)
{
	struct permission to = { s, 0 };

	return each_program(p, permit_program, &to) | to.rc;
}

/* ---- both, as lines ---- */

static void
list_program(void *arg, char *const *argv)
{
	const struct notes *n = arg;
	char *const *word;

	for (word = argv; *word != NULL; word++)
		if (strpbrk(*word, "\n\x1f") != NULL ||
		    buffer_append(n->list, word == argv ? "p " : "\x1f",
			word == argv ? 2 : 1) < 0 ||
		    buffer_append(n->list, *word, strlen(*word)) < 0)
			*n->failed = true;
	if (buffer_append(n->list, "\n", 1) < 0)
		*n->failed = true;
}

int
sandbox_plan_list(const struct pen *p, struct buffer *list)
{
	const char *root = p->plan->process->run.directory;
	bool failed = false;
	const struct notes n = { p, -1, root != NULL, false, list, &failed };

	note_all(&n, false);
	if (root != NULL && (buffer_append(list, "j ", 2) < 0 ||
				buffer_append(list, root, strlen(root)) < 0 ||
				buffer_append(list, "\n", 1) < 0))
		failed = true;
	if (sandbox_plan_has_unix(p->plan) &&
	    buffer_append(list, "u sockets\n", 10) < 0)
		failed = true;
	if (each_program(p, list_program, (void *)(uintptr_t)&n) < 0)
		failed = true;
	return failed ? -1 : 0;
}
