/* program.c: runs, their output, their time and their end. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "net/program/program.h"
#include "net/program/program_exec.h"
#include "net/program/starter.h"
#include "net/sock.h"

/* Output read in one go, and the pause after it: a program that floods costs
 * pen less than a hundredth of a core, and waits. */
enum { READ_BYTES = 64 * 1024, READ_PAUSE_MS = 10 };
/* A descriptor of this number: pen has many. */
enum { CROWD = 1024 };
/* Tries, a ms each, to reap what was killed when pen ends. */
enum { LAST_TRIES = 200 };
/* Other children reaped in one go; until the next time. */
enum { REAP_MOST = 256, REAP_AGAIN_MS = 1000 };

struct programs {
	struct loop *loop;
	struct list runs;
	unsigned count, max;
	int null_fd;
	int slot_fd; /* /dev/null, or the pipe of the program being started */
	struct list queue;
	struct task next; /* of the queue */
	struct starter *starter; /* not owned; NULL: none */
	bool (*is_awaited)(void *arg, pid_t pid); /* NULL: as if all were */
	void *arg;
	struct timer again; /* one that is awaited hides others */
};

struct program_run {
	struct programs *owner;
	struct list link;
	struct task task; /* reports what was never executed; frees */
	pid_t pid;	  /* 0: none, or reaped */
	int fd;		  /* its output; -1: closed */
	struct watch watch;
	struct timer limit, pause;
	void (*on_end)(void *arg, const struct program_result *result);
	void *arg;
	bool timed_out;
	int error; /* of execve() */
	bool line_ends;
	size_t length; /* of the line */
	struct program_result result;
};

/* ---- output ---- */

/* Adds a byte of output to the line; a byte that is escaped and does not fit as
 * a whole is left out, as is all that follows. */
static void
keep_byte(struct program_run *r, unsigned char c)
{
	char text[8];
	size_t n;

	if (c == '"')
		c = '\'';
	n = (size_t)snprintf(
	    text, sizeof(text), c >= ' ' && c <= '~' ? "%c" : "\\x%02x", c);
	if (r->length + n > PROGRAM_LINE_MAX) {
		r->line_ends = true;
		return;
	}
	memcpy(r->result.line + r->length, text, n);
	r->length += n;
	r->result.line[r->length] = '\0';
}

static void
close_output(struct program_run *r)
{
	timer_stop(&r->pause);
	if (r->fd < 0)
		return;
	watch_stop(r->owner->loop, &r->watch);
	close(r->fd);
	r->fd = -1;
}

/* Returns false when there may be more than a turn's share. */
static bool
read_output(struct program_run *r)
{
	char bytes[4096];
	size_t left = READ_BYTES;
	ssize_t n, i;

	while (left >= sizeof(bytes)) {
		n = read(r->fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			close_output(r);
			return true;
		}
		for (i = 0; i < n && !r->line_ends; i++)
			if (bytes[i] == '\n')
				r->line_ends = r->length > 0;
			else if (bytes[i] != '\r')
				keep_byte(r, (unsigned char)bytes[i]);
		left -= (size_t)n;
	}
	return false;
}

static void
on_output(struct watch *w, unsigned ready)
{
	struct program_run *r = container_of(w, struct program_run, watch);

	(void)ready;
	if (read_output(r))
		return;
	watch_stop(r->owner->loop, w);
	if (timer_start(r->owner->loop, &r->pause, READ_PAUSE_MS) < 0)
		close_output(r);
}

static void
on_pause_over(struct timer *t)
{
	struct program_run *r = container_of(t, struct program_run, pause);

	if (watch_start(r->owner->loop, &r->watch, r->fd,
		READY_READ | WATCH_LEVEL, on_output) < 0)
		close_output(r);
}

/* ---- the end ---- */

static void
free_run(struct task *t)
{
	free(container_of(t, struct program_run, task));
}

/* The run goes; its memory stays until this wake-up is over. */
static void
program_drop(struct program_run *r)
{
	struct programs *p = r->owner;

	close_output(r);
	timer_fini(&r->limit);
	timer_fini(&r->pause);
	list_remove(&r->link);
	p->count--;
	r->task.run = free_run;
	loop_soon(p->loop, &r->task);
}

static void
program_report(struct program_run *r)
{
	struct program_result *result = &r->result;

	if (r->error != 0) {
		result->end = PROGRAM_FAILED;
		result->code = r->error;
	} else if (r->timed_out) {
		result->end = PROGRAM_TIMED_OUT;
		result->code = 0;
	}
	program_drop(r);
	if (r->on_end != NULL)
		r->on_end(r->arg, result);
}

static void
on_never_executed(struct task *t)
{
	program_report(container_of(t, struct program_run, task));
}

/* Returns whether the process has ended. It is not reaped before its group is
 * killed: until then its number stays taken, and so does the group's. */
static bool
program_reap(struct program_run *r)
{
	siginfo_t info;
	int status;

	info.si_pid = 0;
	if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
		0 &&
	    info.si_pid == 0)
		return false;
	(void)kill(-r->pid, SIGKILL);
	if (waitpid(r->pid, &status, WNOHANG) != r->pid)
		status = 0; /* another caller reaped it */
	r->result.end = WIFSIGNALED(status) ? PROGRAM_KILLED : PROGRAM_EXITED;
	r->result.code =
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	r->pid = 0;
	return true;
}

static bool
is_own_child(struct programs *p, pid_t pid)
{
	struct list *link;

	for (link = p->runs.next; link != &p->runs; link = link->next)
		if (list_entry(link, struct program_run, link)->pid == pid)
			return true;
	return false;
}

/* The kernel shows one that has ended at a time. */
static void
reap_others(struct programs *p)
{
	siginfo_t info;
	int i;

	for (i = 0; p->is_awaited != NULL && i < REAP_MOST; i++) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid == 0)
			return;
		if (is_own_child(p, info.si_pid) ||
		    p->is_awaited(p->arg, info.si_pid))
			break;
		(void)waitpid(info.si_pid, NULL, WNOHANG);
	}
	if (p->is_awaited != NULL)
		(void)timer_start(p->loop, &p->again, REAP_AGAIN_MS);
}

static void
on_again(struct timer *t)
{
	reap_others(container_of(t, struct programs, again));
}

void
programs_reap_others(struct programs *p,
    bool (*is_awaited)(void *arg, pid_t pid), void *arg)
{
	p->is_awaited = is_awaited;
	p->arg = arg;
	reap_others(p); /* of what was executed before pen, too */
}

/* Handles programs that have ended. They are collected before on_end is called,
 * which may start and cancel others. */
static void
on_child(void *arg)
{
	struct programs *p = arg;
	struct list ended = LIST_INIT(ended);
	struct list *link, *next;

	for (link = p->runs.next; link != &p->runs; link = next) {
		struct program_run *r =
		    container_of(link, struct program_run, link);

		next = link->next;
		if (r->pid == 0 || !program_reap(r))
			continue;
		list_remove(link);
		list_append(&ended, link);
	}
	while ((link = list_first(&ended)) != NULL) {
		struct program_run *r =
		    container_of(link, struct program_run, link);

		if (r->fd >= 0)
			(void)read_output(r);
		program_report(r);
	}
	reap_others(p);
	if (p->starter != NULL)
		starter_mend(p->starter);
}

static void
program_on_limit(struct timer *t)
{
	struct program_run *r = container_of(t, struct program_run, limit);

	r->timed_out = true;
	if (r->pid != 0)
		(void)kill(-r->pid, SIGKILL);
}

void
program_cancel(struct program_run *r)
{
	r->on_end = NULL;
	close_output(r);
	if (r->pid != 0)
		(void)kill(-r->pid, SIGKILL);
}

/* ---- the beginning ---- */

static struct program_run *
new_run(struct programs *p, const struct program_options *o)
{
	struct program_run *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->owner = p;
	r->fd = -1;
	r->on_end = o->on_end;
	r->arg = o->arg;
	watch_init(&r->watch);
	timer_init(&r->limit, program_on_limit);
	timer_init(&r->pause, on_pause_over);
	list_init(&r->task.link);
	r->task.run = on_never_executed;
	list_append(&p->runs, &r->link);
	p->count++;
	return r;
}

/* The pipe's end that the program gets takes the slot meanwhile. Returns 0, or
 * -1 with errno. */
static int
execute(struct program_run *r, const struct program_options *o, int out)
{
	struct programs *p = r->owner;
	struct program_exec x = { .argv = o->argv,
		.env = o->env,
		.null = p->null_fd,
		.out = p->slot_fd,
		.crowded = out >= CROWD };
	pid_t pid;
	int error;

	if (sock_copy_to(out, p->slot_fd) < 0)
		return -1;
	pid = p->starter != NULL ? starter_exec(p->starter, &x, &r->error)
				 : program_exec(&x, &r->error);
	error = errno;
	(void)sock_copy_to(p->null_fd, p->slot_fd);
	errno = error;
	if (pid < 0)
		return -1;
	r->pid = pid;
	if (pid == 0)
		loop_soon(p->loop, &r->task);
	return 0;
}

/* A root directory without /dev/null is good enough until a program runs. */
static int
open_null(struct programs *p)
{
	if (p->null_fd < 0)
		p->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (p->null_fd >= 0 && p->slot_fd < 0)
		p->slot_fd = fcntl(p->null_fd, F_DUPFD_CLOEXEC, 3);
	return p->slot_fd >= 0 ? 0 : -1;
}

static int
program_begin(struct program_run *r, const struct program_options *o)
{
	int fd[2], out = -1, rc = -1, error;

	if (open_null(r->owner) < 0) {
		log_warn("programs cannot run error=\"/dev/null: %s\"",
		    strerror(errno));
		errno = ENODEV; /* what is missing is not the program */
		return -1;
	}
	if (timer_start(r->owner->loop, &r->limit, o->limit_ms) == 0 &&
	    sock_pipe_of_program(fd) == 0) {
		r->fd = fd[0];
		out = fd[1];
		if (watch_start(r->owner->loop, &r->watch, r->fd,
			READY_READ | WATCH_LEVEL, on_output) == 0)
			rc = execute(r, o, out);
	}
	error = errno;
	if (out >= 0)
		close(out);
	errno = error;
	return rc;
}

struct program_run *
program_start(struct programs *p, const struct program_options *o)
{
	struct program_run *r;
	int error;

	if (p->count >= p->max) {
		errno = EAGAIN;
		return NULL;
	}
	r = new_run(p, o);
	if (r == NULL || program_begin(r, o) == 0)
		return r;
	error = errno;
	program_drop(r);
	errno = error;
	return NULL;
}

/* ---- one after another ---- */

static void
on_next(struct task *t)
{
	struct programs *p = container_of(t, struct programs, next);
	struct list *link = list_first(&p->queue);
	struct program_turn *turn;

	if (link == NULL)
		return;
	turn = container_of(link, struct program_turn, link);
	list_remove(link);
	if (!list_is_empty(&p->queue))
		loop_soon(p->loop, t);
	turn->start(turn);
}

void
program_queue(struct programs *p, struct program_turn *t)
{
	list_append(&p->queue, &t->link);
	loop_soon(p->loop, &p->next);
}

void
program_unqueue(struct program_turn *t)
{
	list_remove(&t->link);
}

/* ---- all of them ---- */

struct programs *
programs_new(struct loop *l, unsigned max, struct error *e)
{
	struct programs *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	p->loop = l;
	p->max = max;
	list_init(&p->runs);
	list_init(&p->queue);
	list_init(&p->next.link);
	p->next.run = on_next;
	timer_init(&p->again, on_again);
	p->null_fd = p->slot_fd = -1;
	(void)open_null(p);
	if (loop_on_signal(l, SIGCHLD, on_child, p) < 0)
		error_set(e, "cannot catch signals");
	else
		return p;
	programs_free(p);
	return NULL;
}

/* SIGKILL is not refused, but it takes the kernel a moment. */
static void
reap_last(struct programs *p)
{
	static const struct timespec ms = { .tv_nsec = 1000000 };
	struct list *link, *next;
	int tries;

	for (tries = 0; !list_is_empty(&p->runs) && tries < LAST_TRIES;
	     tries++) {
		for (link = p->runs.next; link != &p->runs; link = next) {
			struct program_run *r =
			    container_of(link, struct program_run, link);

			next = link->next;
			if (r->pid == 0 || program_reap(r))
				program_drop(r);
		}
		if (!list_is_empty(&p->runs))
			(void)nanosleep(&ms, NULL);
	}
}

void
programs_start_by(struct programs *p, struct starter *s)
{
	p->starter = s;
}

void
programs_drop_in_child(struct programs *p)
{
	struct list *link;

	for (link = p->runs.next; link != &p->runs; link = link->next)
		container_of(link, struct program_run, link)->pid = 0;
	p->is_awaited = NULL;
	p->starter = NULL;
}

void
programs_free(struct programs *p)
{
	struct list *link;

	if (p == NULL)
		return;
	for (link = p->runs.next; link != &p->runs; link = link->next)
		program_cancel(container_of(link, struct program_run, link));
	reap_last(p);
	while ((link = list_first(&p->runs)) != NULL)
		program_drop(container_of(link, struct program_run, link));
	list_remove(&p->queue);
	list_remove(&p->next.link);
	timer_fini(&p->again);
	if (p->null_fd >= 0)
		close(p->null_fd);
	if (p->slot_fd >= 0)
		close(p->slot_fd);
	free(p);
}

unsigned
programs_count(const struct programs *p)
{
	return p->count;
}
