/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a kernel's fabric at one moment. */
#ifndef LM_PLAN_LIVE_H
#define LM_PLAN_LIVE_H

#include "../place/place.h"

struct live {
	struct morph_list *accelerators, *guides, *elements, *hardware;
	struct morph_list *reservations; /* of one controller only */
	struct morph_list *circuits; /* NULL: not requested */
	struct morph_list *slices; /* NULL: not requested */
};

/*
 * Read all lists from the same moment, between publications. @controller: also its reservations, or
 * 0. @slices: also slices and circuits. 0 or a noted errno.
 */
int lm_live_read(struct morph_ledger *ledger, uint32_t fabric, uint32_t controller, bool slices,
		 struct live *live);
void lm_live_free(struct live *live);

/* Fill the ledger from the lists. 0 or a noted errno. */
int lm_live_take(struct morph_ledger *ledger, const struct live *live);

/* An attribute as an unsigned number; 0 if the object lacks it. */
static inline uint64_t lm_object_uint_at(const struct morph_object *object, const char *name,
					 size_t index)
{
	MORPH_OPTS(morph_value, value);

	morph_object_value(object, name, index, &value);
	return value.uint;
}

#endif /* LM_PLAN_LIVE_H */
