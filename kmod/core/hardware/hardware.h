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

/* @txn: whose times it counts in, or NULL. Once it has ended: morph_hw_done(). */
int morph_hw_set_elements(struct morph_fabric *fabric, struct morph_txn *txn,
			  const struct morph_element_setting *settings, u32 count);
int morph_hw_get_elements(struct morph_fabric *fabric, struct morph_txn *txn,
			  struct morph_element_setting *settings, u32 count);
int morph_hw_set_lasers(struct morph_fabric *fabric, struct morph_txn *txn,
			const struct morph_laser_setting *settings, u32 count);
int morph_hw_get_lasers(struct morph_fabric *fabric, struct morph_txn *txn,
			struct morph_laser_reading *readings, u32 count);
int morph_hw_get_receivers(struct morph_fabric *fabric, struct morph_txn *txn,
			   struct morph_receiver_reading *readings, u32 count);
int morph_hw_probe(struct morph_fabric *fabric, struct morph_txn *txn,
		   struct morph_probe *probes, u32 count);
void morph_hw_done(struct morph_txn *txn);
/* What the provider knows an accelerator by now; zeros where it can't tell. */
void morph_hw_identify(struct morph_fabric *fabric, u32 accelerator,
		       struct morph_identity *identity);
int morph_hw_wait(struct morph_fabric *fabric, u64 ns);
void morph_hw_drain(struct morph_fabric *fabric);
void morph_hw_fail_all(struct morph_fabric *fabric, int status);

/* ---------------------------------------------------------------- bringup.c */

/* Lasers off, elements parked, receivers dark, accelerators asked. Waits for the device. */
int morph_bringup(struct morph_fabric *fabric);
void morph_bringup_lasers_off(struct morph_fabric *fabric);

#endif /* MORPH_CORE_HARDWARE_HARDWARE_H */
