// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare the wanted slices with the kernel's state. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

static enum exit_code immutable(const struct apply_slice *slice, const char *what)
{
	warn_line(
		"slice '%s' exists with other %s, which cannot be changed; delete it first, or describe its current state",
		slice->wish.name, what);
	return EXIT_CODE_FAILED;
}

static bool same_accelerators(const struct apply_slice *slice)
{
	json_t *ranks = json_object_get(slice->present, "ranks"), *rank;
	size_t i;

	if (wish_ranks(&slice->wish) != number_of(slice->present, "ranks-count", 0))
		return false;
	/* A rank that a failover has replaced still satisfies the request. */
	json_array_foreach(ranks, i, rank)
	{
		uint32_t number = number_of(rank, "rank", NUMBER_NONE);

		if (number < slice->wish.accelerators_count &&
		    !number_of(rank, "replacements-count", 0) &&
		    number_of(rank, "accelerator", NUMBER_NONE) != slice->wish.accelerators[number])
			return false;
	}
	return true;
}

static void print_set(struct apply *apply, const struct apply_slice *slice, const char *key,
		      const char *from, const char *to)
{
	json_array_append_new(apply->changes,
			      json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "action", "set", "object",
					"slice", "slice-name", slice->wish.name, "attribute", key,
					"from", from, "to", to));
}

static void diff_settings(struct apply *apply, struct apply_slice *slice)
{
	const struct slice_wish *wish = &slice->wish;
	const char *failover = text_of_key(slice->present, "failover");
	uint32_t owner = number_of(slice->present, "owner", NUMBER_NONE);
	uint32_t mode = number_of(slice->present, "mode", 0) & 0777;
	char from[16], to[16];

	if (slice->failover_given &&
	    strcmp(failover, morph_enum_name(MORPH_ENUM_FAILOVER, wish->failover))) {
		slice->set.set |= MORPH_SET_FAILOVER;
		print_set(apply, slice, "failover", failover,
			  morph_enum_name(MORPH_ENUM_FAILOVER, wish->failover));
	}
	if (slice->owner_given && owner != wish->owner) {
		slice->set.set |= MORPH_SET_OWNER;
		snprintf(from, sizeof(from), "%u", owner);
		snprintf(to, sizeof(to), "%u", wish->owner);
		print_set(apply, slice, "owner", from, to);
	}
	if (slice->mode_given && mode != wish->mode) {
		slice->set.set |= MORPH_SET_MODE;
		snprintf(from, sizeof(from), "%04o", mode);
		snprintf(to, sizeof(to), "%04o", wish->mode);
		print_set(apply, slice, "mode", from, to);
	}
	slice->set.sz = slice->unset.sz = sizeof(slice->set);
	slice->set.failover = wish->failover;
	slice->set.owner = wish->owner;
	slice->set.mode = wish->mode;
	slice->unset.set = slice->set.set;
	slice->unset.failover = (uint32_t)morph_enum_value(MORPH_ENUM_FAILOVER, failover);
	slice->unset.owner = owner;
	slice->unset.mode = mode;
}

static void tell_circuit(struct apply *apply, const struct apply_slice *slice, const char *action,
			 const json_t *present, const struct circuit_wish *wish)
{
	uint32_t src = wish ? wish->src_rank : number_of(present, "src-rank", 0);
	uint32_t dst = wish ? wish->dst_rank : number_of(present, "dst-rank", 0);
	json_t *change = json_pack("{s:s, s:s, s:s}", "action", action, "object", "circuit",
				   "slice-name", slice->wish.name);

	if (present)
		json_object_set(change, "circuit", json_object_get(present, "id"));
	json_object_set_new(change, "src-rank", json_integer(src));
	json_object_set_new(change, "dst-rank", json_integer(dst));
	if (wish)
		json_object_set_new(change, "lanes-count", json_integer(wish->opts.lanes_count));
	json_array_append_new(apply->changes, change);
}

static bool same_ends(const struct circuit_wish *wish, const json_t *circuit)
{
	return wish->src_rank == number_of(circuit, "src-rank", NUMBER_NONE) &&
	       wish->dst_rank == number_of(circuit, "dst-rank", NUMBER_NONE);
}

static bool same_shape(const struct circuit_wish *wish, const json_t *circuit)
{
	const struct morph_circuit_opts *opts = &wish->opts;

	return (uint32_t)__builtin_popcountll(wide_of(circuit, "lane-mask")) == opts->lanes_count &&
	       (!(opts->flags & MORPH_CIRCUIT_SRC_PLANE) ||
		number_of(circuit, "src-plane", NUMBER_NONE) == opts->src_plane) &&
	       (!(opts->flags & MORPH_CIRCUIT_DST_PLANE) ||
		number_of(circuit, "dst-plane", NUMBER_NONE) == opts->dst_plane) &&
	       !key_is(circuit, "state", "failed");
}

static struct circuit_wish *unmet(struct apply_slice *slice, const json_t *circuit, bool exactly)
{
	for (size_t i = 0; i < slice->circuits_count; i++) {
		struct circuit_wish *wish = &slice->circuits[i];

		if (!wish->met && same_ends(wish, circuit) &&
		    (!exactly || same_shape(wish, circuit)))
			return wish;
	}
	return NULL;
}

/* Move a circuit that has the right ends and the wrong shape, so that it keeps its number. */
static int settle_rest(struct apply *apply, struct apply_slice *slice, json_t *rest)
{
	json_t *circuit;
	int error = 0;
	size_t i;

	json_array_foreach(rest, i, circuit)
	{
		struct circuit_wish *wish = unmet(slice, circuit, false);
		uint32_t id = number_of(circuit, "id", NUMBER_NONE);

		if (wish) {
			wish->met = true;
			error = morph_txn_move(slice->txn, id, &wish->opts);
		} else {
			error = morph_txn_remove(slice->txn, id);
		}
		if (error < 0)
			return error;
		tell_circuit(apply, slice, wish ? "move" : "remove", circuit, wish);
	}
	for (i = 0; i < slice->circuits_count && error >= 0; i++) {
		struct circuit_wish *wish = &slice->circuits[i];

		if (wish->met)
			continue;
		error = morph_txn_add(slice->txn, wish->src_rank, wish->dst_rank, &wish->opts);
		tell_circuit(apply, slice, "add", NULL, wish);
	}
	return error < 0 ? error : 0;
}

/* Act on behalf of the controller on the command line. */
int apply_set_opts(const struct apply *apply, struct morph_txn *txn, uint64_t lease_ns,
		   uint32_t flags)
{
	MORPH_OPTS(morph_txn_opts, opts, .lease_ns = lease_ns, .epoch = apply->token.epoch,
		   .controller = apply->token.controller, .flags = flags);

	return morph_txn_set_opts(txn, &opts);
}

enum exit_code apply_diff_circuits(struct apply *apply, struct apply_slice *slice, json_t *circuits)
{
	json_t *rest = json_array(), *circuit;
	enum exit_code code;
	size_t i;

	slice->txn = needed(morph_txn_new(apply->run->client->ctx));
	apply_set_opts(apply, slice->txn, 0, 0);
	json_array_foreach(circuits, i, circuit)
	{
		struct circuit_wish *wish;

		/* A circuit that another client's transaction would add does not exist yet. */
		if (key_is(circuit, "state", "prepared"))
			continue;
		wish = unmet(slice, circuit, true);
		if (wish)
			wish->met = true;
		else
			json_array_append(rest, circuit);
	}
	code = client_reply(apply->run, settle_rest(apply, slice, rest), NULL, NULL);
	json_decref(rest);
	if (!morph_txn_count(slice->txn)) {
		morph_txn_free(slice->txn);
		slice->txn = NULL;
	}
	return code;
}

static enum exit_code diff_present(struct apply *apply, struct apply_slice *slice)
{
	const struct slice_wish *wish = &slice->wish;
	enum exit_code code;
	json_t *circuits;

	if (!same_accelerators(slice))
		return immutable(slice, "accelerators");
	if (slice->transit_given &&
	    !key_is(slice->present, "transit", morph_enum_name(MORPH_ENUM_TRANSIT, wish->transit)))
		return immutable(slice, "'transit'");
	if (slice->spares_given && !key_is(slice->present, "spare-policy",
					   morph_enum_name(MORPH_ENUM_SPARES, wish->spare_policy)))
		return immutable(slice, "'spare-policy'");
	if (slice->reserved_given && flag_of(slice->present, "reserved") != wish->reserved)
		return immutable(slice, "'reserved'");
	diff_settings(apply, slice);
	if (!slice->circuits_given)
		return EXIT_CODE_OK;
	code = circuit_records(apply->run, apply->fabric, slice->id, &circuits);
	if (!code)
		code = apply_diff_circuits(apply, slice, circuits);
	json_decref(circuits);
	if (slice->txn)
		morph_txn_set_generation(slice->txn, wide_of(slice->present, "generation"));
	return code;
}

static enum exit_code diff_new(struct apply *apply, struct apply_slice *slice)
{
	json_t *none = json_array();
	enum exit_code code;

	json_array_append_new(apply->changes,
			      json_pack("{s:s, s:s, s:s, s:i}", "action", "add", "object", "slice",
					"slice-name", slice->wish.name, "ranks-count",
					(int)wish_ranks(&slice->wish)));
	code = apply_diff_circuits(apply, slice, none);
	json_decref(none);
	return code;
}

enum exit_code apply_diff(struct apply *apply)
{
	enum exit_code code;
	json_t *records, *record;
	size_t i;

	code = client_dump(apply->run, MORPH_OBJECT_SLICE, apply->fabric, &records);
	for (size_t k = 0; k < apply->slices_count && !code; k++) {
		struct apply_slice *slice = &apply->slices[k];

		json_array_foreach(records, i, record)
		{
			if (!key_is(record, "name", slice->wish.name))
				continue;
			slice->present = json_incref(record);
			slice->id = number_of(record, "id", NUMBER_NONE);
		}
		code = slice->present ? diff_present(apply, slice) : diff_new(apply, slice);
	}
	json_decref(records);
	return code;
}
