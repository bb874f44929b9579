/* config_edit.h: which lines of a configuration file are changed, and how.
 *
 * Each thing that is set is kept as the file says it, until that is found to
 * be wrong; then it is replaced where it stands, and if that has no effect,
 * because something behind it counts, it is said at the end. */
#ifndef PEN_CONTROL_CONFIG_EDIT_H
#define PEN_CONTROL_CONFIG_EDIT_H

#include "control/file/config_lines.h"
#include "control/file/config_text.h"

enum config_way { CONFIG_KEPT, CONFIG_REPLACED, CONFIG_AT_END };

/* One thing that is set: by the file, or by what is in force. */
struct config_thing {
	const char *key; /* of a line */
	const struct command *row;
	uint32_t order;
	enum config_way way;
	bool wrong; /* that way does not give it */
};

struct config_edit {
	const struct plan *plan; /* in force */
	const struct plan *defaults;
	struct config_lines want;  /* of that */
	struct config_lines plain; /* of defaults */
	struct config_lines given; /* of the command line */
	struct config_lines first; /* of the file as it was */
	struct config_lines have;  /* what the items of the text set */
	struct config_text text;
	struct config_thing *thing; /* by key */
	struct config_thing **by_order;
	uint32_t things;
	bool all;
};

/* Empty: plans, all, want, plain, given and text are filled in next, and text
 * is run. */
void config_edit_init(struct config_edit *d);
void config_edit_fini(struct config_edit *d);
/* `first` is what the file gives with the command line; it is emptied. Returns
 * 0, or -1 with errno ENOMEM. */
int config_edit_begin(struct config_edit *d, struct config_lines *first);

/* Appends the text with its changes. Returns 0, or -1 with errno ENOMEM. */
int config_edit_write(struct config_edit *d, struct buffer *out);

/* That gave `got` when it was read: notes what differs. */
void config_edit_note(struct config_edit *d, const struct config_lines *got);
/* Whether something did. */
bool config_edit_is_wrong(const struct config_edit *d);
/* It is said in another way from now on. Returns 0, or -1 with a sentence: no
 * way gives what is in force. */
int config_edit_go_on(struct config_edit *d, struct error *e);

#endif
