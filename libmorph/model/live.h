/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a kernel says of a fabric at one moment. */
#ifndef LM_PLAN_LIVE_H
#define LM_PLAN_LIVE_H

#include "../place/place.h"

struct live {
	struct morph_list *accelerators, *guides, *elements, *hardware;
	struct morph_list *reservations; /* of one controller only */
	struct morph_list *circuits; /* NULL: nobody wanted them */
	struct morph_list *slices; /* NULL: nobody wanted them */
};

/*
 * Read all lists while nothing is published; @controller: whose reservations, or 0; @slices:
 * slices and circuits too. 0 or a noted errno.
 */
int lm_live_read(struct morph_ledger *ledger, uint32_t fabric, uint32_t controller, bool slices,
		 struct live *live);
void lm_live_free(struct live *live);

/* The ledger becomes what was read. 0 or a noted errno. */
int lm_live_take(struct morph_ledger *ledger, const struct live *live);

/* A value of an attribute as an unsigned number; 0 where the object has none. */
static inline uint64_t lm_object_uint_at(const struct morph_object *object, const char *name,
					 size_t index)
{
	MORPH_OPTS(morph_value, value);

	morph_object_value(object, name, index, &value);
	return value.uint;
}

#endif /* LM_PLAN_LIVE_H */
