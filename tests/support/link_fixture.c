/* link_fixture.c: a link at the near end of a cable. */
#include "config.h"

#include "dsr/open/link_open.h"
#include "support/link_fixture.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/addr.h"
#include "support/suite.h"
#include "support/veth.h"
#include "support/wait.h"

enum { HEAD = 14, NUMBER = HEAD + 28 };

void
link_fixture_up(struct link_fixture *r, const char *kind)
{
	struct error e;

	r->kind = kind;
	r->missing = veth_up();
	if (r->missing != NULL)
		return;
	r->filter = (struct link_filter){ .address = r->vip };
	link_fixture_add(r, "192.168.100.10");
	link_fixture_add(r, "2001:db8::10");
	r->far = veth_open("far", false);
	veth_mac("far", r->far_mac);
	if (strcmp(kind, LINK_FIXTURE_FAST) == 0) {
		r->filter.fast = LINK_FAST_ON;
		r->filter.fast_flows = 1000;
		kind = "packet";
	}
	if (link_open(&r->near, kind, "near", &r->filter, &e) != 0)
		ck_abort_msg("%s", e.text);
	if (r->filter.fast == LINK_FAST_OFF || r->near.fast != NULL)
		return;
	/* in a namespace of their own users are no root for programs */
	r->missing = "no fast path";
	link_close(&r->near);
	close(r->far);
}

void
link_fixture_down(struct link_fixture *r)
{
	if (r->missing != NULL)
		return;
	link_close(&r->near);
	close(r->far);
}

unsigned
link_fixture_open_again(struct link_fixture *r, struct link *next)
{
	int fd[LINK_FDS_MAX];
	struct link_past past = { .kind = "packet", .fd = fd };
	struct link_filter f = r->filter;
	struct error e;
	unsigned i;

	past.count = link_fds(&r->near, fd);
	ck_assert_uint_gt(past.count, 0);
	for (i = 0; i < past.count; i++)
		fd[i] = dup(fd[i]);
	f.past = &past;
	ck_assert_msg(
	    link_open(next, NULL, r->near.name, &f, &e) == 0, "%s", e.text);
	for (i = 0; i < past.count; i++)
		ck_assert_int_eq(fd[i], -1);
	return past.count;
}

bool
link_fixture_is_pcap(const struct link_fixture *r)
{
	return strcmp(r->kind, "pcap") == 0;
}

void
link_fixture_add(struct link_fixture *r, const char *address)
{
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, address, 0), 0);
	peer_from_addr(&r->vip[r->filter.count++], &a);
}

unsigned
link_fixture_make(const struct link_fixture *r, unsigned char *f,
    const char *to, unsigned number, unsigned size)
{
	struct addr a;

	memset(f, 0, size);
	memcpy(f, r->near.mac.byte, 6);
	memcpy(f + 6, r->far_mac, 6);
	f[12] = 8;
	f[HEAD] = 0x45;
	f[HEAD + 2] = (unsigned char)((size - HEAD) >> 8);
	f[HEAD + 3] = (unsigned char)(size - HEAD);
	f[HEAD + 8] = 64;
	f[HEAD + 9] = 17;
	if (addr_parse_ip(&a, to, 0) != 0)
		ck_abort_msg("no address: %s", to);
	memcpy(f + HEAD + 16, &a.u.in.sin_addr, 4);
	memcpy(f + NUMBER, &number, sizeof(number));
	return size;
}

unsigned
link_fixture_number(const unsigned char *f)
{
	unsigned n;

	memcpy(&n, f + NUMBER, sizeof(n));
	return n;
}

void
link_fixture_far_sends(
    struct link_fixture *r, const char *to, unsigned number, unsigned size)
{
	unsigned char f[9100];

	veth_send(r->far, f, link_fixture_make(r, f, to, number, size));
}

int
link_fixture_receive(struct link_fixture *r)
{
	struct pollfd p = { .fd = r->near.fd, .events = POLLIN };

	if (poll(&p, 1, (int)wait_scaled(5000)) != 1)
		ck_abort_msg("nothing comes");
	return link_receive(&r->near, r->list, LINK_FIXTURE_BATCH);
}

void
link_fixture_expect(struct link_fixture *r, unsigned number)
{
	ck_assert_int_eq(link_fixture_receive(r), 1);
	ck_assert_uint_eq(link_fixture_number(r->list[0].bytes), number);
	link_release(&r->near);
}
