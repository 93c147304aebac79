/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: lanes between servers, shared by several controllers. Included by <morph/plan.h>. */
#ifndef MORPH_TRAFFIC_H
#define MORPH_TRAFFIC_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Several controllers, one rack
 *
 * Each controller decides on the lanes that leave its own servers, from its own view of what
 * all want. Views differ a little. The vertex that a linear program ends in may then be quite
 * another one, and what several controllers install from such plans overloads links. With a
 * quadratic term in the objective the optimum is unique and moves no further than the views
 * differ, so that they agree without talking to one another: Symphony, "Stable and
 * Fault-Tolerant Decentralized Traffic Engineering" (arXiv 2510.11937), of which only the
 * abstract was at hand; the formulation is a reconstruction.
 *
 *     maximise    sum w_k x_p - lambda / 2 sum w_k x_p^2
 *     subject to  the load of each link at most its capacity,
 *                 the flow of each demand at most its amount, x >= 0
 *
 * Lanes are whole: morph_traffic_round() makes them so by a threshold that all controllers share.
 * Amounts and capacities are in lanes. A problem is used by one thread at a time.
 */

#define MORPH_TRAFFIC_HOPS 64 /* links of a path, at most */

/**
 * morph_traffic_new() - begin a problem
 * @ctx: the context, which must outlive the problem
 *
 * Return: the problem, freed by morph_traffic_free(); NULL when out of memory.
 */
struct morph_traffic *morph_traffic_new(struct morph_ctx *ctx);

/**
 * morph_traffic_free() - free a problem
 * @te: the problem, or NULL
 */
void morph_traffic_free(struct morph_traffic *te);

/**
 * morph_traffic_add_demand() - what one server wants to send to another
 * @te: the problem
 * @amount: lanes wanted at most
 * @weight: what a lane of it is worth; 1 where all are worth the same
 *
 * Return: its number, counted from 0; -EINVAL (@amount is negative, @weight is not positive,
 * or one is no number), -E2BIG (more than 2^20) or -ENOMEM.
 */
int morph_traffic_add_demand(struct morph_traffic *te, double amount, double weight);

/**
 * morph_traffic_add_servers() - the links of a fabric: from each server to those beside it
 * @te: the problem, without links
 * @ledger: the fabric, and which of it is unusable; what is lit or reserved does not matter,
 *	for it is what the controllers divide
 *
 * A link is all fibres from one server to another; its capacity is the lanes of those that are
 * not marked. O(fibres).
 *
 * Return: how many links there are now, numbered from 0; -EINVAL (the problem has links), -E2BIG
 * (more than 1024) or -ENOMEM; then the problem is as before.
 */
int morph_traffic_add_servers(struct morph_traffic *te, const struct morph_ledger *ledger);

/**
 * morph_traffic_guide_link() - which link a fibre belongs to
 * @te: the problem
 * @guide: the fibre
 *
 * Return: the link's number, or -ENOENT (no fibre between servers).
 */
int morph_traffic_guide_link(const struct morph_traffic *te, uint32_t guide);

/**
 * morph_traffic_add_ways() - the shortest ways of a demand from one server to another
 * @te: the problem, with the links of morph_traffic_add_servers()
 * @demand: its number
 * @src_host: the server that sends
 * @dst_host: the server that receives
 * @most: how many ways at most; 0 counts as 1
 *
 * Ways that come by no server twice, the shortest first, up to two hops longer than that;
 * among equals in the order of servers. O(links * hops + ways * hops * links of a server).
 *
 * Return: how many were added, -ENOENT (no such demand), -EINVAL (no such server, or the same
 * twice), -EHOSTUNREACH (no way), -E2BIG or -ENOMEM.
 */
int morph_traffic_add_ways(struct morph_traffic *te, uint32_t demand, uint32_t src_host,
			   uint32_t dst_host, uint32_t most);

/**
 * struct morph_traffic_opts - how to solve
 * @sz: size of this structure
 * @lambda: weight of the quadratic term, per lane; 0: a tenth over the largest capacity
 * @tolerance: largest residual of the optimality conditions; 0: 1e-9
 * @iterations: at most; 0: 200
 * @cold: begin from nothing, not from the last solution
 */
struct morph_traffic_opts {
	size_t sz;
	double lambda;
	double tolerance;
	uint32_t iterations;
	bool cold;
};

/**
 * struct morph_traffic_result - a solution as a whole
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @throughput: lanes of all demands together
 * @lambda: what was used
 * @residual: of the optimality conditions: the least of a link's price, per unit of the
 *	largest weight, and its room left, per lane of the largest capacity; the worst link
 * @iterations: steps of Newton's method
 */
struct morph_traffic_result {
	size_t sz;
	double throughput;
	double lambda;
	double residual;
	uint32_t iterations;
};

/**
 * morph_traffic_solve() - find the one optimum
 * @te: the problem
 * @opts: how, or NULL
 * @out: what came of it, or NULL
 *
 * Newton's method with projection (Bertsekas, SIAM J. Control and Optimization 20, 1982) on
 * the dual, in the links' prices only: what a demand sends at given prices is known in closed
 * form. Each step costs links^3 / 6 and paths * links of a path; a dozen are usual. After the
 * first solution nothing is allocated.
 *
 * Return: 0, -EINVAL (an option is negative or no number), -E2BIG (unknown options or results), -EAGAIN
 * (the residual is above the tolerance still; flows are those of the last step) or -ENOMEM.
 */
int morph_traffic_solve(struct morph_traffic *te, const struct morph_traffic_opts *opts,
			struct morph_traffic_result *out);

/**
 * struct morph_traffic_link - a link of a problem
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @src_host: server that it leaves; MORPH_ANY of a link that is not of morph_traffic_add_servers()
 * @dst_host: server that it reaches, or MORPH_ANY
 * @capacity: lanes that it may carry
 * @load: lanes that it carries by the last solution
 * @price: worth of one lane more, in the unit of the weights, by the last solution; 0 where the
 *	link is not full
 */
struct morph_traffic_link {
	size_t sz;
	uint32_t src_host;
	uint32_t dst_host;
	double capacity;
	double load;
	double price;
};

/**
 * morph_traffic_link() - read servers, capacity, load and price of a link
 * @te: the problem
 * @link: its number
 * @out: where to put them
 *
 * Return: 0, -ENOENT (no such link) or -E2BIG (unknown results).
 */
int morph_traffic_link(const struct morph_traffic *te, uint32_t link,
		       struct morph_traffic_link *out);

/**
 * struct morph_traffic_path - a path of a demand
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @flow: lanes that it carries by the last solution
 * @links: numbers of its links, in the order from the sender; owned by the problem until something
 *	is added to it
 * @count: how many links it has
 */
struct morph_traffic_path {
	size_t sz;
	double flow;
	const uint32_t *links;
	uint32_t count;
};

/**
 * morph_traffic_path() - read links and flow of a path
 * @te: the problem
 * @path: its number
 * @out: where to put them
 *
 * Return: 0, -ENOENT (no such path) or -E2BIG (unknown results).
 */
int morph_traffic_path(const struct morph_traffic *te, uint32_t path,
		       struct morph_traffic_path *out);

/**
 * morph_traffic_round() - whole lanes, as other controllers would round them
 * @te: the problem
 * @flows: of each path, that no link is overloaded with; NULL: those of the last solution
 * @epoch: number of the decision, the same for all controllers
 * @last: lanes of each path in the epoch before, MORPH_ANY for one that is new; or NULL
 * @out: lanes of each path
 *
 * Each controller rounds what it has planned for all, and installs its own part. A demand
 * gets floor(f + u) lanes of its f at most, and a path with flow x has its turn for one above
 * floor(x) in the order of x + v, as long as all of its links have room; u and v in [0, 1) are
 * drawn from @epoch and the numbers of demand and path, which all controllers give alike. So
 * no link is overloaded where views are the same, and where they differ a little, so do the
 * lanes. A path keeps its lanes while its flow is less than 0.6 lanes away from them; then a
 * link whose flows have just become less may have some too many for this epoch.
 *
 * O(paths log paths + paths * links of a path). After the first call nothing is allocated.
 *
 * Return: 0, -EINVAL (a flow is negative, above 2^31 or no number) or -ENOMEM.
 */
int morph_traffic_round(struct morph_traffic *te, const double *flows, uint64_t epoch,
			const uint32_t *last, uint32_t *out);

/**
 * morph_traffic_recall() - what was decided last, from what is reserved
 * @te: the problem
 * @flows: of each path, as they are now; NULL: those of the last solution
 * @demands: those that one controller decides on
 * @count: how many, each once
 * @held: lanes of each link that it has reserved
 * @last: where to put the lanes of the paths of @demands; those of others stay as they are
 *
 * Links know lanes, not ways. Lanes of paths are sought that explain what is held, and that
 * morph_traffic_round() would leave where they are if it is given them as @last: so a controller that has
 * lost its memory, or a backup that never had it, goes on where the last one was. It is a search
 * step by step, without a proof of the best: of twenty meshes with 5 % of noise between two epochs it
 * has 1.02 times as many lanes changed as who remembers, where nothing known has 2.4 times.
 * Called for one controller after the other it gives what all of them decided, to each of them the same.
 *
 * O(links + sweeps * paths of the controller^2 * links of a path), a few sweeps where flows are
 * not far from what is held. After the first call nothing is allocated.
 *
 * Return: lanes of links by which @last differs from @held, 0 where all is explained; -ENOENT
 * (no such demand), -EINVAL (a flow is negative, above 2^31 or no number) or -ENOMEM.
 */
int64_t morph_traffic_recall(struct morph_traffic *te, const double *flows, const uint32_t *demands,
			     size_t count, const uint32_t *held, uint32_t *last);

/**
 * morph_slicing_assign() - give tenants to controllers
 * @ctx: the context, for the error only
 * @weights: of each tenant: how much it hurts when its controller fails
 * @count: how many tenants
 * @controllers: how many controllers
 * @seed: of the draws
 * @last: the controller of each tenant until now, MORPH_ANY for a new one; or NULL
 * @primary: the controller of each tenant
 * @backup: who takes over; MORPH_ANY where there is one controller only. Or NULL
 *
 * Tenants are never split, or every failure would hurt them all. The heaviest come first, each
 * to one of the two least loaded controllers by chance; of 16 draws the most even one is
 * taken (Symphony's randomised slicing; Mitzenmacher, The Power of Two Choices, IEEE TPDS 12,
 * 2001). Tenants stay where they are as long as no controller has more than 1.2 times what
 * one must have at least. A primary's tenants are spread over all others as backups, so
 * that few lose both at once (shuffle sharding). O(16 count log count + count controllers).
 *
 * Return: 0, -EINVAL (no controllers, a weight that is negative or no number, a controller in
 * @last that does not exist) or -ENOMEM.
 */
int morph_slicing_assign(struct morph_ctx *ctx, const double *weights, size_t count,
			 uint32_t controllers, uint64_t seed, const uint32_t *last,
			 uint32_t *primary, uint32_t *backup);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_TRAFFIC_H */
