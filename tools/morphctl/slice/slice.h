/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slices: made, placed, refused, and brought to a described state. */
#ifndef MORPHCTL_SLICE_H
#define MORPHCTL_SLICE_H

#include "morphctl/client/client.h"
#include "morphctl/controller/controller.h"

/* slice.c: a slice that is wanted. */
struct slice_wish {
	uint32_t fabric;
	const char *name;
	uint32_t owner;
	uint32_t mode;
	uint32_t count; /* when accelerators_count is 0 */
	uint32_t *accelerators;
	size_t accelerators_count;
	uint32_t failover;
	uint32_t transit;
	uint32_t spare_policy;
	uint32_t *spares;
	size_t spares_count;
	bool reserved;
	uint32_t controller; /* 0: none */
};

/* What options say of owner, mode and failover of a new slice. */
enum exit_code slice_wish_options(struct run *run, struct slice_wish *wish);
void slice_wish_free(struct slice_wish *wish);
enum exit_code slice_make(struct run *run, const struct slice_wish *wish, json_t **record);
bool parse_mode(const char *text, uint32_t *mode);

/* place.c: a plan that becomes a slice, and is told. */

/* Verdict and accelerators of a plan. */
struct morph_plan_info place_info(const struct morph_plan *plan);

/* Make the slice that the first argument names, on the plan's accelerators, without circuits. */
enum exit_code place_create(struct run *run, uint32_t fabric, const struct morph_plan *plan,
			    struct slice_wish *wish, json_t **slice);
/* Its circuits could not be lit, for @code: delete it again, and say so. */
enum exit_code place_take_back(struct run *run, uint32_t fabric, uint32_t slice,
			       enum exit_code code);

void place_write_plan(struct run *run, const json_t *report);
/* Why a rack does not do: of the sets of servers that forbid it the tightest. */
void place_write_refusal(const json_t *refusal);
/* A table after an empty line; nothing of no records. */
void place_write_table(struct run *run, const char *columns, json_t *records);

/* request.c: what planners are asked for, as the command line says it. */

/* A request, and its options. */
struct asked {
	struct morph_request *request;
	struct morph_request_opts opts;
};

/*
 * By --count, --shape, --ring, --mesh or --graph, and what goes with them; @asked is the caller's
 * to free.
 */
enum exit_code request_given(struct run *run, const struct morph_model *model, struct asked *asked);
void asked_free(struct asked *asked);

/* Up to three extents, divided by 'x'; others stay as they are. */
bool parse_torus(const char *text, uint32_t extent[3]);

/* whynot.c: asks, and writes the answer: EXIT_CODE_FAILED when the request would not be granted. */
enum exit_code why_not_answer(struct run *run, uint32_t fabric,
			      const struct morph_why_not_opts *opts);
/* Asks only. */
enum exit_code why_not_ask(struct run *run, uint32_t fabric, const struct morph_why_not_opts *opts,
			   json_t **answer);

/* The same of a request that planners answer, as 'morphctl slice place' has it. */
enum exit_code why_not_plan(struct run *run);

/* apply.c: a file of wishes, what differs from them, and how the difference is made good. */

struct circuit_wish {
	uint32_t src_rank, dst_rank;
	struct morph_circuit_opts opts;
	bool met; /* a circuit that is there answers it */
};

enum apply_stage {
	STAGE_NONE,
	STAGE_PREPARED,
	STAGE_COMMITTED,
	STAGE_CONFIRMED
};

struct apply_slice {
	struct slice_wish wish;
	bool owner_given, mode_given, failover_given, transit_given, spares_given, reserved_given;
	bool circuits_given; /* else the circuits are left as they are */
	bool ring; /* only that: validated before the slice is there */
	uint32_t ring_lanes;
	struct circuit_wish *circuits;
	size_t circuits_count;

	json_t *present; /* the slice's record, NULL: is to be created */
	uint32_t id;
	struct morph_slice_set_opts set, unset; /* what to change, and how it was */
	struct morph_txn *txn; /* NULL: no circuit changes */
	uint32_t txn_id;
	bool created, was_set;
	enum apply_stage stage;
};

struct apply {
	struct run *run;
	json_t *document; /* names in the slices belong to it */
	uint32_t fabric; /* MORPH_ANY until apply_fabric() */
	bool dry_run;
	uint64_t lease_ns;
	struct token token; /* on whose behalf */
	struct apply_slice *slices;
	size_t slices_count;
	json_t *changes; /* what is told of the difference */
};

static inline uint32_t wish_ranks(const struct slice_wish *wish)
{
	return wish->accelerators_count ? (uint32_t)wish->accelerators_count : wish->count;
}

/* Each returns after a message unless it returns EXIT_CODE_OK. */
enum exit_code apply_read(struct apply *apply, const char *path);
enum exit_code apply_fabric(struct apply *apply);
enum exit_code apply_diff(struct apply *apply);
int apply_set_opts(const struct apply *apply, struct morph_txn *txn, uint64_t lease_ns,
		   uint32_t flags);
enum exit_code apply_diff_circuits(struct apply *apply, struct apply_slice *slice,
				   json_t *circuits);
enum exit_code apply_check(struct apply *apply);
enum exit_code apply_change(struct apply *apply);
void apply_free(struct apply *apply);

#endif
