// SPDX-License-Identifier: GPL-2.0-or-later
/* How many spares are enough for a rack: the published rule and the exact one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <morph/morph.h>

#include "../../libmorph/bench/random.h"
#include "repro.h"

#define DRAWS 400

#define RANGES 3

struct case_ {
	const char *what;
	uint32_t count; /* that fail one by one */
	double least, most; /* of the share of time for which one is down */
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

/* Least K of a mean distribution: by either rule. */
struct counts {
	double published, exact;
};

/* By draw, and Pr(at least so many) on the mean of all. */
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
	snprintf(name, sizeof(name), "spares/%s, %g to %g %%, draw by draw", this->what,
		 this->least * 100, this->most * 100);
	snprintf(
		condition, sizeof(condition),
		"the same, each draw for itself; from %g to %g, too few for %.4f of the time at worst",
		samples_min(&found.exact), samples_max(&found.exact), samples_max(&found.short_of));
	samples_row(&found.exact, &row);
	row.baseline = samples_mean(&found.published);
	row_print(&row);
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
		repro_wrong("there is no context");
	covered = repro_given(&repro, "covered");
	for (uint32_t at = 0; at < 2 * RANGES; at++) {
		struct case_ this = case_of(&repro, subjects[at / RANGES].what,
					    subjects[at / RANGES].count, at % RANGES);

		case_rows(&repro, ctx, &this, at, covered);
	}
	morph_ctx_free(ctx);
	return 0;
}
