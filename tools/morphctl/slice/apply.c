// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl slice apply and slice diff: the file, the difference, its check, and the change */
#include <stdlib.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

static void print_circuit(const json_t *change, char sign)
{
	say("%c circuit %s", sign, text_of_key(change, "slice-name"));
	if (json_object_get(change, "circuit"))
		say(" %u", number_of(change, "circuit", 0));
	say(": rank %u -> rank %u", number_of(change, "src-rank", 0),
	    number_of(change, "dst-rank", 0));
	if (json_object_get(change, "lanes-count"))
		say(", lanes %u", number_of(change, "lanes-count", 0));
	say("\n");
}

static void print_changes(json_t *changes)
{
	json_t *change;
	size_t i;

	json_array_foreach(changes, i, change)
	{
		char sign = key_is(change, "action", "add")    ? '+' :
			    key_is(change, "action", "remove") ? '-' :
								 '~';

		if (key_is(change, "object", "circuit"))
			print_circuit(change, sign);
		else if (sign == '+')
			say("+ slice %s: %u accelerators\n", text_of_key(change, "slice-name"),
			    number_of(change, "ranks-count", 0));
		else
			say("~ slice %s: %s %s -> %s\n", text_of_key(change, "slice-name"),
			    text_of_key(change, "attribute"), text_of_key(change, "from"),
			    text_of_key(change, "to"));
	}
}

/* Accelerators that this run has chosen for one new slice are unavailable for the next one. */
static bool promised(const json_t *taken, const json_t *id)
{
	json_t *other;
	size_t i;

	json_array_foreach(taken, i, other) if (json_equal(other, id)) return true;
	return false;
}

/* Choose the first free accelerators that this run has not chosen yet. */
static enum exit_code choose_others(struct apply *apply, json_t *taken, uint32_t count,
				    uint32_t **ids)
{
	enum exit_code code;
	json_t *records, *record;
	uint32_t found = 0;
	size_t i;

	code = client_dump(apply->run, MORPH_OBJECT_ACCELERATOR, apply->fabric, &records);
	if (code)
		return code;
	*ids = needed(calloc(count, sizeof(**ids)));
	json_array_foreach(records, i, record)
	{
		json_t *id = json_object_get(record, "id");

		if (found < count && key_is(record, "use", "free") &&
		    key_is(record, "health", "ok") && !flag_of(record, "cordoned") &&
		    !promised(taken, id))
			(*ids)[found++] = (uint32_t)json_integer_value(id);
	}
	json_decref(records);
	if (found == count)
		return EXIT_CODE_OK;
	warn_line("apply: too few free accelerators for all new slices: %u requested, %u left",
		  count, found);
	return EXIT_CODE_FAILED;
}

static enum exit_code ask(struct apply *apply, const struct apply_slice *slice,
			  const struct morph_why_not_opts *opts, json_t **chosen)
{
	json_t *answer;
	enum exit_code code = why_not_ask(apply->run, apply->fabric, opts, &answer);

	*chosen = NULL;
	if (!code && !key_is(answer, "reason", "none")) {
		warn_line("apply: slice '%s' is blocked by %s: %s", slice->wish.name,
			  text_of_key(answer, "reason"), text_of_key(answer, "text"));
		code = EXIT_CODE_FAILED;
	}
	if (!code)
		*chosen = json_incref(json_object_get(answer, "chosen-accelerators"));
	json_decref(answer);
	return code;
}

static bool overlaps(const json_t *taken, json_t *chosen)
{
	json_t *id;
	size_t i;

	json_array_foreach(chosen, i, id) if (promised(taken, id)) return true;
	return false;
}

static enum exit_code check_new(struct apply *apply, const struct apply_slice *slice, json_t *taken)
{
	const struct slice_wish *wish = &slice->wish;
	MORPH_OPTS(morph_why_not_opts, opts, .accelerators = wish->accelerators,
		   .accelerators_count = wish->accelerators_count, .count = wish->count,
		   .transit = wish->transit, .flags = slice->ring ? MORPH_WHY_NOT_RING : 0,
		   .lanes_count = slice->ring_lanes);
	uint32_t *others = NULL;
	enum exit_code code;
	json_t *chosen;

	code = ask(apply, slice, &opts, &chosen);
	if (!code && overlaps(taken, chosen) && wish->accelerators_count) {
		warn_line(
			"apply: slice '%s' lists accelerators that another slice of the file already has",
			wish->name);
		code = EXIT_CODE_FAILED;
	} else if (!code && overlaps(taken, chosen)) {
		json_decref(chosen);
		chosen = NULL;
		code = choose_others(apply, taken, wish->count, &others);
		opts.accelerators = others;
		opts.accelerators_count = wish->count;
		if (!code)
			code = ask(apply, slice, &opts, &chosen);
	}
	if (!code)
		json_array_extend(taken, chosen);
	if (!code && slice->circuits_given && !slice->ring)
		warn_line("apply: the circuits of slice '%s' can be validated only after it exists",
			  wish->name);
	json_decref(chosen);
	free(others);
	return code;
}

/* Ask the kernel for a verdict on each change, without any change. */
enum exit_code apply_check(struct apply *apply)
{
	struct tally tally = { 0 };
	json_t *taken = json_array(), *record;

	for (size_t i = 0; i < apply->slices_count; i++) {
		struct apply_slice *slice = &apply->slices[i];

		if (!slice->present) {
			tally_add(&tally, check_new(apply, slice, taken));
		} else if (slice->txn) {
			apply_set_opts(apply, slice->txn, 0, MORPH_TXN_DRY_RUN);
			tally_add(&tally, circuit_run(apply->run, NULL, apply->fabric, slice->id,
						      slice->txn, true, &record));
			json_decref(record);
		}
	}
	json_decref(taken);
	return tally.bad ? tally.first : EXIT_CODE_OK;
}

void apply_free(struct apply *apply)
{
	for (size_t i = 0; i < apply->slices_count; i++) {
		struct apply_slice *slice = &apply->slices[i];

		slice_wish_free(&slice->wish);
		free(slice->circuits);
		json_decref(slice->present);
		morph_txn_free(slice->txn);
	}
	free(apply->slices);
	json_decref(apply->changes);
	json_decref(apply->document);
}

/* Report errors in the file before asking any kernel. */
enum exit_code apply_fabric(struct apply *apply)
{
	enum exit_code code = EXIT_CODE_OK;

	if (apply->fabric == MORPH_ANY)
		code = client_fabric(apply->run, &apply->fabric);
	for (size_t i = 0; i < apply->slices_count; i++) {
		apply->slices[i].wish.fabric = apply->fabric;
		apply->slices[i].wish.controller = apply->token.controller;
	}
	return code;
}

/* Read the file, and compare it with the state of the fabric. */
static enum exit_code compare(struct apply *apply)
{
	enum exit_code code;

	apply->changes = json_array();
	apply->fabric = MORPH_ANY;
	code = apply_read(apply, apply->run->argv[0]);
	if (!code)
		code = apply_fabric(apply);
	return code ? code : apply_diff(apply);
}

static enum exit_code carry_out(struct apply *apply)
{
	enum exit_code code = EXIT_CODE_OK;

	if (!given(apply->run, OPTION_JSON))
		print_changes(apply->changes);
	if (json_array_size(apply->changes))
		code = apply->dry_run ? apply_check(apply) : apply_change(apply);
	if (given(apply->run, OPTION_JSON)) {
		json_t *report = json_pack("{s:O, s:b, s:b}", "changes", apply->changes, "dry-run",
					   apply->dry_run, "ok", code == EXIT_CODE_OK);

		emit_document(report);
		json_decref(report);
	}
	return code;
}

enum exit_code slice_apply(struct run *run)
{
	struct apply apply = { .run = run, .dry_run = given(run, OPTION_DRY_RUN) };
	int64_t lease_ns = INT64_C(60000000000);
	enum exit_code code;

	if (!option_ns(run, OPTION_LEASE, &lease_ns))
		return EXIT_CODE_USAGE;
	if (lease_ns < 1000000 || lease_ns > INT64_C(3600000000000))
		return usage_error(run, "--lease must be 0.001 to 3600 seconds, not '%s'",
				   run->option[OPTION_LEASE]);
	code = token_given(run, &apply.token);
	if (code)
		return code;
	apply.lease_ns = (uint64_t)lease_ns;
	code = compare(&apply);
	if (!code)
		code = carry_out(&apply);
	apply_free(&apply);
	return code;
}

static void print_diff(const struct apply *apply)
{
	json_t *report;

	if (given(apply->run, OPTION_JSON)) {
		report = json_pack("{s:O}", "changes", apply->changes);
		emit_document(report);
		json_decref(report);
	} else if (json_array_size(apply->changes)) {
		print_changes(apply->changes);
	} else {
		say("no changes\n");
	}
}

enum exit_code slice_diff(struct run *run)
{
	struct apply apply = { .run = run };
	enum exit_code code = compare(&apply);

	if (!code) {
		print_diff(&apply);
		if (json_array_size(apply.changes))
			code = EXIT_CODE_DIFFERS;
	}
	apply_free(&apply);
	return code;
}
