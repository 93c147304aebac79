/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of matchings that share one search. Only the main file of a test includes this. */
#ifndef SEARCHING_H
#define SEARCHING_H

#include "alone.h"

static struct morph_matchings *search;

/* Like begin(), with the search. */
static int begin_search(void **state)
{
	int ret = begin(state);

	search = morph_matchings_new(ctx);
	return ret || !search;
}

static int end_search(void **state)
{
	morph_matchings_free(search);
	return end(state);
}

#endif /* SEARCHING_H */
