/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: bandwidth of groups of accelerators. Included by <morph/plan.h>. */
#ifndef MORPH_BANDWIDTH_H
#define MORPH_BANDWIDTH_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Bandwidth of groups
 *
 * Groups of accelerators that communicate, such as the rings of a job, share ports and guides. A
 * group is a list of hops, in any shape: a ring of n members has n of them, or 2n if it is duplex.
 * At bandwidth x it has x circuits on each hop. The fair bandwidths are leximin: the least of them
 * is as large as possible, then the next, and so on. They are whole numbers and can differ: of
 * three ports that two groups share, one gets two.
 *
 * A fibre carries one lane of each wavelength, and a port is the end of one fibre. A circuit is a
 * lane and keeps its wavelength from end to end, because nothing converts it. The circuits of one
 * wavelength are limited at each guide by its fibres, and at each accelerator by its transmit and
 * receive ports. So p ports carry p * wavelengths lanes, if wavelengths can be assigned. With one
 * wavelength a circuit takes ports and fibres whole: the model of the Morphlux paper (arXiv
 * 2508.03674v3, 5.2).
 *
 * The solver raises all groups together, lane by lane. If not all can rise, a largest possible set
 * does. It follows all largest sets, so the answer is leximin, with proof: six groups have 720
 * orders of staying behind, and larger numbers have no bound. Both the choice of a largest set (set
 * packing) and the assignment of wavelengths (graph colouring) are NP-hard. A budget of steps
 * limits the search for both. Beyond it the answer is still fair, with proof: no group can gain
 * unless another one drops to its level. One thread at a time can use a problem.
 */

/**
 * morph_bandwidth_new() - create a problem
 * @ctx: the context, which must outlive the problem
 * @wavelengths: lanes of a fibre; 1 if a circuit takes it whole
 *
 * Return: the problem, freed by morph_bandwidth_free(); NULL (no wavelengths, more than 256, or out
 * of memory).
 */
struct morph_bandwidth *morph_bandwidth_new(struct morph_ctx *ctx, uint32_t wavelengths);

/**
 * morph_bandwidth_free() - free a problem
 * @bw: the problem, or NULL
 */
void morph_bandwidth_free(struct morph_bandwidth *bw);

/**
 * morph_bandwidth_add_accelerator() - add an accelerator with its ports
 * @bw: the problem
 * @transmit: ports for outgoing circuits
 * @receive: ports for incoming circuits
 *
 * Return: its number, counted from 0; -E2BIG (more than 65536 of them, or 1024 ports) or -ENOMEM.
 */
int morph_bandwidth_add_accelerator(struct morph_bandwidth *bw, uint32_t transmit,
				    uint32_t receive);

/**
 * morph_bandwidth_add_guide() - add a guide that circuits share
 * @bw: the problem
 * @fibres: number of its fibres in this direction
 *
 * Return: its number, counted from 0; -E2BIG (more than 65536 of them, or 4096 fibres) or -ENOMEM.
 */
int morph_bandwidth_add_guide(struct morph_bandwidth *bw, uint32_t fibres);

/**
 * morph_bandwidth_add_group() - add a group
 * @bw: the problem
 * @least: least bandwidth that it needs
 * @most: most bandwidth that it can use; 0: no limit
 *
 * Return: its number, counted from 0; -EINVAL (@least is above @most), -E2BIG (more than 4096) or
 * -ENOMEM.
 */
int morph_bandwidth_add_group(struct morph_bandwidth *bw, uint32_t least, uint32_t most);

/**
 * morph_bandwidth_add_hop() - add a hop of a group
 * @bw: the problem
 * @group: its number
 * @source: the accelerator that sends
 * @target: the accelerator that receives, another one
 * @circuits: circuits for each unit of the group's bandwidth; 1 in regular shapes
 * @guides: the guides on the path, each once
 * @count: how many; 0 if the path shares only ports
 *
 * Return: the hop's number, counted from 0 over all groups; -ENOENT (no such group, accelerator or
 * guide), -EINVAL (no circuits, a guide twice, @source is @target), -E2BIG or -ENOMEM. The limits
 * are 2^20 hops, 64 guides of a hop, and 1024 circuits.
 */
int morph_bandwidth_add_hop(struct morph_bandwidth *bw, uint32_t group, uint32_t source,
			    uint32_t target, uint32_t circuits, const uint32_t *guides,
			    size_t count);

/**
 * enum morph_bandwidth_proof - proven properties of a plan
 * @MORPH_BANDWIDTH_LEGAL: no port or guide is overloaded, and each circuit has a wavelength
 * @MORPH_BANDWIDTH_FAIR: also, no group can gain unless another one drops to its level
 * @MORPH_BANDWIDTH_LEXIMIN: also, no other plan is fairer
 */
enum morph_bandwidth_proof {
	MORPH_BANDWIDTH_LEGAL,
	MORPH_BANDWIDTH_FAIR,
	MORPH_BANDWIDTH_LEXIMIN,
};

/**
 * struct morph_bandwidth_opts - options of the solver
 * @sz: size of this structure
 * @steps: limit of all searches together, and again for the proof of each group's limit; 0: 2^22. A
 *	step takes about a microsecond at most
 */
struct morph_bandwidth_opts {
	size_t sz;
	uint64_t steps;
};

/**
 * struct morph_bandwidth_result - summary of a solution
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @verdict: whether all groups can have their least bandwidth; if not, morph_bandwidth_group() of
 *	MORPH_ANY has the reason
 * @proof: proven properties of the plan, if one exists
 * @circuits: of all hops together
 * @steps: steps used
 */
struct morph_bandwidth_result {
	size_t sz;
	enum morph_verdict verdict;
	enum morph_bandwidth_proof proof;
	uint64_t circuits;
	uint64_t steps;
};

/**
 * morph_bandwidth_solve() - find the fairest plan
 * @bw: the problem
 * @opts: options, or NULL
 * @out: summary, or NULL
 *
 * Filling costs levels * groups * uses; a group's uses are the ports and guides of its hops. With
 * several wavelengths it costs up to wavelengths^2 times as much, for exchanging wavelengths. After
 * the first solution it allocates nothing until something is added.
 *
 * Return: 0, whatever the verdict; -EINVAL (a group has no hops), -E2BIG (unknown options or
 * results, or more than 2^24 pairs of hop, port or guide and wavelength) or -ENOMEM.
 */
int morph_bandwidth_solve(struct morph_bandwidth *bw, const struct morph_bandwidth_opts *opts,
			  struct morph_bandwidth_result *out);

/**
 * morph_bandwidth_lanes() - read the wavelengths of a hop's circuits
 * @bw: the problem, solved
 * @hop: its number
 * @wavelengths: array for the wavelength of each circuit, counted from 0, in ascending order; or
 *	NULL
 * @room: number of entries of the array
 *
 * Return: the number of circuits of the hop, which can exceed @room; 0 for an unknown hop.
 */
size_t morph_bandwidth_lanes(const struct morph_bandwidth *bw, uint32_t hop, uint32_t *wavelengths,
			     size_t room);

/**
 * enum morph_bandwidth_part - the resource that limits a group
 * @MORPH_BANDWIDTH_NOTHING: none, or unknown
 * @MORPH_BANDWIDTH_WISH: the group's own maximum
 * @MORPH_BANDWIDTH_TRANSMIT: an accelerator's transmit ports
 * @MORPH_BANDWIDTH_RECEIVE: an accelerator's receive ports
 * @MORPH_BANDWIDTH_GUIDE: a guide's fibres
 * @MORPH_BANDWIDTH_WAVELENGTHS: every port and guide has free lanes, but no assignment of
 *	wavelengths exists
 */
enum morph_bandwidth_part {
	MORPH_BANDWIDTH_NOTHING,
	MORPH_BANDWIDTH_WISH,
	MORPH_BANDWIDTH_TRANSMIT,
	MORPH_BANDWIDTH_RECEIVE,
	MORPH_BANDWIDTH_GUIDE,
	MORPH_BANDWIDTH_WAVELENGTHS,
};

/**
 * struct morph_bandwidth_group - bandwidth of a group, and its limit
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @lanes: lanes of each hop, for each of the hop's circuits per unit
 * @part: the resource that limits the group
 * @index: number of the accelerator or guide, else MORPH_ANY
 * @have: lanes of this resource; wavelengths, or the maximum, if that is the part
 * @need: least number of lanes for one lane more
 */
struct morph_bandwidth_group {
	size_t sz;
	uint32_t lanes;
	enum morph_bandwidth_part part;
	uint32_t index;
	uint64_t have;
	uint64_t need;
};

/**
 * morph_bandwidth_group() - read a group's bandwidth and its limit
 * @bw: the problem, solved
 * @group: its number; MORPH_ANY, if the verdict is INFEASIBLE, for the reason why not all groups
 *	can have their least bandwidth
 * @out: the structure to fill
 *
 * @part would not suffice for one lane more, even if all groups with more lanes dropped to the same
 *	number, or to their least.
 *
 * Return: 0, -ENOENT (no such group) or -E2BIG (unknown results).
 */
int morph_bandwidth_group(const struct morph_bandwidth *bw, uint32_t group,
			  struct morph_bandwidth_group *out);

/**
 * morph_bandwidth_load() - read the load of ports or of a guide
 * @bw: the problem, solved
 * @part: MORPH_BANDWIDTH_TRANSMIT, MORPH_BANDWIDTH_RECEIVE or MORPH_BANDWIDTH_GUIDE
 * @index: number of the accelerator or guide
 *
 * Return: lanes; 0 for an unknown part.
 */
uint64_t morph_bandwidth_load(const struct morph_bandwidth *bw, enum morph_bandwidth_part part,
			      uint32_t index);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_BANDWIDTH_H */
