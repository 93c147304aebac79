/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of defragmentation share. */
#ifndef LM_PLAN_DEFRAG_H
#define LM_PLAN_DEFRAG_H

#include "../place/place.h"
#include "reroute.h"

#define DEFRAG_NOBODY UINT32_MAX
#define DEFRAG_REQUEST (UINT32_MAX - 1) /* a circuit that is to come */

/* How a circuit of a plan is lit. */
struct lit {
	uint32_t number; /* of the circuit in its slice; none between its going out and its return */
	struct optics_path path;
};

/* A slice that runs. */
struct running {
	struct morph_plan *plan;
	uint32_t slice;
	bool pinned;
	bool repaired; /* by the kernel, with what is dark at the time */
	struct morph_protection *kept; /* what it would take, or NULL */
	uint32_t *spares; /* by rank: that the kernel counts on, or UINT32_MAX; or NULL */
	struct lit *
		lit; /* by circuit; NULL: it was not read from a kernel, and the plan is another's */
	struct optics_hop *hops; /* of the paths in @lit */
};

/* A slice that was read, and that no step touches. */
struct stay {
	uint32_t slice;
	const char *why;
};

/* A strand of the rack that what may be moved and what is to come have between them. */
struct pooled {
	uint32_t strand; /* in sites.strands */
	uint32_t holder; /* flow, or DEFRAG_NOBODY */
	uint32_t freed; /* by which step, and one more */
};

struct change {
	uint32_t flow; /* or DEFRAG_REQUEST */
	uint32_t circuit;
	uint32_t first, count; /* in defrag.strands */
	uint32_t guides_first,
		guides_count; /* in defrag.guides: the whole path, once it was found */
	uint64_t lanes; /* of that path */
	bool dark; /* its light goes out first, whatever the kind of the step */
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

/* A length of a link of a rack, by seats. */
struct length {
	uint16_t from, to, length;
};

struct refusal {
	uint32_t host; /* the lowest of the rack */
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
	fixed; /* of those that stay: what their failover needs can be told */
	ARRAY_OF(struct stay) stays;
	struct reroute *reroute;
	struct best *best;
	struct morph_plan *plan; /* of the request */
	uint32_t objective;
	/* The rack that is looked at. */
	ARRAY_OF(struct pooled) pool; /* by seats: from, then to */
	uint32_t pool_first[NET_SITES * NET_SITES + 1];
	uint8_t *guides_taken, *elements_taken; /* of the pool */
	uint32_t guides_room, elements_room;
	bool exact; /* all that is free is in the pool */
	/* The answer. */
	uint32_t verdict, moved, moved_least, dark;
	uint64_t light_ns; /* that light takes to settle, and to be locked to */
	ARRAY_OF(struct step) steps;
	ARRAY_OF(struct change) changes;
	ARRAY_OF(struct strand) strands;
	ARRAY_OF(uint32_t) guides;
	bool lit; /* paths of all changes were found */
	ARRAY_OF(struct tenant) tenants;
	ARRAY_OF(struct refusal) refusals;
	ARRAY_OF(struct metric_told) metrics;
	ARRAY_OF(struct length) lengths;
	char why[256];
};

#define DEFRAG_GROW(defrag, array, more) \
	ARRAY_GROW((defrag)->ctx, (defrag)->array, more, "make room by rewiring")

/* defrag_rack.c: a rack as flows and room. 0 or -ENOMEM. */
int lm_defrag_rack(struct morph_defrag *defrag, struct morph_ledger *ledger,
		   const struct morph_request *request, uint32_t rack);

/* Are these strands and what they pass sound? */
bool lm_strand_sound(const struct morph_ledger *ledger, const struct strand *strand);

/* defrag_search.c: look in the rack; what is found is in best. */
enum stitch_verdict lm_defrag_search(struct morph_defrag *defrag, struct morph_ledger *ledger,
				     const struct morph_request *request, uint32_t rack,
				     uint64_t steps);

/* defrag_steps.c: the best answer as steps, with fibres, and what tenants notice. */
int lm_defrag_steps(struct morph_defrag *defrag, struct morph_ledger *ledger,
		    const struct morph_request *request);

/* What a step does to a circuit of a slice, or NULL. */
const struct change *lm_defrag_change_of(const struct morph_defrag *defrag, const struct step *step,
					 uint32_t slice, uint32_t circuit);

/* What tenants notice of the steps, counted anew. 0 or -ENOMEM. */
int lm_defrag_tell_tenants(struct morph_defrag *defrag);

/* The running slice of that number, which there is. */
struct running *lm_defrag_running(const struct morph_defrag *defrag, uint32_t slice);

/* The slice's plan, or that of the request, which slice 0 stands for. */
struct morph_plan *lm_defrag_plan_of(const struct morph_defrag *defrag, uint32_t slice);

void lm_running_free(struct running *running);

/* The answer as a whole, as far as its reader knows of it. */
void lm_defrag_report(const struct morph_defrag *defrag, struct morph_defrag_result *out);

#endif /* LM_PLAN_DEFRAG_H */
