/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LM_PLAN_ROUTER_H
#define LM_PLAN_ROUTER_H

#include <stdlib.h>

#include "optics.h"

/*
 * Work space of the driver's router, or NULL. The router reads it before it writes it, and accepts
 * any content. It is zeroed so that valgrind reports such reads only in other code.
 */
static inline void *router_work(uint32_t steps)
{
	return calloc(1, optics_route_bytes(steps));
}

#endif /* LM_PLAN_ROUTER_H */
