/* rights.c: capabilities as Linux has them. */
#include "config.h"

#include "control/rights.h"

#ifdef HAVE_LINUX_CAPABILITY_H

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The bounding set can be made smaller by those alone who may set capabilities;
 * for the others, nothing new by execve() has to do. */
static void
give_up_future(void)
{
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* The ambient set goes with the permitted one. */
int
rights_give_up(struct error *e)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	give_up_future();
	if (syscall(SYS_capset, &head, none) != 0)
		return error_set(
		    e, "cannot give up capabilities: %s", strerror(errno));
	return 0;
}

#else

int
rights_give_up(struct error *e)
{
	(void)e;
	return 0;
}

#endif
