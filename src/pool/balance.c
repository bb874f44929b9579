/* balance.c: the algorithms there are; a new one gets a row here. */
#include "config.h"

#include <string.h>

#include "pool/balance.h"

const struct balance *const balance_table[] = {
	&balance_roundrobin,
	&balance_wrr,
	&balance_leastconn,
	&balance_wleastconn,
	&balance_prio,
	&balance_hash,
	&balance_p2c,
	&balance_least_time,
	NULL,
};

const struct balance *
balance_find(const char *name)
{
	int i;

	for (i = 0; balance_table[i] != NULL; i++)
		if (strcmp(balance_table[i]->name, name) == 0)
			return balance_table[i];
	return NULL;
}
