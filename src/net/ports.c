/* ports.c: a ring of free ports; the kernel's settings of them. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/ports.h"

/* One port in LEFT is never taken; ports there are; bytes of a list of them. */
enum { LEFT = 20, PORTS = 65536, LIST_MAX = 64 * 1024 };

/* ---- settings ---- */

/* Marks the ports that a list like "8080,9000-9100" names. */
static void
mark(bool marks[PORTS], const char *list)
{
	unsigned long from, to;
	char *end;

	for (;; list = end + 1) {
		from = to = strtoul(list, &end, 10);
		if (end == list)
			return;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		for (; from <= to && from < PORTS; from++)
			marks[from] = true;
		if (*end != ',')
			return;
	}
}

/* Takes the ports of `range`, two numbers as text, but for those that
 * `reserved` lists. An invalid or empty range leaves the kernel to choose.
 * Returns 0, or -1 without memory. */
static int
ports_init_from(struct ports *p, const char *range, const char *reserved)
{
	bool *taken;
	char *end;
	unsigned long port = strtoul(range, &end, 10);
	unsigned long last = strtoul(end, NULL, 10);

	memset(p, 0, sizeof(*p));
	if (port == 0 || port > last || last >= PORTS)
		return 0;
	taken = calloc(PORTS, sizeof(*taken));
	p->ring = calloc(last - port + 1, sizeof(*p->ring));
	if (taken == NULL || p->ring == NULL) {
		free(taken);
		ports_fini(p);
		return -1;
	}
	hash_key_init(&p->secret);
	mark(taken, reserved);
	for (; port <= last; port++)
		if (!taken[port])
			p->ring[p->room++] = (uint16_t)port;
	free(taken);
	p->free = p->room;
	if (p->room == 0) /* all are reserved: as if there was no range */
		ports_fini(p);
	return 0;
}

/* Reads a file into `text` of `size` bytes, cut if it must; "" when it
 * cannot. */
static void
ports_read_file(const char *before, const char *name, char *text, size_t size)
{
	char path[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s%s", before, name);
	f = fopen(path, "re");
	n = f != NULL ? fread(text, 1, size - 1, f) : 0;

	text[n] = '\0';
	if (f != NULL)
		fclose(f);
}

int
ports_init(struct ports *p, const char *settings)
{
	char range[64], *list = malloc(LIST_MAX);
	int rc;

	if (list == NULL)
		return -1;
	ports_read_file(settings, "port_range", range, sizeof(range));
	ports_read_file(settings, "reserved_ports", list, LIST_MAX);
	rc = ports_init_from(p, range, list);
	free(list);
	return rc;
}

uint16_t
ports_first(const char *settings)
{
	char range[64];
	unsigned long first;

	ports_read_file(settings, "port_range", range, sizeof(range));
	first = strtoul(range, NULL, 10);
	return first < PORTS ? (uint16_t)first : 0;
}

int
ports_init_like(struct ports *p, const struct ports *from)
{
	*p = *from;
	if (p->room == 0)
		return 0;
	p->ring = calloc(p->room, sizeof(*p->ring));
	if (p->ring == NULL)
		return -1;
	memcpy(p->ring, from->ring, p->room * sizeof(*p->ring));
	hash_key_init(&p->secret);
	return 0;
}

void
ports_become(struct ports *p)
{
	hash_key_init(&p->secret);
}

void
ports_fini(struct ports *p)
{
	free(p->ring);
	memset(p, 0, sizeof(*p));
}

/* ---- the ring ---- */

unsigned
ports_most(const struct ports *p)
{
	return p->room - (p->room + LEFT - 1) / LEFT;
}

bool
ports_are_short(const struct ports *p)
{
	return p->room > 0 && p->room - p->free >= ports_most(p);
}

uint16_t
ports_take(struct ports *p)
{
	uint64_t drawn;
	unsigned other;
	uint16_t port;

	if (p->free == 0)
		return 0;
	p->drawn++;
	drawn = hash_keyed(&p->secret, &p->drawn, sizeof(p->drawn));
	other = (p->first + (unsigned)(drawn % ((p->free + 1) / 2))) % p->room;
	port = p->ring[other];
	p->ring[other] = p->ring[p->first];
	p->first = (p->first + 1) % p->room;
	p->free--;
	return port;
}

uint16_t
ports_take_one(struct ports *p, uint16_t port)
{
	unsigned i = p->first, left;

	for (left = p->free; left > 0 && p->ring[i] != port; left--)
		if (++i == p->room)
			i = 0;
	if (left == 0)
		return 0;
	p->ring[i] = p->ring[p->first];
	p->first = (p->first + 1) % p->room;
	p->free--;
	return port;
}

void
ports_release(struct ports *p, uint16_t port)
{
	if (port == 0)
		return;
	p->ring[(p->first + p->free) % p->room] = port;
	p->free++;
}
