/* watched_file.c: IDs of files, and reading them by way of their directory. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/watched_file.h"

bool
file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return a->device == b->device && a->inode == b->inode &&
	    a->size == b->size && a->seconds == b->seconds &&
	    a->nanoseconds == b->nanoseconds;
}

/* Some file systems, and some builds, have only whole seconds. */
bool
file_id_is_recent(const struct file_id *s)
{
	int64_t age = (int64_t)time(NULL) - s->seconds;

	return age >= -1 && age <= 1;
}

void
file_id_read(struct file_id *s, int dir, const char *name)
{
	struct stat st;

	*s = (struct file_id){ .size = 0 };
	if ((name != NULL ? fstatat(dir, name, &st, 0) : fstat(dir, &st)) < 0)
		return;
	s->device = (uint64_t)st.st_dev;
	s->inode = (uint64_t)st.st_ino;
	s->size = (uint64_t)st.st_size;
	s->seconds = (int64_t)st.st_ctime;
#ifdef __linux__
	s->nanoseconds = (int64_t)st.st_ctim.tv_nsec;
#endif
}

void
dir_id_read(struct file_id *s, int dir)
{
	struct file_id one;
	struct dirent *file;
	struct error e;
	DIR *d = file_list_at(dir, &e);

	file_id_read(s, dir, NULL);
	while (d != NULL && (file = readdir(d)) != NULL)
		if (file->d_name[0] != '.') {
			file_id_read(&one, dir, file->d_name);
			/* in whatever order they are listed */
			s->size += hash_stable(&one, sizeof(one));
		}
	if (d != NULL)
		closedir(d);
}

bool
settling_is_due(struct settling *s, bool changed, uint64_t now)
{
	if (changed)
		s->until = now + FILE_SETTLE_MS;
	return changed || (s->until != 0 && now >= s->until);
}

bool
settling_read(struct settling *s, bool useful, uint64_t now)
{
	if (!useful && now < s->until)
		return false;
	s->until = 0;
	return !useful;
}

unsigned
settling_wait_ms(const struct settling *s, uint64_t now)
{
	if (s->until == 0)
		return 0;
	return s->until > now ? (unsigned)(s->until - now) : 1;
}

unsigned
sooner_ms(unsigned a, unsigned b)
{
	return a == 0 || (b > 0 && b < a) ? b : a;
}

void
watched_file_none(struct watched_file *w)
{
	*w = (struct watched_file){ .dir = -1 };
}

int
watched_file_bad(const struct watched_file *w, const char *why, struct error *e)
{
	return error_set(e, "\"%.200s\": %.250s", w->path, why);
}

static int
open_dir(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
}

bool
dir_follow(int *dir, const char *path)
{
	struct stat now, before;
	int fd;

	if (path[0] != '/' || stat(path, &now) < 0 || fstat(*dir, &before) < 0)
		return false;
	if (now.st_dev == before.st_dev && now.st_ino == before.st_ino)
		return false;
	fd = open_dir(path);
	if (fd < 0)
		return false;
	close(*dir);
	*dir = fd;
	return true;
}

int
watched_file_init(struct watched_file *w, const char *path, struct error *e)
{
	char *slash;

	watched_file_none(w);
	if (path == NULL)
		return 0;
	w->path = strdup(path);
	w->folder = w->path != NULL ? strdup(path) : NULL;
	if (w->folder == NULL) {
		watched_file_fini(w);
		return error_set(e, "out of memory");
	}
	slash = strrchr(w->folder, '/');
	w->name = w->path + (slash != NULL ? slash + 1 - w->folder : 0);
	if (slash != NULL)
		slash[slash == w->folder] = '\0';
	w->dir = open_dir(slash != NULL ? w->folder : ".");
	if (w->dir >= 0)
		return 0;
	(void)watched_file_bad(w, strerror(errno), e);
	watched_file_fini(w);
	return -1;
}

void
watched_file_fini(struct watched_file *w)
{
	if (w->dir >= 0)
		close(w->dir);
	free(w->path);
	free(w->folder);
	watched_file_none(w);
}

void
watched_file_note(struct watched_file *w)
{
	if (w->path != NULL)
		file_id_read(&w->seen, w->dir, w->name);
}

int
watched_file_read(
    struct watched_file *w, size_t most, struct buffer *text, struct error *e)
{
	if (w->path == NULL)
		return 0;
	watched_file_note(w);
	if (file_read_at(w->dir, w->name, most, false, text, e) == 0)
		return 0;
	return error_of(e, "\"%.200s\"", w->path);
}

bool
watched_file_may_read(const struct watched_file *w)
{
	int fd;

	if (w->path == NULL)
		return true;
	fd = openat(w->dir, w->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

bool
watched_file_has_changed(struct watched_file *w)
{
	struct file_id now;

	if (w->path == NULL)
		return false;
	(void)dir_follow(&w->dir, w->folder);
	file_id_read(&now, w->dir, w->name);
	return !file_id_equal(&now, &w->seen);
}
