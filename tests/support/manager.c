/* manager.c: reads datagrams. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/manager.h"
#include "support/endpoint.h"
#include "support/suite.h"

void
manager_begin(struct manager *m, bool is_abstract)
{
	struct endpoint at;
	int on = 1;

	memset(m, 0, sizeof(*m));
	endpoint_new(&at, is_abstract ? ENDPOINT_ABSTRACT : ENDPOINT_UNIX);
	snprintf(m->name, sizeof(m->name), "%s", at.text);
	m->fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ck_assert_int_ge(m->fd, 0);
	ck_assert_int_eq(
	    bind(m->fd, (const struct sockaddr *)&at.addr, at.len), 0);
#ifdef SO_PASSCRED
	setsockopt(m->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
#endif
	(void)on;
	pthread_mutex_init(&m->lock, NULL);
}

void
manager_end(struct manager *m)
{
	if (m->is_reading) {
		pthread_cancel(m->reader);
		pthread_join(m->reader, NULL);
	}
	close(m->fd);
}

static void
note_sender(struct manager *m, struct msghdr *message)
{
#ifdef SO_PASSCRED
	struct cmsghdr *c = CMSG_FIRSTHDR(message);
	struct ucred who;

	if (c == NULL || c->cmsg_type != SCM_CREDENTIALS)
		return;
	memcpy(&who, CMSG_DATA(c), sizeof(who));
	m->sender = who.pid;
#else
	(void)m;
	(void)message;
#endif
}

static void
drain_locked(struct manager *m)
{
	char control[256];
	struct iovec part;
	struct msghdr message;
	ssize_t n;

	while (m->length + 4096 < sizeof(m->heard)) {
		part = (struct iovec){ m->heard + m->length + 1,
			sizeof(m->heard) - m->length - 2 };
		message = (struct msghdr){ .msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control) };
		n = recvmsg(m->fd, &message, MSG_DONTWAIT);
		if (n <= 0)
			return;
		m->heard[m->length] = '|';
		m->length += 1 + (size_t)n;
		m->heard[m->length] = '\0';
		note_sender(m, &message);
	}
}

static void
drain(struct manager *m)
{
	pthread_mutex_lock(&m->lock);
	drain_locked(m);
	pthread_mutex_unlock(&m->lock);
}

static void *
read_always(void *arg)
{
	struct manager *m = arg;
	struct pollfd queue = { .fd = m->fd, .events = POLLIN };
	int state;

	while (poll(&queue, 1, -1) >= 0) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		drain(m);
		pthread_setcancelstate(state, NULL);
	}
	return NULL;
}

void
manager_read(struct manager *m)
{
	ck_assert_int_eq(pthread_create(&m->reader, NULL, read_always, m), 0);
	m->is_reading = true;
}

bool
manager_has_heard(struct manager *m, const char *what)
{
	bool has;

	pthread_mutex_lock(&m->lock);
	drain_locked(m);
	has = strstr(m->heard, what) != NULL;
	pthread_mutex_unlock(&m->lock);
	return has;
}

int
manager_count(struct manager *m, const char *what)
{
	int n;

	pthread_mutex_lock(&m->lock);
	drain_locked(m);
	n = count_in(m->heard, what);
	pthread_mutex_unlock(&m->lock);
	return n;
}

void
manager_forget(struct manager *m)
{
	pthread_mutex_lock(&m->lock);
	drain_locked(m);
	m->length = 0;
	m->heard[0] = '\0';
	pthread_mutex_unlock(&m->lock);
}
