/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: when circuits change. Included by <morph/plan.h>. */
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
 * A schedule says for a collective which circuits are held from when to when, and what is sent over
 * them. Plane j is transmit and receive port j of every rank: on a plane a rank has a circuit to one other at
 * most, and one from one other. A *hold* is a matching of circuits on a plane: it is set, which takes what the
 * delay says; then it is lit; and at some time it is dark. A *send* is transfers of a round, or the part of each that goes
 * one way: over one hold, or over one after the other.
 *
 *	morph_collective_build(collective, &how);
 *	morph_delay_set(delay, &link);
 *	morph_schedule_plan(schedule, collective, delay, &opts);
 *
 * A round begins when the one before has ended, but for MORPH_POLICY_MATCHINGS. With each schedule comes a time
 * that no other falls below, whatever its circuits. A checker of its own carries
 * it out with its own clock. A schedule is used by one thread at a time.
 */

/**
 * morph_schedule_new() - room for a schedule
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
 * enum morph_policy - how it is chosen when circuits change
 * @MORPH_POLICY_BEST: by whichever of these ends first; it ends no later for what is lit at first, and, as long as the budget lasts,
 *	no later than on fewer planes
 * @MORPH_POLICY_EACH_ROUND: each round has circuits of its own, on all planes, unless they are there; where a rank has more partners than
 *	planes it takes turns, unless what came in one would be sent in the next: such rounds are not tried
 * @MORPH_POLICY_ONE_SHOT: before the first round each plane gets what it has to the end
 * @MORPH_POLICY_SEGMENTS: some rounds, one after the other, share the circuits of all planes, over which others are hops; a
 *	dynamic program finds which (Harvest, arXiv 2602.09188; PCCL, arXiv 2509.15450)
 * @MORPH_POLICY_OVERLAP: while some planes change, others send (SWOT, arXiv 2510.19322)
 * @MORPH_POLICY_MATCHINGS: of a collective of one round: each circuit changes when both of its ends have done with the last
 * @MORPH_POLICY_UNITED: what segments and overlap do, in one: while some planes change others send, each over circuits of its own or over
 *	several of its plane; no later than the best of those before, with which it begins
 * @MORPH_POLICIES: how many there are
 *
 * morph_enum_name(MORPH_ENUM_POLICY, value) gives the word.
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
 * struct morph_schedule_opts - what may be used
 * @sz: sizeof(struct morph_schedule_opts)
 * @policy: enum morph_policy
 * @planes: ports of each rank; 0: 1
 * @after: what it leaves lit is lit at first; NULL: nothing is
 * @budget: how long is searched, in the units of the policy: of MORPH_POLICY_OVERLAP and MORPH_POLICY_UNITED the width of the beam, of
 *	MORPH_POLICY_MATCHINGS about a million pairs of ranks that are looked at, some milliseconds, by all methods where that is asked for, or
 *	another policy, and by those that are quick where neither is; and of MORPH_POLICY_BEST besides, which has each of them search so long, on how many planes fewer it is tried, too; 0: as long as pays in most cases
 * @pool: topologies that are given, for morph_schedule_plan() alone: it plans on these and what is lit
 *	at first; NULL: on any. Other calls refuse it with EINVAL
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
 * @schedule: the answer; what was in it is forgotten
 * @collective: what is to be done, with its rounds
 * @delay: what rounds and changes take
 * @opts: what may be used; NULL for one plane, dark at first, and the best policy
 *
 * With @opts->pool the policy is not looked at; that of the answer is MORPH_POLICY_SEGMENTS. It is
 * exact for these topologies where they take all planes, but for routes: on planes that are left what
 * was held before stays, of which it knows nothing. Where ranks are not joined they go over several
 * circuits. MORPH_INFEASIBLE: a topology has more circuits at a rank than there are planes, or a round
 * has no way. MORPH_UNDECIDED: there are too many ways to be tried.
 *
 * Return: 0, whatever the verdict; -EINVAL (no bandwidth, more than 64 planes, @opts->after is of another number of ranks or
 * planes, a policy that does not do this collective, a pool of no topologies or with other ranks, or @in_turn without one for each
 * round), -ERANGE (it takes more than 2^62 ps), -ENOMEM, or as morph_opts_check().
 */
int morph_schedule_plan(struct morph_schedule *schedule, const struct morph_collective *collective,
			const struct morph_delay *delay, const struct morph_schedule_opts *opts);

/**
 * struct morph_choice - what an algorithm came to
 * @algorithm: enum morph_algorithm
 * @policy: enum morph_policy that was best for it; 0 where it can't be done so, or was left out for the budget
 * @planes: ports of each rank that it was planned for
 * @rounds: how many it has
 * @radix: of Bruck's algorithm, which that is; else 0
 * @segments: of a binary tree, in how many parts the buffer goes; else 0
 * @extent: of MORPH_RINGS, along which torus they go; else 0
 * @ns: when all has arrived, nanoseconds from the start
 * @alone_ns: of an all-reduce, until when from the start nothing is needed of the last rank; else 0. Where that comes after L all has arrived at
 *	max(L, @alone_ns) + @ns - @alone_ns
 * @chosen: this is the one
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
 * @schedule: the answer; what was in it is forgotten
 * @collective: where to put the rounds that are best; what was in it is forgotten
 * @wanted: what is to be done; @wanted->algorithm is tried alone unless it is 0
 * @delay: what rounds and changes take
 * @opts: as morph_schedule_plan()
 * @choices: where to put what each algorithm came to, MORPH_ALGORITHMS of them by enum morph_algorithm; or NULL
 *
 * Neither choice is right alone: what needs most rounds may need fewest changes. Each algorithm that does the collective
 * with as many ranks is planned, and the one that ends first is it; of several the one with fewest circuits that are set.
 * MORPH_STRAGGLAR supposes that a rank is late, and is tried of an all-reduce with @wanted->late_ns alone; then the one is it with which all has arrived
 * first after the last rank has come so late, as morph_schedule_payoff() reckons. Times of the schedule are those of a last rank that comes when it is
 * needed. Where @wanted does not say them, of Bruck's algorithm these radices are
 * tried: 2, one more than there are planes, and the one with which there are two digits; and of a binary tree as many segments, a
 * power of two up to 256, as are best by what a round takes, with circuits that change in each and with such that stay; and of MORPH_RINGS the
 * tori of two and of three dimensions whose extents are most alike, each above 1.
 *
 * Of more than 64 ranks, or with @opts->budget, algorithms, and each radix, number of segments and torus, are planned as long as the budget lasts, those with the least work first, and one in any
 * case: the rest are left out, and the answer is the best of those that are not. A unit of the budget is about four million transfers, each as often as
 * there are ranks where a round has more of them than ranks, and else 16 times, some tenths of a second; 0: 64 of them. Time is not looked
 * at, so that all who ask come to the same.
 *
 * Return: as morph_schedule_plan(), -EINVAL where no algorithm does it, or @wanted->late_ns is above 2^40, and -E2BIG where none does for there
 * are too many bytes.
 */
int morph_schedule_choose(struct morph_schedule *schedule, struct morph_collective *collective,
			  const struct morph_collective_opts *wanted,
			  const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			  struct morph_choice *choices);

/* Choices that there are on so many planes, at most. */
#define MORPH_CANDIDATES (MORPH_ALGORITHMS * MORPH_POLICIES)

/**
 * morph_schedule_candidates() - what may be done in the place of what was chosen
 * @schedule: room to plan; what was in it is forgotten
 * @collective: room for rounds; what was in it is forgotten. Where @wanted is NULL the rounds themselves, which stay
 * @wanted: as morph_schedule_choose(); NULL: the rounds of @collective
 * @delay: as there
 * @opts: as there; with a policy that is the only one
 * @choices: what that came to; not looked at where @wanted is NULL
 * @fewer: planes on which all is tried too, below @opts->planes; 0: none
 * @list: where to put the candidates, room for 2 * MORPH_CANDIDATES: those first that end first, as morph_schedule_choose() reckons
 * @count: where to put how many there are
 *
 * What is chosen may have no ways on the fabric (morph_schedule_light()), or be refused when it is loaded. Candidates are the
 * algorithms of @choices that could be planned, as they are told there, each by each policy alone; of those that hold the same circuits
 * at the same times there is one. Of fewer planes the others stay as they are. morph_schedule_take() plans one of them. It takes about twice as
 * long as morph_schedule_choose(), and all who ask come to the same.
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
 * morph_schedule_take() - plan as a choice says
 * @schedule: the answer; what was in it is forgotten
 * @collective: where to put its rounds; what was in it is forgotten. Where @wanted is NULL the rounds themselves
 * @wanted: what is to be done; what @choice says takes the place of what it says of the algorithm. NULL: the rounds of @collective
 * @delay: what rounds and changes take
 * @opts: as morph_schedule_plan(); but the policy is that of @choice
 * @choice: one of morph_schedule_candidates(), or of morph_schedule_choose(). With fewer planes than @opts->planes it makes use of the first ones alone,
 *	and of nothing that is lit at first
 *
 * Return: as morph_schedule_plan() and morph_collective_build(), and -EINVAL where @choice has no planes, or more than @opts.
 */
int morph_schedule_take(struct morph_schedule *schedule, struct morph_collective *collective,
			const struct morph_collective_opts *wanted, const struct morph_delay *delay,
			const struct morph_schedule_opts *opts, const struct morph_choice *choice);

/**
 * morph_schedule_combine() - plan the way back of a dispatch
 * @schedule: the answer; what was in it is forgotten
 * @collective: where to put the rounds of the way back; what was in it is forgotten
 * @there: the way there: of experts' tokens, dispatch
 * @delay: what rounds and changes take
 * @opts: as morph_schedule_plan(); the policy is MORPH_POLICY_MATCHINGS, or MORPH_POLICY_BEST
 *
 * The plan of MORPH_POLICY_MATCHINGS for @there, turned round: the same matchings, transposed, the last first. It needs no other
 * matrix and no search of its own. Where ports change by themselves, and take no time each, and nothing is lit at first it takes no
 * longer than the way there. Circuits that @opts->after leaves lit are not made use of. By MORPH_POLICY_BEST it is that, unless what
 * morph_schedule_plan() finds for the same rounds is sooner: where changes are dear.
 *
 * Return: as morph_schedule_plan(), and -EINVAL for another policy.
 */
int morph_schedule_combine(struct morph_schedule *schedule, struct morph_collective *collective,
			   const struct morph_collective *there, const struct morph_delay *delay,
			   const struct morph_schedule_opts *opts);

/**
 * struct morph_payoff - what it is worth not to wait for a late rank
 * @late_ns: from the start of the others until there is nothing left to do without it
 * @rest_ns: from then on until all has arrived; its first circuits are lit by then
 * @other_ns: what the other algorithm takes that is best then, which begins when the last rank comes, with its first circuits lit too
 * @pays_ns: how late the last rank must be for this to end sooner; UINT64_MAX where it never does
 */
struct morph_payoff {
	uint64_t late_ns;
	uint64_t rest_ns;
	uint64_t other_ns;
	uint64_t pays_ns;
};

/**
 * morph_schedule_payoff() - does all-reduce pay that begins without the last rank?
 * @schedule: where to put its schedule; what was in it is forgotten
 * @collective: where to put its rounds, by MORPH_STRAGGLAR; what was in it is forgotten
 * @wanted: ranks and bytes, and what algorithms are told; kind, algorithm and late_ns are not looked at
 * @delay: what rounds and changes take
 * @opts: as morph_schedule_plan()
 * @payoff: the answer
 *
 * With a rank that comes after L the one ends at max(L, late) + rest, the other at L + other (StragglAR, arXiv
 * 2505.23523): it pays where rest is less than other, and L is more than late + rest - other. Until then nothing is sent by way of that rank: what the
 * others do is planned among them alone, and they begin with none of what @opts->after leaves lit, where all rounds together make no sooner plan that
 * keeps clear of it.
 *
 * Return: as morph_schedule_choose().
 */
int morph_schedule_payoff(struct morph_schedule *schedule, struct morph_collective *collective,
			  const struct morph_collective_opts *wanted,
			  const struct morph_delay *delay, const struct morph_schedule_opts *opts,
			  struct morph_payoff *payoff);

/* ------------------------------------------------------------ ports that are lost */

/**
 * enum morph_loss_ports - which ports of a rank on a plane
 * @MORPH_LOSS_TRANSMIT: the one that sends
 * @MORPH_LOSS_RECEIVE: the one that receives
 */
enum morph_loss_ports {
	MORPH_LOSS_TRANSMIT = 1,
	MORPH_LOSS_RECEIVE = 2,
};

/**
 * struct morph_loss - ports that are there no more
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
 * struct morph_replan_opts - what is lost
 * @sz: sizeof(struct morph_replan_opts)
 * @losses: the ports
 * @count: how many entries that has
 * @from_ns: from when on, nanoseconds from the start of the schedule; 0: before it starts
 */
struct morph_replan_opts {
	size_t sz;
	const struct morph_loss *losses;
	uint32_t count;
	uint64_t from_ns;
};

/**
 * struct morph_replanned - how one schedule differs from another
 * @lost: circuits of holds that end after the loss, and go over a port that is lost
 * @changed: circuits that differ: each that is lost is one, with what is set in its place; each that is set besides is one more
 * @moved: of those that are lost, how many are on another plane for as long as they are held
 * @shared: transfers that go over circuits which are there, after what these carry
 * @turns: circuits that are set for one turn, and stay if nothing wants their ports
 * @again: circuits that are set again after such a turn
 * @later_ns: how much later all has arrived
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
 * morph_schedule_replan() - go on without some ports, with the fewest changes
 * @schedule: the answer; what was in it is forgotten
 * @old: a feasible schedule, which stays as it is
 * @collective: what it was planned for
 * @delay: what it was planned with
 * @opts: what is lost
 * @replanned: where to put how the answer differs; or NULL
 *
 * A circuit is of one hold: what is held again is another. Those that are not lost stay on their planes, in the same order; all
 * that comes after time which is put in is later by it, and nothing before the loss is another. What went over a circuit that is
 * lost, and had not arrived whole by then, goes
 *
 *	over the same circuit on another plane, where both ports are free as long as it is held: that takes no time;
 *	or, when all of the round that is sent beside it has arrived, over circuits that are lit then, straight or by hops;
 *	or over a circuit that is set for it then. What has its ports is dark meanwhile, and set again if it is wanted.
 *
 * Of these ways each circuit gets the one that sets fewest besides the one in its place, and of those the one that takes least
 * time by itself. Fewest is exact at each moment where no two circuits have to be set then, as when one port is lost; where
 * several want the same port the first get it, and those that have been put on another plane make room while there is one more
 * for them. The minimal change of circuits is after FastReChain (arXiv 2507.12265).
 *
 * O(circuits + transfers sent over holds that lose circuits), and for each moment and circuit that is lost O(planes * ranks)
 * where it shares, O(planes * ranks^2) where others have to be set again.
 *
 * Policy, and what else was tried, are those of @old.
 *
 * Return: 0, whatever the verdict: MORPH_INFEASIBLE where a rank that has to send has no port left to send from, or to receive;
 * MORPH_UNDECIDED where none of the ways above does it. -EINVAL (@old is @schedule, not feasible, of other ranks, rounds or delays; no such rank, plane or
 * ports), -ERANGE (it takes more than 2^62 ps), -ENOMEM, or as morph_opts_check().
 */
int morph_schedule_replan(struct morph_schedule *schedule, const struct morph_schedule *old,
			  const struct morph_collective *collective,
			  const struct morph_delay *delay, const struct morph_replan_opts *opts,
			  struct morph_replanned *replanned);

/**
 * enum morph_schedule_bound - what a bound of a schedule follows from
 * @MORPH_BOUND_PORTS: the rank that sends or receives most does so over all of its planes
 * @MORPH_BOUND_CHAIN: transfers that wait for one another follow one another, each over all planes
 */
enum morph_schedule_bound {
	MORPH_BOUND_PORTS = 1,
	MORPH_BOUND_CHAIN = 2,
};

/**
 * struct morph_schedule_result - a schedule as a whole
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @verdict: enum morph_verdict; 0 of a schedule that was not planned
 * @policy: enum morph_policy by which it was found
 * @why: the reason why there is none, as a sentence owned by the schedule; "" of a feasible one
 * @ns: time at which all data has arrived, in nanoseconds from the start, rounded up
 * @bound_ns: lower bound of @ns for any schedule of these rounds on as many planes
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
 * @matching: which; of two holds the same where their circuits are the same
 * @circuits: how many
 * @pairs: the ends of each circuit, in the order of ranks that send; owned by the schedule until it
 *	is planned again
 * @set_ns: nanoseconds from the start at which, rounded up as the others, the first of their ports stops sending
 * @lit_ns: from when on they carry data; as @set_ns where they were there before
 * @dark_ns: from when on their ports are free
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
 * struct morph_send - transfers that go the same way at the same time
 * @round: their round
 * @first: the first of them, of those of the round
 * @count: how many, one after the other
 * @bytes: what of each transfer goes this way
 * @from_ns: when they begin, in nanoseconds from the start, rounded up
 * @until_ns: when all has arrived
 * @hops: circuits of the path
 * @holds: for each hop the number of the hold that has its circuit, from the rank that sends; owned
 *	by the schedule until it is
 *	planned again
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
 * morph_schedule_describe() - all that a schedule says, and what else was tried
 * @schedule: the schedule, planned
 * @out: object of type "schedule": verdict, policy, times with their bound, alternatives, rounds, holds, matchings, sends
 *
 * Return: 0, -EINVAL (it was not planned) or -ENOMEM.
 */
int morph_schedule_describe(const struct morph_schedule *schedule, struct morph_object **out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_SCHEDULE_H */
