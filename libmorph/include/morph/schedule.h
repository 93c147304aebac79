/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: schedules of circuits. Included by <morph/plan.h>. */
#ifndef MORPH_SCHEDULE_H
#define MORPH_SCHEDULE_H

#include <morph/collective.h>
#include <morph/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Schedules
 *
 * A schedule says when the circuits of a collective are held, and what is sent over them. Plane j
 * is transmit and receive port j of every rank. On a plane, a rank has a circuit to at most one
 * other and from at most one other. A *hold* is a matching of circuits on a plane. It is set, which
 * takes the time of the delay, then lit, and later dark. A *send* is transfers of a round, or the
 * part of each that takes one path: over one hold, or over several in sequence.
 *
 *	morph_collective_build(collective, &how);
 *	morph_delay_set(delay, &link);
 *	morph_schedule_plan(schedule, collective, delay, &opts);
 *
 * A round begins when the previous one has ended, except with MORPH_POLICY_MATCHINGS. Each schedule
 * has a lower bound for all schedules of its rounds, whatever their circuits. An independent
 * checker executes it with its own clock. One thread at a time uses a schedule.
 */

/**
 * morph_schedule_new() - make an empty schedule
 * @ctx: the context, which must outlive it
 *
 * Return: the schedule, freed by morph_schedule_free(); NULL when out of memory.
 */
struct morph_schedule *morph_schedule_new(struct morph_ctx *ctx);

/**
 * morph_schedule_free() - free a schedule
 * @schedule: the schedule, or NULL
 */
void morph_schedule_free(struct morph_schedule *schedule);

/**
 * enum morph_policy - methods to decide when circuits change
 * @MORPH_POLICY_BEST: whichever of these ends first. Neither lit circuits nor, while the budget
 *	lasts, another plane delay it
 * @MORPH_POLICY_EACH_ROUND: each round has its own circuits on all planes. A rank with more
 *	partners than planes takes turns; rounds in which a turn would send what an earlier one
 *	received are not tried
 * @MORPH_POLICY_ONE_SHOT: each plane is set once, before the first round
 * @MORPH_POLICY_SEGMENTS: consecutive rounds share the circuits of all planes, and other transfers
 *	take hops. A dynamic program finds them (Harvest, arXiv 2602.09188; PCCL, arXiv 2509.15450)
 * @MORPH_POLICY_OVERLAP: while some planes change, others send (SWOT, arXiv 2510.19322)
 * @MORPH_POLICY_MATCHINGS: for a collective of one round: each circuit changes when both of its
 *	ends have finished their last send
 * @MORPH_POLICY_UNITED: segments and overlap together: while some planes change, others send, each
 *	over direct circuits or several of its plane. It begins with the best plan of the policies
 *	above, and is never later
 * @MORPH_POLICIES: number of policies
 *
 * morph_enum_name(MORPH_ENUM_POLICY, value) returns the name.
 */
enum morph_policy {
	MORPH_POLICY_BEST = 0,
	MORPH_POLICY_EACH_ROUND = 1,
	MORPH_POLICY_ONE_SHOT = 2,
	MORPH_POLICY_SEGMENTS = 3,
	MORPH_POLICY_OVERLAP = 4,
	MORPH_POLICY_MATCHINGS = 5,
	MORPH_POLICY_UNITED = 6,
	MORPH_POLICIES = 7,
};

/**
 * struct morph_schedule_opts - options of planning
 * @sz: sizeof(struct morph_schedule_opts)
 * @policy: enum morph_policy
 * @planes: ports of each rank; 0: 1
 * @after: the schedule whose circuits are still lit at the start; NULL: none
 * @budget: search effort, in units of the policy. For MORPH_POLICY_OVERLAP and MORPH_POLICY_UNITED,
 *	it is the width of the beam. For MORPH_POLICY_MATCHINGS, it is about a million pairs of
 *	ranks, or some milliseconds, for all methods. For other policies it limits the matchings in
 *	the same way, with all methods. For MORPH_POLICY_BEST, it also is the number of attempts
 *	with fewer planes. 0 selects the default, with quick methods of matchings if the policy is
 *	MORPH_POLICY_MATCHINGS
 * @pool: given topologies, for morph_schedule_plan() only: plan on these and the lit circuits.
 *	NULL: on any. Other calls reject it with EINVAL
 */
struct morph_schedule_opts {
	size_t sz;
	uint32_t policy;
	uint32_t planes;
	const struct morph_schedule *after;
	uint64_t budget;
	const struct morph_pool *pool;
};

/**
 * morph_schedule_plan() - find when circuits change
 * @schedule: the answer, which replaces the previous content
 * @collective: the collective with its rounds
 * @delay: durations of rounds and changes
 * @opts: options; NULL for one plane, a dark start, and the best policy
 *
 * With @opts->pool the policy is ignored; the answer has MORPH_POLICY_SEGMENTS. The result is
 * optimal for these topologies if they use all planes, except for the choice of paths. Unused
 * planes keep their circuits, which the plan ignores. Ranks without a direct circuit use several.
 * MORPH_INFEASIBLE: a topology has more circuits at a rank than planes, or a round has no path.
 * MORPH_UNDECIDED: there are too many paths to try.
 *
 * Return: 0, whatever the verdict; -EINVAL, -ERANGE (it takes more than 2^62 ps), -ENOMEM, or as
 * morph_opts_check(). Causes of -EINVAL: no bandwidth; more than 64 planes; @opts->after has
 * another number of ranks or planes; the policy does not do this collective. With a pool also: it
 * is empty, has other ranks, or has @in_turn without a topology for each round.
 */
int morph_schedule_plan(struct morph_schedule *schedule, const struct morph_collective *collective,
			const struct morph_delay *delay, const struct morph_schedule_opts *opts);

/**
 * struct morph_choice - the result of an algorithm
 * @algorithm: enum morph_algorithm
 * @policy: enum morph_policy, the best for it; 0 if it is impossible or was left out for the budget
 * @planes: ports of each rank in the plan
 * @rounds: number of rounds
 * @radix: of Bruck's algorithm; else 0
 * @segments: of a binary tree: parts of the buffer; else 0
 * @extent: of MORPH_RINGS: extents of the torus; else 0
 * @ns: arrival of all data, in nanoseconds from the start
 * @alone_ns: of an all-reduce: time until which the last rank is not needed; else 0. If it comes at
 *	a later time L, all data has arrived at max(L, @alone_ns) + @ns - @alone_ns
 * @chosen: the chosen one
 */
struct morph_choice {
	uint32_t algorithm;
	uint32_t policy;
	uint32_t planes;
	uint32_t rounds;
	uint32_t radix;
	uint32_t segments;
	uint32_t extent[3];
	uint64_t ns;
	uint64_t alone_ns;
	bool chosen;
};

/**
 * morph_schedule_choose() - choose algorithm and circuits together
 * @schedule: the answer, which replaces the previous content
 * @collective: where to put the best rounds, which replace the previous content
 * @wanted: the collective; @wanted->algorithm selects the only algorithm to try; 0: all
 * @delay: durations of rounds and changes
 * @opts: as morph_schedule_plan()
 * @choices: where to put the result of each algorithm, MORPH_ALGORITHMS entries indexed by enum
 *	morph_algorithm; or NULL
 *
 * More rounds may need fewer changes, so both must be chosen together. The call plans each
 * algorithm for the collective and its number of ranks, and takes the one that ends first; of
 * several, the one that sets the fewest circuits. MORPH_STRAGGLAR assumes a late rank and is only
 * tried for an all-reduce with @wanted->late_ns. Then the call takes the algorithm that ends first
 * after that rank has come, as morph_schedule_payoff() computes. Times of the schedule assume that
 * the last rank comes when it is needed.
 *
 * If @wanted does not give them, the call tries these parameters. Radices of Bruck's algorithm: 2,
 * the number of planes plus 1, and the one with two digits. Segments of a binary tree: the best
 * power of two up to 256, with circuits that change in each segment and with fixed ones. Extents of
 * MORPH_RINGS: the most even tori of two and of three dimensions, each extent above 1.
 *
 * Above 64 ranks, or with @opts->budget, the call plans algorithms and their parameters within the
 * budget, those with the least work first, and at least one. The others are left out. A unit of the
 * budget is about four million transfers, some tenths of a second; 0: 64 units. A transfer counts
 * once for each rank if its round has more transfers than ranks, else 16 times. Time is not
 * measured, so that all callers get the same answer.
 *
 * Return: as morph_schedule_plan(), -EINVAL if no algorithm does it, or @wanted->late_ns is above
 * 2^40, and -E2BIG if none does because of too many bytes.
 */
int morph_schedule_choose(struct morph_schedule *schedule, struct morph_collective *collective,
			  const struct morph_collective_opts *wanted,
			  const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			  struct morph_choice *choices);

/* Largest number of choices for one number of planes. */
#define MORPH_CANDIDATES (MORPH_ALGORITHMS * MORPH_POLICIES)

/**
 * morph_schedule_candidates() - list alternatives to the chosen plan
 * @schedule: space for planning; its content is replaced
 * @collective: space for rounds; its content is replaced. If @wanted is NULL, the rounds
 *	themselves, which stay
 * @wanted: as morph_schedule_choose(); NULL: the rounds of @collective
 * @delay: as morph_schedule_choose()
 * @opts: as morph_schedule_choose(); a policy other than the best one is the only one tried
 * @choices: its results; ignored if @wanted is NULL
 * @fewer: number of planes, below @opts->planes, on which to try all alternatives too; 0: none
 * @list: where to put the candidates, 2 * MORPH_CANDIDATES entries, ordered by their end as
 *	morph_schedule_choose() computes it
 * @count: where to put their number
 *
 * The chosen plan may have no paths on the fabric (morph_schedule_light()), or the driver may
 * reject it. Candidates are all algorithms of @choices that could be planned, with their
 * parameters, each by each policy alone. Of candidates that hold the same circuits at the same
 * times, the list has one. With fewer planes, the other planes stay unchanged.
 * morph_schedule_take() plans a candidate. The call takes about twice as long as
 * morph_schedule_choose(), and all callers get the same answer.
 *
 * Return: 0, -EINVAL (@fewer is not below @opts->planes), or as morph_schedule_choose().
 */
int morph_schedule_candidates(struct morph_schedule *schedule, struct morph_collective *collective,
			      const struct morph_collective_opts *wanted,
			      const struct morph_delay *delay,
			      const struct morph_schedule_opts *opts,
			      const struct morph_choice *choices, uint32_t fewer,
			      struct morph_choice *list, uint32_t *count);

/**
 * morph_schedule_take() - plan a given choice
 * @schedule: the answer, which replaces the previous content
 * @collective: where to put its rounds, which replace the previous content. If @wanted is NULL, the
 *	rounds themselves
 * @wanted: the collective; @choice replaces its algorithm and parameters. NULL: the rounds of
 *	@collective
 * @delay: durations of rounds and changes
 * @opts: as morph_schedule_plan(), with the policy of @choice
 * @choice: one of morph_schedule_candidates() or morph_schedule_choose(). With fewer planes than
 *	@opts->planes, the plan uses the first ones only, and no initially lit circuits
 *
 * Return: as morph_schedule_plan() and morph_collective_build(), and -EINVAL if @choice has no
 * planes, or more than @opts.
 */
int morph_schedule_take(struct morph_schedule *schedule, struct morph_collective *collective,
			const struct morph_collective_opts *wanted, const struct morph_delay *delay,
			const struct morph_schedule_opts *opts, const struct morph_choice *choice);

/**
 * morph_schedule_combine() - plan the reverse of a dispatch
 * @schedule: the answer, which replaces the previous content
 * @collective: where to put the rounds of the reverse direction, which replace the previous content
 * @there: the original direction: for tokens of experts, dispatch
 * @delay: durations of rounds and changes
 * @opts: as morph_schedule_plan(); the policy is MORPH_POLICY_MATCHINGS or MORPH_POLICY_BEST
 *
 * Reverses the plan of MORPH_POLICY_MATCHINGS for @there: the same matchings, transposed, the last
 * first. It needs neither another matrix nor another search. If ports change independently and
 * without port_ns, and nothing is lit at the start, it takes no longer than the original. It does
 * not use the circuits of @opts->after. With MORPH_POLICY_BEST, the answer is the faster of this
 * and of the plan of morph_schedule_plan() for the same rounds, which may win if changes are
 * expensive.
 *
 * Return: as morph_schedule_plan(), and -EINVAL for another policy.
 */
int morph_schedule_combine(struct morph_schedule *schedule, struct morph_collective *collective,
			   const struct morph_collective *there, const struct morph_delay *delay,
			   const struct morph_schedule_opts *opts);

/**
 * struct morph_payoff - the gain of starting without a late rank
 * @late_ns: time that the others can work without it
 * @rest_ns: time from then until all data has arrived; its first circuits are lit by then
 * @other_ns: time of the best other algorithm, which begins when the last rank comes, also with its
 *	first circuits lit
 * @pays_ns: lateness from which this ends sooner; UINT64_MAX: never
 */
struct morph_payoff {
	uint64_t late_ns;
	uint64_t rest_ns;
	uint64_t other_ns;
	uint64_t pays_ns;
};

/**
 * morph_schedule_payoff() - does an all-reduce pay that begins without the last rank?
 * @schedule: where to put its schedule, which replaces the previous content
 * @collective: where to put its rounds, by MORPH_STRAGGLAR, which replace the previous content
 * @wanted: ranks, bytes and parameters of algorithms; kind, algorithm and late_ns are ignored
 * @delay: durations of rounds and changes
 * @opts: as morph_schedule_plan()
 * @payoff: the answer
 *
 * If the last rank comes after L, this ends at max(L, late) + rest, the other at L + other
 * (StragglAR, arXiv 2505.23523). It pays if rest is less than other, and L is more than late + rest
 * - other. Until then no path passes that rank. The first part is therefore planned among the other
 * ranks alone, without the circuits of @opts->after, unless a plan of all rounds together avoids
 * the rank and is no later.
 *
 * Return: as morph_schedule_choose().
 */
int morph_schedule_payoff(struct morph_schedule *schedule, struct morph_collective *collective,
			  const struct morph_collective_opts *wanted,
			  const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			  struct morph_payoff *payoff);

/* ------------------------------------------------------------ ports that are lost */

/**
 * enum morph_loss_ports - ports of a rank on a plane
 * @MORPH_LOSS_TRANSMIT: the transmit port
 * @MORPH_LOSS_RECEIVE: the receive port
 */
enum morph_loss_ports {
	MORPH_LOSS_TRANSMIT = 1,
	MORPH_LOSS_RECEIVE = 2,
};

/**
 * struct morph_loss - lost ports
 * @rank: the rank
 * @plane: the plane
 * @ports: one of enum morph_loss_ports, or both
 */
struct morph_loss {
	uint32_t rank;
	uint32_t plane;
	uint32_t ports;
};

/**
 * struct morph_replan_opts - the loss
 * @sz: sizeof(struct morph_replan_opts)
 * @losses: the ports
 * @count: number of entries
 * @from_ns: time of the loss, in nanoseconds from the start of the schedule; 0: before it starts
 */
struct morph_replan_opts {
	size_t sz;
	const struct morph_loss *losses;
	uint32_t count;
	uint64_t from_ns;
};

/**
 * struct morph_replanned - differences between two schedules
 * @lost: circuits over a lost port, of holds that end after the loss
 * @changed: changed circuits: a lost one counts as one together with its replacement; each other
 *	circuit that is set counts as one
 * @moved: lost circuits that moved to another plane for their whole hold
 * @shared: transfers that use existing circuits, after the data of these
 * @turns: circuits that are set for one turn, and stay unless their ports are needed
 * @again: circuits that are set again after such a turn
 * @later_ns: delay of the end
 */
struct morph_replanned {
	uint32_t lost;
	uint32_t changed;
	uint32_t moved;
	uint32_t shared;
	uint32_t turns;
	uint32_t again;
	uint64_t later_ns;
};

/**
 * morph_schedule_replan() - continue without some ports, with the fewest changes
 * @schedule: the answer, which replaces the previous content
 * @old: a feasible schedule, which stays unchanged
 * @collective: the collective of @old
 * @delay: the delay of @old
 * @opts: the loss
 * @replanned: where to put the differences; or NULL
 *
 * A circuit belongs to one hold; a later hold has a circuit of its own. Circuits that are not lost
 * stay on their planes, in the same order. Everything after inserted time is later by it, and
 * nothing before the loss changes. Data of a lost circuit that had not fully arrived at the loss
 * goes
 *
 * - over the same circuit on another plane, if both ports are free while it is held: this takes no
 *   time;
 * - or over circuits that are lit when all data sent beside it has arrived, directly or by hops;
 * - or over a circuit that is set then. The circuits of its ports go dark, and are set again if
 *   needed.
 *
 * Each circuit takes the alternative that sets the fewest others and, among these, the one that
 * takes the least time alone. The number is minimal at each moment at which at most one circuit
 * must be set, as with one lost port. If several circuits need a port, the first gets it. Circuits
 * that have moved make space while another plane is free for them. The method follows FastReChain
 * (arXiv 2507.12265).
 *
 * O(circuits + transfers over holds that lose circuits). For each moment and lost circuit also
 * O(planes * ranks) if it shares, O(planes * ranks^2) if others must be set again.
 *
 * The answer has the policy of @old, and its list of policies tried.
 *
 * Return: 0, whatever the verdict: MORPH_INFEASIBLE if a rank that must send or receive has no port
 * left for it; MORPH_UNDECIDED if no alternative above works. Or -EINVAL (@old is @schedule, not
 * feasible, or of other ranks, rounds or delays; no such rank, plane or ports). Or -ERANGE (it
 * takes more than 2^62 ps), -ENOMEM, or as morph_opts_check().
 */
int morph_schedule_replan(struct morph_schedule *schedule, const struct morph_schedule *old,
			  const struct morph_collective *collective,
			  const struct morph_delay *delay, const struct morph_replan_opts *opts,
			  struct morph_replanned *replanned);

/**
 * enum morph_schedule_bound - the origin of a schedule's bound
 * @MORPH_BOUND_PORTS: the rank that sends or receives most, over all of its planes
 * @MORPH_BOUND_CHAIN: transfers that wait for each other, each over all planes
 * @MORPH_BOUND_CIRCUITS: chunks from rank to rank, as of all-to-all, over any sequence of
 *	topologies and paths: few circuits leave long paths, and many take long to set
 */
enum morph_schedule_bound {
	MORPH_BOUND_PORTS = 1,
	MORPH_BOUND_CHAIN = 2,
	MORPH_BOUND_CIRCUITS = 3,
};

/**
 * struct morph_schedule_result - a schedule as a whole
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @verdict: enum morph_verdict; 0 if it was not planned
 * @policy: enum morph_policy that found it
 * @why: the reason why there is none, as a sentence owned by the schedule; "" if feasible
 * @ns: time at which all data has arrived, in nanoseconds from the start, rounded up
 * @bound_ns: lower bound of @ns for any schedule of these rounds on this number of planes
 * @bound_kind: enum morph_schedule_bound
 * @changes: number of times at which circuits begin to be set
 * @circuits: number of circuits that are set, without those that stay on their plane from one hold
 *	to the next
 * @holds: number of holds, see morph_schedule_hold()
 * @sends: number of sends, see morph_schedule_send()
 *
 * Only a feasible schedule has times, changes, holds and sends.
 */
struct morph_schedule_result {
	size_t sz;
	uint32_t verdict;
	uint32_t policy;
	const char *why;
	uint64_t ns;
	uint64_t bound_ns;
	uint32_t bound_kind;
	uint32_t changes;
	uint64_t circuits;
	uint32_t holds;
	uint32_t sends;
};

/**
 * morph_schedule_result() - read verdict, times and sizes of a schedule
 * @schedule: the schedule
 * @out: where to put them
 *
 * Several threads may read a schedule that no thread plans.
 *
 * Return: 0, or -E2BIG (unknown results).
 */
int morph_schedule_result(const struct morph_schedule *schedule, struct morph_schedule_result *out);

/**
 * struct morph_rank_pair - the ends of a circuit
 * @src: rank that sends
 * @dst: rank that receives
 */
struct morph_rank_pair {
	uint32_t src;
	uint32_t dst;
};

/**
 * struct morph_hold - circuits of a plane that are lit together
 * @plane: the plane
 * @matching: its number; holds with the same circuits have the same
 * @circuits: number of circuits
 * @pairs: ends of each circuit, in the order of sending ranks; owned by the schedule until it is
 *	planned again
 * @set_ns: time at which the first of their ports stops sending, in nanoseconds from the start,
 *	rounded up like the others
 * @lit_ns: time from which they carry data; @set_ns if they were lit before
 * @dark_ns: time from which their ports are free
 */
struct morph_hold {
	uint32_t plane;
	uint32_t matching;
	uint32_t circuits;
	const struct morph_rank_pair *pairs;
	uint64_t set_ns;
	uint64_t lit_ns;
	uint64_t dark_ns;
};

/**
 * morph_schedule_hold() - read a hold
 * @schedule: a feasible schedule
 * @number: its number, from 0, in the order in which holds are set
 * @out: where to put it
 *
 * Return: 0 or -ENOENT.
 */
int morph_schedule_hold(const struct morph_schedule *schedule, uint32_t number,
			struct morph_hold *out);

/**
 * struct morph_send - transfers on the same path at the same time
 * @round: their round
 * @first: first of them, within the round
 * @count: number of consecutive transfers
 * @bytes: bytes of each transfer on this path
 * @from_ns: when they begin, in nanoseconds from the start, rounded up
 * @until_ns: when all has arrived
 * @hops: circuits of the path
 * @holds: for each hop the number of the hold with its circuit, from the sending rank on; owned by
 *	the schedule until it is planned again
 */
struct morph_send {
	uint32_t round;
	uint32_t first;
	uint32_t count;
	uint64_t bytes;
	uint64_t from_ns;
	uint64_t until_ns;
	uint32_t hops;
	const uint32_t *holds;
};

/**
 * morph_schedule_send() - read a send
 * @schedule: a feasible schedule
 * @number: its number, from 0
 * @out: where to put it
 *
 * Return: 0 or -ENOENT.
 */
int morph_schedule_send(const struct morph_schedule *schedule, uint32_t number,
			struct morph_send *out);

/**
 * morph_schedule_describe() - describe a schedule and the policies tried
 * @schedule: the schedule, planned
 * @out: object of type "schedule": verdict, policy, times with their bound, alternatives, rounds,
 *	holds, matchings, sends
 *
 * Return: 0, -EINVAL (it was not planned) or -ENOMEM.
 */
int morph_schedule_describe(const struct morph_schedule *schedule, struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_SCHEDULE_H */
