/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is charged for what is held, and how much that may be. */
#ifndef MORPH_CORE_USER_H
#define MORPH_CORE_USER_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct morph_refusal;

/* What one user may hold; all bits set: no limit. Replacements: of each slice in an hour. */
struct morph_limits {
	u32 accelerators, circuits, lanes, prepared, replacements;
	u64 bytes;
};

/* Who is charged: a user, or a grant, whoever has it. Counted. Use: the user lock. */
struct morph_user {
	struct kref kref;
	struct hlist_node node;		/* of users, by uid */
	kuid_t uid;			/* of a user */
	u32 grant;			/* number of a grant; 0: a user */
	bool has_limits;		/* else the default applies */
	struct morph_limits limits;
	struct morph_limits used;	/* without replacements: the slices have them */
	atomic64_t ring_turn_ns;	/* CLOCK_MONOTONIC: of the next ring; no lock */
};

enum morph_resource {
	MORPH_RES_ACCELERATORS,
	MORPH_RES_CIRCUITS,
	MORPH_RES_LANES,
	MORPH_RES_PREPARED,
	MORPH_RES_BYTES,		/* memory that is kept on behalf of the user */
};

struct morph_user *morph_user_get(kuid_t uid);	/* or NULL when out of memory */
struct morph_user *morph_user_ref(struct morph_user *user);
void morph_user_put(struct morph_user *user);
/* A grant with limits of its own, counted; it is gone with its last reference. Or ENOMEM. */
struct morph_user *morph_grant_create(const struct morph_limits *limits);
/* Counted, or NULL. */
struct morph_user *morph_grant_find(u32 grant);
/* -EDQUOT with the refusal filled when it would pass the limit. user may not be NULL. */
int morph_user_charge(struct morph_user *user, enum morph_resource resource, u64 amount,
		      struct morph_refusal *refusal);
/* Past the limit too: for what repairs need, and what is bounded by what was charged before. */
void morph_user_charge_anyway(struct morph_user *user, enum morph_resource resource, u64 amount);
void morph_user_uncharge(struct morph_user *user, enum morph_resource resource, u64 amount);
/* NULL: the default. All of limits counts. */
void morph_user_set_limits(struct morph_user *user, const struct morph_limits *limits);
void morph_user_get_default(struct morph_limits *limits);
/* Walk users by id: the first whose id is >= *cursor, counted; sets *cursor. Or NULL. */
struct morph_user *morph_user_next(unsigned long *cursor);
/* The same for grants, by number. */
struct morph_user *morph_grant_next(unsigned long *cursor);
void morph_user_limits(struct morph_user *user, struct morph_limits *limits,
		       struct morph_limits *used);
void morph_user_exit(void);

#endif /* MORPH_CORE_USER_H */
