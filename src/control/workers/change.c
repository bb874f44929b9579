/* change.c: a command, and the addresses of its names, as bytes. */
#include "config.h"

#include <string.h>

#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/workers/change.h"

/* A name; its host, and the hosts of a service, are behind it, each with its
 * NUL. */
struct name_head {
	struct resolved result;
	struct error error;
	bool failed, partly;
};

/* ---- writing ---- */

static int
write_text(struct buffer *out, const char *text)
{
	return buffer_append(out, text, strlen(text) + 1);
}

static int
write_hosts(struct buffer *out, const struct resolved *r)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < r->hosts && rc == 0; i++)
		rc = write_text(
			 out, r->host[i].name != NULL ? r->host[i].name : "") |
		    buffer_append(
			out, &r->host[i].failed, sizeof(r->host[i].failed));
	return rc;
}

static int
write_name(struct buffer *out, const struct name *n)
{
	struct name_head head;

	memset(&head, 0, sizeof(head)); /* its padding is sent, too */
	head.result = n->query.result;
	head.error = n->query.error;
	head.failed = n->query.failed;
	head.partly = n->query.partly;
	return buffer_append(out, &head, sizeof(head)) |
	    write_text(out, n->host) | write_hosts(out, &n->query.result);
}

static int
write_names(struct buffer *out, const struct names *n)
{
	const struct list *link;
	int rc = 0;

	for (link = n->all.next; link != &n->all && rc == 0; link = link->next)
		if (((const struct name *)(const void *)link)->done)
			rc = write_name(out, (const void *)link);
	return rc;
}

static unsigned
count_names(const struct names *n)
{
	const struct list *link;
	unsigned count = 0;

	for (link = n->all.next; link != &n->all; link = link->next)
		count += ((const struct name *)(const void *)link)->done;
	return count;
}

int
change_write(const struct apply *a, uint32_t number, struct buffer *out)
{
	const struct team_change *c = &a->pen->team.change;
	const struct names *n = a->names;
	struct change_head head;

	memset(&head, 0, sizeof(head));
	if (c->service != NULL)
		memcpy(head.service, c->service, strlen(c->service));
	if (n->service != NULL)
		memcpy(head.range_service, n->service->name,
		    sizeof(head.range_service));
	head.has_range_service = n->service != NULL;
	head.number = number;
	head.from = n->from;
	head.past = n->past;
	head.line = c->line != NULL ? c->length : 0;
	head.names = count_names(n);
	head.ttl_ms = n->ttl_ms;
	return buffer_append(out, &head, sizeof(head)) |
	    (head.line > 0 ? buffer_append(out, c->line, head.line) : 0) |
	    write_names(out, n);
}

/* ---- reading ---- */

static const void *
take(struct change_bytes *r, size_t n)
{
	const char *at = r->at;

	if (n > r->left)
		return NULL;
	r->at += n;
	r->left -= n;
	return at;
}

static const char *
take_text(struct change_bytes *r)
{
	const char *end = memchr(r->at, '\0', r->left);

	return end != NULL ? take(r, (size_t)(end - r->at) + 1) : NULL;
}

static int
read_hosts(struct change_bytes *r, struct resolved *to, unsigned hosts)
{
	const char *name;
	const void *failed;
	int i;

	while (hosts-- > 0) {
		name = take_text(r);
		failed = take(r, sizeof(unsigned));
		i = name != NULL && failed != NULL
		    ? resolved_add_host(to, name[0] != '\0' ? name : NULL)
		    : -1;
		if (i < 0)
			return -1;
		memcpy(&to->host[i].failed, failed, sizeof(unsigned));
	}
	return 0;
}

static int
change_read_name(struct change_bytes *r, struct names *n)
{
	const void *bytes = take(r, sizeof(struct name_head));
	const char *host = bytes != NULL ? take_text(r) : NULL;
	struct name_head head;
	struct query *q;
	unsigned hosts;

	if (host == NULL)
		return -1;
	memcpy(&head, bytes, sizeof(head));
	q = names_give(n, host);
	if (q == NULL)
		return -1;
	hosts = head.result.hosts;
	head.result.host = NULL;
	head.result.hosts = 0;
	q->result = head.result;
	q->error = head.error;
	q->failed = head.failed;
	q->partly = head.partly;
	return read_hosts(r, &q->result, hosts);
}

int
change_begin(struct change_bytes *c, const char *bytes, size_t n)
{
	const void *head;

	*c = (struct change_bytes){ .at = bytes, .left = n };
	head = take(c, sizeof(c->head));
	if (head == NULL)
		return -1;
	memcpy(&c->head, head, sizeof(c->head));
	c->line = take(c, c->head.line);
	return c->line != NULL ? 0 : -1;
}

int
change_read_names(struct change_bytes *c, const struct pen *p, struct names *n)
{
	unsigned i;

	n->quiet = true;
	for (i = 0; i < c->head.names; i++)
		if (change_read_name(c, n) < 0)
			return -1;
	n->ttl_ms = c->head.ttl_ms;
	n->from = c->head.from;
	n->past = c->head.past;
	n->service = c->head.has_range_service
	    ? service_find(p, c->head.range_service)
	    : NULL;
	return 0;
}
