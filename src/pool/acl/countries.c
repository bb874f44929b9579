/* countries.c: see countries.h. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pool/acl/countries.h"

#ifdef HAVE_MAXMINDDB

#include <maxminddb.h>

/* The code is {"country": {"iso_code": "SE"}} in MaxMind's databases; others
 * have {"country": "SE"} or {"country_code": "SE"}. */
static int
code_in(MMDB_entry_s *entry)
{
	static const char *const paths[][3] = { { "country", "iso_code", NULL },
		{ "country_code", NULL, NULL }, { "country", NULL, NULL } };
	MMDB_entry_data_s data;
	unsigned i;
	int a, b;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (MMDB_aget_value(entry, &data, paths[i]) != MMDB_SUCCESS ||
		    !data.has_data ||
		    data.type != MMDB_DATA_TYPE_UTF8_STRING ||
		    data.data_size != 2)
			continue;
		a = toupper((unsigned char)data.utf8_string[0]) - 'A';
		b = toupper((unsigned char)data.utf8_string[1]) - 'A';
		if (a >= 0 && a < 26 && b >= 0 && b < 26)
			return 26 * a + b;
	}
	return -1;
}

static int
ask_database(MMDB_s *db, const struct addr *at)
{
	int rc;
	MMDB_lookup_result_s found = MMDB_lookup_sockaddr(db, &at->u.sa, &rc);

	return rc == MMDB_SUCCESS && found.found_entry ? code_in(&found.entry)
						       : -1;
}

/* Whether none of these has a country: one address of each network of eight
 * bits. */
static bool
lacks_countries(MMDB_s *db)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	MMDB_lookup_result_s found;
	uint32_t i;
	int rc;

	for (i = 0; i < 256; i++) {
		at.sin_addr.s_addr = htonl(i << 24 | 1);
		found = MMDB_lookup_sockaddr(
		    db, (const struct sockaddr *)(const void *)&at, &rc);
		if (rc == MMDB_SUCCESS && found.found_entry &&
		    code_in(&found.entry) >= 0)
			return false;
	}
	return true;
}

/* Whether it is a database of something else, by the types that vendors give
 * theirs; one of a type of its own is taken as it is. */
static bool
is_of_something_else(MMDB_s *db)
{
	static const char *const types[] = { "ASN", "ISP", "Domain",
		"Anonymous", "Connection", NULL };
	const char *const *type = types;

	while (*type != NULL &&
	    strcasestr(db->metadata.database_type, *type) == NULL)
		type++;
	return *type != NULL && lacks_countries(db);
}

static int
open_database(MMDB_s *db, const char *path, struct error *e)
{
	struct stat st;
	int rc;

	/* The library would wait for a writer. */
	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		return error_set(e, "is a pipe");
	rc = MMDB_open(path, MMDB_MODE_MMAP, db);
	if (rc != MMDB_SUCCESS)
		return error_set(e, "%s",
		    rc == MMDB_IO_ERROR || rc == MMDB_FILE_OPEN_ERROR
			? strerror(errno)
			: MMDB_strerror(rc));
	if (!is_of_something_else(db))
		return 0;
	error_set(e, "has no countries, its type is %.60s",
	    db->metadata.database_type);
	MMDB_close(db);
	return -1;
}

static uint64_t
build_of(const MMDB_s *db)
{
	return db->metadata.build_epoch;
}

bool
countries_are_built_in(void)
{
	return true;
}

const char *
countries_library_version(void)
{
	return MMDB_lib_version();
}

#else

/* None is ever open. */
typedef struct {
	char none;
} MMDB_s;
#define MMDB_close(db)	     ((void)(db))
#define ask_database(db, at) ((void)(db), (void)(at), -1)
#define build_of(db)	     ((void)(db), 0u)

static int
open_database(MMDB_s *db, const char *path, struct error *e)
{
	(void)path;
	db->none = 0;
	return error_set(e, "built without libmaxminddb");
}

bool
countries_are_built_in(void)
{
	return false;
}

const char *
countries_library_version(void)
{
	return "";
}

#endif

struct countries {
	MMDB_s db;
	bool open;
	/* The last address, and its country. */
	struct peer last;
	int country;
};

struct countries *
countries_new(void)
{
	return calloc(1, sizeof(struct countries));
}

static void
close_database(struct countries *c)
{
	if (c->open)
		MMDB_close(&c->db);
	c->open = false;
	c->last = (struct peer){ .family = 0 };
}

void
countries_free(struct countries *c)
{
	if (c == NULL)
		return;
	close_database(c);
	free(c);
}

int
countries_open(struct countries *c, const char *path, struct error *e)
{
	MMDB_s db;

	if (path != NULL && open_database(&db, path, e) < 0)
		return -1;
	close_database(c);
	c->open = path != NULL;
	if (c->open)
		c->db = db;
	return 0;
}

void
countries_take(struct countries *c, struct countries *from)
{
	close_database(c);
	c->db = from->db;
	c->open = from->open;
	from->open = false;
	close_database(from);
}

int
countries_of(struct countries *c, const struct peer *who)
{
	struct addr at;

	if (!c->open ||
	    (who->family != AF_INET && who->family != AF_INET6))
		return -1;
	if (!peer_same_host(&c->last, who)) {
		addr_from_peer(&at, who);
		c->country = ask_database(&c->db, &at);
		c->last = *who;
	}
	return c->country;
}

uint64_t
countries_made(const struct countries *c)
{
	return c->open ? build_of(&c->db) : 0;
}
