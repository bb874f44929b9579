/* choices.h: settings whose value is a word of a list: the lists, and how their
 * words are found, named, and listed in errors. */
#ifndef PEN_CONTROL_CHOICES_H
#define PEN_CONTROL_CHOICES_H

#include <stddef.h>

/* A word and what it stands for: the value of an enum, or a bit. */
struct choice {
	const char *word;
	int value;
	const char *refused; /* why the word is not taken; NULL: it is */
};

enum { CHOICES_TEXT_MAX = 160 };

/* Each is ended by a NULL word, and in the order that errors list it. */
extern const struct choice choices_access[], /* enum access */
    choices_admin[],			     /* enum server_admin */
    choices_check_initial[],		     /* enum server_initial */
    choices_dsr_fast[],			     /* enum dsr_fast */
    choices_dsr_forward[],		     /* enum server_forward */
    choices_fastclose[],		     /* enum fastclose */
    choices_failback[],			     /* enum failback */
    choices_limit_action[],		     /* enum limit_action */
    choices_may_be_down[],		     /* whether it may */
    choices_on_down[],			     /* enum server_on_down */
    choices_workers_by[],		     /* enum sock_group_by */
    choices_on_up[],			     /* enum server_on_up */
    choices_proxy[],			     /* enum proxy_version */
    choices_quiet_end[],		     /* enum quiet_end */
    choices_sandbox[],			     /* enum sandbox_mode */
    choices_server_check[],		     /* whether there are words */
    choices_server_forward[],		     /* enum server_forward */
    choices_server_on_down[],		     /* enum server_on_down */
    choices_server_proxy[],		     /* enum server_proxy */
    choices_server_tls[],		     /* enum server_tls */
    choices_spin[],			     /* whether it may */
    choices_log_lines[],		     /* whether they are JSON */
    choices_syslog_facility[],		     /* of syslog.h */
    choices_tls_min[],			     /* tls_settings.min */
    choices_tls_options[],		     /* bits of tls_settings.options */
    choices_tls_protocol[],		     /* tls_settings.min */
    choices_udp_proxy[];		     /* enum udp_proxy */

/* The choice of that word, refused ones included, or NULL. */
const struct choice *choice_find(const struct choice *list, const char *word);
/* The word that stands for the value; "" when none does. */
const char *choice_name(const struct choice *list, int value);
/* "a, b or c", without those that are refused. Returns `text`. */
const char *choices_sentence(
    const struct choice *list, char text[CHOICES_TEXT_MAX]);

#endif
