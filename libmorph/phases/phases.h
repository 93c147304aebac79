/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internal structures of phases. */
#ifndef LM_PHASES_PHASES_H
#define LM_PHASES_PHASES_H

#include "../util/array.h"
#include "../internal/phases.h"
#include "../util/base.h"

#define NOTHING UINT32_MAX /* no circuit, group or stage */
#define NEVER UINT64_MAX
#define WINDOWS 8
#define MOST_PLANES 64 /* as in schedules */

enum light {
	DARK,
	SETTING,
	LIT,
};

struct link {
	struct morph_phase_circuit ends;
	uint32_t next; /* of those that leave the same port */
	uint32_t users; /* groups that run over it; it is busy if there are any */
	enum light light;
};

enum part {
	AWAY,
	ANNOUNCED, /* it is the rank's next group */
	BEGUN,
	RUNNING,
};

struct member {
	uint32_t rank;
	enum part part;
	uint64_t counter; /* of the operation begun last */
	uint64_t base; /* counter of the first operation of the iteration */
	uint64_t iteration; /* iteration of the rank that @base belongs to; 0: none */
};

/* What a group waits for. */
enum queue {
	NO_QUEUE,
	WANTED, /* circuits before its operation */
	READY, /* circuits for an operation that all members have begun */
};

struct group {
	struct member *members; /* by rank */
	uint32_t count, gone;
	uint32_t near, begun, running; /* members: announced or begun; begun; running */
	ARRAY_OF(uint32_t) links;
	uint32_t *coming, *going; /* of a change: space for all links, and for twice as many */
	uint32_t comes, goes;
	bool changing; /* until its change is reported */
	bool ahead; /* circuits were requested before the operation was ready */
	bool looked, waited; /* counted for a ready operation: lack and wait */
	bool unread[MORPH_PHASE_GO + 1]; /* acts */
	enum queue queue;
	uint64_t ready_ns;
	uint64_t counter; /* of the operation that goes on */
};

/* Consecutive operations of a group, as in struct morph_stage. */
struct stage {
	uint32_t group;
	uint64_t first, count;
	uint64_t window_ns; /* before it; NEVER: unknown */
};

struct iteration {
	struct stage *stages;
	uint32_t count;
	bool whole; /* all stages fitted */
};

/* The last windows before a learnt stage. */
struct windows {
	uint64_t seen;
	uint64_t ns[WINDOWS];
};

struct rank {
	bool gone;
	uint32_t next; /* the announced group */
	uint32_t active; /* operations begun or running, in groups with circuits */
	uint64_t number; /* of the iteration, from 1 */
	uint64_t ended_ns; /* end of the last of these operations; NEVER: none */
	uint64_t began_ns; /* begin of the last one in a trace */
	uint32_t at; /* stage of the pattern; NOTHING: unknown */
	bool recording;
	struct {
		uint64_t ended_ns;
		uint32_t at;
		bool recording;
	} before; /* state before a trace, restored if the trace is refused */
	struct iteration now, last, pattern;
	struct windows *windows; /* of stages of the pattern */
};

/* The link that holds a port, and the waiting link that claims it in this pass. */
struct port {
	uint32_t link;
	uint32_t claim;
	uint64_t pass;
};

/* Planes that carry nothing while one of them changes. */
struct domain {
	uint32_t users; /* links in use, counted once for each use */
	uint32_t changes; /* links being set */
	uint64_t pass; /* claimed as a whole */
};

struct phase_act {
	uint32_t kind, group;
};

struct morph_phases {
	struct morph_ctx *ctx;
	uint32_t ranks, planes, mode, scope, stages;
	uint64_t now_ns, pass;
	struct rank *list;
	struct port *ports; /* transmit ports of each plane, then receive ports */
	uint32_t *leaving; /* by plane and rank: first of its links */
	struct domain domains[MOST_PLANES];
	ARRAY_OF(struct group) groups;
	ARRAY_OF(struct link) links;
	ARRAY_OF(uint32_t) ready; /* groups in the order of their requests */
	ARRAY_OF(uint32_t) wanted;
	ARRAY_OF(struct phase_act) acts;
	struct morph_phase_counts counts;
};

/* The ports of a link. */
static inline struct port *lm_phase_leaves(const struct morph_phases *phases,
					   const struct link *link)
{
	return &phases->ports[2 * link->ends.plane * phases->ranks + link->ends.src];
}

static inline struct port *lm_phase_reaches(const struct morph_phases *phases,
					    const struct link *link)
{
	return &phases->ports[(2 * link->ends.plane + 1) * phases->ranks + link->ends.dst];
}

/* The member of a group for this rank, or NULL. O(log members). */
struct member *lm_phase_member(const struct group *group, uint32_t rank);

/* Check an argument of a call. Each returns 0 or a noted error. */
int lm_phase_check_rank(const struct morph_phases *phases, uint32_t rank);
int lm_phase_check_group(const struct morph_phases *phases, uint32_t group);
int lm_phase_check_member(const struct morph_phases *phases, uint32_t rank, uint32_t group);

/* How long a rank's ports are idle; NEVER: unknown. */
static inline uint64_t lm_phase_idle_ns(const struct rank *rank, uint64_t now_ns)
{
	if (rank->ended_ns == NEVER)
		return NEVER;
	return now_ns > rank->ended_ns ? now_ns - rank->ended_ns : 0;
}

/*
 * learn.c: count an operation of a member. 0, or a noted -EINVAL for a counter that does not
 * ascend. If the group has circuits, the rank also records the operation and the idle time before
 * it.
 */
int lm_phase_count(const struct morph_phases *phases, uint32_t rank, struct member *member,
		   uint32_t group, uint64_t counter);
void lm_phase_record(struct morph_phases *phases, uint32_t rank, const struct member *member,
		     uint32_t group, uint64_t window_ns);
/* The group of the next stage if the member's last operation ends a stage; else NOTHING. */
uint32_t lm_phase_follows(const struct morph_phases *phases, uint32_t rank,
			  const struct member *member, uint32_t group);

/* settle.c: let waiting groups go on, or request circuits for them. */
void lm_phase_settle(struct morph_phases *phases);
/* The last member has ended, so the group's circuits are no longer busy. */
void lm_phase_release(struct morph_phases *phases, struct group *group);
/* The circuits of a change are lit, or dark. */
void lm_phase_changed(struct morph_phases *phases, struct group *group, bool lit);

#endif /* LM_PHASES_PHASES_H */
