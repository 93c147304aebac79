/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internal structures of phases on a slice. */
#ifndef LM_PHASING_H
#define LM_PHASING_H

#include "internal.h"

/*
 * Locks of a schedule on the slice's node. One byte is for the change of light. Each phase has two:
 * ranks in the phase share one, and ranks that will return to it share the other. Two more are
 * shared by ranks that request light, and that request the unload. A rank that changes light holds
 * the locks of lit phases exclusively meanwhile. Ranks use one open file for their uses and another
 * one for changes, so that a rank never takes its own circuits away.
 */
#define LM_LOCKS_ROOM 0x100000 /* bytes, more than the locks of MORPH_SCHEDULE_MOST_STEPS phases */

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
	uint32_t announced; /* MORPH_PHASE_NONE: none */
	uint32_t stays; /* phase that this rank returns to; MORPH_PHASE_NONE: none */
	uint32_t *users; /* by phase: how often this rank is in it */
	uint64_t *failed_ns; /* by phase: time since when its hardware is known as failed; or 0 */
	int uses; /* files of locks, opened twice */
	int changes;
	enum morph_slice_phases_ask asks;
	bool repairing, degraded; /* in the driver's last answer */
	struct morph_slice_phases_info counts;
};

/* phasing_lock.c. Files of locks: 0 or a noted failure. */
int lm_locks_open(struct morph_slice_phases *phasing, const char *path);
void lm_locks_close(struct morph_slice_phases *phasing);
/*
 * Share a lock by the file of uses, or hold it exclusively by that of changes: 0, -EAGAIN or a
 * noted failure. Never waits.
 */
int lm_lock_share(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase);
int lm_lock_alone(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase);
/* The same for the uses of all phases. */
int lm_lock_uses(struct morph_slice_phases *phasing);
/* Whether any rank shares it, including this one. */
bool lm_lock_is_shared(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase);
/* Release a shared lock; the exclusive locks of phases; all exclusive locks. */
void lm_lock_drop(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase);
void lm_lock_drop_phases(struct morph_slice_phases *phasing);
void lm_lock_drop_alone(struct morph_slice_phases *phasing);

/* slice_phases_change.c: read the schedule's state: 0 or a negative errno. */
int lm_phasing_read(struct morph_slice_phases *phasing, struct morph_schedule_info *info);
/* The same, if no repair runs: 0, -EAGAIN or a noted failure. */
int lm_phasing_look(struct morph_slice_phases *phasing, struct morph_schedule_info *info);
/*
 * Whether all lit circuits can be used. 0, -EIO if circuits have failed permanently, -EAGAIN or a
 * noted failure.
 */
int lm_phasing_check(struct morph_slice_phases *phasing,
		     const struct morph_schedule_info *schedule);
/* Whether this phase is lit. */
bool lm_phasing_is_lit(const struct morph_schedule_info *info, uint32_t phase);
/*
 * Light a phase unless other ranks use lit phases. With @ahead, ranks that will return to a lit
 * phase count too. The rank is then in the phase, or with @ahead returns to it. 0, -EAGAIN or a
 * noted failure.
 */
int lm_phasing_light(struct morph_slice_phases *phasing, uint32_t phase, bool ahead);

#endif /* LM_PHASING_H */
