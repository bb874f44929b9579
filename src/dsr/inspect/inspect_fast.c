/* inspect_fast.c: judges whether a fast path that is asked for would be there,
 * and do anything. Pure. */
#include "config.h"

#include <string.h>

#include "dsr/inspect/inspect_fast.h"
#include "dsr/inspect/inspect_finding.h"

static const char nothing[] = "dsr_fast_path has no effect";

static void
judge_far_end(const struct inspect_machine *m, const struct inspect_request *w,
    const struct inspect_sink *sink)
{
	bool here = m->far_end[0] != '\0';
	struct inspect_finding f;

	inspect_say(&f, INSPECT_WARNING,
	    "%s: the other end of %s takes no frames that XDP programs send%s",
	    nothing, w->interface, here ? "" : "; to run there");
	inspect_fix(
	    sink, &f, "ethtool -K %s gro on", here ? m->far_end : "peer");
}

void
inspect_judge_fast(const struct inspect_machine *m,
    const struct inspect_request *w, const struct inspect_sink *sink)
{
	struct inspect_finding f;

	if (!w->fast)
		return;
	if (m->no_xdp) {
		inspect_say(&f, INSPECT_WARNING,
		    "%s: this pen was built without XDP", nothing);
		inspect_fix(sink, &f, "./configure --with-libxdp");
	} else if (w->link != NULL && strcmp(w->link, "xdp") != 0) {
		inspect_say(&f, INSPECT_WARNING, "%s with dsr_link %s", nothing,
		    w->link);
		inspect_fix(sink, &f, "dsr_link xdp");
	} else if (m->far_end_refuses) {
		judge_far_end(m, w, sink);
	} else if (m->far_end_unknown) {
		inspect_say(&f, INSPECT_WARNING,
		    "%s: this kernel does not tell whether the other end of %s "
		    "takes frames that XDP programs send (Linux 6.3 does)",
		    nothing, w->interface);
		inspect_tell(sink, &f);
	}
	if (w->no_flows) {
		inspect_say(
		    &f, INSPECT_WARNING, "%s with dsr_flows 0", nothing);
		inspect_fix(sink, &f, "dsr_flows 1000000");
	}
}

/* What was said of the machine is not said again. */
void
inspect_judge_fast_link(const struct inspect_segment *s,
    const struct inspect_request *w, const struct inspect_sink *sink)
{
	struct inspect_finding f;
	bool xdp = s->link != NULL && strcmp(s->link, "xdp") == 0;

	if (!w->fast || s->fast || s->link == NULL)
		return;
	if (xdp) {
		inspect_say(&f, INSPECT_WARNING,
		    "%s: the kernel does not take its program", nothing);
		inspect_tell(sink, &f);
	} else if (s->better != NULL && strcmp(s->better, "xdp") == 0) {
		/* asking for XDP would not open it; why not is told with the
		 * link */
		inspect_say(&f, INSPECT_WARNING, "%s: frames are moved by %s",
		    nothing, s->link);
		inspect_tell(sink, &f);
	}
}
