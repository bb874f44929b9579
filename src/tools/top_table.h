/* top_table.h: the servers of one or several pens, as "servers long" reports
 * them, added up and put in order.
 *
 *     top_table_add() for each line -> top_table_settle(): the same server at
 *     several pens is one line; bytes become bytes a second since `before` */
#ifndef PEN_TOOLS_TOP_TABLE_H
#define PEN_TOOLS_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words;

enum { TOP_PENS = 16, TOP_TEXT = 64, TOP_SERVICE = 32 };

struct top_server {
	char service[TOP_SERVICE]; /* "": there is one only */
	/* "web1", or "shop/web1"; address and port. */
	char name[TOP_TEXT], at[TOP_TEXT];
	char state[16];			   /* the worst of several */
	char reason[TOP_TEXT];
	double sessions, failures, age_s, up, down;
	double errors; /* percent of responses, 5xx; the most of several */
	double rate, up_s, down_s, bytes_s; /* a second; the sum of both
					     * directions */
	/* Its number at each pen; -1: that one does not have it. */
	int number[TOP_PENS];
};

struct top_table {
	struct top_server *list;
	uint32_t count, room;
	uint64_t taken_ms;
};

enum top_order {
	TOP_BY_NUMBER,
	TOP_BY_NAME,
	TOP_BY_STATE,
	TOP_BY_SESSIONS,
	TOP_BY_RATE,
	TOP_BY_BYTES,
	TOP_BY_FAILURES,
	TOP_ORDERS
};

void top_table_init(struct top_table *t);
void top_table_fini(struct top_table *t);
/* Adds the values of a line about a server of that pen and service; a line of
 * another form is skipped. Returns 0, or -1 with errno ENOMEM. */
int top_table_add(
    struct top_table *t, unsigned pen, const char *service, const char *line);
/* Computes rates and order, when all lines have been added, at `now`; `before`
 * is the previous table. */
void top_table_settle(
    struct top_table *t, const struct top_table *before, uint64_t now);
/* Makes `view` what is seen of it, in order: the greatest first, or by number,
 * name or state, the worst first; only servers in whose name, address or state
 * `filter` is found. Returns 0, or -1 with errno ENOMEM. */
int top_table_arrange(struct top_table *view, const struct top_table *t,
    enum top_order order, const char *filter);
const char *top_order_name(enum top_order order);

/* ---- as text ---- */

enum { TOP_LINE = 512 };

/* The headings, or the line of a server, in `columns`, the more of them the
 * wider it is. Returns `line`. */
const char *top_table_headings(char line[TOP_LINE], unsigned columns);
const char *top_table_line(
    char line[TOP_LINE], const struct top_server *s, unsigned columns);
/* 999, 1.2k, 34k, 5.6M: four characters. */
void top_format_amount(char *to, size_t room, double value);
/* The word after `key` in a line of pen's, or "". */
const char *top_value_of(const struct words *w, const char *key);
/* One line about all servers: their number, sessions, rates. */
const char *top_table_sums(
    char line[TOP_LINE], const struct top_table *t, unsigned pens);

#endif
