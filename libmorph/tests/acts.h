/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every act of the library: each needs nothing, and leaves nothing behind. */
#ifndef ACTS_H
#define ACTS_H

#include <stdbool.h>
#include <stddef.h>

#include <morph/morph.h>

/* What a pointer has that the library shall set. */
#define POISON ((void *)1)

/* One of the three is there. */
struct act {
	const char *name;
	int (*plain)(void);
	int (*object)(struct morph_object **out);
	int (*list)(struct morph_list **out);
	bool may_succeed; /* although something failed */
};

extern const struct act acts[];
extern const size_t acts_count;

/* The context that all of them use; @profile is the model's. */
struct morph_ctx *acts_begin(const char *profile);
void acts_end(void);

/* Do it and drop what it gave: on failure nothing. */
int act_do(const struct act *act);

#endif /* ACTS_H */
