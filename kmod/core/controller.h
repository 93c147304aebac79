/* SPDX-License-Identifier: GPL-2.0-only */
/* Controllers: who decides about which slices, and until when. */
#ifndef MORPH_CORE_CONTROLLER_H
#define MORPH_CORE_CONTROLLER_H

#include "core.h"

#define MORPH_MAX_CONTROLLERS	256u

struct morph_refusal;

/* On whose behalf a request is made. All zero: the tenant's own, which no controller fences. */
struct morph_token {
	u64 epoch;
	u32 controller;		/* 0: none is named */
	bool needed;		/* it came over netlink: the slice's controller must be named */
};

/* That a controller has lanes of one guide reserved. Under fabric->lock. */
struct morph_reservation {
	u64 epoch;		/* in which it was last asked for */
};

/* Under fabric->lock. */
struct morph_controller {
	u32 id;
	u32 lanes_count;	/* reserved, over all guides */
	u64 epoch;
	u64 lease_until_ns;	/* CLOCK_BOOTTIME */
	bool told;		/* that the lease of this epoch has run out */
	struct xarray reservations; /* by guide, where it has any */
	u64 *lanes;		/* by guide: those that it has reserved */
	u64 granted, conflicts;	/* reservations that were, and were not to be had */
};

/* Before registration; once the fabric is gone; and at its very end. */
void morph_controller_init(struct morph_fabric *fabric);
void morph_controller_stop(struct morph_fabric *fabric);
void morph_controller_free(struct morph_fabric *fabric);

/* Acts of administrators; each takes the lock itself. */
int morph_controller_take(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns, bool force,
			  struct morph_refusal *refusal);
int morph_controller_renew(struct morph_fabric *fabric, u32 id, u64 epoch, u64 lease_ns,
			   struct morph_refusal *refusal);
/* *last is what it was. */
int morph_controller_drop(struct morph_fabric *fabric, u32 id, struct morph_controller *last,
			  struct morph_refusal *refusal);
/* 0: to none. */
int morph_controller_assign(struct morph_slice *slice, u32 id, struct morph_refusal *refusal);

/* What a controller wants reserved of a guide, instead of what it has. */
struct morph_lanes_wanted {
	u32 controller;
	u64 epoch;
	u32 guide;
	u32 count;		/* 0: it gives back what it has */
	u64 among;		/* lanes to choose from */
};

/* lanes.c; takes the lock itself. */
int morph_controller_reserve(struct morph_fabric *fabric, const struct morph_lanes_wanted *wanted,
			     struct morph_refusal *refusal);
/* Give back what was last asked for in earlier epochs. */
int morph_controller_settle(struct morph_fabric *fabric, u32 id, u64 epoch,
			    struct morph_refusal *refusal);

/* All below: fabric->lock held. */

/* -ENOENT with the refusal filled where there is no such controller. */
struct morph_controller *morph_controller_find(struct morph_fabric *fabric, u32 id,
					       struct morph_refusal *refusal);
/* May a slice be changed by a request of that token? 0, -EPERM, -ESTALE or -ETIME. */
int morph_controller_permits(struct morph_slice *slice, const struct morph_token *token,
			     struct morph_refusal *refusal);
/* Is that the present epoch, and does its lease run? */
int morph_controller_check(const struct morph_controller *controller, u64 epoch,
			   struct morph_refusal *refusal);
/*
 * What a controller has reserved does not stand in the way from here on, until it is
 * lowered again, in the same hold of the lock. 0, and one that is gone: nothing. O(1).
 */
void morph_controller_lift(struct morph_fabric *fabric, u32 id);
void morph_controller_lower(struct morph_fabric *fabric);
/* All of its reservations go. */
void morph_controller_yield(struct morph_fabric *fabric, struct morph_controller *controller);
u64 morph_controller_lease_left(const struct morph_controller *controller);
u32 morph_controller_slices(struct morph_fabric *fabric, u32 id);

#endif /* MORPH_CORE_CONTROLLER_H */
