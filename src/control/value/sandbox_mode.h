/* sandbox_mode.h: what the process gives up after the start, and why a build
 * may have no such modes; see control/life/sandbox.h. */
#ifndef PEN_CONTROL_SANDBOX_MODE_H
#define PEN_CONTROL_SANDBOX_MODE_H

enum sandbox_mode { SANDBOX_OFF, SANDBOX_LOG, SANDBOX_ON };

/* NULL: they are not refused. */
#ifdef HAVE_SECCOMP
#define SANDBOX_REFUSED NULL
#elif defined(__linux__)
#define SANDBOX_REFUSED "this build has no libseccomp"
#else
#define SANDBOX_REFUSED "not on this system"
#endif

#endif
