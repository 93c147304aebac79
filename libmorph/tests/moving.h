/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compare the transfers of collectives that were read from files. */
#ifndef MOVING_H
#define MOVING_H

#include "alone.h"

/* An empty collective. The caller frees it. */
struct morph_collective *empty_collective(void);

/*
 * Fail the test unless each chunk ends at its destinations with the parts of all ranks that have
 * one. There are at most 64 ranks.
 */
void assert_done(const struct morph_collective *collective);

/* Both have the same transfers between the same ranks; with @rounds, in the same rounds. */
void assert_same_sent(const struct morph_collective *one, const struct morph_collective *other,
		      bool rounds);

/* Both are equal word by word. */
void assert_same_words(const struct morph_collective *one, const struct morph_collective *other);

#endif /* MOVING_H */
