/* check_dsr.h: the values of "dsr [PORT]". */
#ifndef PEN_PROXY_CHECK_DSR_H
#define PEN_PROXY_CHECK_DSR_H

#include "proxy/check/check.h"

struct check_dsr_settings {
	uint16_t port; /* of listening addresses that have none; 0: not set */
};

#endif
