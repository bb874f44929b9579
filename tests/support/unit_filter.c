/* unit_filter.c: unit_filter FILE USER PROGRAM ...: executes a program as that
 * user, if this one is root, with the system calls that the file names alone;
 * others fail, with EPERM, as under systemd. Exit status 77: there is no
 * libseccomp. */
#include "config.h"

#ifdef HAVE_SECCOMP

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int
become(const char *user)
{
	const struct passwd *pw = getpwnam(user);

	if (geteuid() != 0)
		return 0;
	return pw != NULL && setgroups(0, NULL) == 0 &&
		setgid(pw->pw_gid) == 0 && setuid(pw->pw_uid) == 0
	    ? 0
	    : -1;
}

static FILE *names;

static int
open_names(const char *file)
{
	names = fopen(file, "re");
	return names != NULL ? 0 : -1;
}

static int
limit(void)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	char name[128];
	int call;

	if (c == NULL)
		return -1;
	while (fgets(name, sizeof(name), names) != NULL) {
		name[strcspn(name, "\n")] = '\0';
		call = seccomp_syscall_resolve_name(name);
		if (call != __NR_SCMP_ERROR &&
		    seccomp_rule_add(c, SCMP_ACT_ALLOW, call, 0) < 0)
			return -1;
	}
	fclose(names);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return seccomp_load(c);
}

int
main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	/* the filter may not permit to become another user, nor to read */
	if (open_names(argv[1]) < 0 || become(argv[2]) < 0 || limit() < 0)
		perror("unit_filter");
	else
		execv(argv[3], argv + 3);
	return 1;
}

#else

int
main(void)
{
	return 77;
}

#endif
