/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: how often a spare can take over, with its light. Included by <morph/plan.h>. */
#ifndef MORPH_COVERAGE_H
#define MORPH_COVERAGE_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Coverage
 *
 * A spare is of use only where light gets there. Slices are lit in a model's ledger by the
 * router of the driver's failover; then things fail and are repaired, and for each accelerator
 * of a slice that fails a spare is looked for that all of its circuits reach: routed, claimed
 * and judged as the driver does, on what is free then. Where fibres or lasers fail, circuits are
 * led another way and accelerators stay.
 *
 * An accelerator that was replaced is a spare once it is repaired, as in the driver; or, where
 * switching is revertive (as ITU-T G.808 calls it), its rank goes back to it. One that could not
 * be replaced keeps its rank, and what its circuits hold; that, and circuits that stay dark, are
 * tried again with each repair. Beside the answers with routes stand those by number alone, which
 * <morph/risk.h> has exactly. A model of coverage is used by one thread at a time.
 */

/**
 * morph_coverage_new() - begin a model of coverage
 * @ctx: the context, which must outlive it
 * @model: the fabric; held until morph_coverage_free()
 *
 * Return: a fabric in which nothing is lit, nothing ever fails, and the spares are those that
 * the profile names; freed by morph_coverage_free(). NULL when out of memory.
 */
struct morph_coverage *morph_coverage_new(struct morph_ctx *ctx, struct morph_model *model);

/**
 * morph_coverage_free() - free a model of coverage
 * @coverage: the model, or NULL
 */
void morph_coverage_free(struct morph_coverage *coverage);

/**
 * morph_coverage_add_slice() - accelerators that one tenant has
 * @coverage: the model
 * @accelerators: that of each rank
 * @count: how many
 *
 * Return: the slice's number, counted from 0; -EINVAL (none), -ENOENT (no such accelerator),
 * -EBUSY (a spare, or in a slice already) or -ENOMEM.
 */
int morph_coverage_add_slice(struct morph_coverage *coverage, const uint32_t *accelerators,
			     size_t count);

/**
 * struct morph_coverage_circuit - light from one rank of a slice to another
 * @sz: size of this structure
 * @src: the rank that sends
 * @dst: the rank that receives
 * @lanes: how many; 0: all that a guide has
 * @plane: the port of both, counted from 1; 0: any
 *
 * A spare that takes over, or another way, may use any ports.
 */
struct morph_coverage_circuit {
	size_t sz;
	uint32_t src;
	uint32_t dst;
	uint32_t lanes;
	uint32_t plane;
};

/**
 * morph_coverage_add_circuit() - light a circuit of a slice
 * @coverage: the model
 * @slice: the slice
 * @circuit: between which ranks
 *
 * Return: 0, -ENOENT (no such slice or rank), -EINVAL (one rank, or more lanes or ports than
 * there are), -E2BIG (unknown options), -ENOMEM, or what the router or the judge says: there is
 * no way for it, or none with margin and isolation.
 */
int morph_coverage_add_circuit(struct morph_coverage *coverage, uint32_t slice,
			       const struct morph_coverage_circuit *circuit);

/**
 * morph_coverage_set_spares() - which accelerators are kept as spares
 * @coverage: the model
 * @accelerators: their numbers
 * @count: how many, may be none
 *
 * Return: 0, -ENOENT (no such accelerator) or -EBUSY (in a slice, or named twice); then the
 * spares are as before.
 */
int morph_coverage_set_spares(struct morph_coverage *coverage, const uint32_t *accelerators,
			      size_t count);

/**
 * enum morph_coverage_part - what can fail
 * @MORPH_COVERAGE_ACCELERATOR: an accelerator alone; light still passes its tile
 * @MORPH_COVERAGE_LASER: the lasers of one port of an accelerator
 * @MORPH_COVERAGE_SERVER: a server: its accelerators, and all light through it
 * @MORPH_COVERAGE_SUPPLY: servers that morph_coverage_add_supply() names, likewise
 * @MORPH_COVERAGE_BUNDLE: all fibres between two servers
 * @MORPH_COVERAGE_PARTS: how many kinds there are
 */
enum morph_coverage_part {
	MORPH_COVERAGE_ACCELERATOR,
	MORPH_COVERAGE_LASER,
	MORPH_COVERAGE_SERVER,
	MORPH_COVERAGE_SUPPLY,
	MORPH_COVERAGE_BUNDLE,
	MORPH_COVERAGE_PARTS,
};

/**
 * morph_coverage_set_rate() - how often each part of a kind fails
 * @coverage: the model
 * @part: enum morph_coverage_part
 * @active_ns: mean time from its repair to its next failure; 0: it never fails
 * @repair_ns: mean time of a repair
 *
 * Both times are exponential, and independent of everything else.
 *
 * Return: 0 or -EINVAL (no such kind, or no time for a repair of what fails).
 */
int morph_coverage_set_rate(struct morph_coverage *coverage, uint32_t part, uint64_t active_ns,
			    uint64_t repair_ns);

/**
 * morph_coverage_add_supply() - servers that fail together
 * @coverage: the model
 * @hosts: their numbers
 * @count: how many
 *
 * Return: 0, -EINVAL (none), -ENOENT (no such server) or -ENOMEM.
 */
int morph_coverage_add_supply(struct morph_coverage *coverage, const uint32_t *hosts, size_t count);

/**
 * struct morph_coverage_opts - how to simulate
 * @sz: size of this structure
 * @seed: of the draws
 * @replications: independent ones; 0: 20; 2 at least
 * @failures: of accelerators of slices, in each of them; 0: 500
 * @steps: the router's budget for each circuit; 0: the driver's
 * @revertive: ranks go back to their first accelerators when these are repaired
 */
struct morph_coverage_opts {
	size_t sz;
	uint64_t seed;
	uint32_t replications;
	uint32_t failures;
	uint32_t steps;
	bool revertive;
};

/**
 * struct morph_coverage_estimate - a figure that was simulated
 * @mean: over the replications
 * @low: its 95 % confidence interval begins here
 * @high: and ends here
 */
struct morph_coverage_estimate {
	double mean;
	double low;
	double high;
};

/**
 * struct morph_coverage_result - what came of the failures
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @failures: accelerators of slices that failed
 * @replaced: of these, by a spare that all circuits reach, with margin and isolation
 * @no_spare: not replaced: no spare was left
 * @no_route: not replaced: there were spares, and no way to any
 * @no_margin: not replaced: there were ways, all of which the judge refused
 * @gave_up: not replaced: the router's budget was used up for one spare at least
 * @rerouted: circuits whose fibres or lasers failed, or that lead through a server that did:
 * 	led another way
 * @dark: of such circuits those for which there was none
 * @moved: circuits that spares took over
 * @extra_fibres: fibres that each of these crosses more than before, on the mean
 * @least_margin_mdb: above sensitivity, of all circuits that were lit
 * @covered: share of failures that were replaced
 * @counted: share of failures at which no more accelerators were down than there are spares
 * @waiting: share of time for which some rank has no accelerator that is sound
 * @counted_waiting: share of time for which more accelerators are down than there are spares
 * @bandwidth: lanes that are lit, as a share of those wanted, over the time
 */
struct morph_coverage_result {
	size_t sz;
	uint64_t failures;
	uint64_t replaced;
	uint64_t no_spare;
	uint64_t no_route;
	uint64_t no_margin;
	uint64_t gave_up;
	uint64_t rerouted;
	uint64_t dark;
	uint64_t moved;
	double extra_fibres;
	int32_t least_margin_mdb;
	struct morph_coverage_estimate covered;
	struct morph_coverage_estimate counted;
	struct morph_coverage_estimate waiting;
	struct morph_coverage_estimate counted_waiting;
	struct morph_coverage_estimate bandwidth;
};

/**
 * morph_coverage_run() - let things fail and be repaired
 * @coverage: the model
 * @opts: how, or NULL
 * @out: what came of it
 *
 * An event-driven simulation. Each replication begins with what is lit at first and with what is
 * down on the mean, and ends with the last of its failures; what is down at the beginning
 * counts as no failure. Intervals are Student's, over the replications. Spares are tried same
 * host first, as in the driver, and then by fibres to cross, where the driver goes by the hosts'
 * numbers; sixteen at most. An event costs O(light that there is), and for each spare that is
 * tried the router's and the judge's work for the circuits of one rank. After the first run
 * nothing is allocated.
 *
 * Return: 0, -EINVAL (nothing can fail, no slices, or one replication), -E2BIG (unknown options
 * or results) or -ENOMEM.
 */
int morph_coverage_run(struct morph_coverage *coverage, const struct morph_coverage_opts *opts,
		       struct morph_coverage_result *out);

/**
 * morph_coverage_try() - let these fail, one after the other, and nothing else
 * @coverage: the model
 * @accelerators: their numbers, in order
 * @count: how many
 * @out: what came of it; shares of time are those at the end
 *
 * Return: 0, -ENOENT (no such accelerator), -E2BIG (unknown results) or -ENOMEM.
 */
int morph_coverage_try(struct morph_coverage *coverage, const uint32_t *accelerators, size_t count,
		       struct morph_coverage_result *out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_COVERAGE_H */
