/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slices: create and place them, explain refusals, and bring them to a described state. */
#ifndef MORPHCTL_SLICE_H
#define MORPHCTL_SLICE_H

#include "morphctl/client/client.h"
#include "morphctl/controller/controller.h"

/* slice.c: a wanted slice. */
struct slice_wish {
	uint32_t fabric;
	const char *name;
	uint32_t owner;
	uint32_t mode;
	uint32_t count; /* number of accelerators if @accelerators_count is 0 */
	uint32_t *accelerators;
	size_t accelerators_count;
	uint32_t failover;
	uint32_t transit;
	uint32_t spare_policy;
	uint32_t *spares;
	size_t spares_count;
	bool reserved;
	bool lends;
	uint32_t controller; /* 0: none */
};

/* Read owner, mode and failover of a new slice from options. */
enum exit_code slice_wish_options(struct run *run, struct slice_wish *wish);
void slice_wish_free(struct slice_wish *wish);
enum exit_code slice_make(struct run *run, const struct slice_wish *wish, json_t **record);
/* Delete a slice, and wait for its end unless --no-wait was given. */
enum exit_code slice_remove(struct run *run, struct act *act, uint32_t fabric, uint32_t slice,
			    bool force);
bool parse_mode(const char *text, uint32_t *mode);

/* place.c: turn a plan into a slice, and report it. */

/* Verdict and accelerators of a plan. */
struct morph_plan_info place_info(const struct morph_plan *plan);

/* Create the slice that the first argument names, on the plan's accelerators, without circuits. */
enum exit_code place_create(struct run *run, uint32_t fabric, const struct morph_plan *plan,
			    struct slice_wish *wish, json_t **slice);
/* Lighting the circuits failed with @code: delete the slice again, and report it. */
enum exit_code place_take_back(struct run *run, struct act *act, uint32_t fabric, uint32_t slice,
			       enum exit_code code);

void place_write_plan(struct run *run, const json_t *report);
/* Print why a rack cannot host the request: of the sets of servers that forbid it, the tightest. */
void place_write_refusal(const json_t *refusal);
/* Print an empty line and a table; nothing if there are no records. */
void place_write_table(struct run *run, const char *columns, json_t *records);

/* request.c: the request to planners, read from the command line. */

/* A request, and its options. */
struct asked {
	struct morph_request *request;
	struct morph_request_opts opts;
};

/* Read --count, --shape, --ring, --mesh or --graph, and their options. The caller frees @asked. */
enum exit_code request_given(struct run *run, const struct morph_model *model, struct asked *asked);
void asked_free(struct asked *asked);

/* Parse up to three extents, separated by 'x'. Missing extents stay unchanged. */
bool parse_torus(const char *text, uint32_t extent[3]);

/* whynot.c: ask the kernel, and print the answer. Returns EXIT_CODE_FAILED if it would refuse. */
enum exit_code why_not_answer(struct run *run, uint32_t fabric,
			      const struct morph_why_not_opts *opts);
/* Ask without printing. */
enum exit_code why_not_ask(struct run *run, uint32_t fabric, const struct morph_why_not_opts *opts,
			   json_t **answer);

/* As why_not_answer(), for a request that planners answer, as in 'morphctl slice place'. */
enum exit_code why_not_plan(struct run *run);

/*
 * apply.c: a file of wanted slices, the differences from the present state, and the changes that
 * remove them.
 */

struct circuit_wish {
	uint32_t src_rank, dst_rank;
	struct morph_circuit_opts opts;
	bool met; /* a present circuit satisfies it */
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
	bool circuits_given; /* false: leave the circuits unchanged */
	bool ring; /* only a ring: validated before the slice exists */
	uint32_t ring_lanes;
	struct circuit_wish *circuits;
	size_t circuits_count;

	json_t *present; /* the slice's record; NULL: create the slice */
	uint32_t id;
	struct morph_slice_set_opts set, unset; /* the change, and the state before */
	struct morph_txn *txn; /* NULL: no circuit changes */
	uint32_t txn_id;
	bool created, was_set;
	enum apply_stage stage;
};

struct apply {
	struct run *run;
	json_t *document; /* owner of the names in the slices */
	uint32_t fabric; /* MORPH_ANY until apply_fabric() */
	bool dry_run;
	uint64_t lease_ns;
	struct token token; /* the controller on whose behalf the command acts */
	struct apply_slice *slices;
	size_t slices_count;
	json_t *changes; /* the reported difference */
};

/*
 * reason.c: the reason for the state of a slice, which the caller frees; NULL if the slice is ok.
 * @fabrics, @circuits: records of all fabrics and circuits, or NULL.
 */
char *slice_reason(const json_t *slice, const json_t *fabrics, const json_t *circuits);

static inline uint32_t wish_ranks(const struct slice_wish *wish)
{
	return wish->accelerators_count ? (uint32_t)wish->accelerators_count : wish->count;
}

/* Each function returns EXIT_CODE_OK, or another code after a message. */
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
