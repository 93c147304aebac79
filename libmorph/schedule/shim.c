// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans by collective, size and initially lit circuits: see <morph/shim.h>. */
#include <stdio.h>

#include "../util/mix.h"
#include "shim.h"

#define MOST_PARTS 8
#define MOST_PLANS 65536
#define MOST_BYTES (1ULL << 50) /* of a buffer */
#define PLANS 1024 /* default */
#define PLANS_BYTES (1ULL << 28)

/* ------------------------------------------------------------------ sizes */

uint64_t lm_shim_ends(uint32_t parts, uint32_t size)
{
	uint64_t power;

	if (size > 50 * parts)
		return 0;
	power = 1ULL << size / parts;
	return power + (power * (size % parts) + parts - 1) / parts;
}

uint32_t lm_shim_size(uint32_t parts, uint64_t bytes, uint64_t *ends)
{
	uint32_t power = 63 - (uint32_t)__builtin_clzll(bytes);
	uint64_t beyond = bytes - (1ULL << power);
	uint32_t size =
		power * parts + (uint32_t)(((beyond * parts) + (1ULL << power) - 1) >> power);

	*ends = lm_shim_ends(parts, size);
	return size;
}

uint64_t morph_shim_bytes(const struct morph_shim *shim, uint64_t bytes)
{
	uint64_t ends;

	if (bytes > MOST_BYTES)
		return UINT64_MAX;
	lm_shim_size(shim->opts.parts, bytes ? bytes : 1, &ends);
	return ends;
}

/* ------------------------------------------------------------------ finding */

static uint64_t key_of(uint32_t kind, uint32_t size, uint32_t before)
{
	return (uint64_t)before << 32 | size << 8 | kind;
}

struct morph_shim_plan *lm_table_find(const struct table *table, uint32_t kind, uint32_t size,
				      uint32_t before)
{
	uint32_t at = (uint32_t)mix(key_of(kind, size, before));

	for (;; at++) {
		struct morph_shim_plan *plan = atomic_load_explicit(
			&table->places[at & (table->room - 1)], memory_order_acquire);

		if (!plan || (plan->kind == kind && plan->size == size && plan->before == before))
			return plan;
	}
}

void lm_table_put(struct table *table, struct morph_shim_plan *plan)
{
	uint32_t at = (uint32_t)mix(key_of(plan->kind, plan->size, plan->before));

	while (atomic_load_explicit(&table->places[at & (table->room - 1)], memory_order_relaxed))
		at++;
	atomic_store_explicit(&table->places[at & (table->room - 1)], plan, memory_order_release);
}

/* ------------------------------------------------------------- what is left lit */

static int by_place(const void *one, const void *other)
{
	const struct lit *a = one, *b = other;

	if (a->plane != b->plane)
		return a->plane < b->plane ? -1 : 1;
	return a->src < b->src ? -1 : a->src > b->src;
}

/* The circuits that a plan leaves lit, in memory of the state. */
static int list_lit(struct morph_shim *shim, const struct morph_schedule *schedule,
		    struct state *state)
{
	uint32_t ranks = shim->opts.ranks, planes = shim->opts.planes;
	struct morph_rank_pair *circuits = calloc(ranks, sizeof(*circuits));

	state->circuits = calloc((size_t)ranks * planes, sizeof(*state->circuits));
	if (!circuits || !state->circuits) {
		free(circuits);
		free(state->circuits);
		lm_no_memory(shim->ctx, "keep a plan");
		return -ENOMEM;
	}
	for (uint32_t plane = 0; plane < planes; plane++) {
		uint32_t count = lm_schedule_left_lit(schedule, plane, circuits);

		for (uint32_t at = 0; at < count; at++)
			state->circuits[state->count++] =
				(struct lit){ plane, circuits[at].src, circuits[at].dst };
	}
	free(circuits);
	qsort(state->circuits, state->count, sizeof(*state->circuits), by_place);
	return 0;
}

/* The number of the state in which a plan leaves the fabric, possibly a new one. */
static int find_state(struct morph_shim *shim, struct morph_shim_plan *plan)
{
	struct state state = { .by = plan };
	uint32_t at = 0;
	int ret = list_lit(shim, plan->schedule, &state);

	if (ret)
		return ret;
	while (at < shim->states.count &&
	       (shim->states.list[at].count != state.count ||
		(state.count && memcmp(shim->states.list[at].circuits, state.circuits,
				       state.count * sizeof(*state.circuits)))))
		at++;
	plan->leaves = at;
	if (at < shim->states.count) {
		free(state.circuits);
		return 0;
	}
	ret = ARRAY_GROW(shim->ctx, shim->states, 1, "keep a plan");
	if (ret)
		free(state.circuits);
	else
		shim->states.list[shim->states.count++] = state;
	plan->weight += (uint64_t)shim->opts.ranks * shim->opts.planes * sizeof(struct lit);
	return ret;
}

/* ------------------------------------------------------------------- plans */

struct morph_shim_plan *lm_shim_plan_new(struct morph_shim *shim, uint32_t kind, uint32_t size,
					 uint32_t before)
{
	struct morph_shim_plan *plan = calloc(1, sizeof(*plan));

	if (plan) {
		plan->collective = morph_collective_new(shim->ctx);
		plan->schedule = morph_schedule_new(shim->ctx);
		plan->steps = shim->lit.ledger ? morph_steps_new(shim->ctx) : NULL;
	}
	if (!plan || !plan->collective || !plan->schedule || (shim->lit.ledger && !plan->steps)) {
		lm_shim_plan_free(plan);
		lm_no_memory(shim->ctx, "keep a plan");
		return NULL;
	}
	plan->shim = shim;
	plan->kind = kind;
	plan->size = size;
	plan->before = before;
	plan->bytes = lm_shim_ends(shim->opts.parts, size);
	return plan;
}

bool lm_shim_plan_holds(const struct morph_shim_plan *plan)
{
	return plan->schedule->verdict == MORPH_FEASIBLE && !plan->unlit;
}

void lm_shim_plan_free(struct morph_shim_plan *plan)
{
	if (!plan)
		return;
	morph_collective_free(plan->collective);
	morph_schedule_free(plan->schedule);
	morph_steps_free(plan->steps);
	free(plan->unlit);
	free(plan);
}

struct morph_collective_opts lm_shim_wanted(const struct morph_shim_plan *plan)
{
	return (struct morph_collective_opts){
		.sz = sizeof(struct morph_collective_opts),
		.kind = plan->kind,
		.ranks = plan->shim->opts.ranks,
		.root = plan->kind == MORPH_BROADCAST ? plan->shim->opts.root : 0,
		.bytes = plan->bytes,
		.late_ns = plan->kind == MORPH_ALL_REDUCE ? plan->shim->opts.late_ns : 0
	};
}

static int refuse_more(struct morph_shim *shim)
{
	return lm_fail(shim->ctx, ENOSPC, "at most %llu bytes for all plans; %llu are in use",
		       (unsigned long long)shim->opts.most_bytes, (unsigned long long)shim->weight);
}

int lm_shim_finish(struct morph_shim *shim, struct morph_shim_plan *plan)
{
	struct morph_collective *collective = plan->collective;
	struct morph_schedule *schedule = plan->schedule;
	int ret = 0;

	free(schedule->places);
	schedule->places = NULL;
	schedule->places_room = 0;
	plan->weight = sizeof(*plan) + sizeof(*collective) + sizeof(*schedule) +
		       collective->ranks * sizeof(*collective->loads) +
		       ARRAY_TRIM(collective->chunks) + ARRAY_TRIM(collective->rounds) +
		       ARRAY_TRIM(collective->transfers) + ARRAY_TRIM(collective->runs) +
		       ARRAY_TRIM(schedule->circuits) + ARRAY_TRIM(schedule->matchings) +
		       ARRAY_TRIM(schedule->holds) + ARRAY_TRIM(schedule->sends) +
		       ARRAY_TRIM(schedule->hops);
	if (plan->steps)
		plan->weight += morph_steps_seal(plan->steps);
	if (lm_shim_plan_holds(plan))
		ret = find_state(shim, plan);
	if (!ret && plan->weight > shim->opts.most_bytes - shim->weight) {
		shim->full = true;
		ret = refuse_more(shim);
	}
	if (ret)
		return ret;
	/* From now on, threads may read it concurrently. */
	collective->ctx = NULL;
	schedule->ctx = NULL;
	plan->number = shim->count;
	shim->plans[shim->count++] = plan;
	shim->weight += plan->weight;
	return 0;
}

/* States are removed with the plans that leave them. */
void lm_shim_cut(struct morph_shim *shim, uint32_t count, uint32_t states)
{
	while (shim->states.count > states)
		free(shim->states.list[--shim->states.count].circuits);
	while (shim->count > count) {
		struct morph_shim_plan *plan = shim->plans[--shim->count];

		shim->weight -= plan->weight;
		shim->full = false;
		lm_shim_plan_free(plan);
	}
}

/* ------------------------------------------------------------------- asking */

/* Store the result, whatever it is. */
static int note_light(struct morph_shim *shim, struct morph_shim_plan *plan,
		      const struct morph_light *light)
{
	if (!light->verdict || light->verdict == MORPH_FEASIBLE)
		return 0;
	plan->unlit = strdup(light->why);
	return plan->unlit ? 0 : lm_no_memory(shim->ctx, "keep a plan");
}

static int plan_it(struct morph_shim *shim, struct morph_shim_plan *plan)
{
	const struct morph_shim_plan *by = shim->states.list[plan->before].by;
	struct morph_collective_opts wanted = lm_shim_wanted(plan);
	MORPH_OPTS(morph_schedule_opts, opts, .policy = shim->opts.policy,
		   .planes = shim->opts.planes, .after = by ? by->schedule : NULL,
		   .budget = shim->opts.budget);
	struct morph_choice choices[MORPH_ALGORITHMS];
	struct morph_light light = { 0 };
	int ret = shim->lit.ledger ?
			  morph_schedule_choose_lit(plan->schedule, plan->collective, &wanted,
						    &shim->delay, &opts, &shim->lit, plan->steps,
						    &light, choices) :
			  morph_schedule_choose(plan->schedule, plan->collective, &wanted,
						&shim->delay, &opts, choices);

	if (!ret)
		ret = note_light(shim, plan, &light);
	for (uint32_t at = 0; !ret && at < MORPH_ALGORITHMS; at++)
		if (choices[at].chosen) {
			plan->algorithm = at;
			plan->radix = choices[at].radix;
			plan->segments = choices[at].segments;
			memcpy(plan->extent, choices[at].extent, sizeof(plan->extent));
		}
	return ret;
}

/* No thread has asked before, or one has just now. */
static int replan_from_start(struct morph_shim *shim, uint32_t kind, uint32_t size, uint32_t before,
			     struct morph_shim_plan **out)
{
	uint32_t states = shim->states.count;
	int ret;

	*out = lm_table_find(&shim->table, kind, size, before);
	if (*out)
		return 0;
	if (shim->count == shim->opts.most_plans)
		return lm_fail(shim->ctx, ENOSPC, "the shim already keeps %u plans, the maximum",
			       shim->opts.most_plans);
	/* Planning takes long. A plan that does not fit would be made in vain on each call. */
	if (shim->full)
		return refuse_more(shim);
	*out = lm_shim_plan_new(shim, kind, size, before);
	if (!*out)
		return -ENOMEM;
	ret = plan_it(shim, *out);
	if (!ret)
		ret = lm_shim_finish(shim, *out);
	if (!ret) {
		lm_table_put(&shim->table, *out);
		return 0;
	}
	lm_shim_cut(shim, shim->count, states);
	lm_shim_plan_free(*out);
	*out = NULL;
	return ret;
}

static int refuse(struct morph_shim *shim, int code, const char *why)
{
	pthread_mutex_lock(&shim->lock);
	lm_fail(shim->ctx, code, "%s", why);
	pthread_mutex_unlock(&shim->lock);
	return -code;
}

MORPH_API int morph_shim_lookup(struct morph_shim *shim, uint32_t kind, uint64_t bytes,
				const struct morph_shim_plan *after,
				const struct morph_shim_plan **out)
{
	uint32_t before = after ? after->leaves : SHIM_DARK, size;
	struct morph_shim_plan *plan;
	uint64_t ends;
	int ret = 0;

	*out = NULL;
	if (kind - 1 >= SHIM_KINDS)
		return refuse(shim, EINVAL, "unknown collective");
	if (bytes > MOST_BYTES)
		return refuse(shim, E2BIG, "a buffer has at most 2^50 bytes");
	if (after && after->shim != shim)
		return refuse(shim, EINVAL, "the plan to follow belongs to another shim");
	size = lm_shim_size(shim->opts.parts, bytes ? bytes : 1, &ends);
	plan = lm_table_find(&shim->table, kind, size, before);
	if (!plan) {
		pthread_mutex_lock(&shim->lock);
		ret = replan_from_start(shim, kind, size, before, &plan);
		pthread_mutex_unlock(&shim->lock);
	}
	if (ret)
		return ret;
	if (!lm_shim_plan_holds(plan))
		return refuse(shim, ENOENT, plan->unlit ? plan->unlit : plan->schedule->why);
	*out = plan;
	return 0;
}

MORPH_API void morph_shim_why(struct morph_shim *shim, char *buffer, size_t room)
{
	pthread_mutex_lock(&shim->lock);
	snprintf(buffer, room, "%s", morph_error_text(shim->ctx));
	pthread_mutex_unlock(&shim->lock);
}

uint32_t morph_shim_plans(struct morph_shim *shim, uint64_t *bytes)
{
	uint32_t count;

	pthread_mutex_lock(&shim->lock);
	count = shim->count;
	if (bytes)
		*bytes = shim->weight;
	pthread_mutex_unlock(&shim->lock);
	return count;
}

const struct morph_schedule *morph_shim_plan_schedule(const struct morph_shim_plan *plan)
{
	return plan->schedule;
}

const struct morph_collective *morph_shim_plan_collective(const struct morph_shim_plan *plan)
{
	return plan->collective;
}

const struct morph_steps *morph_shim_plan_steps(const struct morph_shim_plan *plan)
{
	return plan->steps;
}

uint32_t morph_shim_plan_algorithm(const struct morph_shim_plan *plan, uint64_t *bytes)
{
	if (bytes)
		*bytes = plan->bytes;
	return plan->algorithm;
}

void morph_shim_plan_choice(const struct morph_shim_plan *plan, struct morph_choice *choice)
{
	*choice = (struct morph_choice){ .algorithm = plan->algorithm,
					 .planes = plan->schedule->planes,
					 .radix = plan->radix,
					 .segments = plan->segments,
					 .chosen = true };
	memcpy(choice->extent, plan->extent, sizeof(choice->extent));
	lm_choice_note(choice, plan->schedule, plan->collective, plan->kind);
}

MORPH_API int morph_shim_plan_info(const struct morph_shim_plan *plan,
				   struct morph_shim_plan_info *out)
{
	struct morph_shim_plan_info info = { .sz = sizeof(info),
					     .schedule = plan->schedule,
					     .collective = plan->collective,
					     .steps = plan->steps };
	int ret = lm_opts_check(NULL, out, sizeof(info), "morph_shim_plan_info");

	if (ret)
		return ret;
	morph_shim_plan_algorithm(plan, &info.bytes);
	morph_shim_plan_choice(plan, &info.choice);
	lm_answer_copy(out, &info, sizeof(info));
	return 0;
}

/* --------------------------------------------------------------- begin and end */

/* The given options, with defaults in place of zeros. */
static int check(struct morph_ctx *ctx, const struct morph_delay *delay,
		 struct morph_shim_opts *opts)
{
	opts->planes = opts->planes ? opts->planes : 1;
	opts->parts = opts->parts ? opts->parts : 1;
	opts->most_plans = opts->most_plans ? opts->most_plans : PLANS;
	opts->most_bytes = opts->most_bytes ? opts->most_bytes : PLANS_BYTES;
	if (!opts->ranks || opts->ranks > MOST_RANKS)
		return lm_fail(ctx, EINVAL, "a shim has 1 to %d ranks, not %u", MOST_RANKS,
			       opts->ranks);
	if (opts->planes > MOST_PLANES)
		return lm_fail(ctx, EINVAL, "a rank has at most %d ports, not %u", MOST_PLANES,
			       opts->planes);
	if (opts->policy >= MORPH_POLICIES)
		return lm_fail(ctx, EINVAL, "policy %u must be one of 0 to %d", opts->policy,
			       MORPH_POLICIES - 1);
	if (opts->root >= opts->ranks)
		return lm_fail(ctx, EINVAL, "no root rank %u: there are %u ranks", opts->root,
			       opts->ranks);
	if (opts->parts > MOST_PARTS || opts->parts & (opts->parts - 1))
		return lm_fail(
			ctx, EINVAL,
			"the number of sizes between two powers of two must be 1, 2, 4 or %d, not %u",
			MOST_PARTS, opts->parts);
	if (opts->most_plans > MOST_PLANS)
		return lm_fail(ctx, EINVAL, "a shim keeps at most %d plans, not %u", MOST_PLANS,
			       opts->most_plans);
	if (opts->late_ns > MOST_NS)
		return lm_fail(ctx, EINVAL,
			       "the delay of the late rank must be at most %llu ns, not %llu",
			       MOST_NS, (unsigned long long)opts->late_ns);
	if (!delay->mbps)
		return lm_fail(ctx, EINVAL,
			       "the delay has no bandwidth; call morph_delay_set() first");
	return 0;
}

/* The location for paths; copy the arguments. */
static int take_lit(struct morph_shim *shim, struct morph_ctx *ctx)
{
	const struct morph_lit_opts *opts = shim->opts.lit;
	size_t bytes = shim->opts.ranks * sizeof(uint32_t);
	struct morph_lit_opts lit;
	int ret;

	shim->opts.lit = NULL;
	if (!opts)
		return 0;
	ret = lm_opts_check(ctx, opts, sizeof(lit), "morph_lit_opts");
	if (ret)
		return ret;
	lm_opts_copy(&lit, opts, sizeof(lit));
	if (!lit.ledger || !lit.accelerators)
		return lm_fail(ctx, EINVAL, "morph_lit_opts.%s is required",
			       lit.ledger ? "accelerators" : "ledger");
	ret = lm_opts_check(ctx, lit.light, sizeof(shim->light), "morph_light_opts");
	if (ret)
		return ret;
	lm_opts_copy(&shim->light, lit.light, sizeof(shim->light));
	shim->light.sz = sizeof(shim->light);
	shim->light.hold_steps = NULL;
	shim->accelerators = malloc(bytes);
	if (!shim->accelerators)
		return lm_no_memory(ctx, "keep plans");
	memcpy(shim->accelerators, lit.accelerators, bytes);
	shim->lit = lit;
	shim->lit.sz = sizeof(lit);
	shim->lit.light = &shim->light;
	shim->lit.accelerators = shim->accelerators;
	return 0;
}

static int make_room(struct morph_shim *shim, struct morph_ctx *ctx)
{
	int ret;

	shim->table.room = 2;
	while (shim->table.room < 2 * shim->opts.most_plans)
		shim->table.room *= 2;
	shim->table.places = calloc(shim->table.room, sizeof(*shim->table.places));
	shim->plans = calloc(shim->opts.most_plans, sizeof(struct morph_shim_plan *));
	ret = ARRAY_GROW(shim->ctx, shim->states, 1, "keep plans");
	if (!ret)
		shim->states.list[shim->states.count++] = (struct state){ 0 };
	if (ret || !shim->table.places || !shim->plans)
		return lm_no_memory(ctx, "keep plans");
	return take_lit(shim, ctx);
}

MORPH_API int morph_shim_new(struct morph_ctx *ctx, const struct morph_delay *delay,
			     const struct morph_shim_opts *opts, struct morph_shim **out)
{
	MORPH_OPTS(morph_ctx_opts, offline, .unrecorded = 1);
	struct morph_shim_opts mine;
	struct morph_shim *shim;
	int ret = lm_opts_check(ctx, opts, sizeof(mine), "morph_shim_opts");

	*out = NULL;
	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	ret = check(ctx, delay, &mine);
	if (ret)
		return ret;
	shim = calloc(1, sizeof(*shim));
	if (!shim)
		return lm_no_memory(ctx, "keep plans");
	ret = morph_ctx_new(&offline, &shim->ctx);
	if (ret) {
		free(shim);
		return lm_fail(ctx, -ret, "keep plans: %s", strerror(-ret));
	}
	pthread_mutex_init(&shim->lock, NULL);
	shim->opts = mine;
	shim->delay = *delay;
	shim->delay.ctx = shim->ctx;
	shim->costs = lm_delay_costs(delay, mine.ranks);
	ret = make_room(shim, ctx);
	if (ret) {
		morph_shim_free(shim);
		return ret;
	}
	*out = shim;
	return 0;
}

MORPH_API void morph_shim_free(struct morph_shim *shim)
{
	if (!shim)
		return;
	lm_shim_cut(shim, 0, 0);
	free(shim->states.list);
	free(shim->plans);
	free(shim->table.places);
	free(shim->accelerators);
	pthread_mutex_destroy(&shim->lock);
	morph_ctx_free(shim->ctx);
	free(shim);
}
