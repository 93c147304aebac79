/* SPDX-License-Identifier: GPL-2.0-only */
/* Transactions of several shapes, on a slice of three: accelerators 0, 1 and 3. */
#ifndef MORPH_TESTS_SHAPES_H
#define MORPH_TESTS_SHAPES_H

#include "fake.h"

/* What a case changes; circuit 0 -> 1 on plane 0 is lit before, where it is changed. */
enum shape {
	ADD,		/* 0 -> 1 */
	ADD_TWO,	/* and 1 -> 2 */
	REMOVE,
	MOVE,		/* to plane 1 */
	TURN,		/* its transmitter towards accelerator 2 */
};

struct morph_txn *txn_of_shape(struct fake *fake, struct morph_slice *slice, enum shape shape,
			       u32 flags);
/* For suites: the slice is there, and nothing is logged. */
int txn_init(struct kunit *test);
struct morph_slice *txn_slice(struct fake *fake);

#endif /* MORPH_TESTS_SHAPES_H */
