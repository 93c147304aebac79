/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of the provider: submit them and wait. */
#ifndef MORPH_CORE_HARDWARE_HARDWARE_H
#define MORPH_CORE_HARDWARE_HARDWARE_H

#include <linux/completion.h>

#include "core/base/base.h"

/*
 * Successive operations submitted to the provider. The structure is part of a transaction, or on
 * the stack of the waiting thread. It is on a list of morph_hardware.ops_in_flight. op_lock guards
 * node and id. Only the waiting thread writes calls, results and bytes; it does so while cookie is
 * 0. The thread that clears cookie writes status.
 */
struct morph_op {
	struct hlist_node node;
	u64 id;
	u32 calls;			/* number of submitted operations */
	atomic64_t cookie;		/* of the operation in flight, or 0 */
	struct completion done;
	int status;
	void *results;
	size_t bytes;
};

/* The hardware layer's part of the fabric. */
struct morph_hardware {
	struct morph_fabric fabric;
	struct srcu_struct srcu;
	const struct morph_fabric_ops *ops;	/* NULL: unregistered; READ_ONCE under srcu */

	/*
	 * Excludes other writers from the range that a review programs: see program.c. A fabric has
	 * one reviewing thread, which writes the next two fields; others read them without a lock.
	 */
	struct srcu_struct programming;
	/* One bit for each chunk that a review must still read; atomic. */
	unsigned long *review_left;
	u32 review_of;			/* enum review; written after review_first */
	u32 review_first;
	wait_queue_head_t review_end;

	/*
	 * By element: state last programmed and answered. A thread that programs an element writes
	 * it without a lock, so read it with morph_hw_state().
	 */
	u8 *hw_state;

	/* Guarded by fabric->lock. */
	u64 *tx_on;			/* by transmit port: lanes commanded on */
	unsigned long *rx_blamed;	/* bit by receive port: dark without an explanation */

	/* Guarded by op_lock, taken with irqsave. */
	spinlock_t op_lock;
	struct hlist_head ops_in_flight[64];
	u64 last_op;			/* last assigned id */
};

static inline struct morph_hardware *hardware_of(const struct morph_fabric *fabric)
{
	return (struct morph_hardware *)container_of(fabric, struct morph_hardware, fabric);
}

static inline u8 morph_hw_state(const struct morph_fabric *fabric, u32 element)
{
	return READ_ONCE(hardware_of(fabric)->hw_state[element]);
}

/* Only while the element is programmed, read back, or reviewed. */
static inline void morph_hw_record_state(struct morph_fabric *fabric, u32 element, u8 state)
{
	WRITE_ONCE(hardware_of(fabric)->hw_state[element], state);
}

/* Operations of one transaction: they share a morph_op and one set of times. */
struct morph_hw_session {
	struct morph_op op;
	struct morph_times times;
	u64 device_ended_ns;		/* when the provider last returned */
};

/* @session: of the operation, or NULL. At its end call morph_hw_done(). */
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
/* The provider's present identity of an accelerator; zeros if it cannot report one. */
void morph_hw_identify(struct morph_fabric *fabric, u32 accelerator,
		       struct morph_identity *identity);
int morph_hw_wait(struct morph_fabric *fabric, u64 ns);
void morph_hw_drain(struct morph_fabric *fabric);
void morph_hw_fail_all(struct morph_fabric *fabric, int status);

/* Time that hardware may take to obey, in increasing pauses. Zeroed: starts with the first. */
struct morph_hw_patience {
	u64 pause, left;	/* ns */
};

/* Wait for the next pause. Return 0, 1 when the time is over, or a negative errno. No lock held. */
int morph_hw_wait_more(struct morph_fabric *fabric, struct morph_hw_patience *patience);

/* --------------------------------------------------------------- program.c */

/* Program elements and record the commanded states. No lock held. */
int morph_hw_program(struct morph_fabric *fabric, struct morph_hw_session *session,
		     struct morph_element_setting *settings, u32 count);
/* Read the state of an element and record it. No lock held. */
int morph_hw_ask_element(struct morph_fabric *fabric, struct morph_hw_session *session, u32 element,
			 u32 *state);
/* Read elements that may not have obeyed, and report faults. No lock held. */
void morph_hw_read_back(struct morph_fabric *fabric, struct morph_hw_session *session,
			struct morph_element_setting *settings, u32 count, bool programmed);
/* Add a change of a path's lasers to a list; return its length. Caller holds fabric->lock. */
static inline u32 morph_hw_add_laser(struct morph_fabric *fabric,
				     struct morph_laser_setting *lasers, u32 n,
				     const struct optics_path *path, bool on)
{
	u64 *lit = &hardware_of(fabric)->tx_on[path->tx];

	/* Pairs with lasers_agree(). */
	WRITE_ONCE(*lit, on ? *lit | path->lanes : *lit & ~path->lanes);
	lasers[n].port = path->tx;
	lasers[n].lanes = *lit;
	return n + 1;
}

/* Update settings from tx_on. Caller holds fabric->lock. */
static inline void morph_hw_update_lasers(struct morph_fabric *fabric,
					  struct morph_laser_setting *lasers, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		lasers[i].lanes = hardware_of(fabric)->tx_on[lasers[i].port];
}

/* Switch the lasers of ports as in tx_on; the second reports doubt on errors. No lock held. */
int morph_hw_switch_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			   struct morph_laser_setting *lasers, u32 n);
int morph_hw_submit_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			   struct morph_laser_setting *lasers, u32 n);
/* A receive port has light, so later darkness is a new event. Caller holds fabric->lock. */
static inline void morph_hw_seen(struct morph_fabric *fabric, u32 rx)
{
	lockdep_assert_held(&fabric->lock);
	__clear_bit(rx, hardware_of(fabric)->rx_blamed);
}

#define MORPH_REVIEW_CHUNK	16u	/* elements or ports per operation of a review */

/* The state that the caller of a review expects. fabric->lock guards all arrays. */
struct morph_review {
	const u64 *tx_dead;		/* by port: lasers that may be off */
	const u8 *element_state;	/* by element: what claims want */
	const u8 *element_marks;	/* and elements with a mark in @skip */
	u8 skip;
};

/* Number of chunks of lasers and elements. */
u32 morph_hw_review_chunks(const struct optics_graph *graph);
/* Let the next review read all hardware, not only what the last one could not read. */
void morph_hw_review_all(struct morph_fabric *fabric);
/* Let it read this element and its neighbours. */
void morph_hw_review_element(struct morph_fabric *fabric, u32 element);
/*
 * Read lasers and elements, and reprogram those that differ from the commanded state. One review at
 * a time. Return non-zero if some could not be read or programmed. The next review reads only these
 * again. No lock held.
 */
int morph_hw_review(struct morph_fabric *fabric, const struct morph_review *review);

/* ------------------------------------------------------------- confession.c */

/* Lanes of @lanes on which a laser emits; an unreadable laser counts as on. No lock held. */
u64 morph_hw_lasers_lit(struct morph_fabric *fabric, struct morph_hw_session *session, u32 tx,
			u64 lanes);
/* Return whether hardware on a path reports a fault itself. No lock held. */
bool morph_hw_confess(struct morph_fabric *fabric, const struct optics_path *path,
		      u32 src_accelerator, struct morph_culprit *culprit);

/* ---------------------------------------------------------------- bringup.c */

/* Switch lasers off, park elements, check receivers, probe accelerators. Waits for the device. */
int morph_bringup(struct morph_fabric *fabric);
void morph_bringup_lasers_off(struct morph_fabric *fabric);

#endif /* MORPH_CORE_HARDWARE_HARDWARE_H */
