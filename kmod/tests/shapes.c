// SPDX-License-Identifier: GPL-2.0-only
/* Transactions of several shapes: see shapes.h. */
#include "shapes.h"

struct morph_txn *txn_of_shape(struct fake *fake, struct morph_slice *slice, enum shape shape,
			       u32 flags)
{
	struct morph_change changes[2] = { fake_add(0, 1, 0, 1), fake_add(1, 2, 0, 1) };
	u32 count = shape == ADD_TWO || shape == TURN ? 2 : 1, old;

	if (shape != ADD && shape != ADD_TWO) {
		old = fake_light(fake, slice, 0, 1, 0);
		changes[0] = shape == MOVE ? fake_move(old, 1) : fake_remove(old);
		changes[1] = fake_add(0, 2, 0, 1);
	}
	fake_settle(fake);
	fake_clear(fake);
	return fake_txn(fake, slice, changes, count, flags);
}

int txn_init(struct kunit *test)
{
	struct fake *fake = fake_open(test, &fake_small);
	const u32 accelerators[] = { 0, 1, 3 };

	fake_slice(fake, accelerators, ARRAY_SIZE(accelerators));
	fake_clear(fake);
	return 0;
}

struct morph_slice *txn_slice(struct fake *fake)
{
	return fake->files[0]->slice;
}
