// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl slice place: plan a slice, and with --apply create and light it */
#include <stdlib.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/client/client.h"
#include "morphctl/controller/controller.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

#define RANKS "rank,accelerator,host"
#define CIRCUITS "src-rank,dst-rank,hosts,guides"
#define SHARED "src-rank,dst-rank,hosts,lane-mask,guides" /* with wavelengths per fibre */
#define LOADS "src-host,dst-host,fibres-count,free-fibres-count"
#define PROTECTED "rank,verdict,spare,host,fibres-count"

/* Key in the report: the result with the other transit policy. */
#define OWN "transit-own"
#define ANY "transit-any"

#define PLANNED (UINT32_MAX - 1) /* the slice of the plan has no number yet */

/* A request and its results. */
struct placing {
	struct run *run;
	struct ground ground;
	struct token token;
	struct asked asked;
	struct morph_plan *plan;
	struct morph_protection *protection; /* with --protect */
	struct morph_txn *txn; /* with --apply */
	bool refused;
	bool lit;
	json_t *report; /* the report, and the results of applying it */
};

static void placing_free(struct placing *placing)
{
	json_decref(placing->report);
	morph_txn_free(placing->txn);
	morph_protection_free(placing->protection);
	morph_plan_free(placing->plan);
	asked_free(&placing->asked);
	ground_free(&placing->ground);
}

/* ------------------------------------------------------------------- the plan */

static enum exit_code describe(struct placing *placing)
{
	struct morph_object *object = NULL;
	int error = morph_plan_describe(placing->plan, placing->ground.ledger, &object);

	json_decref(placing->report);
	placing->report = NULL;
	return client_reply(placing->run, error, object, &placing->report);
}

/* Find the spare for each rank as if the slice was lit. The ledger is unchanged afterwards. */
static enum exit_code protect(struct placing *placing)
{
	struct morph_protection *protection =
		needed(morph_protection_new(placing->run->client->ctx));
	struct morph_object *object = NULL;
	json_t *reply = NULL;
	enum exit_code code;
	int error = morph_ledger_take(placing->ground.ledger, placing->plan, PLANNED);

	if (!error) {
		error = morph_protect(placing->ground.ledger, placing->plan, protection);
		if (!error)
			error = morph_protection_describe(protection, placing->plan,
							  placing->ground.ledger, &object);
		morph_ledger_give(placing->ground.ledger, placing->plan);
	}
	code = client_reply(placing->run, error, object, &reply);
	if (reply)
		json_object_set_new(placing->report, "protection", reply);
	placing->protection = protection;
	return code;
}

/* The slice runs already. It stays, whatever the result. */
static enum exit_code report_protection(struct placing *placing, uint32_t slice)
{
	int error = morph_protection_apply(placing->protection, placing->ground.fabric, slice);

	if (!client_reply(placing->run, error, NULL, NULL))
		return EXIT_CODE_OK;
	warn_line("%s: slice %u is lit, but the kernel chooses its spares without the plan",
		  command_name(placing->run->command), slice);
	return EXIT_CODE_PARTIAL;
}

struct morph_plan_info place_info(const struct morph_plan *plan)
{
	MORPH_OPTS(morph_plan_info, info);

	morph_plan_info(plan, &info);
	return info;
}

/* Find the plan. With --apply, find a plan that the kernel can light, and its transaction. */
static int find_plan(struct placing *placing)
{
	MORPH_OPTS(morph_txn_opts, opts, .controller = placing->token.controller,
		   .epoch = placing->token.epoch,
		   .profile_checksum = profile_checksum(placing->run, placing->ground.model));
	int error;

	if (!given(placing->run, OPTION_CARRY_OUT))
		return morph_place(placing->ground.ledger, placing->asked.request, placing->plan);
	placing->txn = needed(morph_txn_new(placing->run->client->ctx));
	morph_txn_set_opts(placing->txn, &opts);
	error = morph_txn_place(placing->txn, placing->ground.ledger, placing->asked.request,
				placing->plan);
	if (!morph_txn_count(placing->txn)) {
		morph_txn_free(placing->txn);
		placing->txn = NULL;
	}
	return error;
}

/*
 * Report the result under the other transit policy. This uses the fabric as read at the start,
 * after the slice is lit, so that lighting does not wait.
 */
static void try_other_transit(struct placing *placing)
{
	struct morph_request_opts opts = placing->asked.opts;
	bool any = opts.transit == MORPH_TRANSIT_ANY;
	uint32_t verdict = place_info(placing->plan).verdict;
	struct morph_plan *plan;
	int error = 0;

	if (!any && verdict == MORPH_FEASIBLE)
		return;
	/* If all servers together are infeasible, each subset is infeasible, too. */
	if (!any || verdict != MORPH_INFEASIBLE) {
		plan = needed(morph_plan_new(placing->run->client->ctx));
		opts.transit = any ? MORPH_TRANSIT_OWN : MORPH_TRANSIT_ANY;
		error = morph_request_set_opts(placing->asked.request, &opts);
		progress_begin("searching for a placement with the other transit policy");
		if (!error)
			error = morph_place(placing->ground.ledger, placing->asked.request, plan);
		progress_end();
		morph_request_set_opts(placing->asked.request, &placing->asked.opts);
		verdict = place_info(plan).verdict;
		morph_plan_free(plan);
	}
	if (error)
		client_error(placing->run, error);
	else
		json_object_set_new(placing->report, any ? OWN : ANY,
				    json_string(verdict_word(verdict)));
}

/* Check whether the request fits if no resources are kept for failover. */
static enum exit_code try_unprotected(struct placing *placing)
{
	uint32_t kept = placing->ground.kept;
	int error;

	if (!kept)
		return EXIT_CODE_FAILED;
	ground_release(&placing->ground);
	error = morph_place(placing->ground.ledger, placing->asked.request, placing->plan);
	if (error)
		return client_error(placing->run, error);
	if (place_info(placing->plan).verdict == MORPH_FEASIBLE)
		warn_line(
			"%s: would fit on fibres kept for the failover of %u running ranks; --unprotect uses these",
			command_name(placing->run->command), kept);
	return EXIT_CODE_FAILED;
}

static enum exit_code plan(struct placing *placing)
{
	enum exit_code code = ground_read(&placing->ground, placing->token.controller);
	int error;

	if (code)
		return code;
	progress_begin("searching for a placement");
	placing->plan = needed(morph_plan_new(placing->run->client->ctx));
	error = find_plan(placing);
	code = error < 0 ? client_error(placing->run, error) : describe(placing);
	placing->refused = !error && place_info(placing->plan).verdict != MORPH_FEASIBLE;
	if (!code && placing->refused) {
		try_other_transit(placing);
		return try_unprotected(placing);
	}
	return code || !given(placing->run, OPTION_PROTECT) ? code : protect(placing);
}

/* ------------------------------------------------------------------ the light */

/* A command that was killed, and not asked to end, can leave its slice without circuits. */
static void explain_remains(struct run *run, uint32_t fabric, const char *name)
{
	json_t *records, *record;
	size_t i;

	if (client_dump(run, MORPH_OBJECT_SLICE, fabric, &records))
		return;
	json_array_foreach(records, i, record) if (key_is(record, "name", name) &&
						   !number_of(record, "circuits-count", 0))
		warn_line(
			"%s: slice '%s' has no circuits; if a killed command left it, 'morphctl slice delete %s' removes it",
			command_name(run->command), name, name);
	json_decref(records);
}

enum exit_code place_create(struct run *run, uint32_t fabric, const struct morph_plan *plan,
			    struct slice_wish *wish, json_t **slice)
{
	struct morph_plan_info info = place_info(plan);
	enum exit_code code;

	wish->fabric = fabric;
	wish->name = run->argv[0];
	wish->accelerators_count = info.ranks;
	wish->accelerators = needed(calloc(wish->accelerators_count, sizeof(uint32_t)));
	memcpy(wish->accelerators, info.accelerators, info.ranks * sizeof(uint32_t));
	code = slice_make(run, wish, slice);
	if (code)
		explain_remains(run, fabric, wish->name);
	return code;
}

/*
 * Light the slice, in as many transactions as the limit of changes requires. Add each to the list.
 */
static enum exit_code light(struct placing *placing, struct act *act, uint32_t slice, json_t *txns)
{
	enum exit_code code = EXIT_CODE_OK;

	while (placing->txn && !code) {
		struct morph_txn *rest;
		json_t *txn = NULL;
		int error;

		code = stop_check(placing->run);
		if (code)
			break;
		error = morph_txn_split(placing->txn, &rest);
		code = error ? client_error(placing->run, error) :
			       circuit_run(placing->run, act, placing->ground.fabric, slice,
					   placing->txn, false, &txn);
		if (txn)
			json_array_append_new(txns, txn);
		morph_txn_free(placing->txn);
		placing->txn = rest;
	}
	return code;
}

enum exit_code place_take_back(struct run *run, struct act *act, uint32_t fabric, uint32_t slice,
			       enum exit_code code)
{
	if (slice_remove(run, act, fabric, slice, true)) {
		warn_line("%s: slice %u exists without its circuits", command_name(run->command),
			  slice);
		return EXIT_CODE_PARTIAL;
	}
	warn_line("%s: the command has deleted the slice again", command_name(run->command));
	return code;
}

/* All or nothing: create the slice, then its circuits. If lighting fails, delete the slice. */
static enum exit_code carry_out(struct placing *placing, struct slice_wish *wish)
{
	json_t *slice = NULL, *txns = json_array();
	enum exit_code code;
	struct act act;

	/* The library has searched spares in the whole rack. */
	if (placing->protection)
		wish->spare_policy = MORPH_SPARES_ANY;
	code = act_begin(placing->run, &act);
	if (code)
		return code;
	stop_hold();
	code = place_create(placing->run, placing->ground.fabric, placing->plan, wish, &slice);
	if (!code) {
		uint32_t id = number_of(slice, "id", NUMBER_NONE);

		code = light(placing, &act, id, txns);
		if (code)
			code = place_take_back(placing->run, &act, placing->ground.fabric, id,
					       code);
		placing->lit = !code;
		if (!code && placing->protection)
			code = report_protection(placing, id);
	}
	if (placing->lit) {
		json_object_set(placing->report, "new-slice", slice);
		if (json_array_size(txns))
			json_object_set(placing->report, "transactions", txns);
	}
	json_decref(slice);
	json_decref(txns);
	act_end(&act);
	return code;
}

/* ------------------------------------------------------------------ the answer */

static void write_other_transit(const json_t *report)
{
	const char *own = text_of_key(report, OWN), *any = text_of_key(report, ANY);

	if (*own)
		say("with --transit own: %s\n", own);
	if (*any)
		say("with --transit any: %s\n", any);
}

void place_write_refusal(const json_t *refusal)
{
	const json_t *cuts = json_object_get(refusal, "cuts");
	char *hosts;

	if (json_object_get(refusal, "host"))
		say("rack of server %u: ", number_of(refusal, "host", 0));
	else
		say("all racks together: ");
	say("%s\n", text_of_key(refusal, "text"));
	if (!json_array_size(cuts))
		return;
	/* The cuts are sorted: the first has the least capacity for embeddings. */
	hosts = format_list("host", json_object_get(json_array_get(cuts, 0), "hosts"));
	say("tightest set of servers: %s\n", hosts);
	free(hosts);
}

static void write_refusals(const json_t *report)
{
	json_t *refusal;
	size_t i;

	say("%s: %s\n", text_of_key(report, "verdict"), text_of_key(report, "text"));
	write_other_transit(report);
	json_array_foreach(json_object_get(report, "refusals"), i, refusal)
		place_write_refusal(refusal);
}

void place_write_table(struct run *run, const char *columns, json_t *records)
{
	if (!json_array_size(records))
		return;
	say("\n");
	emit_table(run, columns, records);
}

static void write_protection(struct run *run, const json_t *protection)
{
	const char *text = text_of_key(protection, "text");

	if (!protection)
		return;
	say("\nprotection: %s%s%s\n", text_of_key(protection, "verdict"), *text ? ": " : "", text);
	place_write_table(run, PROTECTED, json_object_get(protection, "ranks"));
}

void place_write_plan(struct run *run, const json_t *report)
{
	const json_t *slice = json_object_get(report, "new-slice"),
		     *txn = json_object_get(report, "transactions");

	uint32_t ranks = number_of(report, "ranks-count", 0);
	uint32_t servers = number_of(report, "servers-count", 0),
		 fibres = number_of(report, "fibres-count", 0);
	uint32_t circuits = number_of(report, "circuits-count", 0);

	say("%s: %u accelerator%s in %u server%s (minimum %u), %u circuit%s on %u fibre%s (minimum %u)\n",
	    text_of_key(report, "tier"), ranks, PLURAL(ranks), servers, PLURAL(servers),
	    number_of(report, "servers-bound-count", 0), circuits, PLURAL(circuits), fibres,
	    PLURAL(fibres), number_of(report, "fibres-bound-count", 0));
	write_other_transit(report);
	if (slice)
		say("created slice %u (%s)%s\n", number_of(slice, "id", 0),
		    text_of_key(slice, "name"), txn ? "; its circuits are lit" : "");
	place_write_table(run, RANKS, json_object_get(report, "ranks"));
	place_write_table(run, json_object_get(report, "wavelengths-count") ? SHARED : CIRCUITS,
			  json_object_get(report, "circuits"));
	place_write_table(run, LOADS, json_object_get(report, "loads"));
	write_protection(run, json_object_get(report, "protection"));
}

static enum exit_code answer(struct placing *placing)
{
	struct view view = client_view(placing->run, MORPH_OBJECT_PLAN, NULL);

	if (given(placing->run, OPTION_JSON) || given(placing->run, OPTION_FIELDS))
		return emit_one(placing->run, &view, placing->report);
	if (key_is(placing->report, "verdict", "feasible"))
		place_write_plan(placing->run, placing->report);
	else
		write_refusals(placing->report);
	return EXIT_CODE_OK;
}

static enum exit_code check_apply(struct run *run)
{
	if (!given(run, OPTION_CARRY_OUT) && run->argc)
		return usage_error(run, "NAME is only valid with --apply (got '%s')", run->argv[0]);
	if (given(run, OPTION_CARRY_OUT) && !run->argc)
		return usage_error(run, "--apply requires the NAME of the slice");
	if (given(run, OPTION_CARRY_OUT) && given(run, OPTION_PROFILE) &&
	    !given(run, OPTION_FABRIC))
		return usage_error(run, "--apply with --profile requires --fabric");
	return client_fields(run, MORPH_OBJECT_PLAN);
}

enum exit_code slice_place(struct run *run)
{
	struct placing placing = { .run = run, .ground.run = run };
	struct slice_wish wish = { 0 };
	enum exit_code code, answered;

	code = check_apply(run);
	if (!code)
		code = token_given(run, &placing.token);
	if (!code)
		code = slice_wish_options(run, &wish);
	if (!code)
		code = profile_model(run, &placing.ground.fabric, &placing.ground.model);
	if (!code)
		code = request_given(run, placing.ground.model, &placing.asked);
	if (!code)
		code = plan(&placing);
	progress_end();
	if (!code && given(run, OPTION_CARRY_OUT))
		code = carry_out(&placing, &wish);
	if (!code)
		try_other_transit(&placing);
	/* Print no plan that could not be applied. */
	if (placing.report && (!code || placing.refused || placing.lit)) {
		answered = answer(&placing);
		code = code ? code : answered;
	}
	slice_wish_free(&wish);
	placing_free(&placing);
	return code;
}
