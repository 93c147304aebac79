// SPDX-License-Identifier: LGPL-2.1-or-later
/* The position of a spare server outside the torus: five positions, and two rules of its fibres. */
#include <stdio.h>
#include <string.h>

#include "../internal/planner.h"
#include "figures.h"

#define POSITIONS 5
#define SPARE_SERVER 16 /* after those of the torus */

static const char *const positions[POSITIONS] = { "(-1,0,0)", "(0,-1,0)", "(0,0,-1)", "(0,-1,1)",
						  "(-1,0,1)" };

static const char joined[] =
	"which servers a spare server is joined to is not published: profiles/README.md has the rules";

/* A rule of the fibres of spare servers. */
enum joins {
	RING,
	LEVELS,
	JOINS,
};

static const char *const joins_names[JOINS] = { "ring", "levels" };

static void profile_of(enum joins joins, uint32_t position, char profile[64])
{
	snprintf(profile, 64, "spares/rack64-%s-%u", joins_names[joins], position + 1);
}

/* The share of replaced accelerators, of 64 in a torus that fills the rack, each failing alone. */
static struct figure bench_position_alone(enum joins joins, uint32_t position)
{
	struct morph_coverage *coverage;
	uint64_t replaced = 0, moved = 0;
	double extra = 0;
	char profile[64];

	profile_of(joins, position, profile);
	coverage = new_rack(profile);
	check(tori_light(coverage, &whole_rack));
	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++) {
		MORPH_OPTS(morph_coverage_result, result);

		check(morph_coverage_try(coverage, &chip, 1, &result));
		replaced += result.replaced;
		moved += result.moved;
		extra += result.extra_fibres * (double)result.moved;
	}
	morph_coverage_free(coverage);
	report(
		&(const struct row){
			.condition = "a 4x4x4 torus fills the rack, one spare server of four",
			.ours = exactly((double)replaced / TORI_CHIPS),
			.baseline = 1,
			.unit = "share of 64",
			.versus = "by number alone",
			.approximation = joined,
		},
		"spare server at %s, joined to %s: replaced alone", positions[position],
		joins_names[joins]);
	report(
		&(const struct row){
			.condition = "as above",
			.ours = exactly(moved ? extra / (double)moved : 0),
			.baseline = NAN,
			.unit = "fibres more per circuit",
			.approximation = joined,
		},
		"detour from %s, %s", positions[position], joins_names[joins]);
	return exactly((double)replaced / TORI_CHIPS);
}

/* Fibres that leave the spare server in its profile. */
static double fibres_of(enum joins joins, uint32_t position)
{
	struct morph_ledger *ledger;
	struct morph_object *info;
	struct morph_model *model;
	struct morph_traffic *te;
	char profile[64];
	double lanes = 0;
	int links;

	profile_of(joins, position, profile);
	model = load_model(profile);
	check(morph_ledger_new(bench.ctx, model, &ledger));
	check(morph_model_info(bench.ctx, model, &info));
	te = morph_traffic_new(bench.ctx);
	if (!te)
		die();
	links = morph_traffic_add_servers(te, ledger);
	check(links);
	for (uint32_t link = 0; link < (uint32_t)links; link++) {
		uint32_t from, to;

		check(morph_traffic_link_ends(te, link, &from, &to));
		lanes += from == SPARE_SERVER ? morph_traffic_capacity(te, link) : 0;
	}
	lanes /= morph_object_uint(info, "wavelengths");
	morph_traffic_free(te);
	morph_object_free(info);
	morph_ledger_free(ledger);
	morph_model_put(model);
	return lanes;
}

static struct figure bench_position(uint32_t position)
{
	struct morph_coverage_result result;
	struct morph_coverage *coverage;
	char profile[64];

	profile_of(LEVELS, position, profile);
	coverage = new_rack(profile);
	check(tori_light(coverage, &whole_rack));
	fails(coverage, MORPH_COVERAGE_ACCELERATOR, 0.02);
	result = run_rack(coverage, true);
	morph_coverage_free(coverage);
	report(
		&(const struct row){
			.condition =
				"a 4x4x4 torus, 4 spares, accelerators down 2 % of the time, revertive",
			.ours = estimated(&result.covered),
			.baseline = result.counted.mean,
			.unit = "share of failures replaced",
			.versus = "by number alone",
			.approximation = joined,
		},
		"spare server at %s, joined to levels: coverage with routes", positions[position]);
	report(
		&(const struct row){
			.condition = "fibres each way, counted in the profile",
			.ours = exactly(fibres_of(LEVELS, position)),
			.baseline = fibres_of(RING, position),
			.unit = "fibres",
			.versus = "joined to its ring alone",
			.approximation = joined,
		},
		"fibres of the spare server at %s", positions[position]);
	return estimated(&result.covered);
}

/* ------------------------------------------------------------------- winners */

/* The lead of one figure over another. Exact figures have no interval. */
static struct figure lead(const struct figure *one, const struct figure *other)
{
	double mean = one->mean - other->mean, half;

	if (isnan(one->low) || isnan(other->low))
		return exactly(mean);
	half = hypot((one->high - one->low) / 2, (other->high - other->low) / 2);
	return (struct figure){ mean, mean - half, mean + half };
}

/* The best figure below @limit, or NULL. */
static const struct figure *best_below(const struct figure figures[POSITIONS], double limit)
{
	const struct figure *best = NULL;

	for (uint32_t at = 0; at < POSITIONS; at++)
		if (figures[at].mean < limit && (!best || figures[at].mean > best->mean))
			best = &figures[at];
	return best;
}

static const struct figure *worst_of(const struct figure figures[POSITIONS])
{
	const struct figure *worst = figures;

	for (uint32_t at = 1; at < POSITIONS; at++)
		if (figures[at].mean < worst->mean)
			worst = &figures[at];
	return worst;
}

/* The names of positions with the same figure. */
static void name_all(const struct figure figures[POSITIONS], const struct figure *like, char *words,
		     size_t size)
{
	size_t length = 0;

	for (uint32_t at = 0; at < POSITIONS && length < size; at++)
		if (figures[at].mean <= like->mean && figures[at].mean >= like->mean)
			length += (size_t)snprintf(words + length, size - length, "%s%s",
						   length ? " " : "", positions[at]);
}

/* The best position, and its lead over the next one and over the worst. */
static void report_winner(const struct figure figures[POSITIONS], const char *what,
			  const char *unit)
{
	const struct figure *winner = best_below(figures, INFINITY), *worst = worst_of(figures);
	const struct figure *next = best_below(figures, winner->mean);
	char first[64], second[64] = "none", last[64], condition[384];
	struct row row = {
		.condition = condition,
		.unit = unit,
		.baseline = NAN,
		.approximation = joined,
	};
	struct figure over_next = lead(winner, next ? next : winner);

	name_all(figures, winner, first, sizeof(first));
	if (next)
		name_all(figures, next, second, sizeof(second));
	name_all(figures, worst, last, sizeof(last));
	snprintf(
		condition, sizeof(condition),
		"wins: %s; next: %s%s; last: %s; what is simulated has the interval of two independent "
		"means",
		first, second, over_next.low <= 0 ? ", which it is not told apart from" : "", last);
	row.ours = over_next;
	report(&row, "the winner's lead over the next, %s", what);
	row.ours = lead(winner, worst);
	report(&row, "the winner's lead over the last, %s", what);
}

void bench_positions(void)
{
	struct figure alone[JOINS][POSITIONS], covered[POSITIONS];

	bench.figure = "spare-positions";
	for (uint32_t position = 0; position < POSITIONS; position++)
		alone[RING][position] = bench_position_alone(RING, position);
	for (uint32_t position = 0; position < POSITIONS; position++) {
		alone[LEVELS][position] = bench_position_alone(LEVELS, position);
		covered[position] = bench_position(position);
	}
	report_winner(alone[RING], "joined to ring: replaced alone", "share of 64");
	report_winner(alone[LEVELS], "joined to levels: replaced alone", "share of 64");
	report_winner(covered, "joined to levels: coverage with routes",
		      "share of failures replaced");
}
