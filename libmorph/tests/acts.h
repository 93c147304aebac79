/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each call of the library as an act. An act needs no earlier act, and leaves no object behind. */
#ifndef ACTS_H
#define ACTS_H

#include <stdbool.h>
#include <stddef.h>

#include <morph/morph.h>

/* Initial value of each pointer that the library must set. */
#define POISON ((void *)1)

/* An act has exactly one of these three functions. */
struct act {
	const char *name;
	int (*plain)(void);
	int (*object)(struct morph_object **out);
	int (*list)(struct morph_list **out);
	bool may_succeed; /* true even if a part failed */
};

extern const struct act acts[];
extern const size_t acts_count;

/* The context of all acts. @profile is the path of the model's profile. */
struct morph_ctx *acts_begin(const char *profile);
void acts_end(void);

/* Run the act and free its results. After a failure there must be no result. */
int act_do(const struct act *act);

#endif /* ACTS_H */
