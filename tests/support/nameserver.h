/* nameserver.h: a DNS server on loopback, in a thread, that knows the
 * addresses of a few names, and services, and can be told to fail. Records live
 * for a second. */
#ifndef PEN_TEST_NAMESERVER_H
#define PEN_TEST_NAMESERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { NAMESERVER_NAMES = 4, NAMESERVER_ADDRESSES = 10 };

enum nameserver_mode {
	NAMESERVER_ANSWERS,
	NAMESERVER_FAILS, /* SERVFAIL */
	NAMESERVER_SILENT
};

/* A target of a service (SRV, RFC 2782). */
struct nameserver_target {
	const char *host;
	int port, prio, weight;
};

struct nameserver_name {
	const char *name;
	const char *address[NAMESERVER_ADDRESSES];
	int count; /* 0: the name exists and has no address */
	const char *fails; /* the family that fails; NULL: none */
	struct nameserver_target target[NAMESERVER_ADDRESSES];
	int targets;
	unsigned ttl; /* s */
};

struct nameserver {
	char text[32]; /* IP:PORT */
	char host[16]; /* IP */
	atomic_int questions;
	unsigned ttl; /* of what is set next, s; 1 at first */

	/* Private. */
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	enum nameserver_mode mode;			 /* under lock */
	struct nameserver_name names[NAMESERVER_NAMES]; /* under lock */
};

void nameserver_start(struct nameserver *n);
/* The same at the port that resolv.conf means; false where that cannot be. */
bool nameserver_start_usual(struct nameserver *n);
void nameserver_stop(struct nameserver *n);
/* What the name has from now on: addresses, a NULL behind the last. The strings
 * are the test's, and stay. */
void nameserver_set(struct nameserver *n, const char *name, ...)
    __attribute__((sentinel));
/* The targets of a service from now on. */
void nameserver_set_service(struct nameserver *n, const char *name,
    const struct nameserver_target *targets, int count);
/* Questions for one family of the name, "A" or "AAAA", fail from now on. */
void nameserver_fail(
    struct nameserver *n, const char *name, const char *family);
void nameserver_set_mode(struct nameserver *n, enum nameserver_mode mode);

#endif
