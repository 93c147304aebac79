/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of the provider, submitted and waited for. */
#ifndef MORPH_CORE_HARDWARE_HARDWARE_H
#define MORPH_CORE_HARDWARE_HARDWARE_H

#include <linux/completion.h>

#include "core/base/base.h"

/*
 * Operations submitted to the provider, one after the other; in a transaction or on the
 * stack of who waits. Hashed by id in fabric->ops_in_flight under op_lock.
 */
struct morph_op {
	struct hlist_node node;
	u64 id;
	u32 calls;			/* submitted so far */
	atomic64_t cookie;		/* of the one in flight, or 0 */
	struct completion done;
	int status;
	void *results;
	size_t bytes;
};

/* The hardware layer's part of the fabric. */
struct morph_hardware {
	struct morph_fabric fabric;
	struct srcu_struct srcu;
	const struct morph_fabric_ops *ops;	/* NULL when gone; READ_ONCE under srcu */

	/* what a review tells again, alone: program.c */
	struct srcu_struct telling;
	u32 review_of;			/* enum review, last written of the two */
	u32 review_first;
	wait_queue_head_t review_end;

	/* fabric->lock */
	u8 *hw_state;			/* by element: state last programmed and answered */
	u64 *tx_on;			/* by transmit port: lanes whose laser was switched on */
	u32 rx_blamed;			/* receive port + 1 of the last unexplained darkness */

	/* op_lock, irqsave */
	spinlock_t op_lock;
	struct hlist_head ops_in_flight[64];
	u64 last_op;			/* id given */
};

static inline struct morph_hardware *hardware_of(const struct morph_fabric *fabric)
{
	return (struct morph_hardware *)container_of(fabric, struct morph_hardware, fabric);
}

/* Operations of one transaction: they share a morph_op and count in the same times. */
struct morph_hw_session {
	struct morph_op op;
	struct morph_times times;
	u64 device_ended_ns;		/* when the provider last returned */
};

/* @session: that it belongs to, or NULL. Once that has ended: morph_hw_done(). */
int morph_hw_set_elements(struct morph_fabric *fabric, struct morph_hw_session *session,
			  const struct morph_element_setting *settings, u32 count);
int morph_hw_get_elements(struct morph_fabric *fabric, struct morph_hw_session *session,
			  struct morph_element_setting *settings, u32 count);
int morph_hw_set_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			const struct morph_laser_setting *settings, u32 count);
int morph_hw_get_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			struct morph_laser_reading *readings, u32 count);
int morph_hw_get_receivers(struct morph_fabric *fabric, struct morph_hw_session *session,
			   struct morph_receiver_reading *readings, u32 count);
int morph_hw_probe(struct morph_fabric *fabric, struct morph_hw_session *session,
		   struct morph_probe *probes, u32 count);
void morph_hw_done(struct morph_fabric *fabric, struct morph_hw_session *session);
/* What the provider knows an accelerator by now; zeros where it can't tell. */
void morph_hw_identify(struct morph_fabric *fabric, u32 accelerator,
		       struct morph_identity *identity);
int morph_hw_wait(struct morph_fabric *fabric, u64 ns);
void morph_hw_drain(struct morph_fabric *fabric);
void morph_hw_fail_all(struct morph_fabric *fabric, int status);

/* How long hardware may take to obey, in ever longer steps. Zeroed, it begins with the first. */
struct morph_hw_patience {
	u64 pause, left;	/* ns */
};

/* 0, 1 when patience is at its end, or a negative errno. No lock held. */
int morph_hw_wait_more(struct morph_fabric *fabric, struct morph_hw_patience *patience);

/* --------------------------------------------------------------- program.c */

/* Program elements and remember what they were told. No lock held. */
int morph_hw_program(struct morph_fabric *fabric, struct morph_hw_session *session,
		     struct morph_element_setting *settings, u32 count);
/* How an element stands, which is remembered. No lock held. */
int morph_hw_ask_element(struct morph_fabric *fabric, struct morph_hw_session *session, u32 element,
			 u32 *state);
/* Ask elements that may not have obeyed, and report what they say. No lock held. */
void morph_hw_read_back(struct morph_fabric *fabric, struct morph_hw_session *session,
			struct morph_element_setting *settings, u32 count, bool told);
/* Add a change of one path's lasers to a list; returns its length. fabric->lock held. */
static inline u32 morph_hw_add_laser(struct morph_fabric *fabric,
				     struct morph_laser_setting *lasers, u32 n,
				     const struct optics_path *path, bool on)
{
	u64 *lit = &hardware_of(fabric)->tx_on[path->tx];

	if (on)
		*lit |= path->lanes;
	else
		*lit &= ~path->lanes;
	lasers[n].port = path->tx;
	lasers[n].lanes = *lit;
	return n + 1;
}

/* Settings as they are wanted now: true when some were not. fabric->lock held. */
static inline bool morph_hw_update_lasers(struct morph_fabric *fabric,
					  struct morph_laser_setting *lasers, u32 n)
{
	const u64 *on = hardware_of(fabric)->tx_on;
	bool changed = false;
	u32 i;

	for (i = 0; i < n; i++) {
		if (lasers[i].lanes == on[lasers[i].port])
			continue;
		lasers[i].lanes = on[lasers[i].port];
		changed = true;
	}
	return changed;
}

/* Switch the lasers of ports as fabric->tx_on has them; the second reports doubt. No lock held. */
int morph_hw_tell_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			 struct morph_laser_setting *lasers, u32 n);
int morph_hw_submit_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			   struct morph_laser_setting *lasers, u32 n);
/* Light has arrived at a receive port: later darkness is another one. fabric->lock held. */
static inline void morph_hw_seen(struct morph_fabric *fabric, u32 rx)
{
	lockdep_assert_held(&fabric->lock);
	if (hardware_of(fabric)->rx_blamed == rx + 1)
		hardware_of(fabric)->rx_blamed = 0;
}

#define MORPH_REVIEW_CHUNK	16u	/* elements or ports that a review takes at once */

/* What the caller of a review expects of hardware. All arrays are read under fabric->lock. */
struct morph_review {
	const u64 *tx_dead;		/* by port: lasers that need not shine */
	const u8 *element_state;	/* elements that should stand otherwise are skipped, */
	const u8 *element_marks;	/* and those with one of these marks */
	u8 skip;
};

/*
 * Read all lasers and elements, and tell those that are not as they were told the same again.
 * No lock held; one review at a time. Non-zero: some could not be read or told.
 */
int morph_hw_review(struct morph_fabric *fabric, const struct morph_review *review);

/* ------------------------------------------------------------- confession.c */

/* Which of some lanes a laser emits on; what can't be read counts as on. No lock held. */
u64 morph_hw_lasers_lit(struct morph_fabric *fabric, struct morph_hw_session *session, u32 tx,
			u64 lanes);
/* Does hardware on a path show by itself that it is bad? No lock held. */
bool morph_hw_confess(struct morph_fabric *fabric, const struct optics_path *path,
		      u32 src_accelerator, struct morph_culprit *culprit);

/* ---------------------------------------------------------------- bringup.c */

/* Lasers off, elements parked, receivers dark, accelerators asked. Waits for the device. */
int morph_bringup(struct morph_fabric *fabric);
void morph_bringup_lasers_off(struct morph_fabric *fabric);

#endif /* MORPH_CORE_HARDWARE_HARDWARE_H */
