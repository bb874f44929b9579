/* tls_config_check.h: whether the TLS settings of a draft make sense together,
 * as a participant; see apply.h. */
#ifndef PEN_CONTROL_TLS_CONFIG_CHECK_H
#define PEN_CONTROL_TLS_CONFIG_CHECK_H

#include "control/apply/apply.h"

/* Checks what the draft wants of TLS, without opening anything: no setting for
 * TLS with clients without a certificate, none without the others it needs.
 * Returns 0, or -1 with a full message that names the option or FILE:LINE. */
int tls_config_check(struct apply *a, struct error *e);

#endif
