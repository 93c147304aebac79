/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phases on a slice, inside. */
#ifndef LM_PHASING_H
#define LM_PHASING_H

#include "internal.h"

/*
 * Locks of a schedule on the slice's node: a byte that whoever changes light has; two of each phase, which
 * ranks share that are in it, and that come back to it; and two that ranks share that ask for light, and for the end
 * of it all. Who changes light has those of what is lit alone meanwhile.
 * Ranks have theirs by one open file, and change light by another, so that a rank never takes its own circuits away.
 */
#define LM_LOCKS_ROOM 0x100000 /* bytes, more than those of MORPH_SCHEDULE_MOST_STEPS phases */

enum lm_lock_kind {
	LM_LOCK_CHANGE, /* of no phase: 0 */
	LM_LOCK_USE,
	LM_LOCK_STAY,
	LM_LOCK_ASK, /* of no phase: MORPH_ASK_LIGHT, MORPH_ASK_UNLOAD */
};

struct morph_slice_phases {
	struct morph_slice *slice;
	uint32_t schedule;
	uint32_t count;
	uint32_t announced; /* MORPH_PHASE_NONE: nothing */
	uint32_t stays; /* phase that this rank comes back to; MORPH_PHASE_NONE: to none */
	uint32_t *users; /* by phase: times that this rank is in it */
	uint64_t *failed_ns; /* by phase: since when hardware of it is found to have failed; or 0 */
	int uses; /* files of locks, opened twice */
	int changes;
	enum morph_slice_phases_ask asks;
	bool repairing, degraded; /* when the driver was asked last */
	struct morph_slice_phases_info counts;
};

/* phasing_lock.c. Files of locks: 0 or a noted failure. */
int lm_locks_open(struct morph_slice_phases *phasing, const char *path);
void lm_locks_close(struct morph_slice_phases *phasing);
/* Share a lock by the file of uses, or have it alone by that of changes: 0, -EAGAIN or a noted failure. Never waits. */
int lm_lock_share(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase);
int lm_lock_alone(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase);
/* The uses of all phases, likewise. */
int lm_lock_uses(struct morph_slice_phases *phasing);
/* Does anybody share it, this rank or another? */
bool lm_lock_is_shared(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase);
/* Give up what is shared; what this rank has alone of phases; and all that it has alone. */
void lm_lock_drop(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase);
void lm_lock_drop_phases(struct morph_slice_phases *phasing);
void lm_lock_drop_alone(struct morph_slice_phases *phasing);

/* phasing_change.c. What the driver says of the schedule: 0 or a negative errno. */
int lm_phasing_read(struct morph_slice_phases *phasing, struct morph_schedule_info *info);
/* The same once no repair is under way: 0, -EAGAIN or a noted failure. */
int lm_phasing_look(struct morph_slice_phases *phasing, struct morph_schedule_info *info);
/* Of what is lit by that, can all be used? 0, -EIO where circuits have failed for good, -EAGAIN or a noted failure. */
int lm_phasing_check(struct morph_slice_phases *phasing,
		     const struct morph_schedule_info *schedule);
/* Is that phase lit? */
bool lm_phasing_is_lit(const struct morph_schedule_info *info, uint32_t phase);
/*
 * Light a phase unless others are in the way, for which @ahead also those are who come back to what is lit. The rank
 * is in it then, or with @ahead comes back to it. 0, -EAGAIN or a noted failure.
 */
int lm_phasing_light(struct morph_slice_phases *phasing, uint32_t phase, bool ahead);

#endif /* LM_PHASING_H */
