// SPDX-License-Identifier: LGPL-2.1-or-later
/* Maximum flow, in networks that callers describe by functions. */
#include "flow.h"

static void forget(struct flow_search *search)
{
	while (search->count)
		search->from[search->queue[--search->count]] = FLOW_UNSEEN;
}

bool lm_flow_augment(const struct flow_network *functions, void *network,
		     struct flow_search *search)
{
	forget(search);
	if (functions->start(network, search))
		return true;
	for (uint32_t at = 0; at < search->count; at++) {
		uint32_t node = search->queue[at];

		if (!functions->expand(network, search, node))
			continue;
		for (; node != FLOW_SOURCE; node = search->from[node])
			functions->push(network, search, node);
		return true;
	}
	return false;
}
