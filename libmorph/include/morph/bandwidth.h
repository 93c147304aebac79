/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: how much bandwidth each group of accelerators gets. Included by <morph/plan.h>. */
#ifndef MORPH_BANDWIDTH_H
#define MORPH_BANDWIDTH_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Bandwidth of groups
 *
 * Groups of accelerators that communicate, such as the rings of a job, share ports and guides.
 * A group is a list of hops, in any shape: a ring of n members has n of them, or 2n where it
 * is duplex. At bandwidth x it has x circuits on each hop. The fair bandwidths are leximin:
 * the least of them is as large as can be, then the next, and so on. They are whole numbers,
 * and need not be alike: of three ports that two groups share, one gets two.
 *
 * A fibre carries one lane of each wavelength, and a port is where one fibre ends. A circuit is a
 * lane and keeps its wavelength from end to end, for nothing converts: of the circuits with one
 * wavelength, at most as many pass a guide as it has fibres, leave an accelerator as it has
 * transmit ports, and reach it as it has receive ports. So p ports take p * wavelengths lanes,
 * if wavelengths can be found for them. With one wavelength a circuit takes ports and fibres
 * whole: the model of the Morphlux paper (arXiv 2508.03674v3, 5.2).
 *
 * What each group can have is found by filling: all go up together, lane by lane, and where not
 * all can, as many as can. All largest sets of those are followed. Then the answer is leximin,
 * proven: there are 720 ways of falling behind for six groups, and no bound for the rest.
 * Choosing a largest set is NP-hard for any number of groups (it packs sets), and so is giving
 * wavelengths (it colours graphs): both are searched within a budget of steps. Beyond it the
 * answer is fair still, and proven so: no group can gain unless another is lowered to as little
 * as it has. A problem is used by one thread at a time.
 */

/**
 * morph_bandwidth_new() - begin a problem
 * @ctx: the context, which must outlive the problem
 * @wavelengths: lanes of a fibre; 1 where a circuit takes it whole
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
 * morph_bandwidth_add_accelerator() - an accelerator with its ports
 * @bw: the problem
 * @transmit: ports for circuits that leave it
 * @receive: ports for circuits that reach it
 *
 * Return: its number, counted from 0; -E2BIG (more than 65536 of them, or 1024 ports) or
 * -ENOMEM.
 */
int morph_bandwidth_add_accelerator(struct morph_bandwidth *bw, uint32_t transmit,
				    uint32_t receive);

/**
 * morph_bandwidth_add_guide() - a guide that circuits share
 * @bw: the problem
 * @fibres: how many it has, in the direction that is meant
 *
 * Return: its number, counted from 0; -E2BIG (more than 65536 of them, or 4096 fibres) or
 * -ENOMEM.
 */
int morph_bandwidth_add_guide(struct morph_bandwidth *bw, uint32_t fibres);

/**
 * morph_bandwidth_add_group() - a group that communicates
 * @bw: the problem
 * @least: what it must have
 * @most: what it has use for; 0 for whatever it can get
 *
 * Return: its number, counted from 0; -EINVAL (@least is above @most), -E2BIG (more than 4096)
 * or -ENOMEM.
 */
int morph_bandwidth_add_group(struct morph_bandwidth *bw, uint32_t least, uint32_t most);

/**
 * morph_bandwidth_add_hop() - a hop of a group
 * @bw: the problem
 * @group: its number
 * @source: the accelerator that sends
 * @target: the accelerator that receives, another one
 * @circuits: how many for each unit of the group's bandwidth; 1 but for irregular shapes
 * @guides: the guides on the way, each once
 * @count: how many; none for a way that shares nothing but ports
 *
 * Return: the hop's number, counted from 0 over all groups; -ENOENT (no such group, accelerator
 * or guide), -EINVAL (no circuits, a guide twice, @source is @target), -E2BIG (more than
 * 2^20 hops, 64 guides on one, or 1024 circuits) or -ENOMEM.
 */
int morph_bandwidth_add_hop(struct morph_bandwidth *bw, uint32_t group, uint32_t source,
			    uint32_t target, uint32_t circuits, const uint32_t *guides,
			    size_t count);

/**
 * enum morph_bandwidth_proof - what is proven of a plan
 * @MORPH_BANDWIDTH_LEGAL: no port or guide has more than it takes, and each circuit its wavelength
 * @MORPH_BANDWIDTH_FAIR: besides, no group can gain unless another is lowered to as little as it has
 * @MORPH_BANDWIDTH_LEXIMIN: besides, no other plan is fairer
 */
enum morph_bandwidth_proof {
	MORPH_BANDWIDTH_LEGAL,
	MORPH_BANDWIDTH_FAIR,
	MORPH_BANDWIDTH_LEXIMIN,
};

/**
 * struct morph_bandwidth_opts - how to solve
 * @sz: size of this structure
 * @steps: of the searches together, and once more for what stops groups; 0: 2^22. A step takes
 *	about a microsecond at most, and mostly less
 */
struct morph_bandwidth_opts {
	size_t sz;
	uint64_t steps;
};

/**
 * struct morph_bandwidth_result - what came of it
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @verdict: whether all can have their least; where not, morph_bandwidth_group() of MORPH_ANY gives
 *	the reason
 * @proof: what is proven of the plan, where there is one
 * @circuits: of all hops together
 * @steps: that were needed
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
 * @opts: how, or NULL
 * @out: what came of it, or NULL
 *
 * Filling costs levels * groups * uses, where a group's uses are the ports and guides of its
 * hops; with several wavelengths that times wavelengths^2 at worst, for exchanging the
 * wavelengths of others where there is none left. After the first solution nothing is
 * allocated until something is added.
 *
 * Return: 0, whatever the verdict; -EINVAL (a group has no hops), -E2BIG (unknown options or
 * results, or more than 2^24 pairs of hop, port or guide and wavelength) or -ENOMEM.
 */
int morph_bandwidth_solve(struct morph_bandwidth *bw, const struct morph_bandwidth_opts *opts,
			  struct morph_bandwidth_result *out);

/**
 * morph_bandwidth_lanes() - the wavelengths of a hop's circuits
 * @bw: the problem, solved
 * @hop: its number
 * @wavelengths: of each circuit, counted from 0, in ascending order; or NULL
 * @room: for how many there is room
 *
 * Return: how many circuits the hop has, also where there is no room for all; 0 for a hop that
 * does not exist.
 */
size_t morph_bandwidth_lanes(const struct morph_bandwidth *bw, uint32_t hop, uint32_t *wavelengths,
			     size_t room);

/**
 * enum morph_bandwidth_part - what a group may be short of
 * @MORPH_BANDWIDTH_NOTHING: nothing, or nothing that is known
 * @MORPH_BANDWIDTH_WISH: it has all that it has use for
 * @MORPH_BANDWIDTH_TRANSMIT: an accelerator's transmit ports
 * @MORPH_BANDWIDTH_RECEIVE: an accelerator's receive ports
 * @MORPH_BANDWIDTH_GUIDE: a guide's fibres
 * @MORPH_BANDWIDTH_WAVELENGTHS: every port and guide has lanes left, but no wavelengths suit them all
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
 * struct morph_bandwidth_group - what a group gets, and what it is short of
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @lanes: lanes of each of its hops, for each circuit that the hop has by unit
 * @part: what it is short of
 * @index: number of the accelerator or guide, else MORPH_ANY
 * @have: lanes that there are; wavelengths, or the wish, where that is the part
 * @need: lanes that would be needed, at least
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
 * morph_bandwidth_group() - read what a group gets, and why it gets no more
 * @bw: the problem, solved
 * @group: its number; MORPH_ANY, where the verdict is INFEASIBLE, for why all can't have their
 *	least
 * @out: where to put it
 *
 * @part would not suffice if the group had one lane more, even if all groups that have more than
 *	that were lowered to
 * the same number, or to their least.
 *
 * Return: 0, -ENOENT (no such group) or -E2BIG (unknown results).
 */
int morph_bandwidth_group(const struct morph_bandwidth *bw, uint32_t group,
			  struct morph_bandwidth_group *out);

/**
 * morph_bandwidth_load() - what ports or a guide carry
 * @bw: the problem, solved
 * @part: MORPH_BANDWIDTH_TRANSMIT, MORPH_BANDWIDTH_RECEIVE or MORPH_BANDWIDTH_GUIDE
 * @index: number of the accelerator or guide
 *
 * Return: lanes, 0 for what does not exist.
 */
uint64_t morph_bandwidth_load(const struct morph_bandwidth *bw, enum morph_bandwidth_part part,
			      uint32_t index);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_BANDWIDTH_H */
