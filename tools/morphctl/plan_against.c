// SPDX-License-Identifier: GPL-2.0-or-later
/* What a plan is held against. Its gap is told by its bound, never by what changes that took no time would come to. */
#include "plan.h"
#include "value.h"

#define BASELINES "baseline,verdict,finish-ns,changes,circuits-set,text"
#define METHODS "method,finish-ns,turns,circuits-set,text"
#define MOST_METHODS 16

static const char *const verdicts[] = { "", "feasible", "infeasible", "undecided" };

json_t *schedule_record(const struct morph_schedule *schedule, const char *name)
{
	uint32_t verdict = morph_schedule_verdict(schedule);
	json_t *record = json_pack("{s:s, s:s}", "baseline", name, "verdict", verdicts[verdict]);
	uint64_t circuits;

	if (verdict != MORPH_FEASIBLE) {
		json_object_set_new(record, "text", json_string(morph_schedule_why(schedule)));
		return record;
	}
	json_object_set_new(record, "finish-ns",
			    json_integer((json_int_t)morph_schedule_ns(schedule, NULL)));
	json_object_set_new(record, "changes",
			    json_integer(morph_schedule_changes(schedule, &circuits)));
	json_object_set_new(record, "circuits-set", json_integer((json_int_t)circuits));
	return record;
}

static bool is_later(const struct morph_schedule *one, const struct morph_schedule *other)
{
	return morph_schedule_verdict(other) == MORPH_FEASIBLE &&
	       (morph_schedule_verdict(one) != MORPH_FEASIBLE ||
		morph_schedule_ns(one, NULL) > morph_schedule_ns(other, NULL));
}

/* Nothing is sooner, but for what rounding makes of it. */
static bool meets_bound(const struct morph_schedule *schedule)
{
	uint64_t bound, ns;

	if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE)
		return false;
	ns = morph_schedule_ns(schedule, &bound);
	return ns <= bound + 1;
}

/* What is ideal is no later than the plan, and than its policy where changes take no time. */
static int find_ideal(const struct planning *planning, struct morph_schedule *ideal, json_t *list)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planning->planes,
		   .policy = morph_schedule_policy(planning->schedule));
	struct morph_schedule *trial = needed(morph_schedule_new(planning->run->client->ctx));
	const struct morph_schedule *best = ideal;
	int error = 0;

	if (morph_schedule_verdict(planning->schedule) == MORPH_FEASIBLE && !meets_bound(ideal))
		error = morph_schedule_plan(trial, planning->collective, planning->unchanging,
					    &opts);
	if (!error && is_later(best, trial))
		best = trial;
	if (is_later(best, planning->schedule))
		best = planning->schedule;
	if (!error)
		json_array_append_new(
			list, schedule_record(best, morph_baseline_name(MORPH_BASELINE_IDEAL)));
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
			json_array_append_new(list, schedule_record(schedule,
								    morph_baseline_name(baseline)));
	}
	if (planning->topologies.written)
		json_array_append(list, planning->topologies.written);
	json_object_set_new(report, "baseline", list);
	morph_schedule_free(schedule);
	return error;
}

/* Where halving does it, from which size on do circuits of its own pay? */
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

/* Of all-reduce that begins without the last rank: how many rounds are left when it comes, and how many there must be. */
static void add_late_rounds(const struct planning *planning, json_t *report)
{
	uint32_t ranks = planning->wanted.ranks;
	uint32_t rounds = morph_collective_rounds(planning->collective);

	if (!planning->payoff.rest_ns || ranks < 2)
		return;
	rounds -= morph_collective_rounds_before(planning->collective, ranks - 1);
	json_object_set_new(report, "rounds-late", json_integer(rounds));
	json_object_set_new(report, "rounds-bound", json_integer(morph_straggler_bound(ranks)));
}

/* Of a matrix that goes in one round; the way back is the way there, turned. */
static int add_methods(const struct planning *planning, json_t *report)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planning->planes,
		   .policy = planning->policy, .budget = planning->budget);
	struct morph_method methods[MOST_METHODS];
	json_t *list;
	int count;

	if (!planning->matrix || morph_collective_rounds(planning->collective) != 1)
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
			json_object_set_new(record, "turns", json_integer(method->turns));
			json_object_set_new(record, "circuits-set", json_integer(method->circuits));
		}
		if (!method->chosen)
			json_object_set_new(record, "text", json_string(method->why));
		json_array_append_new(list, record);
	}
	json_object_set_new(report, "method", list);
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
		printf("\nhalving on a ring: it never pays to change circuits\n");
		return;
	}
	if (!wide_of(cut, "pays-bytes"))
		printf("\nhalving on a ring: of any bytes it pays to change circuits; ");
	else
		printf("\nhalving on a ring: from %llu byte%s on it pays to change circuits; ",
		       (unsigned long long)wide_of(cut, "pays-bytes"),
		       PLURAL(wide_of(cut, "pays-bytes")));
	if (first == steps)
		printf("of these bytes it does not\n");
	else
		printf("of these bytes in the last %u of %u step%s\n", steps - first, steps,
		       PLURAL(steps));
}

void plan_against_write(const struct run *run, const json_t *report)
{
	const json_t *cut = json_object_get(report, "short-cut");

	putchar('\n');
	emit_table(run, BASELINES, json_object_get(report, "baseline"));
	if (json_array_size(json_object_get(report, "method"))) {
		putchar('\n');
		emit_table(run, METHODS, json_object_get(report, "method"));
	}
	if (cut)
		write_short_cut(cut);
	if (json_object_get(report, "rounds-late"))
		printf("\nrounds when the last rank is there: %u, and by counting no fewer than %u\n",
		       number_of(report, "rounds-late", 0), number_of(report, "rounds-bound", 0));
}
