// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl circuit */
#include <stdlib.h>
#include <string.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/controller/controller.h"
#include "morphctl/output/output.h"

#define COLUMNS                                                                        \
	"slice,id,state,src-rank,dst-rank,src-port,dst-port,lane-mask,bandwidth-mbps," \
	"margin-mdb,power-mdbm,dark-ns,src-edge,dst-edge"
#define CHANGE_COLUMNS                                                                                  \
	"op,circuit,src-rank-plane,dst-rank-plane,status,reason,lane-mask,dark-ns,part,index,src-edge," \
	"dst-edge"

enum exit_code circuit_records(struct run *run, uint32_t fabric, uint32_t slice, json_t **records)
{
	struct morph_list *list = NULL;
	int error = client_read_list(run, MORPH_OBJECT_CIRCUIT, fabric, slice, &list);

	*records = NULL;
	if (error < 0)
		return client_error(run, error);
	*records = records_of(list);
	morph_list_free(list);
	return EXIT_CODE_OK;
}

enum exit_code circuit_list(struct run *run)
{
	uint32_t fabric, slice = MORPH_ANY;
	enum exit_code code;
	json_t *records;

	code = client_fabric_of_slices(run, &fabric);
	if (!code && run->argc)
		code = resolve_slice(run, fabric, run->argv[0], &slice);
	if (!code)
		code = circuit_records(run, fabric, slice, &records);
	if (code)
		return code;
	code = client_emit(run, MORPH_OBJECT_CIRCUIT, COLUMNS, records);
	if (slice == MORPH_ANY)
		client_note_own(run);
	return code;
}

enum exit_code circuit_show(struct run *run)
{
	struct morph_object *object = NULL;
	uint32_t fabric, slice, id;
	enum exit_code code;
	struct view view;
	json_t *record;
	int error;

	code = resolve_number(run, "circuit", run->argv[1], &id);
	if (!code)
		code = client_fabric_of_slices(run, &fabric);
	if (!code)
		code = resolve_slice(run, fabric, run->argv[0], &slice);
	if (code)
		return code;
	error = client_read(run, MORPH_OBJECT_CIRCUIT, fabric, slice, id, &object);
	code = client_reply(run, error, object, &record);
	if (!code) {
		view = client_view(run, MORPH_OBJECT_CIRCUIT, NULL);
		code = emit_one(run, &view, record);
	}
	json_decref(record);
	return code;
}

/* Copy the settings that the command line gives into a transaction. */
static enum exit_code settings(struct run *run, struct morph_txn *txn)
{
	uint64_t generation = MORPH_GENERATION_ANY;
	int64_t lease_ns = INT64_C(30000000000);
	MORPH_OPTS(morph_txn_opts, opts);
	enum exit_code code;
	struct token token;
	int error;

	if (!option_ns(run, OPTION_LEASE, &lease_ns) ||
	    !option_u64(run, OPTION_GENERATION, &generation))
		return EXIT_CODE_USAGE;
	code = token_given(run, &token);
	if (code)
		return code;
	if (given(run, OPTION_LEASE) && !given(run, OPTION_PREPARE))
		return usage_error(run, "--lease is only valid with --prepare");
	if (given(run, OPTION_DRY_RUN) + given(run, OPTION_EACH) + given(run, OPTION_PREPARE) > 1)
		return usage_error(run, "--dry-run, --each and --prepare are mutually exclusive");
	if (lease_ns < 1000000 || lease_ns > INT64_C(3600000000000))
		return usage_error(run, "--lease must be 0.001 to 3600 seconds, not '%s'",
				   run->option[OPTION_LEASE]);
	if (given(run, OPTION_PREPARE))
		opts.lease_ns = (uint64_t)lease_ns;
	if (given(run, OPTION_DRY_RUN))
		opts.flags = MORPH_TXN_DRY_RUN;
	if (given(run, OPTION_EACH))
		opts.flags = MORPH_TXN_EACH;
	opts.controller = token.controller;
	opts.epoch = token.epoch;
	morph_txn_set_generation(txn, generation);
	error = morph_txn_set_opts(txn, &opts);
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

enum exit_code circuit_run(struct run *run, struct act *act, uint32_t fabric, uint32_t slice,
			   const struct morph_txn *txn, bool dry_run, json_t **record)
{
	struct morph_object *object = NULL;
	enum exit_code code;
	int error;

	error = morph_admin_circuit_apply(run->client->ctx, fabric, slice, txn, &object);
	code = client_reply(run, error, object, record);
	if (code || dry_run || !*record)
		return code;
	return act_wait(run, act, fabric, "id", record);
}

/* In a transaction whose changes apply each by itself, some may have failed and others not. */
static enum exit_code judge(json_t *record, enum exit_code code)
{
	struct tally tally = { 0 };
	json_t *change;
	size_t i;

	json_array_foreach(json_object_get(record, "changes"), i, change)
	{
		int status = (int)json_integer_value(json_object_get(change, "status"));

		tally_add(&tally, exit_of_errno(-status));
	}
	return tally.good && tally.bad ? EXIT_CODE_PARTIAL :
	       tally.bad && !code      ? tally_code(&tally) :
					 code;
}

static void write_result(struct run *run, json_t *record)
{
	json_t *changes = json_object_get(record, "changes");
	struct view view = client_view(run, MORPH_OBJECT_TXN, NULL);

	if (given(run, OPTION_JSON) || given(run, OPTION_FIELDS)) {
		emit_one(run, &view, record);
		return;
	}
	if (given(run, OPTION_NO_WAIT) || given(run, OPTION_PREPARE))
		say("transaction %u: %s\n", number_of(record, "id", 0),
		    text_of_key(record, "outcome"));
	if (json_array_size(changes))
		emit_table(run, CHANGE_COLUMNS, changes);
}

static enum exit_code run_on(struct run *run, uint32_t fabric, uint32_t slice,
			     const struct morph_txn *txn)
{
	bool dry_run = given(run, OPTION_DRY_RUN);
	struct act act = { 0 };
	enum exit_code code;
	json_t *record;

	code = dry_run ? EXIT_CODE_OK : act_begin(run, &act);
	if (code)
		return code;
	code = circuit_run(run, &act, fabric, slice, txn, dry_run, &record);
	act_end(&act);
	if (record) {
		write_result(run, record);
		if (given(run, OPTION_EACH))
			code = judge(record, code);
	}
	json_decref(record);
	return code;
}

/* Fill a transaction with the changes that the command line asks for. */
typedef enum exit_code fill_fn(struct run *run, uint32_t fabric, uint32_t slice,
			       struct morph_txn *txn);

/* @late: @fill must read the slice first. Otherwise report errors before asking any kernel. */
static enum exit_code change(struct run *run, fill_fn *fill, bool late)
{
	uint32_t fabric = MORPH_ANY, slice = MORPH_ANY;
	struct morph_txn *txn;
	enum exit_code code;

	code = client_fields(run, MORPH_OBJECT_TXN);
	if (!code)
		code = client_open(run);
	if (code)
		return code;
	txn = needed(morph_txn_new(run->client->ctx));
	code = settings(run, txn);
	if (!code && !late)
		code = fill(run, fabric, slice, txn);
	if (!code)
		code = client_fabric(run, &fabric);
	if (!code)
		code = resolve_slice(run, fabric, run->argv[0], &slice);
	if (!code && late)
		code = fill(run, fabric, slice, txn);
	if (!code && morph_txn_count(txn))
		code = run_on(run, fabric, slice, txn);
	morph_txn_free(txn);
	return code;
}

/* The caller frees @guides. */
static enum exit_code shape(struct run *run, struct morph_circuit_opts *opts, uint32_t **guides)
{
	json_t *list, *item;
	size_t i;

	*guides = NULL;
	if (!option_u32(run, OPTION_LANES, &opts->lanes_count) ||
	    !option_u64(run, OPTION_LANE_MASK, &opts->lanes) ||
	    !option_u32(run, OPTION_SRC_PLANE, &opts->src_plane) ||
	    !option_u32(run, OPTION_DST_PLANE, &opts->dst_plane))
		return EXIT_CODE_USAGE;
	opts->flags = (given(run, OPTION_SRC_PLANE) ? MORPH_CIRCUIT_SRC_PLANE : 0) |
		      (given(run, OPTION_DST_PLANE) ? MORPH_CIRCUIT_DST_PLANE : 0);
	if (!given(run, OPTION_GUIDES))
		return EXIT_CODE_OK;
	list = option_numbers(run, OPTION_GUIDES);
	if (!list)
		return EXIT_CODE_USAGE;
	*guides = needed(calloc(json_array_size(list), sizeof(**guides)));
	json_array_foreach(list, i, item)(*guides)[i] = (uint32_t)json_integer_value(item);
	opts->guides = *guides;
	opts->guides_count = json_array_size(list);
	json_decref(list);
	return EXIT_CODE_OK;
}

#define EDGE_PREFIX "edge:"

/* Resolve RANK or edge:NUMBER. */
static enum exit_code resolve_end(struct run *run, const char *what, const char *text,
				  uint32_t *end)
{
	size_t length = strlen(EDGE_PREFIX);
	enum exit_code code;

	if (strncmp(text, EDGE_PREFIX, length))
		return resolve_number(run, what, text, end);
	code = resolve_number(run, "edge", text + length, end);
	if (!code && *end & MORPH_RANK_EDGE)
		return usage_error(run, "no edge %u", *end);
	*end |= MORPH_RANK_EDGE;
	return code;
}

static enum exit_code fill_add(struct run *run, uint32_t fabric, uint32_t slice,
			       struct morph_txn *txn)
{
	MORPH_OPTS(morph_circuit_opts, opts);
	uint32_t src, dst, *guides;
	enum exit_code code;

	(void)fabric;
	(void)slice;
	code = resolve_end(run, "source rank", run->argv[1], &src);
	if (!code)
		code = resolve_end(run, "destination rank", run->argv[2], &dst);
	if (!code && src == dst)
		code = usage_error(run, "both ranks are %u; a circuit joins two different ranks",
				   src);
	if (code)
		return code;
	code = shape(run, &opts, &guides);
	if (!code)
		code = client_reply(run, morph_txn_add(txn, src, dst, &opts), NULL, NULL);
	free(guides);
	return code;
}

static enum exit_code fill_remove(struct run *run, uint32_t fabric, uint32_t slice,
				  struct morph_txn *txn)
{
	enum exit_code code = EXIT_CODE_OK;
	uint32_t id;

	(void)fabric;
	(void)slice;
	for (int i = 1; i < run->argc && !code; i++) {
		code = resolve_number(run, "circuit", run->argv[i], &id);
		if (!code)
			code = client_reply(run, morph_txn_remove(txn, id), NULL, NULL);
	}
	return code;
}

static enum exit_code fill_move(struct run *run, uint32_t fabric, uint32_t slice,
				struct morph_txn *txn)
{
	MORPH_OPTS(morph_circuit_opts, opts);
	enum exit_code code;
	uint32_t id, *guides;

	(void)fabric;
	(void)slice;
	code = resolve_number(run, "circuit", run->argv[1], &id);
	if (code)
		return code;
	code = shape(run, &opts, &guides);
	if (!code)
		code = client_reply(run, morph_txn_move(txn, id, &opts), NULL, NULL);
	free(guides);
	return code;
}

static bool has_circuit(json_t *circuits, uint32_t src, uint32_t dst, uint32_t lanes)
{
	json_t *circuit;
	size_t i;

	json_array_foreach(circuits, i, circuit)
	{
		uint64_t mask = wide_of(circuit, "lane-mask");

		if (number_of(circuit, "src-rank", NUMBER_NONE) == src &&
		    number_of(circuit, "dst-rank", NUMBER_NONE) == dst &&
		    (uint32_t)__builtin_popcountll(mask) >= lanes &&
		    !key_is(circuit, "state", "failed") && !key_is(circuit, "state", "prepared"))
			return true;
	}
	return false;
}

static enum exit_code ring_of(struct run *run, json_t *slice, json_t *circuits,
			      struct morph_txn *txn)
{
	MORPH_OPTS(morph_circuit_opts, opts, .lanes_count = 1);
	uint32_t ranks = number_of(slice, "ranks-count", 0);
	int error = 0;

	if (!option_u32(run, OPTION_LANES, &opts.lanes_count))
		return EXIT_CODE_USAGE;
	if (ranks < 2)
		return usage_error(run, "a ring requires 2 ranks; the slice has %u", ranks);
	for (uint32_t rank = 0; rank < ranks && error >= 0; rank++) {
		uint32_t next = (rank + 1) % ranks;

		if (!has_circuit(circuits, rank, next, opts.lanes_count))
			error = morph_txn_add(txn, rank, next, &opts);
		/* With two ranks, the second circuit of the ring is already the way back. */
		if (error >= 0 && ranks > 2 && given(run, OPTION_BOTH) &&
		    !has_circuit(circuits, next, rank, opts.lanes_count))
			error = morph_txn_add(txn, next, rank, &opts);
	}
	return client_reply(run, error, NULL, NULL);
}

static enum exit_code fill_ring(struct run *run, uint32_t fabric, uint32_t id,
				struct morph_txn *txn)
{
	struct morph_object *object = NULL;
	json_t *slice, *circuits;
	enum exit_code code;
	int error;

	error = morph_admin_get(run->client->ctx, MORPH_OBJECT_SLICE, fabric, MORPH_ANY, id,
				&object);
	code = client_reply(run, error, object, &slice);
	if (!code)
		code = circuit_records(run, fabric, id, &circuits);
	if (!code) {
		/*
		 * The ring fits the slice as read here. A failover in between makes the request
		 * fail with ESTALE.
		 */
		if (!given(run, OPTION_GENERATION))
			morph_txn_set_generation(txn, wide_of(slice, "generation"));
		code = ring_of(run, slice, circuits, txn);
		json_decref(circuits);
	}
	json_decref(slice);
	return code;
}

enum exit_code circuit_add(struct run *run)
{
	return change(run, fill_add, false);
}

enum exit_code circuit_remove(struct run *run)
{
	return change(run, fill_remove, false);
}

enum exit_code circuit_move(struct run *run)
{
	return change(run, fill_move, false);
}

enum exit_code circuit_ring(struct run *run)
{
	return change(run, fill_ring, true);
}
