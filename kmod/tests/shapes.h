/* SPDX-License-Identifier: GPL-2.0-only */
/* Transactions of several shapes, on a slice with three accelerators: 0, 1 and 3. */
#ifndef MORPH_TESTS_SHAPES_H
#define MORPH_TESTS_SHAPES_H

#include "fake.h"

/* Changes of a case. Before a change of circuit 0 -> 1 on plane 0, this circuit is lit. */
enum shape {
	ADD,		/* 0 -> 1 */
	ADD_TWO,	/* and 1 -> 2 */
	REMOVE,
	MOVE,		/* to plane 1 */
	TURN,		/* turn its transmitter to accelerator 2 */
};

struct morph_txn *txn_of_shape(struct fake *fake, struct morph_slice *slice, enum shape shape,
			       u32 flags);
/* For suites: allocate the slice and clear the log. */
int txn_init(struct kunit *test);
struct morph_slice *txn_slice(struct fake *fake);

#endif /* MORPH_TESTS_SHAPES_H */
