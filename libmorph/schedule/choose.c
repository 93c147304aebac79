// SPDX-License-Identifier: LGPL-2.1-or-later
/* Chooses algorithm and circuits together: plans each algorithm and takes the fastest. */
#include "../collective/algorithms.h"
#include "schedule.h"

#define MOST_PORTS 8 /* for which Bruck's algorithm is tried */
#define MOST_VARIANTS (MORPH_ALGORITHMS + 6 + MOST_PORTS)
#define FEW_RANKS 64 /* all algorithms are planned quickly */
#define MOST_WORK (1ULL << 28) /* some seconds, for more ranks */
#define WORK_BITS 22 /* log2 of a step of the budget */
#define WORK_EACH 16 /* of a transfer, if a round has no more of them than ranks */

/* An algorithm and its parameters. */
struct variant {
	struct morph_choice parameters;
	uint64_t work; /* work of planning it; 0: unknown */
	bool left_out; /* the budget ended before */
};

struct choosing {
	struct morph_schedule *schedule, *trial;
	struct morph_collective *collective, *rounds;
	const struct morph_delay *delay;
	const struct morph_schedule_opts *opts;
	struct variant variants[MOST_VARIANTS];
	uint32_t count;
	uint64_t late_ps; /* arrival of the last rank */
	uint32_t kind;
	bool waits; /* the whole collective begins with the last rank */
	uint64_t ends_ps; /* end of the best plan so far */
	bool some; /* a plan exists */
};

static void swap_schedules(struct morph_schedule *one, struct morph_schedule *other)
{
	struct morph_schedule kept = *one;

	*one = *other;
	*other = kept;
}

static void swap_collectives(struct morph_collective *one, struct morph_collective *other)
{
	struct morph_collective kept = *one;

	*one = *other;
	*other = kept;
}

static uint64_t ends_after(uint64_t late_ps, uint64_t alone_ps, uint64_t finish_ps)
{
	return finish_ps + (late_ps > alone_ps ? late_ps - alone_ps : 0);
}

/* Is the latest plan faster than the best so far? */
static bool is_sooner(const struct choosing *choosing, uint64_t ends_ps)
{
	const struct morph_schedule *one = choosing->trial, *other = choosing->schedule;
	uint64_t ours, theirs;

	if (one->verdict != MORPH_FEASIBLE || other->verdict != MORPH_FEASIBLE)
		return one->verdict == MORPH_FEASIBLE;
	if (ends_ps != choosing->ends_ps)
		return ends_ps < choosing->ends_ps;
	morph_schedule_changes(one, &ours);
	morph_schedule_changes(other, &theirs);
	return ours < theirs;
}

/* ------------------------------------------------------- what there is to choose from */

static bool has_same_parameters(const struct morph_choice *one, const struct morph_choice *other)
{
	return one->algorithm == other->algorithm && one->radix == other->radix &&
	       one->segments == other->segments &&
	       !memcmp(one->extent, other->extent, sizeof(one->extent));
}

static void add(struct choosing *choosing, struct morph_choice parameters)
{
	parameters.planes = choosing->opts->planes ? choosing->opts->planes : 1;
	for (uint32_t at = 0; at < choosing->count; at++)
		if (has_same_parameters(&choosing->variants[at].parameters, &parameters))
			return;
	choosing->variants[choosing->count++] = (struct variant){ .parameters = parameters };
}

static void add_radix(struct choosing *choosing, uint32_t radix)
{
	add(choosing, (struct morph_choice){ .algorithm = MORPH_BRUCK, .radix = radix });
}

/*
 * Shifts for each port, as in the multiport model, or for some ports. One shift has the fewest
 * bytes per round. Two digits move bytes twice. A single digit is another algorithm.
 */
static void add_radices(struct choosing *choosing, const struct morph_collective_opts *wanted)
{
	uint32_t planes = choosing->opts->planes, digit = 2;

	while ((uint64_t)digit * digit < wanted->ranks)
		digit++;
	add_radix(choosing, 2);
	if (planes > 1 && planes + 1 < wanted->ranks)
		add_radix(choosing, planes + 1);
	if (digit < wanted->ranks)
		add_radix(choosing, digit);
	for (uint32_t ports = 2; ports < planes && ports <= MOST_PORTS; ports++)
		if (ports + 1 < wanted->ranks)
			add_radix(choosing, ports + 1);
}

/*
 * A tree takes a round for each segment and @more. Each has the time of a round and of a segment on
 * the wire. The sum is least if the square of segments is more * wire / round. Round to a power of
 * two.
 */
static uint32_t best_segments(uint32_t more, uint64_t bytes, unsigned __int128 wire_ps,
			      uint64_t round_ps)
{
	uint64_t segments = 1;

	while (segments < MOST_SEGMENTS && 2 * segments <= bytes &&
	       (unsigned __int128)(2 * segments * segments) * round_ps < more * wire_ps)
		segments *= 2;
	return (uint32_t)segments;
}

static void add_tree(struct choosing *choosing, uint32_t segments)
{
	add(choosing, (struct morph_choice){ .algorithm = MORPH_BINARY, .segments = segments });
}

/* With fixed circuits, and with children that take turns at a port; over one port, and over all. */
static void add_segments(struct choosing *choosing, const struct morph_collective_opts *wanted)
{
	struct costs costs = lm_delay_costs(choosing->delay, wanted->ranks);
	uint32_t more = wanted->ranks > 1 ? 30 - (uint32_t)__builtin_clz(wanted->ranks) : 0;
	unsigned __int128 wire_ps = costs.mbps ? costs_wire_ps(&costs, wanted->bytes) : 0;
	uint64_t stays_ps = lm_sum(costs.round_ps, costs.hop_ps);
	uint32_t planes = choosing->opts->planes ? choosing->opts->planes : 1;

	for (uint32_t ports = 1; ports <= planes; ports += planes > 1 ? planes - 1 : 1) {
		add_tree(choosing, best_segments(more, wanted->bytes, wire_ps / ports, stays_ps));
		add_tree(choosing, best_segments(more, wanted->bytes, wire_ps / ports,
						 lm_sum(stays_ps, costs.change_ps)));
	}
}

/*
 * Two dimensions change circuits least often, three have the fewest rounds. If there are none,
 * building them says so.
 */
static void add_tori(struct choosing *choosing, uint32_t ranks)
{
	struct morph_choice parameters = { .algorithm = MORPH_RINGS };

	lm_even_torus(ranks, 2, parameters.extent);
	add(choosing, parameters);
	if (lm_even_torus(ranks, 3, parameters.extent))
		add(choosing, parameters);
}

static bool is_torus(const uint32_t extent[3])
{
	return extent[0] || extent[1] || extent[2];
}

static void add_variants(struct choosing *choosing, const struct morph_collective_opts *wanted,
			 uint32_t algorithm)
{
	struct morph_choice parameters = { .algorithm = algorithm };

	if (algorithm == MORPH_BRUCK)
		parameters.radix = wanted->radix;
	if (algorithm == MORPH_BINARY)
		parameters.segments = wanted->segments;
	if (algorithm == MORPH_RINGS)
		memcpy(parameters.extent, wanted->extent, sizeof(parameters.extent));
	if (algorithm == MORPH_BRUCK && !parameters.radix)
		add_radices(choosing, wanted);
	else if (algorithm == MORPH_BINARY && !parameters.segments)
		add_segments(choosing, wanted);
	else if (algorithm == MORPH_RINGS && !is_torus(parameters.extent))
		add_tori(choosing, wanted->ranks);
	else
		add(choosing, parameters);
}

/* ------------------------------------------------------------------ one of them */

int lm_choice_build(struct morph_collective *collective, const struct morph_collective_opts *wanted,
		    const struct morph_choice *parameters)
{
	struct morph_collective_opts how = *wanted;

	how.algorithm = parameters->algorithm;
	if (parameters->radix)
		how.radix = parameters->radix;
	if (parameters->segments)
		how.segments = parameters->segments;
	if (is_torus(parameters->extent))
		memcpy(how.extent, parameters->extent, sizeof(how.extent));
	return morph_collective_build(collective, &how);
}

int lm_choice_plan(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_delay *delay, const struct morph_schedule_opts *opts,
		   const struct morph_choice *parameters)
{
	if (parameters->algorithm == MORPH_STRAGGLAR)
		return lm_schedule_plan_late(schedule, collective, delay, opts);
	return morph_schedule_plan(schedule, collective, delay, opts);
}

uint64_t lm_choice_note(struct morph_choice *choice, const struct morph_schedule *schedule,
			const struct morph_collective *collective, uint32_t kind)
{
	uint32_t before = morph_collective_rounds_before(collective, collective->ranks - 1);
	uint64_t alone_ps = kind == MORPH_ALL_REDUCE ? lm_schedule_begins_ps(schedule, before) : 0;

	choice->policy = schedule->policy;
	choice->rounds = collective->rounds.count;
	choice->ns = morph_schedule_ns(schedule, NULL);
	choice->alone_ns = lm_edge_ns(alone_ps);
	return alone_ps;
}

uint64_t lm_choice_ends_ns(const struct morph_choice *choice, uint64_t late_ns)
{
	return ends_after(late_ns, choice->alone_ns, choice->ns);
}

/* ------------------------------------------------------------------------ trying them */

static uint64_t ends_ns(const struct choosing *choosing, const struct morph_choice *choice)
{
	return lm_choice_ends_ns(choice, lm_edge_ns(choosing->late_ps));
}

/* Before planning. */
static struct morph_choice choice_of(const struct choosing *choosing, const struct variant *variant)
{
	struct morph_choice choice = variant->parameters;

	choice.rounds = choosing->rounds->rounds.count;
	return choice;
}

/* The end, if the last rank is late. */
static uint64_t late_end_ps(const struct choosing *choosing, const struct morph_schedule *schedule)
{
	uint32_t before =
		morph_collective_rounds_before(choosing->rounds, choosing->rounds->ranks - 1);

	return ends_after(choosing->late_ps, lm_schedule_begins_ps(schedule, before),
			  schedule->finish_ps);
}

/*
 * Reusing the initial circuits can delay completion when the last rank is late, because there is
 * time to set others meanwhile. So also try an empty start.
 */
static int plan_dark(struct choosing *choosing, const struct variant *variant,
		     struct morph_schedule *dark, struct morph_schedule *taken)
{
	struct morph_schedule_opts opts = *choosing->opts;
	struct morph_schedule *trial = choosing->trial;
	int ret;

	opts.after = NULL;
	ret = lm_choice_plan(dark, choosing->rounds, choosing->delay, &opts, &variant->parameters);
	if (ret || dark->verdict != MORPH_FEASIBLE ||
	    (trial->verdict == MORPH_FEASIBLE &&
	     late_end_ps(choosing, trial) <= late_end_ps(choosing, dark)))
		return ret;
	lm_schedule_begin(taken, choosing->rounds->ranks, dark->planes, &dark->costs);
	taken->policy = dark->policy;
	memcpy(taken->tried, dark->tried, sizeof(taken->tried));
	ret = lm_schedule_take_less(taken, dark, choosing->opts->after);
	if (!ret)
		ret = lm_schedule_bound(taken, choosing->rounds);
	if (!ret)
		swap_schedules(trial, taken);
	return ret;
}

static int plan(struct choosing *choosing, const struct variant *variant)
{
	struct morph_schedule *dark, *taken;
	int ret = lm_choice_plan(choosing->trial, choosing->rounds, choosing->delay, choosing->opts,
				 &variant->parameters);

	if (ret || !choosing->late_ps || !choosing->opts->after)
		return ret;
	dark = morph_schedule_new(choosing->schedule->ctx);
	taken = morph_schedule_new(choosing->schedule->ctx);
	ret = dark && taken ? plan_dark(choosing, variant, dark, taken) : -ENOMEM;
	morph_schedule_free(dark);
	morph_schedule_free(taken);
	return ret;
}

/* Plan the rounds of a variant. The caller's schedule keeps the best so far. */
static int try(struct choosing *choosing, const struct variant *variant,
	       struct morph_choice *choices)
{
	struct morph_choice *known = &choices[variant->parameters.algorithm];
	struct morph_choice choice = choice_of(choosing, variant);
	uint64_t ends_ps = 0;
	bool soonest;
	int ret = plan(choosing, variant);

	if (ret)
		return ret;
	if (choosing->trial->verdict == MORPH_FEASIBLE) {
		uint64_t alone_ps =
			lm_choice_note(&choice, choosing->trial, choosing->rounds, choosing->kind);

		ends_ps = ends_after(choosing->late_ps, alone_ps, choosing->trial->finish_ps);
	}
	soonest = !choosing->some || is_sooner(choosing, ends_ps);
	if (soonest) {
		choosing->ends_ps = ends_ps;
		for (uint32_t at = 0; at < MORPH_ALGORITHMS; at++)
			choices[at].chosen = false;
		choice.chosen = true;
		swap_schedules(choosing->trial, choosing->schedule);
		swap_collectives(choosing->rounds, choosing->collective);
	}
	if (soonest || !known->algorithm ||
	    (choice.policy &&
	     (!known->policy || ends_ns(choosing, &choice) < ends_ns(choosing, known))))
		*known = choice;
	choosing->some = true;
	return 0;
}

/* Build the rounds of a variant; -ENOENT: the algorithm cannot. */
static int build(struct choosing *choosing, const struct morph_collective_opts *wanted,
		 const struct variant *variant)
{
	int ret = lm_choice_build(choosing->rounds, wanted, &variant->parameters);

	if ((ret != -EINVAL && ret != -E2BIG) || wanted->algorithm)
		return ret;
	lm_error_clear(choosing->schedule->ctx);
	return -ENOENT;
}

/*
 * The work of planning rounds. If a rank has several partners, each counts as many times as there
 * are ranks.
 */
static uint64_t work_of(const struct morph_collective *collective)
{
	uint64_t work = 0;

	for (uint32_t round = 0; round < collective->rounds.count; round++) {
		uint64_t count = collective->rounds.list[round].count;

		work += count * (count > collective->ranks ? collective->ranks : WORK_EACH);
	}
	return work;
}

/* Plan those with the least work first, within the budget, and at least one. */
static void spend(struct choosing *choosing, uint64_t left)
{
	for (bool first = true;; first = false) {
		struct variant *least = NULL;

		for (uint32_t at = 0; at < choosing->count; at++)
			if (choosing->variants[at].work &&
			    (!least || choosing->variants[at].work < least->work))
				least = &choosing->variants[at];
		if (!least)
			return;
		if (first || least->work <= left)
			left -= least->work < left ? least->work : left;
		else
			least->left_out = true;
		least->work = 0;
	}
}

/* Do not measure time, so that all ranks agree. */
static int leave_out(struct choosing *choosing, const struct morph_collective_opts *wanted)
{
	uint64_t budget = lm_schedule_budget(choosing->opts);

	if (choosing->count == 1 || (!budget && wanted->ranks <= FEW_RANKS))
		return 0;
	for (uint32_t at = 0; at < choosing->count; at++) {
		int ret = build(choosing, wanted, &choosing->variants[at]);

		if (ret && ret != -ENOENT)
			return ret;
		if (!ret)
			choosing->variants[at].work = 1 + work_of(choosing->rounds);
	}
	spend(choosing, budget ? budget << WORK_BITS : MOST_WORK);
	return 0;
}

/* The error of a variant with its text, which later variants may have overwritten. */
static int fail_as(struct choosing *choosing, const struct morph_collective_opts *wanted,
		   const struct variant *variant)
{
	int ret = build(choosing, wanted, variant);

	return ret ? ret : plan(choosing, variant);
}

/* No algorithm succeeds. If one would with less data or fewer ranks, report its reason. */
static int fail_for_all(struct choosing *choosing, const struct morph_collective_opts *wanted)
{
	struct morph_collective_opts named = *wanted;

	for (uint32_t at = 0; at < choosing->count; at++) {
		int ret;

		named.algorithm = choosing->variants[at].parameters.algorithm;
		ret = build(choosing, &named, &choosing->variants[at]);
		if (ret != -EINVAL || !lm_collective_kind(wanted->kind))
			return ret;
	}
	return lm_fail(choosing->schedule->ctx, EINVAL, "no algorithm supports %s with %u ranks",
		       lm_collective_kind(wanted->kind), wanted->ranks);
}

/* Algorithms that cannot do the collective are left out, unless all cannot. */
static int choose(struct choosing *choosing, const struct morph_collective_opts *wanted,
		  struct morph_choice *choices)
{
	const struct variant *failed = NULL;
	int ret;

	if (wanted->algorithm)
		add_variants(choosing, wanted, wanted->algorithm);
	for (uint32_t algorithm = 1; !wanted->algorithm && algorithm < MORPH_ALGORITHMS;
	     algorithm++)
		if (algorithm != MORPH_STRAGGLAR || (choosing->late_ps && !choosing->waits))
			add_variants(choosing, wanted, algorithm);
	ret = leave_out(choosing, wanted);
	for (uint32_t at = 0; !ret && at < choosing->count; at++) {
		const struct variant *variant = &choosing->variants[at];
		struct morph_choice *choice = &choices[variant->parameters.algorithm];

		ret = build(choosing, wanted, variant);
		if (!ret && !variant->left_out)
			ret = try(choosing, variant, choices);
		/* Other variants may end in time, or fit. */
		if (ret == -ERANGE || ret == -E2BIG) {
			failed = variant;
			ret = 0;
		}
		if (!ret && !choice->algorithm)
			*choice = choice_of(choosing, variant);
		if (ret == -ENOENT)
			ret = 0;
	}
	if (!ret && !choosing->some && failed)
		return fail_as(choosing, wanted, failed);
	if (!ret && failed)
		lm_error_clear(choosing->schedule->ctx);
	return ret || choosing->some ? ret : fail_for_all(choosing, wanted);
}

int lm_schedule_choose(struct morph_schedule *schedule, struct morph_collective *collective,
		       const struct morph_collective_opts *wanted, const struct morph_delay *delay,
		       const struct morph_schedule_opts *opts, struct morph_choice *choices,
		       bool waits)
{
	struct morph_choice mine[MORPH_ALGORITHMS] = { 0 };
	bool all_reduce = wanted->kind == MORPH_ALL_REDUCE;
	struct choosing choosing = { .schedule = schedule,
				     .collective = collective,
				     .trial = morph_schedule_new(schedule->ctx),
				     .rounds = morph_collective_new(schedule->ctx),
				     .delay = delay,
				     .opts = opts,
				     .kind = wanted->kind,
				     .late_ps = all_reduce ? wanted->late_ns * PS_PER_NS : 0,
				     .waits = waits };
	int ret = choosing.trial && choosing.rounds ? 0 : -ENOMEM;

	if (!ret)
		ret = choose(&choosing, wanted, mine);
	if (choices)
		memcpy(choices, mine, sizeof(mine));
	morph_schedule_free(choosing.trial);
	morph_collective_free(choosing.rounds);
	return ret;
}

MORPH_API int
morph_schedule_choose(struct morph_schedule *schedule, struct morph_collective *collective,
		      const struct morph_collective_opts *wanted, const struct morph_delay *delay,
		      const struct morph_schedule_opts *opts, struct morph_choice *choices)
{
	struct morph_schedule_opts how;
	struct morph_collective_opts known;
	int ret = lm_opts_check(schedule->ctx, wanted, sizeof(known), "morph_collective_opts");

	if (choices)
		memset(choices, 0, MORPH_ALGORITHMS * sizeof(*choices));
	if (!ret)
		ret = lm_schedule_opts_check(schedule->ctx, opts);
	if (ret)
		return ret;
	lm_opts_copy(&how, opts, sizeof(how));
	how.sz = sizeof(how);
	lm_opts_copy(&known, wanted, sizeof(known));
	known.sz = sizeof(known);
	if (known.late_ns > MOST_NS)
		return lm_fail(schedule->ctx, EINVAL,
			       "the delay of the late rank must be at most %llu ns, not %llu",
			       MOST_NS, (unsigned long long)known.late_ns);
	return lm_schedule_choose(schedule, collective, &known, delay, &how, choices, false);
}
