/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checker of plans. Tests, benches and figures link it; it is not installed. */
#ifndef LM_CHECK_CHECK_H
#define LM_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Checking plans
 *
 * The checker reads the profile and the wire form of <morph/wire.h> itself and shares no code with
 * the planners. It finds servers, racks and fibres again, and knows of a plan only its binary form.
 * It checks a proof of infeasibility for every box and every embedding.
 */

/**
 * struct morph_check_bytes - binary input
 * @data: the bytes
 * @bytes: their number
 */
struct morph_check_bytes {
	const void *data;
	size_t bytes;
};

/**
 * struct morph_check_input - input of morph_check()
 * @profile: the device profile
 * @ledger: resources in use, written by morph_ledger_write()
 * @request: the request
 * @plan: the answer
 * @steps: limit of embeddings and routes in the check of a proof; 0: 2^28
 */
struct morph_check_input {
	struct morph_check_bytes profile;
	struct morph_check_bytes ledger;
	struct morph_check_bytes request;
	struct morph_check_bytes plan;
	uint64_t steps;
};

/**
 * morph_check() - check a plan against fabric, ledger and request
 * @input: the input
 * @report: space for a sentence that describes the error; may be NULL
 * @room: its size
 *
 * A feasible plan costs O(fabric). A proof is exponential in the parts in the worst case.
 * Thread-safe.
 *
 * Return: 0 (the plan is correct), -EBADMSG (it is wrong), -EINVAL (an input is unreadable),
 * -EAGAIN (the steps did not suffice) or -ENOMEM.
 */
int morph_check(const struct morph_check_input *input, char *report, size_t room);

/**
 * struct morph_check_defrag_input - input of morph_check_defrag()
 * @profile: the device profile
 * @ledger: resources in use, written by morph_ledger_write() before any move
 * @request: the request
 * @running: running slices before any move
 * @answer: the answer
 * @steps: limit of routes in the check of a proof; 0: 2^28
 */
struct morph_check_defrag_input {
	struct morph_check_bytes profile;
	struct morph_check_bytes ledger;
	struct morph_check_bytes request;
	struct morph_check_bytes running;
	struct morph_check_bytes answer;
	uint64_t steps;
};

/**
 * morph_check_defrag() - check an answer of defragmentation
 * @input: the input
 * @report: space for a sentence that describes the error; may be NULL
 * @room: its size
 *
 * Replays the steps in its own ledger. No fibre is in use twice, no circuit is dark that the answer
 * does not list, and at the end the request is lit. For a refusal, and for a least number of moves,
 * it tries every place of the request and every route of every circuit that the metrics do not
 * exclude. This is exponential in the worst case. Thread-safe.
 *
 * Return: as morph_check().
 */
int morph_check_defrag(const struct morph_check_defrag_input *input, char *report, size_t room);

/**
 * struct morph_check_protection_input - input of morph_check_protection()
 * @profile: the device profile
 * @ledger: resources in use, written by morph_ledger_write() after the plan was taken
 * @request: the request
 * @plan: the slice's plan
 * @protection: the answer
 * @steps: limit of routes in the proof that none exist; 0: 2^28
 */
struct morph_check_protection_input {
	struct morph_check_bytes profile;
	struct morph_check_bytes ledger;
	struct morph_check_bytes request;
	struct morph_check_bytes plan;
	struct morph_check_bytes protection;
	uint64_t steps;
};

/**
 * morph_check_protection() - check a protection against fabric, ledger and plan
 * @input: the input
 * @report: space for a sentence that describes the error; may be NULL
 * @room: its size
 *
 * For a protected rank: the spare is healthy and unassigned, and each circuit reaches it over
 * fibres that are dark or the rank's own, each used once. With MORPH_TRANSIT_OWN it crosses only
 * servers of which no other tenant has a part or can get one. For an unprotected rank: a recounted
 * cut rejects each spare, or a search of all routes, which is exponential in the worst case.
 * Thread-safe.
 *
 * Return: as morph_check().
 */
int morph_check_protection(const struct morph_check_protection_input *input, char *report,
			   size_t room);

/**
 * struct morph_check_bandwidth_input - input of morph_check_bandwidth()
 * @problem: the problem
 * @answer: the answer
 * @steps: limit of wavelengths and plans in the check of a proof; 0: 2^28
 */
struct morph_check_bandwidth_input {
	struct morph_check_bytes problem;
	struct morph_check_bytes answer;
	uint64_t steps;
};

/**
 * morph_check_bandwidth() - check bandwidths of groups against ports and guides
 * @input: the input
 * @report: space for a sentence that describes the error; may be NULL
 * @room: its size
 *
 * No two circuits share a wavelength on a resource beyond its capacity. The check recounts the
 * limit of each group, and tries all wavelengths if these are the limit. For a leximin plan it
 * tries all plans that would be fairer, which is exponential in groups and wavelengths.
 * Thread-safe.
 *
 * Return: as morph_check().
 */
int morph_check_bandwidth(const struct morph_check_bandwidth_input *input, char *report,
			  size_t room);

/**
 * struct morph_check_schedule_input - input of morph_check_schedule()
 * @collective: the collective, written by morph_collective_write()
 * @delay: times of rounds and changes
 * @planes: ports of each rank
 * @after: the preceding schedule, whose last light exists at first; no data: none
 * @schedule: the answer
 */
struct morph_check_schedule_input {
	struct morph_check_bytes collective;
	struct morph_check_bytes delay;
	uint32_t planes;
	struct morph_check_bytes after;
	struct morph_check_bytes schedule;
};

/**
 * morph_check_schedule() - replay a schedule with a separate clock
 * @input: the input
 * @report: space for a sentence that describes the error; may be NULL
 * @room: its size
 *
 * The check covers these rules. On a plane each port has one circuit at a time. Each change takes
 * the time of the delay model. A send uses circuits that are lit for its whole time, and shares
 * them only with sends at the same times. It takes as long as the fullest circuit of its path
 * needs. All bytes are sent. Each rank has what it sends, sums nothing twice, and each chunk ends
 * where it must. The stated bound is correct. O(circuits + sends * hops * log + chunk transfers *
 * ranks / 64). Thread-safe.
 *
 * Return: as morph_check(), never -EAGAIN.
 */
int morph_check_schedule(const struct morph_check_schedule_input *input, char *report, size_t room);

/**
 * struct morph_check_light_input - input of morph_check_light()
 * @profile: the device profile
 * @ledger: resources in use, written by morph_ledger_write()
 * @schedule: which ranks are joined at which time
 * @steps: the paths
 * @accelerators: the accelerator of each rank
 * @ranks: number of ranks
 * @lanes: lanes of each circuit; 0: any number
 * @transit: enum morph_transit
 */
struct morph_check_light_input {
	struct morph_check_bytes profile;
	struct morph_check_bytes ledger;
	struct morph_check_bytes schedule;
	struct morph_check_bytes steps;
	const uint32_t *accelerators;
	uint32_t ranks;
	uint32_t lanes;
	uint32_t transit;
};

/**
 * morph_check_light() - check the light of steps against schedule and fabric
 * @input: the input
 * @report: space for a sentence that describes the error; may be NULL
 * @room: its size
 *
 * The check covers these rules. Each step has exactly the circuits that the schedule then holds, on
 * the same planes. Circuits that stay lit stay the same. Each circuit leads from its transmitter to
 * its receiver over adjacent, healthy guides that are dark in its lanes. In each step each port has
 * one circuit, no lane is used twice, and each element has a state for all paths through it. Steps
 * that begin by time begin at the schedule's time. It does not check loss, leakage, or the elements
 * of other tenants. O(steps * holds + entries * guides of a path). Thread-safe.
 *
 * Return: as morph_check(), never -EAGAIN.
 */
int morph_check_light(const struct morph_check_light_input *input, char *report, size_t room);

/**
 * enum morph_check_matchings_kind - circuits of a pair of endpoints
 * @MORPH_CHECK_DIRECTED: one in each direction, in any rounds
 * @MORPH_CHECK_DUPLEX: one in each direction, both in one round
 * @MORPH_CHECK_PAIRS: one, which passes light both ways; only in a mesh
 */
enum morph_check_matchings_kind {
	MORPH_CHECK_DIRECTED,
	MORPH_CHECK_DUPLEX,
	MORPH_CHECK_PAIRS
};

/**
 * enum morph_check_matchings_bound - derivations of a lower bound of rounds
 * @MORPH_CHECK_DEGREE: an endpoint meets one other endpoint in each round
 * @MORPH_CHECK_DISTANCE: arms of the shortest routes, divided by arms of a round
 * @MORPH_CHECK_CUT: circuits across the border of a set of elements, divided by the guides of the
 *	border
 * @MORPH_CHECK_FRACTIONAL: as distance, with a length for each arm
 * @MORPH_CHECK_EXHAUSTIVE: no settings of the elements give fewer rounds. The checker tries all
 */
enum morph_check_matchings_bound {
	MORPH_CHECK_DEGREE,
	MORPH_CHECK_DISTANCE,
	MORPH_CHECK_CUT,
	MORPH_CHECK_FRACTIONAL,
	MORPH_CHECK_EXHAUSTIVE
};

/**
 * struct morph_check_matchings_circuit - a circuit of a round
 * @src: the endpoint that sends
 * @dst: the endpoint that receives
 * @first: index of its first element
 * @count: number of its elements
 */
struct morph_check_matchings_circuit {
	uint32_t src;
	uint32_t dst;
	uint32_t first;
	uint32_t count;
};

/**
 * struct morph_check_matchings_input - input of morph_check_matchings()
 * @kind: enum morph_check_matchings_kind
 * @profile: the device profile; no data: a hexagonal mesh
 * @width: of the mesh, in cells
 * @height: of the mesh, in cells
 * @endpoints: number of endpoints
 * @tx: for each endpoint, the port at which its light enters. In a profile: accelerator * planes +
 *	plane. In a mesh: a port, counted clockwise along the rim
 * @rx: likewise, the port at which light leaves; not read for MORPH_CHECK_PAIRS
 * @targets: for each endpoint, the endpoint that receives its light, or UINT32_MAX: none. The
 *	rounds have these circuits only, and ports without a circuit can be UINT32_MAX. NULL: all
 *	pairs
 * @ports_chosen: the search chose the ports, so that the bound must hold for all ports
 * @hops: limit of the elements of a circuit; 0: none
 * @failed: elements that pass no light
 * @failed_count: entries of @failed
 * @stuck: elements that have one state only
 * @stuck_states: for each of @stuck, this state
 * @stuck_count: entries of @stuck and @stuck_states
 * @rounds: number of rounds; 0: the answer is a refusal
 * @round_first: for each round, the index of its first circuit; one more entry for the end
 * @circuits: the circuits of all rounds
 * @elements: the elements of all circuits, in the direction of light
 * @states: for each round and element, the state, or 0xffff: none
 * @bound: lower bound of the number of rounds
 * @bound_kind: enum morph_check_matchings_bound
 * @lengths: for MORPH_CHECK_FRACTIONAL, a length for each join of each state of each element, in
 *	the order element, state, lower port of the join. For MORPH_CHECK_EXHAUSTIVE at given ports,
 *	a weight for each pair, below 2^20, or none. The proof holds with any weights, but some
 *	save tries. The directed pair (i, j) has the number i * (endpoints - 1) + j, less 1 if
 *	j > i. Else the pair i < j has the number j * (j - 1) / 2 + i
 * @lengths_count: entries of @lengths
 * @cut: for MORPH_CHECK_CUT, the elements of the set. For a refused duplex pair, a set that one
 *	guide leaves
 * @cut_count: entries of @cut
 * @distance: elements of the shortest routes of all pairs together; 0: not stated
 * @total: elements of all circuits; 0: not stated
 * @longest: most elements of a circuit; 0: not stated
 * @limit: for a refusal: the requested rounds, fewer than @bound. 0: @src has no route to @dst, or
 *	with @ports_chosen, @bound is larger than the number of pairs, so that no rounds are enough
 * @src: for a refusal without @limit: an endpoint that sends
 * @dst: likewise, an endpoint that receives
 * @tries: limit of the settings, choices of ports and sets of rounds that the checker tries for an
 *	exhaustive bound; 0: 2^32. Limit of the places of light that it tries for a refused pair; 0:
 *	2^28
 */
struct morph_check_matchings_input {
	uint32_t kind;
	struct morph_check_bytes profile;
	uint32_t width;
	uint32_t height;
	uint32_t endpoints;
	const uint32_t *tx;
	const uint32_t *rx;
	const uint32_t *targets;
	bool ports_chosen;
	uint32_t hops;
	const uint32_t *failed;
	size_t failed_count;
	const uint32_t *stuck;
	const uint32_t *stuck_states;
	size_t stuck_count;
	uint32_t rounds;
	const uint32_t *round_first;
	const struct morph_check_matchings_circuit *circuits;
	const uint32_t *elements;
	const uint16_t *states;
	uint32_t bound;
	uint32_t bound_kind;
	const uint32_t *lengths;
	size_t lengths_count;
	const uint32_t *cut;
	size_t cut_count;
	uint64_t distance;
	uint64_t total;
	uint32_t longest;
	uint32_t limit;
	uint32_t src;
	uint32_t dst;
	uint64_t tries;
};

/**
 * morph_check_matchings() - check rounds that join all pairs of endpoints
 * @input: the input
 * @report: space for a sentence that describes the error; may be NULL
 * @room: its size
 *
 * Builds the mesh from its width and height, and follows light from each transmit port through the
 * states of the round. The check covers these rules. Light arrives at the other endpoint, exactly
 * by the listed elements. Each pair, or each endpoint and its target, meets exactly once. In each
 * round an endpoint sends once and receives once, and no arm passes two circuits. Failed elements
 * pass none; stuck elements keep their state. The bound is the one that the mesh, or the lengths,
 * prove. For routes that prove a bound or a refusal, light may pass an element in two states.
 * O((endpoints + rounds) * elements * log). Thread-safe.
 *
 * Return: as morph_check(), never -EAGAIN.
 */
int morph_check_matchings(const struct morph_check_matchings_input *input, char *report,
			  size_t room);

#ifdef __cplusplus
}
#endif

#endif /* LM_CHECK_CHECK_H */
