/* vlan.c: see vlan.h. */
#include "config.h"

#include "dsr/segment/vlan.h"

enum { OTHERS = 3 };

bool
vlan_on_other(struct vlan *v, uint16_t tag, unsigned reachable)
{
	/* Requests to servers get the segment's tag, or a host that can send
	 * frames with another one could make the servers unreachable. A tag
	 * that servers reply to is right. */
	if (reachable > 0)
		return false;
	if (tag != v->other)
		v->others = 0;
	v->other = tag;
	if (++v->others < (v->confirmed ? OTHERS : 1))
		return false;
	vlan_confirm(v);
	return true;
}
