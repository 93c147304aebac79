/* SPDX-License-Identifier: GPL-2.0-only */
/* Slices of fake_small whose first two ranks a circuit joins; for several suites. */
#ifndef MORPH_TESTS_JOINED_H
#define MORPH_TESTS_JOINED_H

#include "fake.h"

/* A circuit joins its first two ranks. Removes its events and clears the log. */
struct morph_slice *fake_joined_like(struct fake *fake, const struct morph_slice_params *params);
/* The first two accelerators of a host. */
struct morph_slice *fake_joined_on_host(struct fake *fake, u32 host, u32 failover,
					u32 spare_policy);
/* Accelerators 0 and 1 with a circuit. The spares are 2 on their host and 5 on the other one. */
struct morph_slice *fake_joined(struct fake *fake, u32 failover, u32 spare_policy);
struct morph_circuit *fake_only_circuit(struct morph_slice *slice);
/* A number for all claims in the ledger. */
u32 fake_hash_claims(struct fake *fake);
/* Kill an accelerator and wait for the failover. */
void fake_kill(struct fake *fake, u32 accelerator);
/*
 * The owner has accelerators 0 and 1, with a circuit. The borrower has accelerator 3 and one spare,
 * with a circuit to the spare. The spares are 2 on the first host and 5 on the second one.
 */
struct fake_loan {
	struct morph_slice *owner, *borrower;
};

/* Two accelerators with a circuit. The slice takes any spare; @lend: one of the two is a spare. */
struct morph_slice *fake_pair(struct fake *fake, u32 first, u32 second, bool lend);
struct fake_loan fake_lend(struct fake *fake, u32 spare);
/* Kill an accelerator, and do not wait. */
void fake_fail(struct fake *fake, u32 accelerator);
/* The accelerator has passed a test, and its hold-down is over. */
void fake_return(struct fake *fake, u32 accelerator);
/* Each rank has an accelerator that knows it, and no other one. */
void fake_expect_one_holder(struct fake *fake);
/* Expect the ends of a circuit. */
void fake_expect_ends(struct kunit *test, const struct morph_circuit *circuit, u32 src, u32 dst);

#endif /* MORPH_TESTS_JOINED_H */
