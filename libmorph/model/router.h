/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LM_PLAN_ROUTER_H
#define LM_PLAN_ROUTER_H

#include <stdlib.h>

#include "optics.h"

/*
 * Work space of the driver's router, or NULL. The router does not mind what is in it, and reads
 * it before it writes it; whoever looks for such reads elsewhere is not to find these.
 */
static inline void *router_work(uint32_t steps)
{
	return calloc(1, optics_route_bytes(steps));
}

#endif /* LM_PLAN_ROUTER_H */
