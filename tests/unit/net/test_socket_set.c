/* test_socket_set.c: which sockets are in the table, and what becomes of them
 * when another process serves. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/listener.h"
#include "net/sock_group.h"
#include "net/socket_set.h"
#include "support/suite.h"

enum { ROWS = 3 };

static struct socket_set set;
static struct loop *loop;
static struct listener row[ROWS];
static struct error e;
static struct listener *walked[2 * ROWS];
static unsigned count, replaced;

static void
open_row(struct listener *l, const char *path)
{
	struct sock_listen_options o = { .backlog = 8, .sockets = &set };
	struct addr at;

	ck_assert_int_eq(path != NULL ? addr_parse_unix(&at, path)
				      : addr_parse_ip(&at, "127.0.0.1", 0),
	    0);
	ck_assert_int_eq(listener_open(l, loop, &at, &o, &e), 0);
}

static void
begin(void)
{
	unsigned i;

	socket_set_init(&set);
	loop = loop_new(NULL, &e);
	ck_assert_ptr_nonnull(loop);
	memset(row, 0, sizeof(row));
	for (i = 0; i < ROWS; i++)
		open_row(&row[i], NULL);
	count = replaced = 0;
}

static void
end(void)
{
	unsigned i;

	for (i = 0; i < ROWS; i++)
		listener_close(&row[i]);
	ck_assert(list_is_empty(&set.rows));
	socket_set_fini(&set);
	loop_free(loop);
}

static void
note(void *arg, struct listener *l)
{
	ck_assert_ptr_eq(arg, &set);
	ck_assert_uint_lt(count, ROWS);
	walked[count++] = l;
}

static void
note_and_close(void *arg, struct listener *l)
{
	note(arg, l);
	listener_close(l);
}

/* A listener is a row from its opening to its close. */
START_TEST(rows_in_their_order)
{
	begin();
	socket_set_each(&set, note, &set);
	ck_assert_uint_eq(count, ROWS);
	ck_assert_ptr_eq(walked[0], &row[0]);
	ck_assert_ptr_eq(walked[2], &row[2]);
	ck_assert_uint_eq(socket_set_descriptors(&set), ROWS);
	listener_close(&row[1]);
	count = 0;
	socket_set_each(&set, note_and_close, &set);
	ck_assert_uint_eq(count, ROWS - 1);
	ck_assert_ptr_eq(walked[1], &row[2]);
	ck_assert_uint_eq(socket_set_descriptors(&set), 0);
	end();
}
END_TEST

/* One that could not be opened is none, nor is one without the table. */
START_TEST(no_rows_of_others)
{
	struct sock_listen_options o = { .backlog = 8, .sockets = &set };
	struct listener other;
	struct addr at;

	begin();
	ck_assert_int_eq(
	    addr_parse_unix(&at, text("%s/none/s", scratch("."))), 0);
	ck_assert_int_eq(listener_open(&other, loop, &at, &o, &e), -1);
	listener_close(&other);
	o.sockets = NULL;
	ck_assert_int_eq(addr_parse_ip(&at, "127.0.0.1", 0), 0);
	ck_assert_int_eq(listener_open(&other, loop, &at, &o, &e), 0);
	ck_assert_uint_eq(socket_set_descriptors(&set), ROWS);
	listener_close(&other);
	end();
}
END_TEST

static int list[2 * ROWS];

static void
note_descriptor(void *arg, struct listener *l, int fd)
{
	ck_assert_ptr_eq(arg, &set);
	walked[count] = l;
	list[count++] = fd;
}

/* With those of workers; of a Unix socket they have copies. */
START_TEST(descriptors_of_workers)
{
	int group[ROWS] = { 0, 1000, 1001 };

	begin();
	listener_close(&row[2]);
	open_row(&row[2], scratch("s"));
	group[0] = row[1].fd;
	row[1].group = row[2].group = group;
	row[1].group_count = row[2].group_count = ROWS;
	ck_assert_uint_eq(socket_set_descriptors(&set), 2 + ROWS);
	row[0].draining = true;
	socket_set_each_descriptor(&set, note_descriptor, &set);
	row[0].draining = false;
	ck_assert_uint_eq(count, ROWS + 1);
	ck_assert_mem_eq(list, group, sizeof(group));
	ck_assert_ptr_eq(walked[ROWS - 1], &row[1]);
	ck_assert_int_eq(list[ROWS], row[2].fd);
	ck_assert_ptr_eq(walked[ROWS], &row[2]);
	end();
}
END_TEST

static void
on_replaced(struct listener *l)
{
	replaced++;
	listener_close(l);
}

/* Its file is the other process's, unless that did not want the socket. */
START_TEST(another_process_serves)
{
	const char *taken = scratch("taken"), *unwanted = scratch("unwanted");

	begin();
	listener_close(&row[0]);
	listener_close(&row[1]);
	open_row(&row[0], taken);
	open_row(&row[1], unwanted);
	row[0].on_replaced = row[1].on_replaced = on_replaced;
	row[0].passed = 7;
	row[1].passed = -1;
	row[2].on_replaced = on_replaced;
	row[2].draining = true;
	socket_set_replace(&set);
	ck_assert_uint_eq(replaced, 2);
	ck_assert(row[0].replaced && !row[1].replaced && !row[2].replaced);
	ck_assert_int_eq(access(taken, F_OK), 0);
	ck_assert_int_ne(access(unwanted, F_OK), 0);
	ck_assert_int_ge(row[2].fd, 0);
	end();
}
END_TEST

START_TEST(files_of_the_parent)
{
	const char *path = scratch("s");

	begin();
	listener_close(&row[0]);
	open_row(&row[0], path);
	socket_set_disown_files(&set);
	end();
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

/* A row that goes can be taken by another owner, number by number. */
START_TEST(rows_that_go)
{
	struct sock_listen_options o = { .backlog = 8, .sockets = &set };
	int group[2] = { 0, 0 }, fd;
	struct addr at;
	bool ours = true;

	begin();
	ck_assert_int_eq(sock_local_addr(row[0].fd, &at), 0);
	row[0].at = at;
	ck_assert_int_eq(socket_set_take(&at, &o, 0, &ours), -1);
	row[0].goes = true;
	fd = socket_set_take(&at, &o, 0, &ours);
	ck_assert(fd >= 0 && sock_inode(fd) == sock_inode(row[0].fd) && !ours);
	close(fd);
	ck_assert_int_eq(socket_set_take(&at, &o, 1, &ours), -1);
	group[0] = row[0].fd;
	group[1] = row[1].fd;
	row[0].group = group;
	row[0].group_count = 2;
	fd = socket_set_take(&at, &o, 1, &ours);
	ck_assert(sock_inode(fd) == sock_inode(row[1].fd));
	close(fd);
	o.datagram = true;
	ck_assert_int_eq(socket_set_take(&at, &o, 0, &ours), -1);
	o.sockets = NULL;
	ck_assert_int_eq(socket_set_take(&at, &o, 0, &ours), -1);
	end();
}
END_TEST

/* One with a file does not change its mode. */
START_TEST(unix_rows_that_go)
{
	struct sock_listen_options o = { .backlog = 8, .sockets = &set };
	bool ours = false;
	int fd;

	begin();
	listener_close(&row[0]);
	open_row(&row[0], scratch("s"));
	row[0].goes = true;
	o.unix_mode = 0600;
	ck_assert_int_eq(socket_set_take(&row[0].at, &o, 0, &ours), -1);
	o.unix_mode = 0;
	fd = socket_set_take(&row[0].at, &o, 0, &ours);
	ck_assert(fd >= 0 && ours);
	close(fd);
	end();
}
END_TEST

/* Several of one owner may be at an address, of which workers had one each. */
START_TEST(rows_that_have_moved)
{
	begin();
	ck_assert_int_eq(sock_local_addr(row[0].fd, &row[0].at), 0);
	row[1].at = row[0].at;
	row[1].arg = row[0].arg = &row;
	ck_assert(!socket_set_has_moved(&set, &row[0]));
	ck_assert(!socket_set_has_moved(NULL, &row[0]));
	row[1].arg = &set;
	ck_assert(socket_set_has_moved(&set, &row[0]));
	row[1].datagram = true;
	ck_assert(!socket_set_has_moved(&set, &row[0]));
	end();
}
END_TEST

/* The mode and the owner of files that this process has alone, or not. */
START_TEST(modes_and_owners)
{
	const char *path = scratch("s");
	struct stat st;

	begin();
	listener_close(&row[0]);
	open_row(&row[0], path);
	row[0].file.mode = 0640;
	socket_set_set_modes(&set);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_ne(st.st_mode & 0777, 0640);
	row[0].file.shared = true;
	socket_set_set_modes(&set);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0640);
	socket_set_set_owner(&set, getuid(), getgid());
	socket_set_own_files(&set);
	ck_assert(!row[0].file.shared);
	end();
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

SUITE(test_socket_set)
{
	Suite *s = suite_create("socket_set");

	SUITE_ADD(s, rows_in_their_order, 10);
	SUITE_ADD(s, no_rows_of_others, 10);
	SUITE_ADD(s, descriptors_of_workers, 10);
	SUITE_ADD(s, another_process_serves, 10);
	SUITE_ADD(s, files_of_the_parent, 10);
	SUITE_ADD(s, modes_and_owners, 10);
	SUITE_ADD(s, rows_that_go, 10);
	SUITE_ADD(s, unix_rows_that_go, 10);
	SUITE_ADD(s, rows_that_have_moved, 10);
	return s;
}
