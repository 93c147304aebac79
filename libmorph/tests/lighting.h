/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the circuits of schedules: fabrics, plans for them, and the checker. */
#ifndef LIGHTING_H
#define LIGHTING_H

#include "scheduling.h"

/* Profiles on the command line, in this order: server8, server16, rack64, smartlight72. */
#define PROFILES 4
#define HEAD 5 /* words */
#define STEPS_HEAD 7
#define CIRCUIT 9
#define STEP 7

extern char **profiles;

/* A fabric, and the requests to it. */
struct bench {
	struct morph_model *model;
	struct morph_ledger *ledger;
	uint8_t *profile;
	size_t profile_bytes;
	uint32_t at[64]; /* accelerators of ranks */
	struct morph_steps *steps;
	struct morph_schedule *schedule;
	struct morph_delay *delay;
	struct morph_light light;
};

enum {
	SERVER8,
	SERVER16,
	RACK64,
	SMARTLIGHT
};

struct bench open_bench(uint32_t number);
void close_bench(struct bench *bench);

/* Plan a collective. Returns false if the algorithm or the policy does not support it. */
bool plan(struct bench *bench, const struct morph_collective_opts *how,
	  const struct morph_schedule_opts *opts);
/* Plan an all-to-all by shifts. Each round has circuits of its own. */
void plan_shift(struct bench *bench, uint32_t ranks, uint32_t planes);

/*
 * Find paths, and return the verdict. Without other options, each circuit has one lane: a lane of
 * the mesh carries less than a port of some_delay().
 */
uint32_t light(struct bench *bench, uint32_t ranks, const struct morph_light_opts *opts);

/* ----------------------------------------------------------------- in words */

struct words {
	uint32_t *list;
	size_t bytes;
};

#define WRITE(write, object)                                                              \
	({                                                                                \
		struct words words_ = { .bytes = (size_t)write(object, NULL, 0) };        \
		words_.list = malloc(words_.bytes);                                       \
		assert_non_null(words_.list);                                             \
		assert_int_equal(write(object, words_.list, words_.bytes), words_.bytes); \
		words_;                                                                   \
	})

int check(const struct bench *bench, const struct words *steps, uint32_t ranks, char report[256]);
void assert_lit(const struct bench *bench, uint32_t ranks);

int lighting_run(int count, char **arguments, const char *name, const struct CMUnitTest *tests,
		 size_t tests_count);

#endif /* LIGHTING_H */
