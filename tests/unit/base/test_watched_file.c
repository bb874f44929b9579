/* test_watched_file.c: IDs of files, and files that are read again. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/watched_file.h"
#include "support/suite.h"

static struct error e;
static struct watched_file w;

static void
opens(const char *path)
{
	ck_assert_msg(watched_file_init(&w, path, &e) == 0, "%s", e.text);
	ck_assert_str_eq(w.path, path);
}

static void
holds(const char *what)
{
	struct buffer b;

	buffer_init(&b);
	ck_assert_msg(watched_file_read(&w, 100, &b, &e) == 0, "%s", e.text);
	ck_assert_uint_eq(buffer_length(&b), strlen(what));
	ck_assert_int_eq(memcmp(buffer_bytes(&b), what, strlen(what)), 0);
	buffer_fini(&b);
	ck_assert(!watched_file_has_changed(&w));
}

static void
lacks(const char *why)
{
	struct buffer b;

	buffer_init(&b);
	ck_assert_int_eq(watched_file_read(&w, 100, &b, &e), -1);
	ck_assert_str_eq(e.text, text("\"%s\": %s", w.path, why));
	buffer_fini(&b);
	ck_assert(!watched_file_has_changed(&w));
}

/* A file is another one when it was renamed over, grew, went or came. */
START_TEST(changes)
{
	const char *path = scratch("f"), *new = scratch("new");

	write_file(path, "one");
	opens(path);
	ck_assert(watched_file_has_changed(&w)); /* from never read */
	holds("one");
	write_file(new, "two");
	ck_assert_int_eq(rename(new, path), 0);
	ck_assert(watched_file_has_changed(&w));
	ck_assert(watched_file_has_changed(&w));
	holds("two");
	write_file(path, "three");
	ck_assert(watched_file_has_changed(&w));
	watched_file_note(&w);
	ck_assert(!watched_file_has_changed(&w));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(watched_file_has_changed(&w));
	lacks("No such file or directory");
	write_file(path, "");
	ck_assert(watched_file_has_changed(&w));
	holds("");
	/* as long as it may be, and longer */
	write_file(path, text("%0100d", 1));
	holds(text("%0100d", 1));
	write_file(path, text("%0101d", 1));
	lacks("File too large");
	watched_file_fini(&w);
}
END_TEST

/* What a link leads to counts, and where it leads. */
START_TEST(links)
{
	const char *path = scratch("link"), *a = scratch("la");
	const char *b = scratch("lb"), *new = scratch("newlink");

	write_file(a, "aa");
	write_file(b, "bb");
	ck_assert_int_eq(symlink("la", path), 0);
	opens(path);
	holds("aa");
	write_file(a, "aaa");
	ck_assert(watched_file_has_changed(&w));
	holds("aaa");
	ck_assert_int_eq(symlink(b, new), 0);
	ck_assert_int_eq(rename(new, path), 0);
	ck_assert(watched_file_has_changed(&w));
	holds("bb");
	watched_file_fini(&w);
}
END_TEST

/* Found by its directory, wherever the process has gone since. */
START_TEST(other_directories)
{
	const char *path = scratch("o");
	char here[1024];

	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	write_file(path, "one");
	ck_assert_int_eq(chdir(scratch("")), 0);
	opens("o");
	ck_assert_int_eq(chdir("/"), 0);
	holds("one");
	watched_file_fini(&w);
	opens("/no-such-file");
	lacks("No such file or directory");
	watched_file_fini(&w);
	ck_assert_int_eq(chdir(here), 0);
	ck_assert_int_eq(watched_file_init(&w, scratch("no/such"), &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "No such file or directory"));
	ck_assert_int_eq(w.dir, -1);
	watched_file_fini(&w);
	/* what is no file is not read */
	opens(scratch(""));
	lacks("No such file or directory");
	watched_file_fini(&w);
}
END_TEST

/* A path may come to lead elsewhere: a directory is another, or a link
 * switched. */
START_TEST(moved_directories)
{
	const char *path = scratch("m/f");

	ck_assert_int_eq(mkdir(scratch("m"), 0755), 0);
	write_file(path, "one");
	opens(path);
	holds("one");
	ck_assert_int_eq(rename(scratch("m"), scratch("m1")), 0);
	ck_assert(!watched_file_has_changed(&w)); /* it is still at hand */
	ck_assert_int_eq(mkdir(scratch("m2"), 0755), 0);
	write_file(scratch("m2/f"), "two");
	ck_assert_int_eq(symlink("m2", scratch("m")), 0);
	ck_assert(watched_file_has_changed(&w));
	holds("two");
	ck_assert_int_eq(symlink("m1", scratch("m3")), 0);
	ck_assert_int_eq(rename(scratch("m3"), scratch("m")), 0);
	ck_assert(watched_file_has_changed(&w));
	holds("one");
	/* not into what is no directory */
	write_file(scratch("m3"), "");
	ck_assert_int_eq(rename(scratch("m3"), scratch("m")), 0);
	ck_assert(!watched_file_has_changed(&w));
	holds("one");
	watched_file_fini(&w);
}
END_TEST

/* One that was given from where the process was then is not looked for anew. */
START_TEST(relative_path)
{
	char here[1024];

	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	ck_assert_int_eq(mkdir(scratch("r1"), 0755), 0);
	ck_assert_int_eq(mkdir(scratch("r1/d"), 0755), 0);
	ck_assert_int_eq(mkdir(scratch("r2"), 0755), 0);
	ck_assert_int_eq(mkdir(scratch("r2/d"), 0755), 0);
	write_file(scratch("r1/d/f"), "one");
	write_file(scratch("r2/d/f"), "two");
	ck_assert_int_eq(chdir(scratch("r1")), 0);
	opens("d/f");
	ck_assert_int_eq(chdir(scratch("r2")), 0);
	holds("one");
	ck_assert_int_eq(chdir(here), 0);
	watched_file_fini(&w);
}
END_TEST

static struct file_id
stamp(const char *name)
{
	int dir = open(scratch(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct file_id s;

	ck_assert_int_ge(dir, 0);
	memset(&s, 0x5a, sizeof(s));
	file_id_read(&s, dir, name);
	close(dir);
	return s;
}

START_TEST(stamps)
{
	const struct file_id none = { .size = 0 };
	struct file_id a, b;

	write_file(scratch("s"), "one");
	a = stamp("s");
	b = stamp("no");
	ck_assert(file_id_equal(&b, &none));
	ck_assert(!file_id_equal(&a, &b));
	ck_assert_uint_eq(a.size, 3);
	b = stamp("s");
	ck_assert(file_id_equal(&a, &b));
	/* each part tells */
	b.device++;
	ck_assert(!file_id_equal(&a, &b));
	b = a;
	b.inode++;
	ck_assert(!file_id_equal(&a, &b));
	b = a;
	b.size++;
	ck_assert(!file_id_equal(&a, &b));
	b = a;
	b.seconds++;
	ck_assert(!file_id_equal(&a, &b));
	b = a;
	b.nanoseconds++;
	ck_assert(!file_id_equal(&a, &b));
	/* of the directory itself */
	a = stamp(NULL);
	b = stamp(".");
	ck_assert(file_id_equal(&a, &b));
}
END_TEST

/* An ID of a directory is of what is in it, too, and of what links lead to. */
START_TEST(directories)
{
	const char *in = scratch("in"), *elsewhere = scratch("elsewhere");
	struct file_id was, is;
	int dir;

	ck_assert_int_eq(mkdir(in, 0755), 0);
	write_file(elsewhere, "one");
	write_file(text("%s/f", in), "one");
	ck_assert_int_eq(symlink(elsewhere, text("%s/link", in)), 0);
	dir = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir, 0);
	dir_id_read(&was, dir);
	dir_id_read(&is, dir);
	ck_assert(file_id_equal(&was, &is));
	write_file(text("%s/f", in), "three");
	dir_id_read(&is, dir);
	ck_assert(!file_id_equal(&was, &is));
	dir_id_read(&was, dir);
	write_file(elsewhere, "three");
	dir_id_read(&is, dir);
	ck_assert(!file_id_equal(&was, &is));
	dir_id_read(&was, dir);
	write_file(scratch("beside"), "");
	dir_id_read(&is, dir);
	ck_assert(file_id_equal(&was, &is));
	close(dir);
}
END_TEST

START_TEST(young)
{
	struct file_id s;

	write_file(scratch("y"), "one");
	s = stamp("y");
	ck_assert(file_id_is_recent(&s));
	s.seconds = time(NULL) - 10;
	ck_assert(!file_id_is_recent(&s));
	s.seconds = time(NULL) + 10; /* a clock that goes wrong */
	ck_assert(!file_id_is_recent(&s));
	s = stamp("no");
	ck_assert(!file_id_is_recent(&s));
}
END_TEST

/* Files of no use are read once more when they have stayed as they are. */
START_TEST(settles)
{
	struct settling s = { .until = 0 };

	ck_assert(!settling_is_due(&s, false, 5));
	ck_assert_uint_eq(settling_wait_ms(&s, 5), 0);
	ck_assert(
	    settling_read(&s, false, 5)); /* read unasked, as at the start */
	ck_assert(settling_is_due(&s, true, 5));
	ck_assert(!settling_read(&s, false, 5));
	ck_assert_uint_eq(settling_wait_ms(&s, 5), FILE_SETTLE_MS);
	ck_assert(!settling_is_due(&s, false, 1004));
	/* a change begins it anew */
	ck_assert(settling_is_due(&s, true, 1005));
	ck_assert(!settling_read(&s, false, 1005));
	ck_assert_uint_eq(settling_wait_ms(&s, 2004), 1);
	ck_assert(settling_is_due(&s, false, 2005));
	ck_assert_uint_eq(settling_wait_ms(&s, 3000), 1);
	ck_assert(settling_read(&s, false, 2005));
	ck_assert(!settling_is_due(&s, false, 9999));
	/* useful: nothing is left to be done */
	ck_assert(settling_is_due(&s, true, 10000));
	ck_assert(!settling_read(&s, true, 10000));
	ck_assert_uint_eq(settling_wait_ms(&s, 10000), 0);
	ck_assert(!settling_is_due(&s, false, 20000));
	ck_assert_uint_eq(sooner_ms(0, 0), 0);
	ck_assert_uint_eq(sooner_ms(0, 3), 3);
	ck_assert_uint_eq(sooner_ms(3, 0), 3);
	ck_assert_uint_eq(sooner_ms(3, 2), 2);
	ck_assert_uint_eq(sooner_ms(2, 3), 2);
}
END_TEST

SUITE(test_watched_file)
{
	Suite *s = suite_create("watched");

	SUITE_ADD(s, changes, 10);
	SUITE_ADD(s, links, 10);
	SUITE_ADD(s, other_directories, 10);
	SUITE_ADD(s, moved_directories, 10);
	SUITE_ADD(s, relative_path, 10);
	SUITE_ADD(s, stamps, 10);
	SUITE_ADD(s, directories, 10);
	SUITE_ADD(s, young, 10);
	SUITE_ADD(s, settles, 10);
	return s;
}
