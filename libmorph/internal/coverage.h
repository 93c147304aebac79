/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulation: how often a spare can take over together with its light. For the library, its tests
 * and its benches.
 */
#ifndef MORPH_COVERAGE_H
#define MORPH_COVERAGE_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Coverage
 *
 * A spare helps only if light reaches it. The router of the driver's failover lights slices in a
 * ledger of the model. Then parts fail and are repaired. For each failed accelerator of a slice,
 * the simulation looks for a spare that all of its circuits reach. It routes, claims and validates
 * as the driver does, on the resources that are free then. If fibres or lasers fail, circuits are
 * rerouted and accelerators stay.
 *
 * A replaced accelerator becomes a spare after its repair, as in the driver. With revertive
 * switching (ITU-T G.808) its rank returns to it instead. A failed accelerator without a
 * replacement keeps its rank and the resources of its circuits. Each repair tries these, and dark
 * circuits, again. The result also has figures by number alone; <morph/risk.h> computes these
 * exactly. One thread at a time can use a model of coverage.
 */

/**
 * morph_coverage_new() - create a model of coverage
 * @ctx: the context, which must outlive it
 * @model: the fabric; held until morph_coverage_free()
 *
 * Return: a fabric without light or failures, with the spares of the profile, freed by
 * morph_coverage_free(); NULL when out of memory.
 */
struct morph_coverage *morph_coverage_new(struct morph_ctx *ctx, struct morph_model *model);

/**
 * morph_coverage_free() - free a model of coverage
 * @coverage: the model, or NULL
 */
void morph_coverage_free(struct morph_coverage *coverage);

/**
 * morph_coverage_add_slice() - add a slice
 * @coverage: the model
 * @accelerators: the accelerator of each rank
 * @count: number of ranks
 *
 * Return: the slice's number, counted from 0; -EINVAL (none), -ENOENT (no such accelerator), -EBUSY
 * (a spare, or in a slice already) or -ENOMEM.
 */
int morph_coverage_add_slice(struct morph_coverage *coverage, const uint32_t *accelerators,
			     size_t count);

/**
 * struct morph_coverage_circuit - a circuit from one rank of a slice to another
 * @sz: size of this structure
 * @src: the rank that sends
 * @dst: the rank that receives
 * @lanes: number of lanes; 0: all lanes of a guide
 * @plane: the port of both ranks, counted from 1; 0: any
 *
 * After a replacement or a reroute, the circuit can use any ports.
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
 * @circuit: the circuit
 *
 * Return: 0, -ENOENT (no such slice or rank), -EINVAL (from a rank to itself, or too many lanes or
 * ports), -E2BIG (unknown options) or -ENOMEM. Without a path, or one with margin and isolation, it
 * is the error of the router or the validator.
 */
int morph_coverage_add_circuit(struct morph_coverage *coverage, uint32_t slice,
			       const struct morph_coverage_circuit *circuit);

/**
 * morph_coverage_set_spares() - set the spares
 * @coverage: the model
 * @accelerators: their numbers
 * @count: how many, can be none
 *
 * Return: 0, -ENOENT (no such accelerator) or -EBUSY (in a slice, or named twice). After an error
 * the spares are unchanged.
 */
int morph_coverage_set_spares(struct morph_coverage *coverage, const uint32_t *accelerators,
			      size_t count);

/**
 * enum morph_coverage_part - kinds of parts that fail
 * @MORPH_COVERAGE_ACCELERATOR: an accelerator alone; light still passes its tile
 * @MORPH_COVERAGE_LASER: the lasers of one port of an accelerator
 * @MORPH_COVERAGE_SERVER: a server: its accelerators, and all light through it
 * @MORPH_COVERAGE_SUPPLY: servers that morph_coverage_add_supply() names, likewise
 * @MORPH_COVERAGE_BUNDLE: all fibres between two servers
 * @MORPH_COVERAGE_PARTS: number of kinds
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
 * morph_coverage_set_rate() - set the failure rate of a kind of parts
 * @coverage: the model
 * @part: enum morph_coverage_part
 * @active_ns: mean time from its repair to its next failure; 0: it never fails
 * @repair_ns: mean time of a repair
 *
 * Both times are exponential and independent.
 *
 * Return: 0 or -EINVAL (no such kind, or no repair time for a kind that fails).
 */
int morph_coverage_set_rate(struct morph_coverage *coverage, uint32_t part, uint64_t active_ns,
			    uint64_t repair_ns);

/**
 * morph_coverage_add_supply() - add a power supply of several servers
 * @coverage: the model
 * @hosts: their numbers
 * @count: how many
 *
 * Return: 0, -EINVAL (none), -ENOENT (no such server) or -ENOMEM.
 */
int morph_coverage_add_supply(struct morph_coverage *coverage, const uint32_t *hosts, size_t count);

/**
 * struct morph_coverage_opts - options of the simulation
 * @sz: size of this structure
 * @seed: random seed
 * @replications: independent replications, at least 2; 0: 20
 * @failures: failures of accelerators of slices in each of them; 0: 500
 * @steps: the router's budget for each circuit; 0: the driver's
 * @revertive: ranks return to their first accelerators after the repair
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
 * struct morph_coverage_estimate - a simulated figure
 * @mean: mean over the replications
 * @low: begin of its 95 % confidence interval
 * @high: end of the interval
 */
struct morph_coverage_estimate {
	double mean;
	double low;
	double high;
};

/**
 * struct morph_coverage_result - results of the simulation
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @failures: failed accelerators of slices
 * @replaced: of these, by a spare that all circuits reach, with margin and isolation
 * @no_spare: not replaced: no spare was left
 * @no_route: not replaced: no spare had a path
 * @no_margin: not replaced: the validator refused all paths
 * @gave_up: not replaced: the router used its budget for at least one spare
 * @rerouted: circuits with failed fibres or lasers, or through a failed server, that got another
 *	path
 * @dark: such circuits that got none
 * @moved: circuits that moved to a spare
 * @extra_fibres: mean number of additional fibres of each moved circuit
 * @least_margin_mdb: least margin above the sensitivity, of all lit circuits
 * @covered: share of failures that were replaced
 * @counted: share of failures after which at most as many accelerators were down as spares exist
 * @waiting: share of time during which a rank has no healthy accelerator
 * @counted_waiting: share of time during which the number of failed accelerators exceeds the spares
 * @bandwidth: mean share of the wanted lanes that is lit
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
 * morph_coverage_run() - simulate failures and repairs
 * @coverage: the model
 * @opts: options, or NULL
 * @out: the results
 *
 * An event-driven simulation. Each replication begins with the initial light and with parts down in
 * their mean share of time. It ends with its last failure; parts down at the begin do not count as
 * failures. Intervals are Student's, over the replications. At most sixteen spares are tried: those
 * of the same host first, as in the driver, and then by the number of fibres, where the driver
 * takes host numbers. An event costs O(circuits), and for each spare the work of router and
 * validator for the circuits of one rank. After the first run it allocates nothing.
 *
 * Return: 0, -EINVAL (nothing can fail, no slices, or one replication), -E2BIG (unknown options or
 * results) or -ENOMEM.
 */
int morph_coverage_run(struct morph_coverage *coverage, const struct morph_coverage_opts *opts,
		       struct morph_coverage_result *out);

/**
 * morph_coverage_try() - simulate the failures of given accelerators only
 * @coverage: the model
 * @accelerators: their numbers, in order
 * @count: how many
 * @out: the results; shares of time are those at the end
 *
 * Return: 0, -ENOENT (no such accelerator), -E2BIG (unknown results) or -ENOMEM.
 */
int morph_coverage_try(struct morph_coverage *coverage, const uint32_t *accelerators, size_t count,
		       struct morph_coverage_result *out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_COVERAGE_H */
