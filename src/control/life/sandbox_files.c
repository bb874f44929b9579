/* sandbox_files.c: rules about files, as the kernel takes them. */
#include "config.h"

#include <errno.h>

#include "control/life/sandbox_files.h"

#ifdef __linux__

#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* landlock(7). The C library has no functions, and its headers may be older
 * than the kernel; the numbers are the same on all machines. */
enum { CALL_CREATE = 444, CALL_ADD = 445, CALL_RESTRICT = 446 };
enum { VERSION_FLAG = 1, RULE_BENEATH = 1 };

enum {
	FS_EXECUTE = 1 << 0,
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_REG = 1 << 8,
	FS_MAKE_SOCK = 1 << 9,
	FS_FIRST = (1 << 13) - 1, /* all that the first version has */
	FS_REFER = 1 << 13,	  /* from the second on */
	FS_TRUNCATE = 1 << 14,	  /* from the third on */
	FS_OF_FILES = FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE,
	READ = FS_READ_FILE | FS_READ_DIR,
	WRITE = READ | FS_WRITE_FILE | FS_REMOVE_FILE | FS_MAKE_REG |
	    FS_MAKE_SOCK | FS_REFER | FS_TRUNCATE
};

struct rules_attr {
	uint64_t files;
};

struct beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

/* The kinds of access that this kernel distinguishes; 0: it has no Landlock,
 * with errno. */
static uint64_t
handled(void)
{
	long version = syscall(CALL_CREATE, NULL, 0, VERSION_FLAG);

	return version < 1 ? 0
	    : version == 1 ? FS_FIRST
	    : version == 2 ? FS_FIRST | FS_REFER
			   : FS_FIRST | FS_REFER | FS_TRUNCATE;
}

int
sandbox_files_new(void)
{
	struct rules_attr a = { .files = handled() };

	return a.files == 0 ? -1 : (int)syscall(CALL_CREATE, &a, sizeof(a), 0);
}

void
sandbox_files_add(int rules, const char *path, enum sandbox_use use)
{
	struct beneath b = { .allowed = use == SANDBOX_WRITE ? WRITE : READ,
		.fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;

	if (b.fd < 0)
		return;
	b.allowed &= handled();
	if (fstat(b.fd, &st) == 0 && !S_ISDIR(st.st_mode))
		b.allowed &= FS_OF_FILES;
	(void)syscall(CALL_ADD, rules, RULE_BENEATH, &b, 0);
	close(b.fd);
}

int
sandbox_files_enter(int rules)
{
	int rc = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
	    ? -1
	    : (int)syscall(CALL_RESTRICT, rules, 0);
	int error = errno;

	close(rules);
	errno = error;
	return rc;
}

#else

int
sandbox_files_new(void)
{
	errno = ENOSYS;
	return -1;
}

void
sandbox_files_add(int rules, const char *path, enum sandbox_use use)
{
	(void)rules, (void)path, (void)use;
}

int
sandbox_files_enter(int rules)
{
	(void)rules;
	return 0;
}

#endif
