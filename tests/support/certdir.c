/* certdir.c: files of certificates, put in place by renaming. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/certdir.h"
#include "support/suite.h"
#include "support/wait.h"

void
certdir_make(struct certdir *d, const char *dir)
{
	d->first = cert_new(&(struct cert_wish){ .name = "first.test" });
	snprintf(d->path, sizeof(d->path), "%s", scratch(dir));
	snprintf(d->new, sizeof(d->new), "%s", scratch("new.pem"));
	ck_assert_msg(
	    mkdir(d->path, 0755) == 0, "%s: %s", d->path, strerror(errno));
}

void
certdir_forget(struct certdir *d)
{
	cert_free(d->first);
	d->first = NULL;
	ck_assert_int_eq(
	    rename(d->path, text("%s.%lld", d->path, wait_now_ms())), 0);
}

const char *
certdir_file(const struct certdir *d, const char *file)
{
	return text("%s/%s", d->path, file);
}

struct cert *
certdir_cert(const struct certdir *d, const char *names)
{
	return cert_new(
	    &(struct cert_wish){ .name = names, .key_of = d->first });
}

void
certdir_put(const struct certdir *d, const char *file, const char *names)
{
	struct cert *c = certdir_cert(d, names);
	char path[CERTDIR_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", d->path, file);
	cert_write_all(c, d->new);
	cert_free(c);
	ck_assert_msg(
	    rename(d->new, path) == 0, "%s: %s", path, strerror(errno));
}

void
certdir_put_parts(const struct certdir *d, const char *name)
{
	struct cert *c = certdir_cert(d, name);
	char path[CERTDIR_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s.key", d->path, name);
	cert_write_key(c, path);
	snprintf(path, sizeof(path), "%s/%s.crt", d->path, name);
	cert_write(c, path);
	cert_free(c);
}

void
certdir_remove(const struct certdir *d, const char *file)
{
	char path[CERTDIR_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", d->path, file);
	ck_assert_msg(unlink(path) == 0, "%s: %s", path, strerror(errno));
}
