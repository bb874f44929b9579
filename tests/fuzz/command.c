/* command.c: lines of a control client on TCP, who may do everything that can
 * be done from there, while pen serves. Lines that would open sockets or have
 * names looked up are left out. The plan in force is the same when it was
 * printed and read again. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/apply/apply.h"
#include "fuzz/fuzz.h"
#include "fuzz/plan.h"

static const char start[] =
    "server 0 address 10.0.0.1 port 80; server 1 address 10.0.0.2 port 81;"
    "acl 1 permit 10.0.0.0/8; service add api; service api server 0 address "
    "10.0.0.3 port 80";

/* Whether it may open something, or start another process. */
static bool
opens(const char *line)
{
	static const char *const words[] = { "listen", "control", "dsr", "web",
		"log", "tarpit", "upgrade" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]) != NULL)
			return true;
	return false;
}

/* Whether the commands of a line would have names looked up. */
static bool
wants_names(struct pen *p, const char *line)
{
	struct plan *draft = plan_copy(p->plan);
	struct reply unheard;
	struct call c = { .pen = p,
		.service = p->service,
		.draft = draft,
		.plan = draft,
		.origin = "file:1",
		.reply = &unheard,
		.dry = true };
	struct names names;
	struct error e;
	bool any;

	FUZZ_MUST(draft != NULL);
	reply_init(&unheard);
	names_init(&names);
	names.past = UINT32_MAX;
	(void)command_run_line(&c, line, &e);
	FUZZ_MUST(apply_want_names(p, draft, &names) == 0);
	any = names.missing > 0;
	names_fini(&names);
	reply_fini(&unheard);
	plan_free(draft);
	return any;
}

FUZZ(command)
{
	struct caller caller = { .access =
				     (enum access)(fuzz_byte(&data, &size) % 3),
		.who = "by fuzz",
		.remote = true };
	char *text = fuzz_string(data, size), *line, *rest = text;
	struct pen *p = fuzz_pen(start);
	struct buffer printed;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (!opens(line) && !wants_names(p, line))
			fuzz_run(p, &caller, line);
	buffer_init(&printed);
	plan_print(p->plan, &printed);
	fuzz_check_printed(p, &printed);
	buffer_fini(&printed);
	free(text);
	pen_free(p);
	return 0;
}
