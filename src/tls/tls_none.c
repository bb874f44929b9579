/* tls_none.c: a build without TLS: all that makes something fails, so the rest
 * is never called. */
#include "config.h"

#include <errno.h>
#include <stddef.h>

#include "tls/tls_client.h"
#include "tls/tls_psk.h"
#include "tls/tls_server.h"

/* Of all these functions none uses what it is given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const char *const absent = "built without TLS";

struct tls_memory *
tls_memory_new(void)
{
	errno = ENOSYS;
	return NULL;
}

void
tls_memory_free(struct tls_memory *m)
{
}

bool
stream_is_tls(const struct stream *s)
{
	return false;
}

enum tls_step
tls_handshake(struct stream *s)
{
	return TLS_FAILED;
}

const char *
tls_error(const struct stream *s)
{
	return absent;
}

bool
tls_is_resumed(const struct stream *s)
{
	return false;
}

const char *
tls_server_name(const struct stream *s)
{
	return NULL;
}

void
tls_alpn(const struct stream *s, char name[TLS_ALPN_NAME])
{
	name[0] = '\0';
}

void
tls_facts(const struct stream *s, struct tls_facts *facts)
{
	*facts = (struct tls_facts){ .version = "", .cipher = "" };
}

struct tls_server *
tls_server_new(const struct tls_settings *s, struct tls_memory *m,
    const struct tls_server *before, struct error *e)
{
	error_set(e, "%s", absent);
	return NULL;
}

void
tls_server_free(struct tls_server *t)
{
}

int
tls_accept(struct stream *s, struct tls_server *t)
{
	errno = ENOSYS;
	return -1;
}

unsigned
tls_server_refresh(struct tls_server *t, unsigned most, uint64_t now)
{
	return 0;
}

unsigned
tls_server_replaced(const struct tls_server *t)
{
	return 0;
}

time_t
tls_server_lists(
    const struct tls_server *t, time_t now, char issuer[TLS_ISSUER_MAX])
{
	issuer[0] = '\0';
	return 0;
}

const char *
tls_server_find_unreadable(const struct tls_server *t)
{
	return NULL;
}

bool
tls_server_certificate(
    struct tls_server *t, unsigned at, struct tls_certificate *c)
{
	return false;
}

size_t
tls_server_export_keys(
    const struct tls_server *t, unsigned char bytes[TLS_KEYS_BYTES])
{
	return 0;
}

bool
tls_server_import_keys(
    struct tls_server *t, const unsigned char *bytes, size_t n)
{
	return false;
}

size_t
tls_server_share_keys(
    const struct tls_server *t, unsigned char bytes[TLS_KEYS_BYTES])
{
	return 0;
}

void
tls_server_join_keys(struct tls_server *t, const unsigned char *bytes, size_t n)
{
}

void
tls_wipe(void *bytes, size_t n)
{
}

struct tls_client *
tls_client_new(
    const struct tls_settings *s, struct tls_memory *m, struct error *e)
{
	error_set(e, "%s", absent);
	return NULL;
}

void
tls_client_free(struct tls_client *t)
{
}

int
tls_connect(struct stream *s, struct tls_client *t, const char *host,
    const struct addr *at, const char *alpn)
{
	errno = ENOSYS;
	return -1;
}

int
tls_connect_once(
    struct stream *s, struct tls_client *t, const char *name, unsigned flags)
{
	errno = ENOSYS;
	return -1;
}

unsigned
tls_client_refresh(struct tls_client *t, unsigned most, uint64_t now)
{
	return 0;
}

bool
tls_client_certificate(const struct tls_client *t, struct tls_certificate *c)
{
	return false;
}

void
tls_about(const struct stream *s, struct tls_about *about)
{
	*about = (struct tls_about){ .version = "" };
}

int
tls_take(struct stream *s, const void *bytes, size_t n)
{
	errno = ENOSYS;
	return -1;
}

int
tls_prefix(struct stream *s, const void *bytes, size_t n)
{
	errno = ENOSYS;
	return -1;
}

struct tls_psk *
tls_psk_new(const char *path, struct tls_memory *m, struct error *e)
{
	error_set(e, "%s", absent);
	return NULL;
}

int
tls_psk_try(const char *path, struct error *e)
{
	return error_set(e, "%s", absent);
}

void
tls_psk_free(struct tls_psk *t)
{
}

int
tls_psk_open(struct stream *s, struct tls_psk *t, bool client)
{
	errno = ENOSYS;
	return -1;
}

bool
tls_psk_is_used(const struct stream *s)
{
	return false;
}
