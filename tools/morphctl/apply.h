/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of wishes, what differs from them, and how the difference is made good. */
#ifndef MORPHCTL_APPLY_H
#define MORPHCTL_APPLY_H

#include "controller.h"
#include "slice.h"

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
enum exit_code apply_diff_circuits(struct apply *apply, struct apply_slice *slice,
				   json_t *circuits);
enum exit_code apply_check(struct apply *apply);
enum exit_code apply_change(struct apply *apply);
void apply_free(struct apply *apply);

#endif
