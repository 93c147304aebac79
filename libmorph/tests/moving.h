/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is sent in a collective, for tests of those that were read. */
#ifndef MOVING_H
#define MOVING_H

#include "alone.h"

/* One that is to be filled; freed by the caller. */
struct morph_collective *empty_collective(void);

/*
 * Fails the test unless each chunk ends where it should, with the parts of all who have any, among
 * 64 ranks at most.
 */
void assert_done(const struct morph_collective *collective);

/* The same is sent between the same; @rounds: in the same rounds. */
void assert_same_sent(const struct morph_collective *one, const struct morph_collective *other,
		      bool rounds);

/* They are the same in all. */
void assert_same_words(const struct morph_collective *one, const struct morph_collective *other);

#endif /* MOVING_H */
