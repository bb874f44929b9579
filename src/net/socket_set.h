/* socket_set.h: the listening sockets of the process, in one table.
 *
 * A row is a struct listener, of clients, the control socket, pages or peers:
 * its address, whether datagrams come to it, its file, the sockets that workers
 * have beside it. What opens a listener with the table among its options has a
 * row until it closes that; the table owns none of them. Beside the rows are
 * the sockets of another process that nothing uses yet.
 *
 *     inherited --.
 *                  >-- open --+-- draining --.
 *     new --------'           |               >-- closed
 *                             '-- replaced --'
 *
 *     draining   no client comes any more: its service was removed
 *     replaced   another process has the socket, and serves it
 *
 * An upgrade, a worker that begins, and a change of the user walk the table, so
 * that a new kind of listener is none of their concern. */
#ifndef PEN_NET_SOCKET_SET_H
#define PEN_NET_SOCKET_SET_H

#include <sys/types.h>

#include "base/list.h"
#include "net/inherited.h"

struct listener;
struct sock_listen_options;

struct socket_set {
	struct list rows; /* struct listener, in the order of their opening */
	struct inherited inherited;
};

void socket_set_init(struct socket_set *s);
/* Closes what was inherited and not used. */
void socket_set_fini(struct socket_set *s);

/* The inherited sockets; `s` may be NULL, and so is the result then. */
struct inherited *socket_set_inherited(struct socket_set *s);

/* ---- a change of the configuration ----
 *
 * Before it is prepared, each row that it has elsewhere `goes`. An address that
 * is wanted is then
 *
 *     kept       a row of the same owner, which does not go
 *     moved      a row of another owner goes: socket_set_take() copies its
 *                descriptor, and clients in its backlog are the new owner's
 *     new        neither
 *     dropped    a row goes, and none takes it
 *
 * Both rows are open until the change is committed, which closes those that go,
 * or cancelled, which closes the new ones. */

/* The socket at that address, of those that were inherited or of a row that
 * goes: its `number`th descriptor, 0 being its own, 1 the next worker's. An
 * IPv6 wildcard fits only where it takes IPv4 clients, or not, as in the
 * options; a Unix socket only with the mode of the options, and if it has no
 * workers. *file_is_ours: whether this process, or the one that passed it, made
 * its file. The descriptor is the caller's; -1: there is none. `o->sockets` may
 * be NULL. */
int socket_set_take(const struct addr *at, const struct sock_listen_options *o,
    unsigned number, bool *file_is_ours);
/* Whether another owner has a row at the same address. */
bool socket_set_has_moved(struct socket_set *s, const struct listener *l);

/* Calls `fn` for each row, which may close it. */
void socket_set_each(struct socket_set *s,
    void (*fn)(void *arg, struct listener *l), void *arg);

/* How many descriptors they are, with those of workers. */
unsigned socket_set_descriptors(const struct socket_set *s);
/* Calls `fn` for each descriptor of each row that is not draining, the row's
 * own first; the others are of workers, in their order. To a Unix socket all
 * have the same one. */
void socket_set_each_descriptor(const struct socket_set *s,
    void (*fn)(void *arg, struct listener *l, int fd), void *arg);

/* Another process serves from now on: all rows that are not draining are
 * replaced, unless that process did not want the socket. Files and clients in
 * backlogs are that process's; each row's on_replaced() is called. */
void socket_set_replace(struct socket_set *s);

/* ---- files of Unix sockets; what fails is logged ---- */

/* listener_own() of each row. */
void socket_set_own_files(struct socket_set *s);
/* The same of their modes alone, where a sandbox does not permit that later:
 * another process still removes them. */
void socket_set_set_modes(struct socket_set *s);
/* Gives the Unix sockets' files that only this process has to that user and
 * group. */
void socket_set_set_owner(struct socket_set *s, uid_t user, gid_t group);
/* Logs an error about each file that was removed, or is another one by now: no
 * client can connect there. Not to be called in another root directory. */
void socket_set_report_lost(struct socket_set *s);
/* In a child process: leaves the files of Unix sockets to its parent, which
 * removes them. */
void socket_set_disown_files(struct socket_set *s);

#endif
