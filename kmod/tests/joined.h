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
/* Kill an accelerator and wait for the failover. */
void fake_kill(struct fake *fake, u32 accelerator);
/* Expect the ends of a circuit. */
void fake_expect_ends(struct kunit *test, const struct morph_circuit *circuit, u32 src, u32 dst);

#endif /* MORPH_TESTS_JOINED_H */
