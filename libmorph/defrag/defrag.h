/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structures that the files of defragmentation share. */
#ifndef LM_PLAN_DEFRAG_H
#define LM_PLAN_DEFRAG_H

#include "../place/place.h"
#include "reroute.h"

#define DEFRAG_NOBODY UINT32_MAX
#define DEFRAG_REQUEST (UINT32_MAX - 1) /* a circuit of the request */

/* How a circuit of a plan is lit. */
struct lit {
	uint32_t number; /* of the circuit in its slice; none while it is dark */
	struct optics_path path;
};

/* A running slice. */
struct running {
	struct morph_plan *plan;
	uint32_t slice;
	bool pinned;
	bool repaired; /* the kernel repairs it automatically with dark fibres */
	struct morph_protection *kept; /* its protection, or NULL */
	uint32_t *spares; /* by rank: the spare of the kernel's plan, or UINT32_MAX; or NULL */
	struct lit *lit; /* by circuit; NULL: not from a kernel, and the plan is the caller's */
	struct optics_hop *hops; /* of the paths in @lit */
};

/* A slice that was read, and that no step changes. */
struct stay {
	uint32_t slice;
	const char *why;
};

/* A hop of the rack that movable circuits and the request's circuits compete for. */
struct pooled {
	uint32_t strand; /* index in the rack's hops */
	uint32_t holder; /* flow, or DEFRAG_NOBODY */
	uint32_t freed; /* index of the step that frees it, plus one */
};

struct change {
	uint32_t flow; /* or DEFRAG_REQUEST */
	uint32_t circuit;
	uint32_t first, count; /* its hops in the list of the answer */
	uint32_t guides_first, guides_count; /* in defrag.guides: the whole path, once found */
	uint64_t lanes; /* of this path */
	bool dark; /* it goes dark first, whatever the kind of the step */
};

struct step {
	uint32_t kind; /* enum morph_defrag_kind */
	uint32_t slice;
	uint32_t first, count; /* in defrag.changes */
};

struct tenant {
	uint32_t slice, moved, dark;
	uint64_t dark_ns;
};

/* A length of a link of a rack, by servers. */
struct length {
	uint16_t from, to, length;
};

struct refusal {
	uint32_t host; /* the first host of the rack */
	uint32_t reason; /* enum morph_wire_refusal */
	uint32_t have, need;
	uint32_t first, count; /* in defrag.metrics */
};

struct metric_told {
	uint32_t first, count; /* in defrag.lengths */
};

/* The best answer so far. */
struct best {
	bool found;
	uint32_t rack, tier;
	uint32_t interrupted, touched, moved, hops;
	uint32_t count, actions_count;
	struct mapping mapping;
	struct flow flows[REROUTE_FLOWS];
	struct action actions[REROUTE_ACTIONS];
};

struct morph_defrag {
	struct morph_ctx *ctx;
	ARRAY_OF(struct running) slices;
	ARRAY_OF(struct running)
	fixed; /* that stay: their protections can still be reported */
	ARRAY_OF(struct stay) stays;
	struct reroute *reroute;
	struct best *best;
	struct morph_plan *plan; /* of the request */
	uint32_t objective;
	/* The rack under search. */
	ARRAY_OF(struct pooled) pool; /* sorted by servers: from, then to */
	uint32_t pool_first[NET_SITES * NET_SITES + 1];
	uint8_t *guides_taken, *elements_taken; /* of the pool */
	uint32_t guides_room, elements_room;
	bool exact; /* the pool has all free hops */
	/* The answer. */
	uint32_t verdict, moved, moved_least, dark;
	uint64_t light_ns; /* time for light to settle and for receivers to lock */
	ARRAY_OF(struct step) steps;
	ARRAY_OF(struct change) changes;
	ARRAY_OF(struct strand) strands;
	ARRAY_OF(uint32_t) guides;
	bool lit; /* the paths of all changes are known */
	ARRAY_OF(struct tenant) tenants;
	ARRAY_OF(struct refusal) refusals;
	ARRAY_OF(struct metric_told) metrics;
	ARRAY_OF(struct length) lengths;
	char why[256];
};

#define DEFRAG_GROW(defrag, array, more) \
	ARRAY_GROW((defrag)->ctx, (defrag)->array, more, "defragment")

/* defrag_rack.c: describe a rack as flows and capacities. 0 or -ENOMEM. */
int lm_defrag_rack(struct morph_defrag *defrag, struct morph_ledger *ledger,
		   const struct morph_request *request, uint32_t rack);

/* Whether these guides and the elements that they pass are healthy. */
bool lm_strand_healthy(const struct morph_ledger *ledger, const struct strand *strand);

/* defrag_search.c: search the rack. The answer is in @best. */
enum stitch_verdict lm_defrag_search(struct morph_defrag *defrag, struct morph_ledger *ledger,
				     const struct morph_request *request, uint32_t rack,
				     uint64_t steps);

/* defrag_steps.c: the best answer as steps with fibres, and the effects on tenants. */
int lm_defrag_steps(struct morph_defrag *defrag, struct morph_ledger *ledger,
		    const struct morph_request *request);

/* The change of a step for a circuit of a slice, or NULL. */
const struct change *lm_defrag_change_of(const struct morph_defrag *defrag, const struct step *step,
					 uint32_t slice, uint32_t circuit);

/* Recompute the effects on tenants. 0 or -ENOMEM. */
int lm_defrag_report_tenants(struct morph_defrag *defrag);

/* The running slice with this number, which must exist. */
struct running *lm_defrag_running(const struct morph_defrag *defrag, uint32_t slice);

/* The slice's plan; for slice 0 that of the request. */
struct morph_plan *lm_defrag_plan_of(const struct morph_defrag *defrag, uint32_t slice);

void lm_running_free(struct running *running);

/* Fill the summary, as far as its caller knows the fields. */
void lm_defrag_report(const struct morph_defrag *defrag, struct morph_defrag_result *out);

#endif /* LM_PLAN_DEFRAG_H */
