/* change.c: a command, and the addresses of its names, as bytes. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/apply/services.h"
#include "control/workers/change.h"
#include "control/workers/workers_private.h"

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

static int
write_states(const struct apply *a, struct buffer *out)
{
	bool all = (a->changed & CHECKS_ON_ALL) != 0;
	size_t i, n = all ? pool_slots(a->service->pool) : a->servers.count;
	const struct server *s;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		s = pool_slot(a->service->pool,
		    all ? (unsigned)i : a->servers.list[i].slot);
		if (s != NULL && s->present)
			rc = states_sync_write(a->service, s, out);
	}
	return rc;
}

static int
write_keys(const struct apply *a, struct buffer *out)
{
	const struct tls_server *t = a->service->tls_config->server;
	struct shared_keys k;
	int rc;

	if (t == NULL || (a->changed & TLS_CONFIG_ON) == 0)
		return 0;
	memset(&k, 0, sizeof(k));
	memcpy(k.service, a->service->name, sizeof(k.service));
	k.length = tls_server_share_keys(t, k.keys);
	rc = buffer_append(out, &k, sizeof(k));
	tls_wipe(&k, sizeof(k));
	return rc;
}

/* Writes the part after the names: the data of all services. */
static int
write_rest(
    const struct apply_all *a, struct change_head *head, struct buffer *out)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < a->count && rc == 0; i++)
		rc = write_states(&a->one[i], out);
	head->states = buffer_length(out);
	for (i = 0; i < a->count && rc == 0; i++)
		rc = write_keys(&a->one[i], out);
	head->keys = (unsigned)((buffer_length(out) - head->states) /
	    sizeof(struct shared_keys));
	return rc;
}

/* Fills in the head of a change: what the worker must know to make it as its
 * leader did, and the lengths of the parts that follow. */
static void
fill_head(
    const struct apply_all *a, uint32_t number, struct change_head *head)
{
	const struct process_role_change *c = &a->pen->role.change;
	const char *who = a->pen->who != NULL ? a->pen->who : "configuration";
	const struct names *n = a->names;

	memset(head, 0, sizeof(*head)); /* its padding is sent, too */
	if (c->service != NULL)
		memcpy(head->service, c->service, strlen(c->service));
	if (n->service != NULL)
		memcpy(head->range_service, n->service->name,
		    sizeof(head->range_service));
	snprintf(head->who, sizeof(head->who), "%s", who);
	head->has_range_service = n->service != NULL;
	head->number = number;
	head->from = n->from;
	head->past = n->past;
	head->line = c->line != NULL ? c->length : 0;
	head->files = buffer_length(&c->files);
	head->lists = plan_acls_digest(&a->draft->process->acls);
	head->names = count_names(n);
	head->ttl_ms = n->ttl_ms;
}

int
change_write(const struct apply_all *a, uint32_t number, struct buffer *out)
{
	const struct process_role_change *c = &a->pen->role.change;
	struct change_head head;
	struct buffer rest;
	bool done;

	fill_head(a, number, &head);
	buffer_init(&rest);
	done = write_rest(a, &head, &rest) == 0 &&
	    buffer_append(out, &head, sizeof(head)) == 0 &&
	    buffer_append(out, c->line, head.line) == 0 &&
	    buffer_append(out, buffer_bytes(&c->files), head.files) == 0 &&
	    write_names(out, a->names) == 0 &&
	    buffer_append(out, buffer_bytes(&rest), buffer_length(&rest)) == 0;
	if (head.keys > 0)
		tls_wipe(rest.data, rest.size);
	buffer_fini(&rest);
	return done ? 0 : -1;
}

/* ---- reading ---- */

static const void *
take_bytes(struct change_bytes *r, size_t n)
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

	return end != NULL ? take_bytes(r, (size_t)(end - r->at) + 1) : NULL;
}

static int
read_hosts(struct change_bytes *r, struct resolved *to, unsigned hosts)
{
	const char *name;
	const void *failed;
	int i;

	while (hosts-- > 0) {
		name = take_text(r);
		failed = take_bytes(r, sizeof(unsigned));
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
	const void *bytes = take_bytes(r, sizeof(struct name_head));
	const char *host = bytes != NULL ? take_text(r) : NULL;
	struct name_head head;
	struct query *q;
	unsigned hosts;

	if (host == NULL)
		return -1;
	memcpy(&head, bytes, sizeof(head));
	q = names_import(n, host);
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
	size_t rest;

	*c = (struct change_bytes){ .at = bytes, .left = n };
	head = take_bytes(c, sizeof(c->head));
	if (head == NULL)
		return -1;
	memcpy(&c->head, head, sizeof(c->head));
	c->line = take_bytes(c, c->head.line);
	c->files = take_bytes(c, c->head.files);
	rest = c->head.states + c->head.keys * sizeof(struct shared_keys);
	if (c->line == NULL || c->files == NULL || rest > c->left)
		return -1;
	c->left -= rest;
	c->states = c->at + c->left;
	c->keys = c->states + c->head.states;
	return 0;
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
