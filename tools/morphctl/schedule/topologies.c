// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl schedule plan --from-segments: the topologies of a file, round by round as written, or
 * by the policy that ends first. The file format does not contain transfers: these are the
 * collective's.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <morph/formats.h>

#include "morphctl/input/input.h"
#include "morphctl/schedule/schedule.h"

/* Tolerance for solvers that relax integers. */
#define WHOLE 0.001

/* Convert links to joints. Skip links without circuits. */
static enum exit_code take_step(struct topologies *to, const struct morph_segments *segments,
				const char *path, uint32_t step)
{
	struct morph_link link;

	for (uint32_t at = 0; !morph_segments_link(segments, step, at, &link); at++) {
		double circuits = round(link.capacity);

		if (fabs(link.capacity - circuits) > WHOLE) {
			warn_line("%s: link %u of step %u has %g circuits; must be a whole number",
				  path, at + 1, step + 1, link.capacity);
			return EXIT_CODE_USAGE;
		}
		if (circuits > 0)
			to->joints[to->firsts[step + 1]++] =
				(struct morph_joint){ link.src, link.dst, (uint32_t)circuits };
	}
	return EXIT_CODE_OK;
}

static uint32_t count_links(const struct morph_segments *segments, uint32_t step)
{
	struct morph_link link;
	uint32_t count = 0;

	while (!morph_segments_link(segments, step, count, &link))
		count++;
	return count;
}

static enum exit_code take(struct topologies *to, const struct morph_segments *segments,
			   const char *path)
{
	struct morph_segments_about about;
	enum exit_code code = EXIT_CODE_OK;
	size_t links = 0;

	morph_segments_about(segments, &about);
	if (!about.steps || !about.ranks)
		return refuse_file(path,
				   about.steps ? "the file has no links" : "the file has no steps");
	for (uint32_t step = 0; step < about.steps; step++)
		links += count_links(segments, step);
	to->ranks = about.ranks;
	to->count = about.steps;
	to->firsts = needed(calloc(about.steps + 1UL, sizeof(*to->firsts)));
	to->joints = needed(calloc(links + 1, sizeof(*to->joints)));
	for (uint32_t step = 0; !code && step < about.steps; step++) {
		to->firsts[step + 1] = to->firsts[step];
		code = take_step(to, segments, path, step);
	}
	return code;
}

enum exit_code topologies_read(const struct run *run, struct topologies *to)
{
	const char *path = run->option[OPTION_FROM_SEGMENTS];
	struct morph_segments *segments = NULL;
	char *text, why[256];
	size_t length;
	enum exit_code code;

	if (!given(run, OPTION_FROM_SEGMENTS))
		return EXIT_CODE_OK;
	if (!run->argc)
		return usage_error(
			run, "--from-segments requires a collective: the file has only topologies");
	if (given(run, OPTION_POLICY))
		return usage_error(run, "--from-segments and --policy are mutually exclusive");
	code = input_whole(path, &text, &length);
	if (!code && morph_segments_read(text, length, &segments, why, sizeof(why)))
		code = refuse_file(path, why);
	if (!code)
		code = take(to, segments, path);
	free(text);
	morph_segments_free(segments);
	return code;
}

void topologies_free(struct topologies *topologies)
{
	free(topologies->firsts);
	free(topologies->joints);
}

/* --------------------------------------------------------------------- planning */

static bool is_sooner(const struct morph_schedule *one, const struct morph_schedule *other)
{
	struct morph_schedule_result mine = schedule_result(one), its = schedule_result(other);

	if (mine.verdict != MORPH_FEASIBLE || its.verdict != MORPH_FEASIBLE)
		return mine.verdict == MORPH_FEASIBLE;
	return mine.ns < its.ns;
}

static void keep_sooner(struct morph_schedule **kept, struct morph_schedule **trial)
{
	struct morph_schedule *other = *kept;

	if (schedule_result(*kept).verdict && !is_sooner(*trial, *kept))
		return;
	*kept = *trial;
	*trial = other;
}

static struct morph_pool pool_of(const struct topologies *from, bool in_turn)
{
	return (struct morph_pool){ .sz = sizeof(struct morph_pool),
				    .count = from->count,
				    .firsts = from->firsts,
				    .joints = from->joints,
				    .in_turn = in_turn };
}

/*
 * Plan the file's topologies as written and by the best policy. The plan is the one that ends
 * first.
 */
static int plan_rounds(struct planning *planning, const struct morph_schedule_opts *opts)
{
	struct topologies *from = &planning->topologies;
	struct morph_pool pool = pool_of(from, true);
	struct morph_schedule *trial = needed(morph_schedule_new(planning->run->client->ctx));
	struct morph_schedule_opts how = *opts;
	int error;

	how.pool = &pool;
	error = morph_schedule_plan(planning->schedule, planning->collective, planning->delay,
				    &how);

	if (!error) {
		json_decref(from->written);
		from->written = schedule_record(planning->schedule, "as-written");
		pool.in_turn = false;
		error = morph_schedule_plan(trial, planning->collective, planning->delay, &how);
	}
	if (!error)
		keep_sooner(&planning->schedule, &trial);
	morph_schedule_free(trial);
	return error;
}

/* The smallest radix in which numbers below @ranks have at most @digits digits. */
static uint32_t least_radix(uint32_t ranks, uint32_t digits)
{
	for (uint64_t radix = 2;; radix++) {
		uint64_t power = 1;

		for (uint32_t at = 0; at < digits && power < ranks; at++)
			power *= radix;
		if (power >= ranks)
			return (uint32_t)radix;
	}
}

/*
 * Find a torus whose rings need @rounds rounds, by its number in the order of falling extents.
 * Returns false if there is none.
 */
static bool find_torus(struct morph_collective_opts *wanted, uint32_t rounds, uint32_t number)
{
	uint32_t ranks = wanted->ranks, halves = wanted->kind == MORPH_ALL_REDUCE ? 2 : 1;

	for (uint32_t third = 1; third * third <= ranks / third; third++)
		for (uint32_t second = third > 1 ? third : 2;
		     ranks % third == 0 && second <= ranks / third / second; second++) {
			uint32_t first = ranks / third / second;

			if (first * second * third != ranks ||
			    halves * (first + second + third - 3) != rounds || number--)
				continue;
			wanted->extent[0] = first;
			wanted->extent[1] = second;
			wanted->extent[2] = third > 1 ? third : 0;
			return true;
		}
	return false;
}

/*
 * Set the parameters of an algorithm, which the file does not contain, to variant @number. Returns
 * false if there is no such variant. A round of Bruck's algorithm is a digit. Beyond the smallest
 * radix, only the radix that leaves no port idle is tried.
 */
static bool list_variant(const struct planning *planning, struct morph_collective_opts *wanted,
			 uint32_t planes, uint32_t variant)
{
	uint32_t steps = planning->topologies.count, ranks = wanted->ranks, levels = 0;

	if (wanted->algorithm == MORPH_BRUCK && !wanted->radix) {
		wanted->radix = least_radix(ranks, steps);
		if (variant && wanted->radix > planes)
			return false;
		if (variant)
			wanted->radix = planes + 1;
		return variant < 2;
	}
	if (wanted->algorithm == MORPH_RINGS && !wanted->extent[0])
		return find_torus(wanted, steps, variant);
	/* Each level below the root is a round, and so is each segment except one. */
	while (ranks >> (levels + 1))
		levels++;
	if (wanted->algorithm == MORPH_BINARY && !wanted->segments && steps >= levels)
		wanted->segments = steps - levels + 1;
	return !variant;
}

/*
 * Build the rounds of an algorithm. Returns 0, or -ENOENT if the algorithm has another number of
 * rounds, cannot do the collective, or takes too long to plan.
 */
static int build(struct planning *planning, const struct morph_collective_opts *wanted)
{
	uint64_t lacks = plan_lacks(planning, wanted);
	int error = lacks ? -ENOENT : morph_collective_build(planning->collective, wanted);

	if ((error == -EINVAL || error == -E2BIG) && !planning->wanted.algorithm) {
		planning->topologies.full |= error == -E2BIG;
		return -ENOENT;
	}
	if (!error && collective_info(planning->collective).rounds != planning->topologies.count)
		return -ENOENT;
	if (!error)
		lacks = plan_lacks(planning, NULL);
	if (!lacks)
		return error;
	planning->topologies.lacks = lacks;
	return -ENOENT;
}

static bool is_better(const struct morph_choice *one, const struct morph_choice *other)
{
	return !other->algorithm || (one->policy && (!other->policy || one->ns < other->ns));
}

/*
 * Plan an algorithm with its present parameters, and keep the best result. Returns 0, or -ENOENT as
 * build().
 */
static int try_one(struct planning *planning, const struct morph_schedule_opts *opts,
		   const struct morph_collective_opts *wanted)
{
	struct morph_choice choice = { .algorithm = wanted->algorithm };
	int error = build(planning, wanted);

	if (!error)
		error = plan_rounds(planning, opts);
	if (error)
		return error;
	choice.rounds = collective_info(planning->collective).rounds;
	if (wanted->algorithm == MORPH_BRUCK)
		choice.radix = wanted->radix;
	if (wanted->algorithm == MORPH_BINARY)
		choice.segments = wanted->segments;
	if (wanted->algorithm == MORPH_RINGS)
		memcpy(choice.extent, wanted->extent, sizeof(choice.extent));
	if (schedule_result(planning->schedule).verdict == MORPH_FEASIBLE) {
		choice.policy = schedule_result(planning->schedule).policy;
		choice.ns = schedule_result(planning->schedule).ns;
	}
	if (is_better(&choice, &planning->choices[wanted->algorithm]))
		planning->choices[wanted->algorithm] = choice;
	return 0;
}

/*
 * Choose the algorithm that ends first among those with the file's number of rounds. *chosen is 0
 * if there is none.
 */
static int choose(struct planning *planning, const struct morph_schedule_opts *opts,
		  uint32_t *chosen)
{
	uint32_t only = planning->wanted.algorithm;

	*chosen = 0;
	for (uint32_t algorithm = 1; algorithm < MORPH_ALGORITHMS; algorithm++) {
		if (only ? algorithm != only : algorithm == MORPH_STRAGGLAR)
			continue;
		for (uint32_t variant = 0;; variant++) {
			struct morph_collective_opts wanted = planning->wanted;
			int error;

			wanted.algorithm = algorithm;
			if (!list_variant(planning, &wanted, opts->planes, variant))
				break;
			error = try_one(planning, opts, &wanted);
			if (error && error != -ENOENT)
				return error;
		}
		if (planning->choices[algorithm].algorithm &&
		    is_better(&planning->choices[algorithm], &planning->choices[*chosen]))
			*chosen = algorithm;
	}
	return 0;
}

/* Report why no algorithm has the file's number of rounds. */
static enum exit_code report_none(const struct planning *planning)
{
	const struct topologies *from = &planning->topologies;
	const char *path = planning->run->option[OPTION_FROM_SEGMENTS];
	uint32_t ranks = planning->wanted.ranks;

	if (from->lacks)
		return usage_error(
			planning->run,
			"planning %u rounds among %u ranks, one for each step of %s, takes minutes and gigabytes; to plan it all the same, use --steps %llu",
			from->count, ranks, path, (unsigned long long)from->lacks);
	if (from->full)
		warn_line(
			"%s: it has %u steps; a collective among %u ranks cannot have one round for each",
			path, from->count, ranks);
	else
		warn_line("%s: it has %u step%s; %s one round for each step among %u rank%s", path,
			  from->count, PLURAL(from->count),
			  planning->wanted.algorithm ? "the algorithm does not have" :
						       "no algorithm has",
			  ranks, PLURAL(ranks));
	return EXIT_CODE_USAGE;
}

enum exit_code topologies_solve(struct planning *planning, const struct morph_schedule_opts *opts)
{
	const struct topologies *from = &planning->topologies;
	const char *path = planning->run->option[OPTION_FROM_SEGMENTS];
	struct morph_collective_opts wanted = planning->wanted;
	uint32_t chosen, ranks = wanted.ranks;
	int error;

	if (ranks < from->ranks) {
		warn_line("%s: a link has rank %u; there are %u ranks", path, from->ranks - 1,
			  ranks);
		return EXIT_CODE_USAGE;
	}
	error = choose(planning, opts, &chosen);
	if (!error && !chosen)
		return report_none(planning);
	wanted.algorithm = chosen;
	if (!error && planning->choices[chosen].radix)
		wanted.radix = planning->choices[chosen].radix;
	if (!error && planning->choices[chosen].segments)
		wanted.segments = planning->choices[chosen].segments;
	if (!error && planning->choices[chosen].extent[0])
		memcpy(wanted.extent, planning->choices[chosen].extent, sizeof(wanted.extent));
	if (!error)
		error = build(planning, &wanted);
	if (!error)
		error = plan_rounds(planning, opts);
	if (error)
		return plan_error(planning->run, error);
	planning->choices[chosen].chosen = true;
	return EXIT_CODE_OK;
}

/* ---------------------------------------------------------------------- writing */

/* Carry out the rounds of the plan on the topologies as written, round by round. */
static bool carry_out(const struct planning *planning, const struct topologies *own,
		      const char *path, struct morph_schedule *back)
{
	const struct morph_pool pool = pool_of(own, true);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planning->planes, .pool = &pool);
	uint64_t ours = schedule_result(planning->schedule).ns, theirs;
	uint32_t ranks = collective_info(planning->collective).ranks;

	if (morph_schedule_plan(back, planning->collective, planning->delay, &opts)) {
		warn_line("%s is not written; verification failed: %s", path,
			  morph_error_text(planning->run->client->ctx));
		return false;
	}
	if (schedule_result(back).verdict != MORPH_FEASIBLE) {
		warn_line(
			"%s is not written; the format has one topology for each round, and the topologies of this plan do not fit: %s",
			path, schedule_result(back).why);
		return false;
	}
	theirs = schedule_result(back).ns;
	if (theirs != ours)
		warn_line(
			"%s: the file takes %llu ns, the plan %llu ns; the format lacks the times of changes and the circuits of each round",
			path, (unsigned long long)theirs, (unsigned long long)ours);
	if (own->ranks != ranks)
		warn_line("%s: no circuit has a rank above %u; read it with --ranks %u", path,
			  own->ranks - 1, ranks);
	return true;
}

bool topologies_return(const struct planning *planning, const char *path, const char *text,
		       size_t length)
{
	struct morph_segments *segments = NULL;
	struct morph_schedule *back = needed(morph_schedule_new(planning->run->client->ctx));
	struct topologies own = { 0 };
	char why[256];
	bool good = false;

	if (morph_segments_read(text, length, &segments, why, sizeof(why)))
		warn_line("%s is not written; verification failed: %s", path, why);
	else
		good = !take(&own, segments, "the written file") &&
		       carry_out(planning, &own, path, back);
	topologies_free(&own);
	morph_schedule_free(back);
	morph_segments_free(segments);
	return good;
}
