/* acl_report.h: what access lists there are, and what is in them. */
#ifndef PEN_CONTROL_ACL_REPORT_H
#define PEN_CONTROL_ACL_REPORT_H

#include "control/value/plan_acls.h"
#include "control/answer/reply.h"

/* Reports each list that is not empty: its entries, those of files included,
 * and its verdict for clients that none matches. */
void acl_report_all(const struct plan_acls *all, struct reply *r);
/* Reports what the list is made of, as the operator wrote it. */
void acl_report(const struct acl *l, struct reply *r);

#endif
