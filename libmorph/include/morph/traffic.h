/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: lanes between servers for several controllers. Included by <morph/plan.h>. */
#ifndef MORPH_TRAFFIC_H
#define MORPH_TRAFFIC_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Several controllers, one rack
 *
 * Each controller decides about the lanes that leave its own servers, from its own view of all
 * demands. The views differ a little. A linear program can then end in a different vertex, and the
 * plans of several controllers together overload links. With a quadratic term in the objective the
 * optimum is unique and changes only as much as the views differ. So controllers agree without
 * communication: Symphony, "Stable and Fault-Tolerant Decentralized Traffic Engineering" (arXiv
 * 2510.11937). The formulation is a reconstruction from its abstract:
 *
 *     maximise    sum w_k x_p - lambda / 2 sum w_k x_p^2
 *     subject to  the load of each link at most its capacity,
 *                 the flow of each demand at most its amount, x >= 0
 *
 * morph_traffic_round() makes lanes whole by a threshold that all controllers share. Amounts and
 * capacities are in lanes. One thread at a time can use a problem.
 */

#define MORPH_TRAFFIC_HOPS 64 /* links of a path, at most */

/**
 * morph_traffic_new() - create a problem
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
 * morph_traffic_add_demand() - add a demand of one server to another
 * @te: the problem
 * @amount: most lanes that it can use
 * @weight: value of a lane; 1 if all have the same value
 *
 * Return: its number, counted from 0; -EINVAL (@amount is negative, @weight is not positive, or one
 * is not a number), -E2BIG (more than 2^20) or -ENOMEM.
 */
int morph_traffic_add_demand(struct morph_traffic *te, double amount, double weight);

/**
 * morph_traffic_add_servers() - add the links of a fabric between neighbouring servers
 * @te: the problem, without links
 * @ledger: the fabric and its unusable hardware; light and reservations do not matter, because the
 *	controllers divide all lanes
 *
 * A link is all fibres from one server to another. Its capacity is the lanes of the unmarked ones.
 * O(fibres).
 *
 * Return: the number of links, numbered from 0; -EINVAL (the problem has links), -E2BIG (more than
 * 1024) or -ENOMEM. After an error the problem is unchanged.
 */
int morph_traffic_add_servers(struct morph_traffic *te, const struct morph_ledger *ledger);

/**
 * morph_traffic_guide_link() - find the link of a fibre
 * @te: the problem
 * @guide: the fibre
 *
 * Return: the link's number, or -ENOENT (no fibre between servers).
 */
int morph_traffic_guide_link(const struct morph_traffic *te, uint32_t guide);

/**
 * morph_traffic_add_ways() - add the shortest paths of a demand
 * @te: the problem, with the links of morph_traffic_add_servers()
 * @demand: its number
 * @src_host: the server that sends
 * @dst_host: the server that receives
 * @most: limit of paths; 0 counts as 1
 *
 * Adds simple paths, the shortest first, up to two hops longer than the shortest; equal ones in the
 * order of servers. O(links * hops + paths * hops * links of a server).
 *
 * Return: how many were added, -ENOENT (no such demand), -EINVAL (no such server, or twice the
 * same), -EHOSTUNREACH (no path), -E2BIG or -ENOMEM.
 */
int morph_traffic_add_ways(struct morph_traffic *te, uint32_t demand, uint32_t src_host,
			   uint32_t dst_host, uint32_t most);

/**
 * struct morph_traffic_opts - options of the solver
 * @sz: size of this structure
 * @lambda: weight of the quadratic term, per lane; 0: a tenth over the largest capacity
 * @tolerance: largest residual of the optimality conditions; 0: 1e-9
 * @iterations: limit of steps; 0: 200
 * @cold: ignore the last solution
 */
struct morph_traffic_opts {
	size_t sz;
	double lambda;
	double tolerance;
	uint32_t iterations;
	bool cold;
};

/**
 * struct morph_traffic_result - summary of a solution
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @throughput: lanes of all demands together
 * @lambda: the value used
 * @residual: of the optimality conditions. For a link, it is the smaller of its price per unit of
 *	the largest weight, and its free capacity per lane of the largest capacity. This is the
 *	value of the worst link
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
 * morph_traffic_solve() - find the unique optimum
 * @te: the problem
 * @opts: options, or NULL
 * @out: summary, or NULL
 *
 * Newton's method with projection (Bertsekas, SIAM J. Control and Optimization 20, 1982) on the
 * dual, in the links' prices only, because the flows at given prices have a closed form. Each step
 * costs links^3 / 6 and paths * links of a path; a dozen are usual. After the first solution it
 * allocates nothing.
 *
 * Return: 0, -EINVAL (an option is negative or not a number), -E2BIG (unknown options or results),
 * -EAGAIN (the residual is still above the tolerance; flows are those of the last step) or -ENOMEM.
 */
int morph_traffic_solve(struct morph_traffic *te, const struct morph_traffic_opts *opts,
			struct morph_traffic_result *out);

/**
 * struct morph_traffic_link - a link of a problem
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @src_host: server that it leaves; MORPH_ANY if the link is not from morph_traffic_add_servers()
 * @dst_host: server that it reaches, or MORPH_ANY
 * @capacity: lanes that it can carry
 * @load: lanes that it carries in the last solution
 * @price: value of one additional lane, in the unit of the weights, in the last solution; 0 if the
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
 * @out: the structure to fill
 *
 * Return: 0, -ENOENT (no such link) or -E2BIG (unknown results).
 */
int morph_traffic_link(const struct morph_traffic *te, uint32_t link,
		       struct morph_traffic_link *out);

/**
 * struct morph_traffic_path - a path of a demand
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @flow: lanes that it carries in the last solution
 * @links: numbers of its links, in the order from the sender; owned by the problem until the next
 *	addition
 * @count: number of its links
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
 * @out: the structure to fill
 *
 * Return: 0, -ENOENT (no such path) or -E2BIG (unknown results).
 */
int morph_traffic_path(const struct morph_traffic *te, uint32_t path,
		       struct morph_traffic_path *out);

/**
 * morph_traffic_round() - round flows to whole lanes, as all controllers do
 * @te: the problem
 * @flows: flow of each path, without overloaded links; NULL: those of the last solution
 * @epoch: number of the decision, the same for all controllers
 * @last: lanes of each path in the epoch before, MORPH_ANY for a new path; or NULL
 * @out: lanes of each path
 *
 * Each controller rounds its plan for all demands, and installs its own part. A demand with flow f
 * gets at most floor(f + u) lanes. Paths with flow x get one lane above floor(x) in the order of x
 * + v, while all of their links have free capacity. The numbers u and v in [0, 1) depend on @epoch
 * and the number of the demand or path, so all controllers draw the same. Equal views therefore
 * overload no link, and similar views give similar lanes.
 *
 * A path keeps its lanes while its flow is less than 0.6 lanes away from them. If the flows of a
 * link have just decreased, the link can have some lanes too many for this epoch.
 *
 * O(paths log paths + paths * links of a path). After the first call it allocates nothing.
 *
 * Return: 0, -EINVAL (a flow is negative, above 2^31 or not a number) or -ENOMEM.
 */
int morph_traffic_round(struct morph_traffic *te, const double *flows, uint64_t epoch,
			const uint32_t *last, uint32_t *out);

/**
 * morph_traffic_recall() - reconstruct the lanes of paths from reservations
 * @te: the problem
 * @flows: present flow of each path; NULL: those of the last solution
 * @demands: demands of one controller
 * @count: how many, each once
 * @held: lanes of each link that the controller has reserved
 * @last: set to the lanes of the paths of @demands; other entries are unchanged
 *
 * Links know lanes, not paths. This function finds lanes of paths that explain the reservations,
 * and that morph_traffic_round() does not change if it gets them as @last. So a restarted
 * controller, or a backup, continues the last decision. The search improves lanes step by step and
 * does not prove an optimum. Over twenty meshes with 5 % noise between two epochs, it changes 1.02
 * times as many lanes as a controller that remembers; one that knows nothing changes 2.4 times as
 * many. Calls for one controller after the other give the decisions of all of them, and each of
 * them gets the same.
 *
 * O(links + sweeps * paths of the controller^2 * links of a path), a few sweeps if flows are near
 * the reservations. After the first call it allocates nothing.
 *
 * Return: lanes of links by which @last differs from @held, 0 if all are explained; -ENOENT (no
 * such demand), -EINVAL (a flow is negative, above 2^31 or not a number) or -ENOMEM.
 */
int64_t morph_traffic_recall(struct morph_traffic *te, const double *flows, const uint32_t *demands,
			     size_t count, const uint32_t *held, uint32_t *last);

/**
 * morph_slicing_assign() - assign tenants to controllers
 * @ctx: the context, for the error only
 * @weights: of each tenant: damage if its controller fails
 * @count: number of tenants
 * @controllers: number of controllers
 * @seed: random seed
 * @last: the present controller of each tenant, MORPH_ANY for a new one; or NULL
 * @primary: the controller of each tenant
 * @backup: the controller that takes over; MORPH_ANY with one controller only. Or NULL
 *
 * A tenant is never split, because otherwise every failure would affect all. The heaviest come
 * first, each to one of the two least loaded controllers at random. The most even one of 16 draws
 * wins (Symphony's randomised slicing; Mitzenmacher, The Power of Two Choices, IEEE TPDS 12, 2001).
 * Tenants keep their controller while no controller has more than 1.2 times the lower bound of the
 * greatest load. All other controllers are backups of a primary's tenants, so that few tenants lose
 * both at once (shuffle sharding). O(16 count log count + count controllers).
 *
 * Return: 0, -EINVAL (no controllers, a weight that is negative or not a number, a controller in
 * @last that does not exist) or -ENOMEM.
 */
int morph_slicing_assign(struct morph_ctx *ctx, const double *weights, size_t count,
			 uint32_t controllers, uint64_t seed, const uint32_t *last,
			 uint32_t *primary, uint32_t *backup);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_TRAFFIC_H */
