/* xdp_program.bpf.c: the program at the driver, which decides about each frame
 * of the interface:
 *
 *     to this MAC, without a tag, and its flow is offloaded?
 *         it leaves at once: the fast path
 *     anything else? the kernel gets it, and so does the link's socket
 *
 * Restricted C: the kernel refuses a program that reads beyond what it has
 * compared with `end`. It exists twice: XDP_TAGS_APART is for drivers that
 * report VLAN tags by a function of the kernel (Linux 6.8) instead of in the
 * frame. Needs Linux 5.11. For builds without clang, xdp_program_bytes.h has
 * what that makes of this file. After a change: sh tests/lint/bpf.sh --write */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include <stddef.h>

#include "dsr/xdp/xdp_shared.h"

enum { AF_INET = 2, AF_INET6 = 10 }; /* <sys/socket.h> is not for bpf */
enum { IP4_MORE = 0x2000, IP4_OFFSET = 0x1fff };
enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };
enum { NOT_FAST = -1 };

/* An inlined function. Without nodebug, the names and lines of these would be
 * most of the object. */
#define PART static inline __attribute__((always_inline, nodebug))

/* ---- settings and maps ---- */

const volatile struct xdp_config config = { 0 };

#define MAP(name, map_type, flags, n, of_key, of_value) \
	struct {                                        \
		__uint(type, map_type);                 \
		__uint(map_flags, flags);               \
		__uint(max_entries, n);                 \
		__uint(key_size, sizeof(of_key));       \
		__uint(value_size, sizeof(of_value));   \
	} name SEC(".maps")

MAP(pen_mac, BPF_MAP_TYPE_ARRAY, 0, 1, uint32_t, struct xdp_mac);
/* how many flows is set before the map is made */
MAP(pen_flows, BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC, 1, struct xdp_flow_key,
    struct xdp_flow);
MAP(pen_entries, BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE, XDP_ENTRIES, uint32_t,
    struct xdp_entry);
MAP(pen_totals, BPF_MAP_TYPE_PERCPU_ARRAY, 0, 1, uint32_t, struct frame_count);

/* ---- Ethernet ---- */

/* As struct ethhdr, which is packed: clang would read it byte by byte. */
struct ethernet {
	__u16 to[3], from[3];
	__be16 type;
};

PART const struct xdp_mac *
own_mac(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&pen_mac, &first);
}

PART bool
is_to_us(const struct ethernet *eth, const struct xdp_mac *own)
{
	const __u32 *first = (const void *)eth;

	return *first == own->first && eth->to[2] == own->last;
}

/* ---- VLAN tags ---- */

#ifdef XDP_TAGS_APART
extern int bpf_xdp_metadata_rx_vlan_tag(
    const struct xdp_md *ctx, __be16 *type, __u16 *value) __ksym;

/* Whether the frame has a tag that is not in its bytes. Not a PART: what libbpf
 * knows of the kernel's function is debug info. */
static __always_inline bool
has_tag_apart(const struct xdp_md *ctx)
{
	__be16 type;
	__u16 value;

	return bpf_xdp_metadata_rx_vlan_tag(ctx, &type, &value) == 0;
}
#else
PART bool
has_tag_apart(const struct xdp_md *ctx)
{
	(void)ctx;
	return false;
}
#endif

/* ---- the fast path: which frames ----
 *
 * What is forwarded here is what frame_parse() would call a flow, and less:
 * user space gets every frame that needs more than this to judge. */

/* What is known of a packet while it is read. */
struct packet {
	const void *transport;
	__u32 length; /* of TCP or UDP */
	__u64 sum;    /* of words of the pseudo header */
	__u8 protocol;
};

/* A sum of up to 16 words of 32 bits as one of 16 bits (RFC 1071, 2). */
PART __u32
fold(__u64 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Copies words of an address; returns their sum. */
PART __u64
copy(void *to, const __be32 *ip, int words)
{
	__be32 *word = to;
	__u64 sum = 0;

	for (int i = 0; i < words; i++) {
		word[i] = ip[i];
		sum += ip[i];
	}
	return sum;
}

/* As struct peer has an address of IPv4. */
PART __u64
copy_ip4(uint8_t *to, const __be32 *ip)
{
	*(__u64 *)to = 0;
	*(__be32 *)(to + 8) = bpf_htonl(0xffff);
	return copy(to + 12, ip, 1);
}

PART bool
read_ip4(struct packet *p, struct dsr_key *key, const struct iphdr *ip,
    const void *end)
{
	const __u32 *word = (const void *)ip;
	__u64 sum = 0;

	if ((const void *)(ip + 1) > end || *(const __u8 *)ip != 0x45 ||
	    ip->frag_off & bpf_htons(IP4_MORE | IP4_OFFSET))
		return false;
	for (int i = 0; i < 5; i++)
		sum += word[i];
	p->length = bpf_ntohs(ip->tot_len);
	if (fold(sum) != 0xffff || p->length < sizeof(*ip) ||
	    p->length > end - (const void *)ip)
		return false;
	p->length -= sizeof(*ip);
	p->sum =
	    copy_ip4(key->client, &ip->saddr) + copy_ip4(key->vip, &ip->daddr);
	key->family = AF_INET;
	p->protocol = ip->protocol;
	p->transport = ip + 1;
	return true;
}

PART bool
read_ip6(struct packet *p, struct dsr_key *key, const struct ipv6hdr *ip,
    const void *end)
{
	if ((const void *)(ip + 1) > end || *(const __u8 *)ip >> 4 != 6)
		return false;
	p->length = bpf_ntohs(ip->payload_len);
	if (p->length > end - (const void *)(ip + 1))
		return false;
	p->sum = copy(key->client, ip->saddr.in6_u.u6_addr32, 4) +
	    copy(key->vip, ip->daddr.in6_u.u6_addr32, 4);
	key->family = AF_INET6;
	p->protocol = ip->nexthdr;
	p->transport = ip + 1;
	return true;
}

/* A checksum that the sender left to a card is the pseudo header's sum. So are
 * a few others. */
PART bool
is_summed(const struct packet *p, __u16 check)
{
	return fold(p->sum + bpf_htons(p->length) + bpf_htons(p->protocol)) !=
	    check;
}

/* In the middle of a connection: user space knows where they begin and end. */
PART bool
is_tcp(const struct packet *p, const void *end)
{
	const struct tcphdr *tcp = p->transport;
	const __u8 *byte = p->transport;
	__u32 header;

	if ((const void *)(tcp + 1) > end ||
	    (byte[13] & (FIN | SYN | RST | ACK)) != ACK)
		return false;
	header = byte[12] >> 4 << 2;
	return header >= sizeof(*tcp) && header <= p->length &&
	    is_summed(p, tcp->check);
}

PART bool
is_udp(struct packet *p)
{
	const struct udphdr *udp = p->transport;
	__u16 length = bpf_ntohs(udp->len);

	if (length < sizeof(*udp) || length > p->length)
		return false;
	p->length = length;
	return is_summed(p, udp->check);
}

/* Makes the key if the frame is a plain one of a flow. */
PART bool
read_flow(struct xdp_flow_key *key, const struct ethernet *eth, const void *end)
{
	struct packet p;
	const __be16 *port;

	if (eth->type == bpf_htons(ETH_P_IP)) {
		if (!read_ip4(&p, &key->flow, (const void *)(eth + 1), end))
			return false;
	} else if (eth->type != bpf_htons(ETH_P_IPV6) ||
	    !read_ip6(&p, &key->flow, (const void *)(eth + 1), end)) {
		return false;
	}
	if (p.transport + sizeof(struct udphdr) > end)
		return false;
	port = p.transport;
	key->flow.client_port = bpf_ntohs(port[0]);
	key->flow.vip_port = bpf_ntohs(port[1]);
	key->flow.protocol = p.protocol;
	key->zero = 0;
	if (p.protocol == IPPROTO_TCP)
		return is_tcp(&p, end);
	return p.protocol == IPPROTO_UDP && is_udp(&p);
}

/* ---- the fast path: where to ---- */

/* Counts a frame. A flow is usually one processor's, but is read by all; the
 * totals are each processor's own. */
PART void
count(struct xdp_flow *flow, __u64 length)
{
	struct frame_count *totals;
	__u32 first = 0;

	__sync_fetch_and_add(&flow->frames, 1);
	__sync_fetch_and_add(&flow->bytes, length);
	flow->used_ns = bpf_ktime_get_coarse_ns();
	totals = bpf_map_lookup_elem(&pen_totals, &first);
	if (totals == NULL)
		return;
	totals->frames++;
	totals->bytes += length;
}

/* Out where it came in, to the entry's MAC and from ours. */
PART int
send_back(struct ethernet *eth, union xdp_target to, const struct xdp_mac *own)
{
	__u32 *first = (void *)eth, *from = (void *)eth->from;
	__u32 back = config.back;

	*first = to.mac_first;
	eth->to[2] = to.mac_last;
	*from = own->first;
	eth->from[2] = own->last;
	return back == 0 ? XDP_TX : bpf_redirect(back, 0);
}

PART int
fast_path(struct ethernet *eth, const void *end, const struct xdp_mac *own)
{
	const __u64 length = end - (const void *)eth;
	const struct xdp_entry *entry;
	struct xdp_flow_key key;
	struct xdp_flow *flow;
	union xdp_target to;
	const __u32 *from;

	if (!read_flow(&key, eth, end))
		return NOT_FAST;
	flow = bpf_map_lookup_elem(&pen_flows, &key);
	if (flow == NULL)
		return NOT_FAST;
	entry = bpf_map_lookup_elem(&pen_entries, &flow->entry);
	if (entry == NULL)
		return NOT_FAST;
	to.word = *(const volatile __u64 *)&entry->target;
	if (to.tag != xdp_epoch_tag(flow->epoch) ||
	    entry->epoch != flow->epoch || length > entry->longest)
		return NOT_FAST;
	/* from the server that it would go to: user space drops it */
	from = (const void *)eth->from;
	if (*from == to.mac_first && eth->from[2] == to.mac_last)
		return NOT_FAST;
	count(flow, length);
	return send_back(eth, to, own);
}

/* ---- the program ---- */

SEC("xdp")
int
pen(struct xdp_md *ctx)
{
	struct ethernet *eth = (void *)(long)ctx->data;
	const void *end = (void *)(long)ctx->data_end;
	const struct xdp_mac *own = own_mac();
	int verdict;

	if (own == NULL || (const void *)(eth + 1) > end ||
	    !is_to_us(eth, own) || has_tag_apart(ctx))
		return XDP_PASS;
	verdict = fast_path(eth, end, own);
	return verdict != NOT_FAST ? verdict : XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
