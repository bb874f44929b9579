/* store_fixture.c: a directory of certificates and its store. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "support/store_fixture.h"
#include "support/suite.h"

struct cert_store *store;
struct certdir store_dir;
uint64_t store_now = 1;

void
store_put(const char *file, const char *name)
{
	certdir_put(&store_dir, file, name);
}

const char *
store_file(const char *file)
{
	return certdir_file(&store_dir, file);
}

void
store_begin(void)
{
	certdir_make(&store_dir, "d");
}

void
store_opens(void)
{
	struct error e;

	store = cert_store_new(store_dir.path, &e);
	ck_assert_msg(store != NULL, "%s", e.text);
}

void
store_end(void)
{
	cert_store_drop(store);
	store = NULL;
	certdir_forget(&store_dir);
}

void
store_gives(const char *name, const char *whose)
{
	struct certificate *c = cert_store_find(store, name, true);

	ck_assert_msg(c != NULL, "nothing for \"%s\"", name);
	ck_assert_str_eq(c->name, whose);
	certificate_drop(c);
}

void
store_gives_none(const char *name)
{
	struct certificate *c = cert_store_find(store, name, true);

	ck_assert_msg(
	    c == NULL, "\"%s\" got \"%s\"", name, c != NULL ? c->name : "");
}

void
store_look(void)
{
	unsigned ms = cert_store_refresh(store, 1000, store_now);

	while (ms > 0) {
		store_now += ms;
		ms = cert_store_refresh(store, 0, store_now);
	}
}

unsigned
store_count(void)
{
	struct cert_store_info info;
	unsigned n = 0;

	while (cert_store_next(store, &n, &info))
		;
	return n;
}

const char *
stderr_to_file(void)
{
	const char *path = scratch("stderr");

	log_level = LOG_LEVEL_INFO;
	ck_assert_ptr_nonnull(freopen(path, "w", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	return path;
}

unsigned
file_lines(const char *path)
{
	const char *s = contents(path);
	unsigned n = 0;

	while ((s = strchr(s, '\n')) != NULL) {
		s++;
		n++;
	}
	return n;
}
