// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An analysis of the published "1.72 times faster training". A step computes and then adds up its
 * gradients by a ring. The program derives both times from the published times at the largest
 * batch. The same model then predicts other batches and faster links.
 */
#include <stdio.h>

#include "repro.h"

struct step {
	double compute_s; /* at the largest batch */
	double add_s; /* electrical */
	double ratio; /* of bandwidths */
};

static double speedup(const struct step *step, double compute_share, double faster)
{
	double compute = step->compute_s * compute_share, add = step->add_s / faster;

	return (compute + add) / (compute + add / step->ratio);
}

/* The time of an epoch is the time of its steps: samples / (2 accelerators * batch). */
static struct step fit(const struct repro *repro, double batch)
{
	double steps = repro_given(repro, "samples") / (2 * batch);
	double before = repro_given(repro, "electrical_epoch_s") / steps;
	double after = repro_given(repro, "optical_epoch_s") / steps;
	struct step step = { .ratio = repro_given(repro, "bandwidth_ratio") };

	step.add_s = (before - after) / (1 - 1 / step.ratio);
	step.compute_s = before - step.add_s;
	return step;
}

int main(int argc, char **argv)
{
	static const uint32_t batches[] = { 2, 4, 8 }, faster[] = { 10, 100, 1000 };
	struct repro repro;
	struct step step;
	double batch, bytes;
	char name[64], condition[256];
	struct row row = {
		.name = name,
		.condition = condition,
		.unit = "times",
		.baseline_name = "electrical",
		.baseline = 1,
		.approximation =
			"computing, then a ring, derived from the published times at batch 8; no training runs here",
	};

	repro_begin(&repro, argc, argv);
	batch = repro_given(&repro, "batch");
	step = fit(&repro, batch);
	/* With two accelerators, the ring carries as many bytes as there are gradients. */
	bytes = repro_given(&repro, "parameters") * 4;
	snprintf(
		condition, sizeof(condition),
		"of the electrical step at batch %g: %.2f s of %.2f s add up %.2f GB at %.2f GB/s, the rest is computing",
		batch, step.add_s, step.add_s + step.compute_s, bytes / 1e9,
		bytes / step.add_s / 1e9);
	row_print(&(struct row){
		.name = "training/share of a step in the all-reduce",
		.condition = condition,
		.ours = step.add_s / (step.add_s + step.compute_s),
		.unit = "share of time",
		.approximation = row.approximation,
	});
	for (uint32_t at = 0; at < sizeof(batches) / sizeof(*batches); at++) {
		snprintf(name, sizeof(name), "training/batch %u", batches[at]);
		snprintf(
			condition, sizeof(condition),
			"two servers, 10 Gb/s ports, bandwidth ratio %g as measured in the original; the model is derived from batch %g",
			step.ratio, batch);
		row.ours = speedup(&step, batches[at] / batch, 1);
		row_print(&row);
	}
	for (uint32_t at = 0; at < sizeof(faster) / sizeof(*faster); at++) {
		snprintf(name, sizeof(name), "training/batch %g, links %u times faster", batch,
			 faster[at]);
		snprintf(
			condition, sizeof(condition),
			"the same job and ratio with %u Gb/s at each port: the gain comes from slow links",
			10 * faster[at]);
		row.ours = speedup(&step, 1, faster[at]);
		row_print(&row);
	}
	return 0;
}
