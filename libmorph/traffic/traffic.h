/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The traffic problem: structures that its builder and its solver share. */
#ifndef LM_PLAN_TE_H
#define LM_PLAN_TE_H

#include "../internal/planner.h"
#include "../util/array.h"

#define TE_STAY 0.6 /* distance in lanes up to which a path keeps its lanes */

struct te_demand {
	double amount;
	double weight;
	uint32_t first; /* path; ~0 for none */
	uint32_t paths;
};

struct te_path {
	uint32_t demand;
	uint32_t next; /* path of the same demand; ~0 for none */
	uint32_t first, count; /* in links */
	double flow;
};

/* A path that can get one additional lane in morph_traffic_round(). */
struct te_turn {
	double rank;
	uint32_t path;
};

struct te_servers;

struct morph_traffic {
	struct morph_ctx *ctx;
	struct te_servers *servers; /* that links join, or NULL */
	ARRAY_OF(double) capacities; /* by link */
	ARRAY_OF(struct te_demand) demands;
	ARRAY_OF(struct te_path) paths;
	ARRAY_OF(uint32_t) links; /* of all paths */
	uint32_t most_paths; /* of one demand */
	/* Of the solver. The first solution after an addition allocates it. */
	uint32_t solved_links, solved_paths;
	double *prices; /* by link; kept between solutions */
	double *loads; /* by link, of the last solution */
	double *memory;
	/* Of morph_traffic_round(). */
	ARRAY_OF(struct te_turn) turns;
	ARRAY_OF(double) room; /* by link */
	ARRAY_OF(int64_t) wanting; /* by demand */
	ARRAY_OF(int64_t) left; /* of morph_traffic_recall(), by link: unexplained lanes */
};

/* te_fabric.c */
void lm_te_servers_free(struct te_servers *servers);
/* Does not write anything if the link is not between servers. */
void lm_te_link_ends(const struct te_servers *servers, uint32_t link, uint32_t *src_host,
		     uint32_t *dst_host);

/* traffic.c: 0, or a noted -ENOENT. */
int lm_te_check_demand(const struct morph_traffic *te, uint32_t demand);

/* traffic_round.c: the flow of a path; @flows or NULL for the last solution. */
double lm_te_flow(const struct morph_traffic *te, const double *flows, uint32_t path);
int lm_te_check_flows(struct morph_traffic *te, const double *flows);

#endif /* LM_PLAN_TE_H */
