/* rights.c: capabilities as Linux has them. */
#include "config.h"

#include "control/life/rights.h"

#ifdef HAVE_LINUX_CAPABILITY_H

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The bounding set can be made smaller only by processes that may set
 * capabilities; for the others, nothing new by execve() has to do. */
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
rights_drop(struct error *e)
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

/* Files may belong to other users, and `write` keeps their owner. */
int
rights_reduce(bool frames, struct error *e)
{
	static const int few[] = { CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_KILL,
		CAP_NET_ADMIN, CAP_NET_BIND_SERVICE, CAP_NET_RAW };
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3];
	uint32_t keep[_LINUX_CAPABILITY_U32S_3] = { 0 };
	size_t i;

	if (frames || geteuid() != 0 || syscall(SYS_capget, &head, set) != 0)
		return 0;
	for (i = 0; i < sizeof(few) / sizeof(few[0]); i++)
		keep[CAP_TO_INDEX(few[i])] |= CAP_TO_MASK(few[i]);
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		set[i].permitted &= keep[i];
		set[i].effective = set[i].permitted;
		set[i].inheritable = 0;
	}
	give_up_future();
	if (syscall(SYS_capset, &head, set) != 0)
		return error_set(
		    e, "cannot give up capabilities: %s", strerror(errno));
	return 0;
}

/* ---- another user ---- */

/* Of the last two, Linux is content with either for `transparent`, and
 * CAP_NET_RAW allows less: ip(7) names the other one alone. */
static const int handed_on[] = { CAP_NET_BIND_SERVICE, CAP_NET_RAW,
	CAP_NET_ADMIN };
enum { HANDED_ON = sizeof(handed_on) / sizeof(handed_on[0]) };

int
rights_begin_change(struct error *e)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0)
		return 0;
	return error_set(e, "cannot keep capabilities: %s", strerror(errno));
}

/* What is only inheritable gives programs nothing: capabilities(7). */
int
rights_end_change(bool transparent, struct error *e)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3],
	    set[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint32_t mask;
	int i, word;

	(void)prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	if (syscall(SYS_capget, &head, has) != 0)
		return error_set(
		    e, "cannot keep capabilities: %s", strerror(errno));
	for (i = 0; i < (transparent ? HANDED_ON : 1); i++) {
		word = CAP_TO_INDEX(handed_on[i]);
		mask = CAP_TO_MASK(handed_on[i]) & has[word].permitted;
		set[word].effective |= mask;
		set[word].permitted |= mask;
		set[word].inheritable |= mask;
		if (i > 0 && mask != 0)
			break;
	}
	if (syscall(SYS_capset, &head, set) != 0)
		return error_set(
		    e, "cannot keep a capability: %s", strerror(errno));
	rights_hand_on(false);
	return 0;
}

/* Lets programs that are executed have the rights, or not. A right that the
 * process lacks, or may not pass on, is refused by the kernel. */
void
rights_hand_on(bool on)
{
	int i;

	for (i = 0; i < HANDED_ON; i++)
		(void)prctl(PR_CAP_AMBIENT,
		    on ? PR_CAP_AMBIENT_RAISE : PR_CAP_AMBIENT_LOWER,
		    handed_on[i], 0, 0);
}

#else

int
rights_begin_change(struct error *e)
{
	(void)e;
	return 0;
}

int
rights_end_change(bool transparent, struct error *e)
{
	(void)transparent, (void)e;
	return 0;
}

void
rights_hand_on(bool on)
{
	(void)on;
}

int
rights_drop(struct error *e)
{
	(void)e;
	return 0;
}

int
rights_reduce(bool frames, struct error *e)
{
	(void)frames, (void)e;
	return 0;
}

#endif
