// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl slice why-not, for requests to planners. The binding constraint is the first one in the
 * list below without which the request fits. Each constraint is lifted alone, and then restored.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "morphctl/client/client.h"
#include "morphctl/controller/controller.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

#define ATTRIBUTES "verdict,text,tier,servers-count,fibres-count,binding,tried,tightest"
#define RENAMED "servers=servers-count,fibres=fibres-count"

/* The words of a ledger's records, as <morph/wire.h> defines them. */
#define ACCELERATOR_WORDS 2
#define GUIDE_WORDS 3
#define MARKED 1u
#define SPARE 2u /* of each accelerator */

struct held {
	uint32_t *words;
	const uint32_t *accelerator, *element, *guide;
	uint32_t accelerators, elements, guides; /* numbers of parts */
	uint32_t marked, spares, owned, lit; /* numbers of parts in these states */
};

struct asking {
	struct run *run;
	struct ground ground;
	struct token token;
	struct asked asked;
	struct morph_request_opts opts; /* options of the request, without the lifted constraint */
	struct held held; /* the ledger before any change */
	struct morph_plan *plan;
	/* a second ledger for constraints that the first one cannot lift */
	struct morph_ledger *other;
	json_t *report;
};

static void asking_free(struct asking *asking)
{
	json_decref(asking->report);
	morph_ledger_free(asking->other);
	morph_plan_free(asking->plan);
	free(asking->held.words);
	asked_free(&asking->asked);
	ground_free(&asking->ground);
}

/* -------------------------------------------------------------------- what is held */

static uint32_t owner_of(const struct held *held, uint32_t accelerator)
{
	return held->accelerator[ACCELERATOR_WORDS * accelerator];
}

static uint32_t flags_of(const struct held *held, uint32_t accelerator)
{
	return held->accelerator[ACCELERATOR_WORDS * accelerator + 1];
}

static bool guide_marked(const struct held *held, uint32_t guide)
{
	return held->guide[GUIDE_WORDS * guide] & MARKED;
}

static bool guide_lit(const struct held *held, uint32_t guide)
{
	return held->guide[GUIDE_WORDS * guide + 1] || held->guide[GUIDE_WORDS * guide + 2];
}

static void count_held(struct held *held)
{
	for (uint32_t at = 0; at < held->accelerators; at++) {
		held->owned += !!owner_of(held, at);
		held->marked += flags_of(held, at) & MARKED;
		held->spares += !!(flags_of(held, at) & SPARE);
	}
	for (uint32_t at = 0; at < held->elements; at++)
		held->marked += held->element[at] & MARKED;
	for (uint32_t at = 0; at < held->guides; at++) {
		held->marked += guide_marked(held, at);
		held->lit += guide_lit(held, at);
	}
}

static void read_held(struct held *held, const struct morph_ledger *ledger)
{
	size_t bytes = (size_t)morph_ledger_write(ledger, NULL, 0);
	const uint32_t *body;

	held->words = needed(malloc(bytes));
	morph_ledger_write(ledger, held->words, bytes);
	for (size_t at = 0; at < bytes / sizeof(*held->words); at++)
		held->words[at] = le32toh(held->words[at]);
	body = held->words + MORPH_WIRE_HEAD;
	held->accelerators = body[0];
	held->elements = body[1];
	held->guides = body[2];
	held->accelerator = body + 3;
	held->element = held->accelerator + (size_t)ACCELERATOR_WORDS * held->accelerators;
	held->guide = held->element + held->elements;
	count_held(held);
}

/* Mark the parts that were marked when the ledger was read, or remove these marks. */
static int mark(const struct held *held, struct morph_ledger *ledger, bool unusable)
{
	int error = 0;

	for (uint32_t at = 0; at < held->accelerators && !error; at++)
		if (flags_of(held, at) & MARKED)
			error = morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, at, unusable);
	for (uint32_t at = 0; at < held->elements && !error; at++)
		if (held->element[at] & MARKED)
			error = morph_ledger_mark(ledger, MORPH_PART_ELEMENT, at, unusable);
	for (uint32_t at = 0; at < held->guides && !error; at++)
		if (guide_marked(held, at))
			error = morph_ledger_mark(ledger, MORPH_PART_GUIDE, at, unusable);
	return error;
}

/* Build the fabric without any lit circuits. @owned: accelerators keep their owners. */
static int darken(struct asking *asking, bool owned)
{
	const struct held *held = &asking->held;
	int error =
		morph_ledger_new(asking->run->client->ctx, asking->ground.model, &asking->other);

	for (uint32_t at = 0; at < held->accelerators && !error; at++) {
		error = morph_ledger_set_spare(asking->other, at, flags_of(held, at) & SPARE);
		if (!error && owned)
			error = morph_ledger_hold(asking->other, at, owner_of(held, at));
	}
	return error ? error : mark(held, asking->other, true);
}

/* ------------------------------------------------------------------ the constraints */

/*
 * Lift a constraint, or restore it. Returns 1, 0 if there is nothing to lift, or an error. A change
 * in the second ledger needs no restoring, because that ledger is freed.
 */
typedef int lift_fn(struct asking *asking, bool lifted);

/* Set the request's options to their present values. Returns @result or an error. */
static int set_opts(struct asking *asking, int result)
{
	int error = morph_request_set_opts(asking->asked.request, &asking->opts);

	return error ? error : result;
}

static int lift_transit(struct asking *asking, bool lifted)
{
	uint32_t asked = asking->asked.opts.transit;

	if (asked == MORPH_TRANSIT_ANY)
		return 0;
	asking->opts.transit = lifted ? MORPH_TRANSIT_ANY : asked;
	return set_opts(asking, 1);
}

static int lift_servers(struct asking *asking, bool lifted)
{
	uint32_t asked = asking->asked.opts.servers;

	asking->opts.servers = lifted ? MORPH_SERVERS_SHARED : asked;
	return set_opts(asking, asked == MORPH_SERVERS_WHOLE);
}

static int lift_bandwidth(struct asking *asking, bool lifted)
{
	uint64_t asked = asking->asked.opts.mbps;

	asking->opts.mbps = lifted ? 0 : asked;
	return set_opts(asking, asked > 0);
}

static int lift_wavelengths(struct asking *asking, bool lifted)
{
	uint32_t asked = asking->asked.opts.wavelengths;

	asking->opts.wavelengths = lifted ? 1 : asked;
	return set_opts(asking, asked > 1);
}

/* Also accept @tier, unless the request does already. */
static int lift_tier(struct asking *asking, bool lifted, uint32_t tier)
{
	uint32_t asked = asking->asked.opts.tier;

	if (asked >= tier)
		return 0;
	asking->opts.tier = lifted ? tier : asked;
	return set_opts(asking, 1);
}

static int lift_box(struct asking *asking, bool lifted)
{
	return lift_tier(asking, lifted, MORPH_TIER_STITCHED);
}

static int lift_rack(struct asking *asking, bool lifted)
{
	return lift_tier(asking, lifted, MORPH_TIER_CROSSING);
}

static int lift_hardware(struct asking *asking, bool lifted)
{
	int error = mark(&asking->held, asking->ground.ledger, !lifted);

	return error ? error : asking->held.marked > 0;
}

static int lift_spares(struct asking *asking, bool lifted)
{
	const struct held *held = &asking->held;
	int error = 0;

	for (uint32_t at = 0; at < held->accelerators && !error; at++)
		if (flags_of(held, at) & SPARE)
			error = morph_ledger_set_spare(asking->ground.ledger, at, !lifted);
	return error ? error : held->spares > 0;
}

/* No later constraint uses this ledger. */
static int lift_failover(struct asking *asking, bool lifted)
{
	bool kept = asking->ground.kept > 0;

	if (lifted)
		ground_release(&asking->ground);
	return kept;
}

static int lift_light(struct asking *asking, bool lifted)
{
	int error = lifted && asking->held.lit ? darken(asking, true) : 0;

	return error ? error : asking->held.lit > 0;
}

static int lift_tenants(struct asking *asking, bool lifted)
{
	int error = lifted && asking->held.owned ? darken(asking, false) : 0;

	return error ? error : asking->held.owned > 0;
}

/* Use the weakest request on an empty fabric without failures. */
static int lift_all(struct asking *asking, bool lifted)
{
	int error = lifted ? morph_ledger_new(asking->run->client->ctx, asking->ground.model,
					      &asking->other) :
			     0;

	lift_transit(asking, lifted);
	lift_servers(asking, lifted);
	lift_bandwidth(asking, lifted);
	lift_wavelengths(asking, lifted);
	lift_rack(asking, lifted);
	return error ? error : 1;
}

struct constraint {
	const char *name;
	lift_fn *lift;
	const char *text; /* how the request would fit */
};

/*
 * Constraints that the caller can lift alone come first; those that affect other tenants come last.
 */
static const struct constraint constraints[] = {
	{ "transit", lift_transit, "fits with --transit any" },
	{ "servers", lift_servers, "fits without --whole-servers" },
	{ "bandwidth", lift_bandwidth, "fits with circuits of one lane" },
	{ "wavelengths", lift_wavelengths, "fits without --wavelengths, on fibres of its own" },
	{ "tier", lift_box, "fits with --tier stitched" },
	{ "tier", lift_rack, "fits with --tier crossing" },
	{ "hardware", lift_hardware, "fits if all hardware is healthy and nothing is cordoned" },
	{ "spares", lift_spares, "fits on accelerators that are spares" },
	{ "failover", lift_failover,
	  "fits on fibres kept for the failover of running slices; --unprotect uses these" },
	{ "light", lift_light,
	  "fits without the circuits of other slices; 'morphctl defrag' may reroute some of them" },
	{ "slices", lift_tenants, "fits without the other slices" },
};

static const struct constraint several = { "several", lift_all,
					   "more than one constraint is the cause" };
static const struct constraint fabric = { "fabric", NULL,
					  "even an idle fabric of this profile cannot take it" };

/* ----------------------------------------------------------------------- searching */

/* Ask the planners. A request that no fabric of the model can satisfy counts as infeasible. */
static int solve(struct asking *asking, uint32_t *verdict)
{
	struct morph_ledger *ledger = asking->other ? asking->other : asking->ground.ledger;
	int error = morph_place(ledger, asking->asked.request, asking->plan);

	*verdict = error ? MORPH_INFEASIBLE : place_info(asking->plan).verdict;
	return error == -EINVAL ? 0 : error;
}

/* Search without a constraint, and restore it. *verdict is 0 if there is nothing to lift. */
static int try_without(struct asking *asking, const struct constraint *constraint,
		       uint32_t *verdict)
{
	int lifted = constraint->lift(asking, true), error = 0;

	*verdict = 0;
	if (lifted > 0)
		error = solve(asking, verdict);
	morph_ledger_free(asking->other);
	asking->other = NULL;
	if (lifted > 0 && !error)
		lifted = constraint->lift(asking, false);
	return lifted < 0 ? lifted : error;
}

static void set_binding(struct asking *asking, const struct constraint *constraint)
{
	json_object_set_new(asking->report, "binding",
			    json_pack("{s:s, s:s}", "constraint", constraint->name, "text",
				      constraint->text));
}

/* The first constraint without which the request fits is the binding one. */
static enum exit_code find_binding(struct asking *asking)
{
	json_t *tried = needed(json_array());
	uint32_t verdict = 0;
	int error = 0;
	size_t at;

	json_object_set_new(asking->report, "tried", tried);
	for (at = 0; at < sizeof(constraints) / sizeof(constraints[0]); at++) {
		error = try_without(asking, &constraints[at], &verdict);
		if (error)
			return client_error(asking->run, error);
		if (verdict)
			json_array_append_new(tried, json_pack("{s:s, s:s}", "constraint",
							       constraints[at].name, "verdict",
							       verdict_word(verdict)));
		if (verdict == MORPH_FEASIBLE) {
			set_binding(asking, &constraints[at]);
			return EXIT_CODE_OK;
		}
	}
	error = try_without(asking, &several, &verdict);
	if (error)
		return client_error(asking->run, error);
	if (verdict != MORPH_UNDECIDED)
		set_binding(asking, verdict == MORPH_FEASIBLE ? &several : &fabric);
	return EXIT_CODE_OK;
}

/* ---------------------------------------------------------------------- the report */

/* Choose the rack that comes closest. */
static bool closer(const json_t *one, const json_t *other)
{
	bool count = key_is(one, "reason", "count");

	if (!other || count != key_is(other, "reason", "count"))
		return !other || !count;
	return count && number_of(one, "have", 0) > number_of(other, "have", 0);
}

/* The tightest cut, which is the first. */
static json_t *tightest(const json_t *refusals)
{
	const json_t *closest = NULL, *cuts;
	json_t *refusal, *copy;
	size_t i;

	json_array_foreach(refusals, i, refusal)
	{
		if (closer(refusal, closest))
			closest = refusal;
	}
	if (!closest)
		return NULL;
	copy = needed(json_copy((json_t *)closest));
	cuts = json_object_get(closest, "cuts");
	if (json_array_size(cuts))
		json_object_set_new(copy, "cuts", json_pack("[O]", json_array_get(cuts, 0)));
	return copy;
}

static enum exit_code describe(struct asking *asking)
{
	static const char *const keys[] = { "verdict", "text", "tier", "servers-count",
					    "fibres-count" };
	struct morph_object *object = NULL;
	enum exit_code code;
	json_t *plan, *refusal;
	int error;

	error = morph_plan_describe(asking->plan, asking->ground.ledger, &object);
	code = client_reply(asking->run, error, object, &plan);
	if (code)
		return code;
	asking->report = needed(json_object());
	for (size_t at = 0; at < sizeof(keys) / sizeof(keys[0]); at++)
		if (json_object_get(plan, keys[at]))
			json_object_set(asking->report, keys[at], json_object_get(plan, keys[at]));
	refusal = tightest(json_object_get(plan, "refusals"));
	if (refusal)
		json_object_set_new(asking->report, "tightest", refusal);
	json_decref(plan);
	return EXIT_CODE_OK;
}

static bool fits(const json_t *report)
{
	return key_is(report, "verdict", verdict_word(MORPH_FEASIBLE));
}

/* Try the request unchanged. If it does not fit, find the cause. */
static enum exit_code ask(struct asking *asking)
{
	struct morph_ctx *ctx = asking->run->client->ctx;
	enum exit_code code = EXIT_CODE_OK;
	int error;

	progress_begin("searching for what blocks the request");
	asking->plan = needed(morph_plan_new(ctx));
	read_held(&asking->held, asking->ground.ledger);
	error = morph_place(asking->ground.ledger, asking->asked.request, asking->plan);
	if (error == -EINVAL)
		asking->report =
			needed(json_pack("{s:s, s:s}", "verdict", verdict_word(MORPH_INFEASIBLE),
					 "text", morph_error_text(ctx)));
	else
		code = error ? client_error(asking->run, error) : describe(asking);
	if (!code && !fits(asking->report))
		code = find_binding(asking);
	progress_end();
	return code;
}

static void write_answer(const json_t *report)
{
	const json_t *binding = json_object_get(report, "binding"),
		     *refusal = json_object_get(report, "tightest");
	uint32_t servers = number_of(report, "servers-count", 0),
		 fibres = number_of(report, "fibres-count", 0);

	if (fits(report)) {
		say("yes: would fit in %u server%s on %u fibre%s (%s)\n", servers, PLURAL(servers),
		    fibres, PLURAL(fibres), text_of_key(report, "tier"));
		return;
	}
	say("%s: %s\n", text_of_key(report, "verdict"), text_of_key(report, "text"));
	/* For an undecided request it is only known that it fits without the constraint. */
	if (binding)
		say("%sblocked by %s: %s\n",
		    key_is(report, "verdict", verdict_word(MORPH_UNDECIDED)) ? "perhaps " : "",
		    text_of_key(binding, "constraint"), text_of_key(binding, "text"));
	else
		say("no single constraint is the cause: lifting any one, or all of them, found no placement\n");
	if (refusal)
		place_write_refusal(refusal);
}

enum exit_code why_not_plan(struct run *run)
{
	static const struct view view = { .attributes = ATTRIBUTES, .renamed = RENAMED };
	struct asking asking = { .run = run, .ground.run = run };
	enum exit_code code;

	if (!emit_knows_fields(run, &view))
		return EXIT_CODE_USAGE;
	code = token_given(run, &asking.token);
	if (!code)
		code = profile_model(run, &asking.ground.fabric, &asking.ground.model);
	if (!code)
		code = request_given(run, asking.ground.model, &asking.asked);
	asking.opts = asking.asked.opts;
	if (!code)
		code = ground_read(&asking.ground, asking.token.controller);
	if (!code)
		code = ask(&asking);
	if (!code) {
		if (given(run, OPTION_JSON) || given(run, OPTION_FIELDS))
			emit_one(run, &view, asking.report);
		else
			write_answer(asking.report);
		code = fits(asking.report) ? EXIT_CODE_OK : EXIT_CODE_FAILED;
	}
	asking_free(&asking);
	return code;
}
