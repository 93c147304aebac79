// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl place: from a request to a plan, and from the plan to light */
#include <stdlib.h>
#include <string.h>

#include "circuit.h"
#include "controller.h"
#include "profile.h"
#include "slice.h"
#include "value.h"

#define RANKS "rank,accelerator,host"
#define CIRCUITS "src-rank,dst-rank,host,guide"
#define SHARED \
	"src-rank,dst-rank,host,lanes,guide" /* with the wavelengths that each has of its fibres */
#define LOADS "src-host,dst-host,fibres,free"

/* One request from beginning to end. */
struct placing {
	struct run *run;
	uint32_t fabric; /* MORPH_ANY: an empty one */
	struct token token;
	struct morph_model *model;
	struct morph_ledger *ledger;
	struct morph_request *request;
	struct morph_plan *plan;
	struct morph_txn *txn; /* with --apply */
	json_t *report; /* the plan, and what was made of it */
};

static void placing_free(struct placing *placing)
{
	json_decref(placing->report);
	morph_txn_free(placing->txn);
	morph_plan_free(placing->plan);
	morph_request_free(placing->request);
	morph_ledger_free(placing->ledger);
	morph_model_put(placing->model);
}

/* -------------------------------------------------------------- what is wanted */

/* Up to three extents, divided by 'x'. */
static bool parse_torus(const char *text, uint32_t extent[3])
{
	char rest;
	int count = sscanf(text, "%9ux%9ux%9u%c", &extent[0], &extent[1], &extent[2], &rest);

	return count >= 1 && count <= 3 && strspn(text, "0123456789x") == strlen(text) &&
	       text[strlen(text) - 1] != 'x';
}

static enum exit_code ask_shape(const struct placing *placing)
{
	const struct run *run = placing->run;
	uint32_t extent[3] = { 1, 1, 1 }, count = 0;
	int error;

	if (given(run, OPTION_COUNT) + given(run, OPTION_TORUS) + given(run, OPTION_RING_OF) +
		    given(run, OPTION_MESH) !=
	    1)
		return usage_error(run, "wants one of --count, --shape, --ring and --mesh");
	if (!option_u32(run, OPTION_COUNT, &count) || !option_u32(run, OPTION_RING_OF, &count) ||
	    !option_u32(run, OPTION_MESH, &count))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_TORUS) && !parse_torus(run->option[OPTION_TORUS], extent))
		return usage_error(run, "--shape wants extents as 2x4x4, not '%s'",
				   run->option[OPTION_TORUS]);
	if (given(run, OPTION_TORUS))
		error = morph_request_set_torus(placing->request, extent[0], extent[1], extent[2]);
	else if (given(run, OPTION_RING_OF))
		error = morph_request_set_ring(placing->request, count);
	else if (given(run, OPTION_MESH))
		error = morph_request_set_mesh(placing->request, count);
	else
		error = morph_request_set_count(placing->request, count);
	return error < 0 ? client_error(placing->run, error) : EXIT_CODE_OK;
}

static enum exit_code ask_bandwidth(const struct placing *placing)
{
	const struct run *run = placing->run;
	struct morph_object *info = NULL;
	uint64_t mbps = 0;
	uint32_t lanes = 0;
	int error;

	if (!option_u64(run, OPTION_BANDWIDTH, &mbps) || !option_u32(run, OPTION_LANES, &lanes))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_BANDWIDTH) && given(run, OPTION_LANES))
		return usage_error(run, "--bandwidth and --lanes exclude each other");
	error = morph_model_info(run->client->ctx, placing->model, &info);
	if (error < 0)
		return client_error(placing->run, error);
	if (given(run, OPTION_LANES))
		mbps = lanes * morph_get_fabric_lane_mbps(info);
	morph_object_free(info);
	morph_request_set_mbps(placing->request, mbps);
	return EXIT_CODE_OK;
}

static enum exit_code ask(struct placing *placing)
{
	uint32_t transit = MORPH_TRANSIT_ANY, objective = MORPH_OBJECTIVE_FRAGMENTATION;
	struct run *run = placing->run;
	uint32_t wavelengths = 1;
	enum exit_code code;

	placing->request = needed(morph_request_new(run->client->ctx));
	placing->plan = needed(morph_plan_new(run->client->ctx));
	if (!option_word(run, OPTION_TRANSIT, &transit) ||
	    !option_word(run, OPTION_OBJECTIVE, &objective) ||
	    !option_u32(run, OPTION_WAVELENGTHS, &wavelengths))
		return EXIT_CODE_USAGE;
	if (morph_request_set_wavelengths(placing->request, wavelengths) < 0)
		return usage_error(run, "--wavelengths: %s", morph_error_text(run->client->ctx));
	morph_request_set_transit(placing->request, transit);
	morph_request_set_objective(placing->request, objective);
	code = ask_shape(placing);
	return code ? code : ask_bandwidth(placing);
}

/* ------------------------------------------------------------------- the plan */

static enum exit_code describe(struct placing *placing)
{
	struct morph_object *object = NULL;
	int error = morph_plan_describe(placing->plan, placing->ledger, &object);

	json_decref(placing->report);
	placing->report = NULL;
	return client_reply(placing->run, error, object, &placing->report);
}

static enum exit_code plan(struct placing *placing)
{
	struct morph_ctx *ctx = placing->run->client->ctx;
	enum exit_code code;
	int error;

	code = profile_ledger(placing->run, placing->fabric, placing->token.controller,
			      placing->model, &placing->ledger);
	if (code)
		return code;
	error = morph_place(placing->ledger, placing->request, placing->plan);
	code = error ? client_error(placing->run, error) : describe(placing);
	if (code || morph_plan_verdict(placing->plan) != MORPH_FEASIBLE)
		return code ? code : EXIT_CODE_FAILED;
	if (!given(placing->run, OPTION_CARRY_OUT) ||
	    !number_of(placing->report, "circuits-count", 0))
		return EXIT_CODE_OK;
	placing->txn = needed(morph_txn_new(ctx));
	morph_txn_set_model(placing->txn, placing->model);
	morph_txn_set_controller(placing->txn, placing->token.controller, placing->token.epoch);
	error = morph_txn_add_plan(placing->txn, placing->plan, placing->ledger);
	/* Some of its fibres may be others now. */
	return error < 0 ? client_error(placing->run, error) : describe(placing);
}

/* ------------------------------------------------------------------ the light */

static void fill_wish(const struct placing *placing, struct slice_wish *wish)
{
	wish->fabric = placing->fabric;
	wish->name = placing->run->argv[0];
	wish->accelerators_count = morph_plan_ranks(placing->plan);
	wish->accelerators = needed(calloc(wish->accelerators_count, sizeof(uint32_t)));
	for (uint32_t rank = 0; rank < wish->accelerators_count; rank++)
		wish->accelerators[rank] = morph_plan_accelerator(placing->plan, rank);
}

/* Lights the slice; *txn: the transaction, or NULL. */
static enum exit_code light(struct placing *placing, struct act *act, uint32_t slice, json_t **txn)
{
	*txn = NULL;
	if (!placing->txn)
		return EXIT_CODE_OK;
	return circuit_run(placing->run, act, placing->fabric, slice, placing->txn, false, txn);
}

static enum exit_code take_back(struct placing *placing, uint32_t slice, enum exit_code code)
{
	int error =
		morph_admin_slice_delete(placing->run->client->ctx, placing->fabric, slice, true);

	if (client_reply(placing->run, error, NULL, NULL)) {
		warn_line("place: slice %u is there without its circuits", slice);
		return EXIT_CODE_PARTIAL;
	}
	warn_line("place: nothing was changed: the slice is deleted again");
	return code;
}

/* All or nothing: the slice, then its circuits in one transaction. */
static enum exit_code carry_out(struct placing *placing, struct slice_wish *wish)
{
	json_t *slice = NULL, *txn = NULL;
	enum exit_code code;
	struct act act;

	code = act_begin(placing->run, &act);
	if (code)
		return code;
	fill_wish(placing, wish);
	code = slice_make(placing->run, wish, &slice);
	if (!code) {
		uint32_t id = number_of(slice, "id", NUMBER_NONE);

		code = light(placing, &act, id, &txn);
		if (code)
			code = take_back(placing, id, code);
	}
	if (!code) {
		json_object_set(placing->report, "slice", slice);
		if (txn)
			json_object_set(placing->report, "txn", txn);
	}
	json_decref(slice);
	json_decref(txn);
	act_end(&act);
	return code;
}

/* ------------------------------------------------------------------ the answer */

static void write_refusals(const json_t *report)
{
	json_t *refusals = json_object_get(report, "refusal"), *refusal, *cut;
	size_t i, k;

	printf("%s: %s\n", text_of_key(report, "verdict"), text_of_key(report, "text"));
	json_array_foreach(refusals, i, refusal)
	{
		json_t *cuts = json_object_get(refusal, "cut");

		printf("rack of host %u: %s%s\n", number_of(refusal, "host", 0),
		       text_of_key(refusal, "text"), json_array_size(cuts) ? ":" : "");
		json_array_foreach(cuts, k, cut)
		{
			char *hosts = format_value("host", json_object_get(cut, "host"));

			printf("  hosts %s\n", hosts);
			free(hosts);
		}
	}
}

static void write_table(struct run *run, const char *columns, json_t *records)
{
	if (!json_array_size(records))
		return;
	putchar('\n');
	emit_table(run, columns, records);
}

static void write_plan(struct run *run, const json_t *report)
{
	const json_t *slice = json_object_get(report, "slice"),
		     *txn = json_object_get(report, "txn");

	printf("%s: %u accelerators in %u servers, %u at least by %s; %u circuits on %u fibres, %u at "
	       "least by %s\n",
	       text_of_key(report, "tier"), number_of(report, "ranks-count", 0),
	       number_of(report, "servers", 0), number_of(report, "servers-bound", 0),
	       text_of_key(report, "servers-bound-kind"), number_of(report, "circuits-count", 0),
	       number_of(report, "fibres", 0), number_of(report, "fibres-bound", 0),
	       text_of_key(report, "fibres-bound-kind"));
	if (slice)
		printf("slice %u (%s): created%s\n", number_of(slice, "id", 0),
		       text_of_key(slice, "name"), txn ? ", and its circuits are lit" : "");
	write_table(run, RANKS, json_object_get(report, "rank"));
	write_table(run, json_object_get(report, "wavelengths") ? SHARED : CIRCUITS,
		    json_object_get(report, "circuit"));
	write_table(run, LOADS, json_object_get(report, "load"));
}

static enum exit_code answer(struct placing *placing)
{
	struct view view = client_view(placing->run, MORPH_OBJECT_PLAN, NULL);

	if (given(placing->run, OPTION_JSON) || given(placing->run, OPTION_FIELDS))
		return emit_one(placing->run, &view, placing->report);
	if (key_is(placing->report, "verdict", "feasible"))
		write_plan(placing->run, placing->report);
	else
		write_refusals(placing->report);
	return EXIT_CODE_OK;
}

static enum exit_code check_apply(struct run *run)
{
	if (!given(run, OPTION_CARRY_OUT) && run->argc)
		return usage_error(run, "'%s' would be the slice's name: that is for --apply",
				   run->argv[0]);
	if (given(run, OPTION_CARRY_OUT) && !run->argc)
		return usage_error(run, "--apply wants the NAME of the slice");
	if (given(run, OPTION_CARRY_OUT) && given(run, OPTION_PROFILE) &&
	    !given(run, OPTION_FABRIC))
		return usage_error(run, "--apply wants --fabric beside --profile");
	return EXIT_CODE_OK;
}

enum exit_code place_slice(struct run *run)
{
	struct placing placing = { .run = run };
	struct slice_wish wish = { 0 };
	enum exit_code code, told;

	code = check_apply(run);
	if (!code)
		code = token_given(run, &placing.token);
	if (!code)
		code = slice_wish_options(run, &wish);
	if (!code)
		code = profile_model(run, &placing.fabric, &placing.model);
	if (!code)
		code = ask(&placing);
	if (!code)
		code = plan(&placing);
	if (!code && given(run, OPTION_CARRY_OUT))
		code = carry_out(&placing, &wish);
	/* A plan that could not be carried out is no answer. */
	if (placing.report && (!code || morph_plan_verdict(placing.plan) != MORPH_FEASIBLE)) {
		told = answer(&placing);
		code = code ? code : told;
	}
	slice_wish_free(&wish);
	placing_free(&placing);
	return code;
}
