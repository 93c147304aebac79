// SPDX-License-Identifier: GPL-2.0-or-later
/* The choices of a plan: the results of algorithms and policies, and the baselines. */
#include <string.h>

#include "morphctl/output/output.h"
#include "morphctl/schedule/schedule.h"

#define BASELINES "baseline,verdict,finish-ns,changes-count,circuits-set-count,text"
#define METHODS "method,finish-ns,turns-count,circuits-set-count,text"
#define MOST_METHODS 16

#define SOME_RANKS 4 /* ranks; each algorithm supports this number */
#define UNLIMITED_RANKS 64 /* ranks up to which all are planned without --steps */

/* The earlier result is of the first plan, but no paths were found for its circuits. */
static const char *why_behind(const struct planning *planning, uint64_t ns, uint64_t best_ns)
{
	if (ns < best_ns && planning->unlit_count)
		return "no paths found for its circuits";
	return ns > best_ns ? "later" : "no sooner";
}

/* With a late rank, the time counts from the start of the other ranks. */
static uint64_t end_ns(const struct planning *planning, const struct morph_choice *choice)
{
	uint64_t late_ns = planning->wanted.late_ns;

	return choice->ns + (late_ns > choice->alone_ns ? late_ns - choice->alone_ns : 0);
}

static uint64_t chosen_ns(const struct planning *planning)
{
	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++)
		if (planning->choices[at].chosen)
			return end_ns(planning, &planning->choices[at]);
	return 0;
}

uint64_t plan_choices_end(const struct planning *planning)
{
	const struct morph_payoff *payoff = &planning->payoff;
	uint64_t late_ns = planning->wanted.late_ns;

	/* A plan without some ports ignores late ranks. */
	if (planning->is_replanned)
		return 0;
	if (!late_ns || !payoff->rest_ns)
		return late_ns ? chosen_ns(planning) : 0;
	return payoff->rest_ns + (late_ns > payoff->late_ns ? late_ns : payoff->late_ns);
}

void plan_choices_weigh(struct planning *planning)
{
	const struct morph_choice *stragglar = &planning->choices[MORPH_STRAGGLAR];
	struct morph_payoff rule = { .late_ns = stragglar->alone_ns,
				     .rest_ns = stragglar->ns - stragglar->alone_ns,
				     .other_ns = UINT64_MAX,
				     .pays_ns = UINT64_MAX };

	for (uint32_t at = 1; at < MORPH_STRAGGLAR; at++) {
		const struct morph_choice *choice = &planning->choices[at];

		if (choice->policy && choice->ns - choice->alone_ns < rule.other_ns)
			rule.other_ns = choice->ns - choice->alone_ns;
	}
	if (!stragglar->policy || rule.other_ns == UINT64_MAX)
		return;
	if (rule.rest_ns < rule.other_ns)
		rule.pays_ns = stragglar->ns > rule.other_ns ? stragglar->ns - rule.other_ns : 0;
	planning->rule = rule;
	if (stragglar->chosen)
		planning->payoff = rule;
}

/* The library does not say which reason applies. */
static const char *why_no_plan(const struct planning *planning)
{
	const struct run *run = planning->run;
	bool budget = given(run, OPTION_BUDGET) || planning->wanted.ranks > UNLIMITED_RANKS;

	if (given(run, OPTION_POLICY) && strcmp(run->option[OPTION_POLICY], "best"))
		return budget ? "skipped: --steps is too small, or the policy does not support it" :
				"the policy does not support the rounds";
	return budget ? "skipped: search budget exhausted; raise --steps" :
			"no plan of its rounds found";
}

/* Add an algorithm that does this kind of collective, but not this collective. */
static void add_unable(const struct planning *planning, uint32_t algorithm, json_t *list)
{
	struct morph_collective_opts wanted = planning->wanted;
	struct morph_ctx *ctx = planning->run->client->ctx;
	struct morph_collective *scratch;

	if (planning->wanted.algorithm || planning->rounds_given || planning->topologies.count)
		return;
	scratch = needed(morph_collective_new(ctx));
	wanted.algorithm = algorithm;
	wanted.root = 0;
	wanted.radix = wanted.segments = 0;
	wanted.matrix = NULL;
	wanted.ranks = wanted.extent[0] = SOME_RANKS;
	wanted.extent[1] = wanted.extent[2] = 0;
	if (!morph_collective_build(scratch, &wanted)) {
		const char *why = "skipped: needs --late";

		wanted = planning->wanted;
		wanted.algorithm = algorithm;
		if (algorithm != MORPH_STRAGGLAR || wanted.late_ns) {
			morph_collective_build(scratch, &wanted);
			why = morph_error_text(ctx);
		}
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "algorithm",
						morph_enum_name(MORPH_ENUM_ALGORITHM, algorithm),
						"text", why));
	}
	morph_collective_free(scratch);
}

/* A shape in the form of --shape. */
static json_t *shape_of(const uint32_t extent[3])
{
	uint32_t second = extent[1] ? extent[1] : 1;

	if (extent[2])
		return json_sprintf("%ux%ux%u", extent[0], second, extent[2]);
	return extent[1] ? json_sprintf("%ux%u", extent[0], extent[1]) :
			   json_sprintf("%u", extent[0]);
}

/* Add the parameters that some algorithms have. */
static void add_parameters(json_t *record, const struct morph_choice *choice)
{
	if (choice->extent[0])
		json_object_set_new(record, "shape", shape_of(choice->extent));
	if (choice->radix)
		json_object_set_new(record, "radix", json_integer(choice->radix));
	if (choice->segments)
		json_object_set_new(record, "segments-count", json_integer(choice->segments));
}

/*
 * Report from which delay of the late rank on it pays to start without it. With --late, also report
 * the end of the plan for the given delay.
 */
static void add_rule(const struct planning *planning, json_t *report)
{
	const struct morph_payoff *rule = &planning->rule;

	if (planning->payoff.rest_ns)
		json_object_set_new(
			report, "algorithm",
			json_string(morph_enum_name(MORPH_ENUM_ALGORITHM, MORPH_STRAGGLAR)));
	if (rule->rest_ns) {
		json_object_set_new(report, "alone-ns", json_integer((json_int_t)rule->late_ns));
		json_object_set_new(report, "rest-ns", json_integer((json_int_t)rule->rest_ns));
		json_object_set_new(report, "other-ns", json_integer((json_int_t)rule->other_ns));
		if (rule->pays_ns != UINT64_MAX)
			json_object_set_new(report, "pays-ns",
					    json_integer((json_int_t)rule->pays_ns));
	}
	if (!planning->wanted.late_ns)
		return;
	json_object_set_new(report, "comes-ns", json_integer((json_int_t)planning->wanted.late_ns));
	if (!planning->is_replanned)
		json_object_set_new(report, "ends-ns",
				    json_integer((json_int_t)plan_choices_end(planning)));
}

/* Add the results of the algorithms, and mark the chosen one. */
static void add_choices(const struct planning *planning, json_t *report)
{
	uint64_t best_ns = chosen_ns(planning);
	json_t *list = json_array();

	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++) {
		const struct morph_choice *choice = &planning->choices[at];
		const char *name = morph_enum_name(MORPH_ENUM_ALGORITHM, at);
		json_t *record;

		if (!choice->algorithm) {
			add_unable(planning, at, list);
			continue;
		}
		record = json_pack("{s:s, s:i}", "algorithm", name, "rounds-count",
				   (int)choice->rounds);
		add_parameters(record, choice);
		if (choice->policy) {
			json_object_set_new(
				record, "policy",
				json_string(morph_enum_name(MORPH_ENUM_POLICY, choice->policy)));
			json_object_set_new(record, "finish-ns",
					    json_integer((json_int_t)end_ns(planning, choice)));
		}
		if (choice->chosen) {
			json_object_set_new(report, "algorithm", json_string(name));
			add_parameters(report, choice);
		} else {
			json_object_set_new(record, "text",
					    json_string(choice->policy ?
								why_behind(planning,
									   end_ns(planning, choice),
									   best_ns) :
								why_no_plan(planning)));
		}
		json_array_append_new(list, record);
	}
	json_object_set_new(report, "choices", list);
	add_rule(planning, report);
}

/* Add reasons to the choices that have no reason of their own. */
static void add_reasons(const struct planning *planning, json_t *report)
{
	json_t *list = json_object_get(report, "alternatives"), *record;
	const char *policy = text_of_key(report, "policy");
	uint64_t best_ns = wide_of(report, "finish-ns");
	size_t at;

	json_array_foreach(list, at, record) if (key_is(record, "policy", policy))
		best_ns = wide_of(record, "finish-ns");
	json_array_foreach(list, at, record) if (key_is(record, "verdict", "feasible") &&
						 !key_is(record, "policy", policy))
		json_object_set_new(
			record, "text",
			json_string(why_behind(planning, wide_of(record, "finish-ns"), best_ns)));
}

/*
 * The measure of work and the value of a unit of --steps are those of morph_schedule_choose().
 * Without --steps the limit is twice as high, which admits a ring of 4096 ranks.
 */
#define UNIT_BITS 22
#define MOST_WORK (1ULL << 29)
#define WORK_EACH 16
#define MOST_TRANSFERS (1ULL << 26) /* the most that a collective can have */

static uint64_t work_of(const struct morph_collective *collective)
{
	struct morph_collective_info info = collective_info(collective);
	uint64_t work = 0;

	for (uint32_t round = 0; round < info.rounds; round++) {
		uint64_t count = morph_collective_transfers(collective, round);

		work += count * (count > info.ranks ? info.ranks : WORK_EACH);
	}
	return work;
}

/*
 * Only binary trees have an arbitrary number of segments. Estimate their work before the build, and
 * leave collectives to the builder that have more transfers than it accepts.
 */
static uint64_t estimate_work(const struct morph_collective_opts *wanted)
{
	uint64_t transfers = (wanted->ranks - 1ULL) * wanted->segments;

	return wanted->algorithm != MORPH_BINARY || transfers > MOST_TRANSFERS ?
		       0 :
		       transfers * WORK_EACH;
}

uint64_t plan_lacks(const struct planning *planning, const struct morph_collective_opts *wanted)
{
	uint64_t work = wanted ? estimate_work(wanted) : work_of(planning->collective);
	uint64_t budget = 0, most;

	option_u64(planning->run, OPTION_BUDGET, &budget);
	most = budget > UINT64_MAX >> UNIT_BITS ? UINT64_MAX : budget << UNIT_BITS;
	most = most > MOST_WORK ? most : MOST_WORK;
	return work > most ? ((work - 1) >> UNIT_BITS) + 1 : 0;
}

enum exit_code plan_within_budget(const struct planning *planning)
{
	struct morph_collective_opts wanted = planning->wanted;
	struct run *run = planning->run;
	uint64_t lacks;

	if (given(run, OPTION_SEGMENTS))
		wanted.algorithm = MORPH_BINARY;
	/* StragglAR has few transfers, and its search takes long. */
	if (!wanted.algorithm || wanted.algorithm == MORPH_STRAGGLAR)
		return EXIT_CODE_OK;
	lacks = plan_lacks(planning, &wanted);
	if (!lacks && !morph_collective_build(planning->collective, &wanted))
		lacks = plan_lacks(planning, NULL);
	if (!lacks)
		return EXIT_CODE_OK;
	return usage_error(
		run,
		"planning --algorithm %s among %u ranks takes minutes and gigabytes; to plan it all "
		"the same, use --steps %llu; or choose fewer %s or another algorithm",
		morph_enum_name(MORPH_ENUM_ALGORITHM, wanted.algorithm), wanted.ranks,
		(unsigned long long)lacks, given(run, OPTION_SEGMENTS) ? "--segments" : "ranks");
}

void plan_choices_add(const struct planning *planning, json_t *report)
{
	add_choices(planning, report);
	add_reasons(planning, report);
}

/*
 * Baselines: schedules to compare a plan with. The gap of a plan refers to its bound, not to the
 * schedule in which changes take no time.
 */

json_t *schedule_record(const struct morph_schedule *schedule, const char *name)
{
	struct morph_schedule_result info = schedule_result(schedule);
	json_t *record =
		json_pack("{s:s, s:s}", "baseline", name, "verdict", verdict_word(info.verdict));

	if (info.verdict != MORPH_FEASIBLE) {
		json_object_set_new(record, "text", json_string(info.why));
		return record;
	}
	json_object_set_new(record, "finish-ns", json_integer((json_int_t)info.ns));
	json_object_set_new(record, "changes-count", json_integer(info.changes));
	json_object_set_new(record, "circuits-set-count", json_integer((json_int_t)info.circuits));
	return record;
}

static bool is_later(const struct morph_schedule *one, const struct morph_schedule *other)
{
	struct morph_schedule_result mine = schedule_result(one), its = schedule_result(other);

	return its.verdict == MORPH_FEASIBLE &&
	       (mine.verdict != MORPH_FEASIBLE || mine.ns > its.ns);
}

/* No schedule can end earlier, except by a rounding error. */
static bool meets_bound(const struct morph_schedule *schedule)
{
	struct morph_schedule_result info = schedule_result(schedule);

	return info.verdict == MORPH_FEASIBLE && info.ns <= info.bound_ns + 1;
}

/*
 * The ideal baseline ends no later than the plan, and no later than the plan's policy when changes
 * take no time.
 */
static int find_ideal(const struct planning *planning, struct morph_schedule *ideal, json_t *list)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planning->planes,
		   .policy = schedule_result(planning->schedule).policy);
	struct morph_schedule *trial = needed(morph_schedule_new(planning->run->client->ctx));
	const struct morph_schedule *best = ideal;
	int error = 0;

	if (schedule_result(planning->schedule).verdict == MORPH_FEASIBLE && !meets_bound(ideal))
		error = morph_schedule_plan(trial, planning->collective, planning->unchanging,
					    &opts);
	if (!error && is_later(best, trial))
		best = trial;
	if (is_later(best, planning->schedule))
		best = planning->schedule;
	if (!error)
		json_array_append_new(list,
				      schedule_record(best, morph_enum_name(MORPH_ENUM_BASELINE,
									    MORPH_BASELINE_IDEAL)));
	morph_schedule_free(trial);
	return error;
}

static int add_baselines(const struct planning *planning, json_t *report)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planning->planes);
	struct morph_schedule *schedule = needed(morph_schedule_new(planning->run->client->ctx));
	json_t *list = json_array();
	int error = 0;

	for (uint32_t baseline = 0; !error && baseline < MORPH_BASELINES; baseline++) {
		error = morph_schedule_baseline(schedule, planning->collective, planning->delay,
						&opts, baseline);
		if (!error && baseline == MORPH_BASELINE_IDEAL)
			error = find_ideal(planning, schedule, list);
		else if (!error)
			json_array_append_new(
				list, schedule_record(schedule, morph_enum_name(MORPH_ENUM_BASELINE,
										baseline)));
	}
	if (planning->topologies.written)
		json_array_append(list, planning->topologies.written);
	json_object_set_new(report, "baselines", list);
	morph_schedule_free(schedule);
	return error;
}

/* For recursive halving: find the buffer size from which on circuits of its own pay. */
static int add_short_cut(const struct planning *planning, json_t *report)
{
	const struct morph_collective_opts *wanted = &planning->wanted;
	struct morph_short_cut cut;
	json_t *record;
	int error;

	if (planning->rounds_given || wanted->ranks < 2 || wanted->ranks & (wanted->ranks - 1) ||
	    (wanted->kind != MORPH_ALL_REDUCE && wanted->kind != MORPH_REDUCE_SCATTER &&
	     wanted->kind != MORPH_ALL_GATHER))
		return 0;
	error = morph_short_cut(planning->run->client->ctx, planning->delay, wanted->ranks,
				planning->planes, wanted->bytes, &cut);
	if (error)
		return error;
	record = json_pack("{s:i}", "steps-count", (int)cut.steps);
	if (cut.first < cut.steps)
		json_object_set_new(record, "first-step", json_integer(cut.first));
	if (cut.pays_bytes != UINT64_MAX)
		json_object_set_new(record, "pays-bytes", json_integer((json_int_t)cut.pays_bytes));
	json_object_set_new(report, "short-cut", record);
	return 0;
}

/*
 * For an all-reduce that begins without the last rank: report the rounds after this rank arrives,
 * and the lower bound of this number.
 */
static void add_late_rounds(const struct planning *planning, json_t *report)
{
	uint32_t ranks = planning->wanted.ranks;
	struct morph_collective_info info = collective_info(planning->collective);

	if (!planning->payoff.rest_ns || ranks < 2)
		return;
	json_object_set_new(report, "late-rounds-count",
			    json_integer(info.rounds - info.rounds_before_last));
	json_object_set_new(report, "late-rounds-bound-count",
			    json_integer(info.late_rounds_least));
}

/*
 * Compare methods for a matrix that takes one round. The way back uses the same rounds with
 * directions reversed.
 */
static int add_methods(const struct planning *planning, json_t *report)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planning->planes,
		   .policy = planning->policy, .budget = planning->budget);
	struct morph_method methods[MOST_METHODS];
	json_t *list;
	int count;

	if (!planning->matrix || collective_info(planning->collective).rounds != 1)
		return 0;
	count = morph_matrix_methods(planning->run->client->ctx, planning->matrix,
				     planning->wanted.ranks, planning->delay, &opts, methods,
				     MOST_METHODS);
	if (count < 0)
		return count;
	list = json_array();
	for (int at = 0; at < count && at < MOST_METHODS; at++) {
		const struct morph_method *method = &methods[at];
		json_t *record = json_pack("{s:s}", "method", method->name);

		if (method->ns) {
			json_object_set_new(record, "finish-ns",
					    json_integer((json_int_t)method->ns));
			json_object_set_new(record, "turns-count", json_integer(method->turns));
			json_object_set_new(record, "circuits-set-count",
					    json_integer(method->circuits));
		}
		if (!method->chosen)
			json_object_set_new(record, "text", json_string(method->why));
		json_array_append_new(list, record);
	}
	json_object_set_new(report, "methods", list);
	return 0;
}

enum exit_code plan_against_add(const struct planning *planning, json_t *report)
{
	int error = add_baselines(planning, report);

	if (!error)
		error = add_short_cut(planning, report);
	if (!error)
		error = add_methods(planning, report);
	add_late_rounds(planning, report);
	return error < 0 ? plan_error(planning->run, error) : EXIT_CODE_OK;
}

static void write_short_cut(const json_t *cut)
{
	uint32_t steps = number_of(cut, "steps-count", 0);
	uint32_t first = number_of(cut, "first-step", steps);

	if (!json_object_get(cut, "pays-bytes")) {
		say("\nhalving on a ring: changing circuits never pays\n");
		return;
	}
	if (!wide_of(cut, "pays-bytes"))
		say("\nhalving on a ring: changing circuits pays for any buffer size; ");
	else
		say("\nhalving on a ring: changing circuits pays from %s; ",
		    amount_bytes(wide_of(cut, "pays-bytes")).text);
	if (first == steps)
		say("not for this buffer size\n");
	else
		say("for this buffer size in the last %u of %u step%s\n", steps - first, steps,
		    PLURAL(steps));
}

void plan_against_write(const struct run *run, const json_t *report)
{
	const json_t *cut = json_object_get(report, "short-cut");

	say("\n");
	emit_table(run, BASELINES, json_object_get(report, "baselines"));
	if (json_array_size(json_object_get(report, "methods"))) {
		say("\n");
		emit_table(run, METHODS, json_object_get(report, "methods"));
	}
	if (cut)
		write_short_cut(cut);
	if (json_object_get(report, "late-rounds-count"))
		say("\nrounds after the last rank comes: %u (minimum %u)\n",
		    number_of(report, "late-rounds-count", 0),
		    number_of(report, "late-rounds-bound-count", 0));
}
