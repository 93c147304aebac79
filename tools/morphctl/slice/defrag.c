// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl slice defrag: make room for a slice by rerouting circuits of other slices */
#include <stdlib.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/client/client.h"
#include "morphctl/controller/controller.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

#define STEPS "step,kind,slice,changes-count,dark-circuits-count,takes-ns"
#define TENANTS "slice,moved-circuits-count,dark-circuits-count,dark-ns"
#define STAYS "slice,text"

/* A request and its results. */
struct making {
	struct run *run;
	uint32_t fabric;
	struct token token;
	struct morph_model *model;
	struct morph_ledger *ledger;
	struct asked asked;
	uint32_t objective; /* enum morph_defrag_objective */
	struct morph_defrag *defrag;
	struct morph_defrag_result result;
	json_t *report; /* the report, and the results of applying it */
};

static void making_free(struct making *making)
{
	json_decref(making->report);
	morph_defrag_free(making->defrag);
	asked_free(&making->asked);
	morph_ledger_free(making->ledger);
	morph_model_put(making->model);
}

static enum exit_code failed(const struct making *making, int error)
{
	return error < 0 ? client_error(making->run, error) : EXIT_CODE_OK;
}

/* ------------------------------------------------------------------ the answer */

static enum exit_code describe(struct making *making)
{
	struct morph_object *object = NULL;
	int error = morph_defrag_describe(making->defrag, making->ledger, &object);

	return client_reply(making->run, error, object, &making->report);
}

static enum exit_code solve(struct making *making)
{
	MORPH_OPTS(morph_defrag_opts, opts, .objective = making->objective,
		   .steps = making->asked.opts.steps);
	struct morph_ctx *ctx = making->run->client->ctx;
	enum exit_code code;

	progress_begin("searching for circuits to move");
	making->defrag = needed(morph_defrag_new(ctx));
	making->result.sz = sizeof(making->result);
	code = failed(making, morph_ledger_new(ctx, making->model, &making->ledger));
	if (!code)
		code = failed(making, morph_defrag_read(making->defrag, making->ledger,
							making->fabric, making->token.controller));
	if (!code)
		code = failed(making,
			      morph_defrag_solve(making->defrag, making->ledger,
						 making->asked.request, &opts, &making->result));
	if (!code && making->result.verdict == MORPH_FEASIBLE)
		code = failed(making,
			      morph_defrag_light(making->defrag, making->ledger, &making->result));
	progress_end();
	if (!code)
		code = describe(making);
	if (!code && making->result.verdict != MORPH_FEASIBLE)
		code = EXIT_CODE_FAILED;
	return code;
}

/* -------------------------------------------------------------------- the steps */

static json_t *step_of(const struct making *making, uint32_t step)
{
	return json_array_get(json_object_get(making->report, "steps"), step);
}

/*
 * Check whether the step has changed the circuit. A circuit that the step lit has a new number,
 * which only the kernel knows.
 */
static bool is_of(const json_t *circuit, const json_t *step)
{
	bool known = key_is(step, "kind", "move") || key_is(step, "kind", "switch");
	json_t *change;
	size_t i;

	json_array_foreach(json_object_get(step, "changes"), i, change)
	{
		if (known ? number_of(circuit, "id", NUMBER_NONE) ==
				    number_of(change, "circuit", 0) :
			    number_of(circuit, "src-rank", NUMBER_NONE) ==
					    number_of(change, "src-rank", 0) &&
				    number_of(circuit, "dst-rank", NUMBER_NONE) ==
					    number_of(change, "dst-rank", 0))
			return true;
	}
	return false;
}

/* Read from the kernel how long circuits of a step were dark. */
static enum exit_code measure(const struct making *making, json_t *step, uint32_t slice)
{
	json_t *circuits, *circuit;
	uint64_t longest = 0;
	enum exit_code code;
	size_t i;

	code = circuit_records(making->run, making->fabric, slice, &circuits);
	if (code)
		return code;
	json_array_foreach(circuits, i, circuit)
	{
		if (is_of(circuit, step) && wide_of(circuit, "dark-ns") > longest)
			longest = wide_of(circuit, "dark-ns");
	}
	json_decref(circuits);
	json_object_set_new(step, "measured-dark-ns", json_integer((json_int_t)longest));
	return EXIT_CODE_OK;
}

/*
 * Run a transaction on a slice, on behalf of the controller on the command line. Skip an empty one.
 */
static enum exit_code run_txn(const struct making *making, struct act *act, uint32_t slice,
			      struct morph_txn *txn, json_t **record)
{
	MORPH_OPTS(morph_txn_opts, opts,
		   .profile_checksum = profile_checksum(making->run, making->model),
		   .controller = making->token.controller, .epoch = making->token.epoch);

	*record = NULL;
	if (!morph_txn_count(txn))
		return EXIT_CODE_OK;
	morph_txn_set_opts(txn, &opts);
	return circuit_run(making->run, act, making->fabric, slice, txn, false, record);
}

/* @mine: the requested slice. */
static enum exit_code run_step(const struct making *making, struct act *act, uint32_t number,
			       uint32_t mine)
{
	struct morph_txn *txn = needed(morph_txn_new(making->run->client->ctx));
	json_t *step = step_of(making, number), *record = NULL;
	uint32_t slice = number_of(step, "slice", mine);
	enum exit_code code;

	code = failed(making, morph_txn_add_step(txn, making->defrag, number));
	if (!code)
		code = run_txn(making, act, slice, txn, &record);
	if (!code && record && !key_is(step, "kind", "break"))
		code = measure(making, step, slice);
	if (record)
		json_object_set_new(step, "transaction", record);
	morph_txn_free(txn);
	return code;
}

/*
 * A step failed after @done other steps. Light the circuits again that these steps put out, as far
 * as the kernel permits.
 */
static enum exit_code mend(const struct making *making, struct act *act, uint32_t done,
			   enum exit_code code)
{
	json_t *tenants = json_object_get(making->report, "tenants"), *tenant;
	size_t i;

	json_array_foreach(tenants, i, tenant)
	{
		struct morph_txn *txn = needed(morph_txn_new(making->run->client->ctx));
		uint32_t slice = number_of(tenant, "slice", 0);
		json_t *record = NULL;
		enum exit_code its;

		its = failed(making, morph_txn_add_broken(txn, making->defrag, done, slice));
		if (!its)
			its = run_txn(making, act, slice, txn, &record);
		if (its) {
			warn_line("defrag: slice %u lacks %zu circuits that could not be lit again",
				  slice, morph_txn_count(txn));
			code = EXIT_CODE_PARTIAL;
		}
		json_decref(record);
		morph_txn_free(txn);
	}
	return code;
}

/* Run all steps, or those before the first failure. A failure leaves no circuit dark. */
static enum exit_code run_steps(const struct making *making, struct act *act, uint32_t mine)
{
	enum exit_code code = EXIT_CODE_OK;

	for (uint32_t step = 0; step < making->result.steps && !code; step++) {
		code = stop_check(making->run);
		if (!code)
			code = run_step(making, act, step, mine);
		if (!code)
			continue;
		warn_line("defrag: step %u of %u was not done; the moves of earlier steps stay",
			  step + 1, making->result.steps);
		return mend(making, act, step, code);
	}
	return code;
}

/* Create the slice first, so that no other client takes its accelerators meanwhile. */
static enum exit_code carry_out(const struct making *making, struct slice_wish *wish)
{
	json_t *slice = NULL;
	enum exit_code code;
	struct act act;

	code = act_begin(making->run, &act);
	if (code)
		return code;
	stop_hold();
	code = place_create(making->run, making->fabric, morph_defrag_plan(making->defrag), wish,
			    &slice);
	if (!code) {
		uint32_t id = number_of(slice, "id", NUMBER_NONE);

		code = run_steps(making, &act, id);
		if (code)
			code = place_take_back(making->run, &act, making->fabric, id, code);
		else
			json_object_set(making->report, "new-slice", slice);
	}
	json_decref(slice);
	act_end(&act);
	return code;
}

/* -------------------------------------------------------------------- telling it */

/* Steps as rows, with the number of changes and the number of circuits that go dark. */
static json_t *rows_of(const json_t *report)
{
	json_t *rows = needed(json_array()), *step, *change;
	size_t i, k;

	json_array_foreach(json_object_get(report, "steps"), i, step)
	{
		json_t *row = needed(json_copy(step));
		uint32_t dark = 0;

		json_array_foreach(json_object_get(step, "changes"), k, change)
			dark += flag_of(change, "dark");
		json_object_set_new(row, "step", json_integer((json_int_t)i));
		json_object_set_new(row, "changes-count", json_integer((json_int_t)k));
		json_object_set_new(row, "dark-circuits-count", json_integer(dark));
		json_array_append_new(rows, row);
	}
	return rows;
}

static void write_moves(const json_t *report, bool done)
{
	uint32_t moved = number_of(report, "moved-circuits-count", 0),
		 dark = number_of(report, "dark-circuits-count", 0);
	uint32_t least = number_of(report, "moved-circuits-bound-count", 0);
	size_t slices = json_array_size(json_object_get(report, "tenants"));

	if (!moved) {
		say("already fits; use 'place'\n");
		return;
	}
	say("%s %u circuit%s of %zu slice%s", done ? "moved" : "would move", moved, PLURAL(moved),
	    slices, PLURAL(slices));
	/* Without a proof the bound is 0. */
	if (least)
		say(" (minimum %u)", least);
	if (done)
		say("; %u went dark meanwhile\n", dark);
	else
		say("; %u go%s dark meanwhile\n", dark, dark == 1 ? "es" : "");
}

static void write_answer(struct run *run, json_t *report)
{
	bool done = json_object_get(report, "new-slice");
	json_t *rows;

	if (!key_is(report, "verdict", "feasible")) {
		say("%s: %s\n", text_of_key(report, "verdict"), text_of_key(report, "text"));
		place_write_table(run, STAYS, json_object_get(report, "stays"));
		return;
	}
	write_moves(report, done);
	rows = rows_of(report);
	place_write_table(run, done ? STEPS ",measured-dark-ns" : STEPS, rows);
	json_decref(rows);
	place_write_table(run, TENANTS, json_object_get(report, "tenants"));
	place_write_table(run, STAYS, json_object_get(report, "stays"));
	say("\n");
	place_write_plan(run, json_object_get(report, "plan"));
}

static enum exit_code answer(struct making *making)
{
	struct view view = client_view(making->run, MORPH_OBJECT_DEFRAG, NULL);

	if (given(making->run, OPTION_JSON) || given(making->run, OPTION_FIELDS))
		return emit_one(making->run, &view, making->report);
	write_answer(making->run, making->report);
	return EXIT_CODE_OK;
}

static enum exit_code check_options(struct run *run, uint32_t *objective)
{
	if (!option_word(run, OPTION_REWIRING, objective))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_CARRY_OUT) && given(run, OPTION_DRY_RUN))
		return usage_error(run, "--apply and --dry-run are mutually exclusive");
	if (!given(run, OPTION_CARRY_OUT) && run->argc)
		return usage_error(run, "NAME is only valid with --apply (got '%s')", run->argv[0]);
	if (given(run, OPTION_CARRY_OUT) && !run->argc)
		return usage_error(run, "--apply requires the NAME of the slice");
	return client_fields(run, MORPH_OBJECT_DEFRAG);
}

enum exit_code slice_defrag(struct run *run)
{
	struct making making = { .run = run };
	struct slice_wish wish = { 0 };
	enum exit_code code, answered;

	code = check_options(run, &making.objective);
	if (!code)
		code = token_given(run, &making.token);
	if (!code)
		code = slice_wish_options(run, &wish);
	if (!code)
		code = profile_model(run, &making.fabric, &making.model);
	/*
	 * An empty fabric of a profile has no circuits to reroute, so --profile alone uses the only
	 * fabric.
	 */
	if (!code && making.fabric == MORPH_ANY)
		code = client_fabric(run, &making.fabric);
	if (!code)
		code = request_given(run, making.model, &making.asked);
	if (!code)
		code = solve(&making);
	if (!code && given(run, OPTION_CARRY_OUT))
		code = carry_out(&making, &wish);
	/* Print no plan that was begun and not completed. */
	if (making.report && (!code || making.result.verdict != MORPH_FEASIBLE)) {
		answered = answer(&making);
		code = code ? code : answered;
	}
	slice_wish_free(&wish);
	making_free(&making);
	return code;
}
