/* link_pcap.c: links by libpcap, for systems without anything better,
 * pcap(3PCAP).
 *
 * Each frame is copied once, and sent by a call of its own. libpcap does not
 * report what was joined, or which checksums are left to do: frames longer than
 * the MTU are dropped. The interface is promiscuous, because libpcap cannot
 * join groups; the filter checks the MAC. */
#include "config.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <netpacket/packet.h>
#else
#include <net/if_dl.h>
#endif

#include "base/log.h"
#include "dsr/frame/frame.h"
#include "dsr/link/link_filter.h"
#include "dsr/link/link_kinds.h"

enum {
	FRAMES = 256, /* frames between two releases */
	FRAME_SIZE = 9216 + 64,
	QUEUE = 8 << 20
};

struct capture {
	pcap_t *pcap;
	int ask; /* a socket, for requests about the interface */
	unsigned used;
	struct link_frame *list; /* while frames are received */
	unsigned count;
	unsigned char *memory; /* owned: FRAMES of FRAME_SIZE */
};

_Static_assert(sizeof(struct link_insn) == sizeof(struct bpf_insn) &&
	offsetof(struct link_insn, yes) == offsetof(struct bpf_insn, jt) &&
	offsetof(struct link_insn, k) == offsetof(struct bpf_insn, k),
    "a program is what pcap_setfilter() takes");

static void
pcap_on_frame(u_char *user, const struct pcap_pkthdr *h, const u_char *bytes)
{
	struct link *l = (void *)user;
	struct capture *c = l->inside;
	unsigned char *to = c->memory + (size_t)c->used * FRAME_SIZE;

	if (h->caplen < h->len || h->len > FRAME_SIZE ||
	    h->len > l->mtu + FRAME_HEAD_MAX) {
		l->count.cut++;
		return;
	}
	memcpy(to, bytes, h->len);
	c->list[c->count++] =
	    (struct link_frame){ .bytes = to, .length = h->len };
	c->used++;
}

static bool
is_up(const struct link *l, bool *exists)
{
	const struct capture *c = l->inside;
	struct ifreq r;

	memset(&r, 0, sizeof(r));
	memcpy(r.ifr_name, l->name, sizeof(r.ifr_name));
	*exists = ioctl(c->ask, SIOCGIFFLAGS, &r) == 0;
	return *exists && (r.ifr_flags & IFF_UP) != 0 &&
	    (r.ifr_flags & IFF_RUNNING) != 0;
}

static int
capture_receive(struct link *l, struct link_frame *list, unsigned most)
{
	struct capture *c = l->inside;
	unsigned some = most < FRAMES - c->used ? most : FRAMES - c->used;
	bool was = l->up, exists;
	int got;

	if (some == 0)
		return 0;
	c->list = list;
	c->count = 0;
	got = pcap_dispatch(c->pcap, (int)some, pcap_on_frame, (u_char *)l);
	if (c->count == 0) { /* because the interface is down? */
		l->up = is_up(l, &exists);
		if (exists && (l->up || !was) && got >= 0)
			return 0;
		errno = exists ? ENETDOWN : ENODEV;
		return -1;
	}
	l->up = true;
	l->count.received += c->count;
	return (int)c->count;
}

static void
capture_release(struct link *l)
{
	((struct capture *)l->inside)->used = 0;
}

static int
capture_send(struct link *l, const struct link_frame *list, unsigned n)
{
	struct capture *c = l->inside;
	unsigned done = 0;

	for (; done < n; done++) {
		const struct link_frame *f = &list[done];

		if (f->length > l->mtu + FRAME_HEAD_MAX)
			l->count.too_long++;
		else if (pcap_inject(c->pcap, f->bytes, f->length) >= 0)
			l->count.sent++;
		else if (errno == EAGAIN)
			break;
		else if (errno == ENETDOWN || errno == ENXIO ||
		    errno == ENODEV) {
			l->up = false;
			return done > 0 ? (int)done : -1;
		} else
			l->count.refused++;
	}
	return (int)done;
}

static void
capture_refresh(struct link *l)
{
	struct capture *c = l->inside;
	struct pcap_stat s;
	struct ifreq r;
	bool exists;

	if (pcap_stats(c->pcap, &s) == 0)
		l->count.missed = s.ps_drop;
	memset(&r, 0, sizeof(r));
	memcpy(r.ifr_name, l->name, sizeof(r.ifr_name));
	if (ioctl(c->ask, SIOCGIFMTU, &r) == 0)
		l->mtu = (unsigned)r.ifr_mtu;
	l->up = is_up(l, &exists);
}

static int
capture_set_filter(struct link *l, const struct link_filter *f, struct error *e)
{
	struct capture *c = l->inside;
	struct link_program program;
	struct bpf_program s;

	if (!link_filter_write(&program, f, &l->mac))
		log_warn("too many addresses for the kernel's filter, pen "
			 "reads all IP frames interface=%s addresses=%u "
			 "nets=%u",
		    l->name, f->count, f->nets);
	s.bf_len = program.count;
	s.bf_insns = (void *)program.at;
	if (pcap_setfilter(c->pcap, &s) != 0)
		return error_set(e,
		    "interface %s: cannot set the packet filter: %s",
		    l->name, pcap_geterr(c->pcap));
	return 0;
}

static void
capture_close(struct link *l)
{
	struct capture *c = l->inside;

	if (c == NULL)
		return;
	if (c->pcap != NULL)
		pcap_close(c->pcap);
	if (c->ask >= 0)
		close(c->ask);
	free(c->memory);
	free(c);
	l->inside = NULL;
	l->fd = -1;
}

/* The bytes of an Ethernet address among an interface's addresses, or NULL. */
static const void *
ethernet_of(const struct sockaddr *a)
{
#ifdef __linux__
	const struct sockaddr_ll *at = (const void *)a;

	return a->sa_family == AF_PACKET && at->sll_halen == 6 ? at->sll_addr
							       : NULL;
#else
	const struct sockaddr_dl *at = (const void *)a;

	return a->sa_family == AF_LINK && at->sdl_alen == 6
	    ? at->sdl_data + at->sdl_nlen
	    : NULL;
#endif
}

static int
pcap_identify(struct link *l, struct error *e)
{
	struct ifaddrs *all;
	bool found = false;

	l->ifindex = (int)if_nametoindex(l->name);
	if (l->ifindex == 0 || getifaddrs(&all) != 0)
		return error_set(
		    e, "interface %s: %s", l->name, strerror(errno));
	for (struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
		const void *mac;

		if (i->ifa_addr == NULL || strcmp(i->ifa_name, l->name) != 0 ||
		    (mac = ethernet_of(i->ifa_addr)) == NULL)
			continue;
		memcpy(l->mac.byte, mac, sizeof(l->mac.byte));
		found = true;
	}
	freeifaddrs(all);
	if (!found)
		return error_set(e, "interface %s is not Ethernet", l->name);
	return 0;
}

static int
activate(struct link *l, struct capture *c, struct error *e)
{
	char why[PCAP_ERRBUF_SIZE];

	c->pcap = pcap_create(l->name, why);
	if (c->pcap == NULL)
		return error_set(e, "interface %s: %s", l->name, why);
	pcap_set_snaplen(c->pcap, FRAME_SIZE);
	pcap_set_promisc(c->pcap, 1);
	pcap_set_immediate_mode(c->pcap, 1);
	pcap_set_buffer_size(c->pcap, QUEUE);
	if (pcap_activate(c->pcap) < 0)
		return error_set(
		    e, "interface %s: %s", l->name, pcap_geterr(c->pcap));
	if (pcap_datalink(c->pcap) != DLT_EN10MB)
		return error_set(e, "interface %s is not Ethernet", l->name);
	if (pcap_setnonblock(c->pcap, 1, why) != 0)
		return error_set(e, "interface %s: %s", l->name, why);
	if (pcap_setdirection(c->pcap, PCAP_D_IN) != 0)
		return error_set(
		    e, "interface %s: %s", l->name, pcap_geterr(c->pcap));
	l->fd = pcap_get_selectable_fd(c->pcap);
	if (l->fd < 0)
		return error_set(e,
		    "interface %s: libpcap has no descriptor to wait for",
		    l->name);
	return 0;
}

static int
capture_open(struct link *l, const struct link_filter *f, struct error *e)
{
	struct capture *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return error_set(e, "interface %s: out of memory", l->name);
	l->inside = c;
	c->ask = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	c->memory = malloc((size_t)FRAMES * FRAME_SIZE);
	if (c->ask < 0 || c->memory == NULL)
		error_set(e, "interface %s: %s", l->name, strerror(errno));
	else if (pcap_identify(l, e) == 0 && activate(l, c, e) == 0 &&
	    capture_set_filter(l, f, e) == 0) {
		capture_refresh(l);
		return 0;
	}
	capture_close(l);
	return -1;
}

const struct link_ops link_pcap = { .name = "pcap",
	.open = capture_open,
	.set_filter = capture_set_filter,
	.receive = capture_receive,
	.send = capture_send,
	.release = capture_release,
	.refresh = capture_refresh,
	.close = capture_close };

const char *
link_pcap_library_version(void)
{
	static const char words[] = "libpcap version ";
	const char *text = pcap_lib_version();

	return strncmp(text, words, strlen(words)) == 0 ? text + strlen(words)
							: text;
}
