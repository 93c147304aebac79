// SPDX-License-Identifier: GPL-2.0-or-later
/* The number of spares that a rack needs: the published rule and the exact one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <morph/plan.h>

#include "../../libmorph/internal/planner.h"
#include "../../libmorph/bench/random.h"
#include "repro.h"

#define DRAWS 400

#define RANGES 3

struct case_ {
	const char *what;
	uint32_t count; /* parts that fail one by one */
	double least, most; /* bounds of the share of time in which one part is down */
};

/* The published range of a number. */
static struct case_ case_of(const struct repro *repro, const char *what, uint32_t count,
			    uint32_t range)
{
	struct case_ this = { .what = what, .count = count };
	char name[32];

	snprintf(name, sizeof(name), "down_%u_least", range + 1);
	this.least = repro_given(repro, name);
	snprintf(name, sizeof(name), "down_%u_most", range + 1);
	this.most = repro_given(repro, name);
	return this;
}

/* The smallest number of spares for a mean distribution, by each rule. */
struct counts {
	double published, exact;
};

/* By draw, and Pr(at least K down) on the mean of all draws. */
struct found {
	struct samples published, exact, short_of;
	double at_least[65];
};

static void draw(struct morph_ctx *ctx, const struct case_ *this, double covered, uint64_t *random,
		 struct found *found)
{
	MORPH_OPTS(morph_spare_count, count, .enough = 0);
	struct morph_risk *risk = morph_risk_new(ctx);

	for (uint32_t at = 0; at < this->count; at++)
		if (morph_risk_add_server(
			    risk, 1, this->least + (this->most - this->least) * random_unit(random),
			    0) < 0)
			repro_wrong("%s", morph_error_text(ctx));
	if (morph_risk_solve(risk) || morph_risk_spares(risk, covered, &count))
		repro_wrong("%s", morph_error_text(ctx));
	samples_add(&found->published, count.published);
	samples_add(&found->exact, count.enough);
	samples_add(&found->short_of, count.short_of);
	for (uint32_t down = 0; down <= this->count; down++)
		found->at_least[down] += morph_risk_at_least(risk, down);
	morph_risk_free(risk);
}

static struct counts on_the_mean(const struct found *found, double covered, uint32_t draws)
{
	struct counts counts = { 0 };
	double rare = 1 - covered;

	while (found->at_least[(uint32_t)counts.published] / draws > rare)
		counts.published++;
	while (found->at_least[(uint32_t)counts.exact + 1] / draws > rare)
		counts.exact++;
	return counts;
}

static void case_rows(const struct repro *repro, struct morph_ctx *ctx, const struct case_ *this,
		      uint32_t number, double covered)
{
	static struct found found;
	uint32_t draws = repro->quick ? 100 : DRAWS;
	uint64_t random = repro_seed(repro, number);
	struct counts mean;
	char name[96], condition[256];
	struct row row = {
		.name = name,
		.condition = condition,
		.unit = "spares",
		.baseline_name = "the published rule",
	};

	memset(&found, 0, sizeof(found));
	for (uint32_t at = 0; at < draws; at++)
		draw(ctx, this, covered, &random, &found);
	mean = on_the_mean(&found, covered, draws);
	snprintf(name, sizeof(name), "spares/%s, %g to %g %%", this->what, this->least * 100,
		 this->most * 100);
	snprintf(
		condition, sizeof(condition),
		"%.0f %% of the time covered, each down for a share drawn from the range, %u draws, on "
		"the mean of the distributions; Z(1) to Z(4): %.3f %.3f %.3f %.3f",
		covered * 100, draws, found.at_least[1] / draws, found.at_least[2] / draws,
		found.at_least[3] / draws, found.at_least[4] / draws);
	row.ours = mean.exact;
	row.baseline = mean.published;
	row_print(&row);
	snprintf(name, sizeof(name), "spares/%s, %g to %g %%, mean of draws", this->what,
		 this->least * 100, this->most * 100);
	snprintf(
		condition, sizeof(condition),
		"the same, each draw for itself; from %g to %g, in the worst case too few for %.4f of the time",
		samples_min(&found.exact), samples_max(&found.exact), samples_max(&found.short_of));
	samples_row(&found.exact, &row);
	row.baseline = samples_mean(&found.published);
	row_print(&row);
}

/* ------------------------------------------------------------------- groups */

/*
 * Parts that fail together: an accelerator with the lasers of its six ports; a server; the supply
 * of the four servers of a level; and, where counted, bundles of fibres. A bundle belongs to the
 * two servers that it joins.
 */
#define LEVELS 4
#define LEVEL_SERVERS 4
#define SERVERS (LEVELS * LEVEL_SERVERS)
#define ACCELERATORS 4
#define PORTS 6

struct groups {
	double accelerator, laser, server, supply, bundle;
};

static void good(struct morph_ctx *ctx, int error)
{
	if (error < 0)
		repro_wrong("%s", morph_error_text(ctx));
}

/* The share of time in which an accelerator is down by itself or with a laser that it needs. */
static double alone(const struct groups *groups)
{
	return 1 - (1 - groups->accelerator) * pow(1 - groups->laser, PORTS);
}

/* Neighbours: along x and y, where both links are one bundle, and round the ring of levels. */
static uint32_t bundles_of(uint32_t pairs[][2])
{
	uint32_t count = 0;

	for (uint32_t server = 0; server < SERVERS; server++) {
		const uint32_t next[] = { server | 1, server | 2,
					  (server + LEVEL_SERVERS) % SERVERS };

		for (uint32_t at = 0; at < 3; at++) {
			if (next[at] == server)
				continue;
			pairs[count][0] = server;
			pairs[count++][1] = next[at];
		}
	}
	return count;
}

static struct morph_risk *with_groups(struct morph_ctx *ctx, const struct groups *groups)
{
	struct morph_risk *risk = morph_risk_new(ctx);
	uint32_t pairs[3 * SERVERS][2], bundles = bundles_of(pairs);

	for (uint32_t server = 0; server < SERVERS; server++)
		good(ctx, morph_risk_add_server(risk, ACCELERATORS, alone(groups), groups->server));
	for (uint32_t level = 0; level < LEVELS; level++) {
		const uint32_t servers[LEVEL_SERVERS] = { 4 * level, 4 * level + 1, 4 * level + 2,
							  4 * level + 3 };

		good(ctx, morph_risk_add_shared(risk, servers, LEVEL_SERVERS, groups->supply));
	}
	for (uint32_t at = 0; groups->bundle > 0 && at < bundles; at++)
		good(ctx, morph_risk_add_shared(risk, pairs[at], 2, groups->bundle));
	good(ctx, morph_risk_solve(risk));
	return risk;
}

/*
 * Each accelerator is down for the same share of time as with groups, but independently of the
 * others.
 */
static struct morph_risk *independent(struct morph_ctx *ctx, const struct groups *groups)
{
	uint32_t pairs[3 * SERVERS][2], bundles = bundles_of(pairs);
	struct morph_risk *risk = morph_risk_new(ctx);

	for (uint32_t server = 0; server < SERVERS; server++) {
		double up = (1 - alone(groups)) * (1 - groups->server) * (1 - groups->supply);

		for (uint32_t at = 0; at < bundles; at++)
			if (pairs[at][0] == server || pairs[at][1] == server)
				up *= 1 - groups->bundle;
		good(ctx, morph_risk_add_server(risk, ACCELERATORS, 1 - up, 0));
	}
	good(ctx, morph_risk_solve(risk));
	return risk;
}

static void group_rows(struct morph_ctx *ctx, const struct groups *groups, const char *name,
		       const char *condition, double covered)
{
	MORPH_OPTS(morph_spare_count, together, .enough = 0);
	MORPH_OPTS(morph_spare_count, apart, .enough = 0);
	struct morph_risk *grouped = with_groups(ctx, groups);
	struct morph_risk *each = independent(ctx, groups);
	char words[192];

	good(ctx, morph_risk_spares(grouped, covered, &together));
	good(ctx, morph_risk_spares(each, covered, &apart));
	row_print(&(struct row){
		.name = name,
		.condition = condition,
		.unit = "spares",
		.ours = together.enough,
		.baseline_name = "as if independent",
		.baseline = apart.enough,
	});
	snprintf(words, sizeof(words), "%s, time in which the independent number is too small",
		 name);
	row_print(&(struct row){
		.name = words,
		.condition = condition,
		.unit = "share of time",
		.ours = morph_risk_at_least(grouped, apart.enough + 1),
		.baseline_name = "as if independent",
		.baseline = apart.short_of,
	});
	morph_risk_free(grouped);
	morph_risk_free(each);
}

static void groups_rows(const struct repro *repro, struct morph_ctx *ctx, uint32_t range,
			bool bundles)
{
	struct case_ this = case_of(repro, "64 accelerators", SERVERS * ACCELERATORS, range);
	struct groups groups = {
		.accelerator = (this.least + this.most) / 2,
		.laser = repro_given(repro, "laser"),
		.server = repro_given(repro, "server"),
		.supply = repro_given(repro, "supply"),
		.bundle = bundles ? repro_given(repro, "bundle") : 0,
	};
	double covered = repro_given(repro, "covered");
	char name[128], condition[512];

	snprintf(name, sizeof(name), "spares/%s in groups%s, %g to %g %%", this.what,
		 bundles ? " and bundles" : "", this.least * 100, this.most * 100);
	snprintf(
		condition, sizeof(condition),
		"%.0f %% of the time covered, exact; down: accelerators %g %%, the mean of the range, lasers of a "
		"port %g %%, servers %g %%, supplies of four servers %g %%, bundles of fibres between two "
		"servers, which take both, %g %%; independent: each accelerator as often as with groups",
		covered * 100, groups.accelerator * 100, groups.laser * 100, groups.server * 100,
		groups.supply * 100, groups.bundle * 100);
	group_rows(ctx, &groups, name, condition, covered);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		uint32_t count;
	} subjects[] = { { "64 accelerators", 64 }, { "16 servers", 16 } };
	struct morph_ctx *ctx;
	struct repro repro;
	double covered;

	repro_begin(&repro, argc, argv);
	if (morph_ctx_new(NULL, &ctx))
		repro_wrong("cannot create a context");
	covered = repro_given(&repro, "covered");
	for (uint32_t at = 0; at < 2 * RANGES; at++) {
		struct case_ this = case_of(&repro, subjects[at / RANGES].what,
					    subjects[at / RANGES].count, at % RANGES);

		case_rows(&repro, ctx, &this, at, covered);
	}
	for (uint32_t bundles = 0; bundles < 2; bundles++)
		for (uint32_t range = 0; range < RANGES; range++)
			groups_rows(&repro, ctx, range, bundles);
	morph_ctx_free(ctx);
	return 0;
}
