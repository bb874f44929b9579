/* cert_files.c: names of files in a directory of certificates, and their
 * content. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tls/cert_files.h"

enum { FILE_NAME_MAX = CERT_NAME_MAX + 16 };

static const char *const suffix[PARTS] = { ".pem", ".crt", ".key", ".ca",
	".ocsp" };

bool
cert_files_name(const char *file, char name[CERT_NAME_MAX + 1])
{
	size_t n = strlen(file), i;

	if (n < 5 || n - 4 > CERT_NAME_MAX || file[0] == '.' ||
	    (strcmp(file + n - 4, ".pem") != 0 &&
		strcmp(file + n - 4, ".crt") != 0))
		return false;
	n -= 4;
	for (i = 0; i < n; i++)
		name[i] = (char)tolower((unsigned char)file[i]);
	name[n] = '\0';
	if (name[0] == '_' && name[1] == '.')
		name[0] = '*';
	return true;
}

/* The file of a wildcard may begin with '_' instead of '*'. */
static void
cert_file_of(
    int dir, const char *name, enum cert_part part, char file[FILE_NAME_MAX])
{
	struct file_id there;

	snprintf(file, FILE_NAME_MAX, "%s%s", name, suffix[part]);
	if (name[0] != '*')
		return;
	file_id_read(&there, dir, file);
	if (there.inode == 0)
		file[0] = '_';
}

void
cert_file_ids_take(struct cert_file_ids *s, int dir, const char *name)
{
	char file[FILE_NAME_MAX];
	int i;

	for (i = 0; i < PARTS; i++) {
		cert_file_of(dir, name, (enum cert_part)i, file);
		file_id_read(&s->of[i], dir, file);
	}
}

bool
cert_file_ids_equal(
    const struct cert_file_ids *a, const struct cert_file_ids *b)
{
	int i;

	for (i = 0; i < PARTS; i++)
		if (!file_id_equal(&a->of[i], &b->of[i]))
			return false;
	return true;
}

bool
cert_file_ids_suffice(const struct cert_file_ids *s)
{
	return s->of[PART_PEM].inode != 0 || s->of[PART_CRT].inode != 0;
}

static int
cert_read_part(int dir, const char *name, enum cert_part part,
    const struct cert_file_ids *s, struct buffer *text, struct error *e)
{
	char file[FILE_NAME_MAX];

	if (s->of[part].inode == 0)
		return 0;
	cert_file_of(dir, name, part, file);
	if (file_read_at(dir, file, CERT_FILE_MAX, false, text, e) == 0)
		return 0;
	return error_of(e, "%.300s", file);
}

int
cert_files_read(int dir, const char *name, const struct cert_file_ids *s,
    struct cert_texts *t, struct error *e)
{
	enum cert_part cert = s->of[PART_PEM].inode != 0 ? PART_PEM : PART_CRT;

	if (!cert_file_ids_suffice(s))
		return error_set(e,
		    "found no file .pem of that name in lower "
		    "case, nor .crt and .key");
	return cert_read_part(dir, name, cert, s, &t->cert, e) < 0 ||
		cert_read_part(dir, name, PART_KEY, s, &t->key, e) < 0 ||
		cert_read_part(dir, name, PART_CA, s, &t->chain, e) < 0 ||
		cert_read_part(dir, name, PART_OCSP, s, &t->ocsp, e) < 0
	    ? -1
	    : 0;
}
