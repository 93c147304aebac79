/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phases inside. */
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
	uint32_t users; /* groups that run over it: it is busy */
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
	uint64_t iteration; /* of the rank, that this is of; 0: none was begun */
};

/* What a group waits for. */
enum queue {
	NO_QUEUE,
	WANTED, /* circuits, ahead of its operation */
	READY, /* the operation, which all have begun */
};

struct group {
	struct member *members; /* by rank */
	uint32_t count, gone;
	uint32_t near, begun, running; /* members: announced or begun; begun; running */
	ARRAY_OF(uint32_t) links;
	uint32_t *coming, *going; /* of a change: room for all links, and for twice as many */
	uint32_t comes, goes;
	bool changing; /* until its change is reported */
	bool ahead; /* circuits were asked for before the operation was ready */
	bool looked,
		waited; /* since the operation is ready: what it lacks was counted, and that it waited */
	bool unread[MORPH_PHASE_GO + 1]; /* acts */
	enum queue queue;
	uint64_t ready_ns;
	uint64_t counter; /* of the operation that goes on */
};

/* Operations of a group one after the other, as in struct morph_stage. */
struct stage {
	uint32_t group;
	uint64_t first, count;
	uint64_t window_ns; /* before it; NEVER: not known */
};

struct iteration {
	struct stage *stages;
	uint32_t count;
	bool whole; /* there was room for all stages */
};

/* Windows before a stage that was learned, the last of them. */
struct windows {
	uint64_t seen;
	uint64_t ns[WINDOWS];
};

struct rank {
	bool gone;
	uint32_t next; /* group that is announced */
	uint32_t active; /* operations begun or running, of groups with circuits */
	uint64_t number; /* of the iteration, from 1 */
	uint64_t ended_ns; /* the last of these operations; NEVER: there was none */
	uint64_t began_ns; /* the last one of a trace */
	uint32_t at; /* stage of the pattern; NOTHING: it is lost */
	bool recording;
	struct {
		uint64_t ended_ns;
		uint32_t at;
		bool recording;
	} before; /* a trace, to which it comes back if that is refused */
	struct iteration now, last, pattern;
	struct windows *windows; /* of stages of the pattern */
};

/* What holds a port, and which link wants it in this pass of those that wait. */
struct port {
	uint32_t link;
	uint32_t claim;
	uint64_t pass;
};

/* Planes that carry nothing while one of them is changed. */
struct domain {
	uint32_t users; /* links in use, each as often as it is */
	uint32_t changes; /* links being set */
	uint64_t pass; /* claimed whole */
};

struct phase_act {
	uint32_t kind, group;
};

struct morph_phases {
	struct morph_ctx *ctx;
	uint32_t ranks, planes, mode, scope, stages;
	uint64_t now_ns, pass;
	struct rank *list;
	struct port *ports; /* of each plane those that transmit, then those that receive */
	uint32_t *leaving; /* by plane and rank: first of its links */
	struct domain domains[MOST_PLANES];
	ARRAY_OF(struct group) groups;
	ARRAY_OF(struct link) links;
	ARRAY_OF(uint32_t) ready; /* groups, first come first */
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

/* The member of a group that a rank is, or NULL. O(log members). */
struct member *lm_phase_member(const struct group *group, uint32_t rank);

/* What a call names. Each returns 0 or a noted error. */
int lm_phase_check_rank(const struct morph_phases *phases, uint32_t rank);
int lm_phase_check_group(const struct morph_phases *phases, uint32_t group);
int lm_phase_check_member(const struct morph_phases *phases, uint32_t rank, uint32_t group);

/* How long a rank's ports are idle; NEVER: not known. */
static inline uint64_t lm_phase_idle_ns(const struct rank *rank, uint64_t now_ns)
{
	if (rank->ended_ns == NEVER)
		return NEVER;
	return now_ns > rank->ended_ns ? now_ns - rank->ended_ns : 0;
}

/*
 * learn.c. A member counts its operations: 0, or a noted -EINVAL of a counter that does not ascend. Then its rank writes it
 * down, where the group has circuits, with how long ports were idle before.
 */
int lm_phase_count(const struct morph_phases *phases, uint32_t rank, struct member *member,
		   uint32_t group, uint64_t counter);
void lm_phase_record(struct morph_phases *phases, uint32_t rank, const struct member *member,
		     uint32_t group, uint64_t window_ns);
/* The group of the stage that follows the member's last operation, where that ends one; or NOTHING. */
uint32_t lm_phase_follows(const struct morph_phases *phases, uint32_t rank,
			  const struct member *member, uint32_t group);

/* settle.c: who waits goes on, or asks for circuits. */
void lm_phase_settle(struct morph_phases *phases);
/* The last member has ended: its circuits are not busy any more. */
void lm_phase_release(struct morph_phases *phases, struct group *group);
/* Circuits of a change are lit, or dark. */
void lm_phase_changed(struct morph_phases *phases, struct group *group, bool lit);

#endif /* LM_PHASES_PHASES_H */
