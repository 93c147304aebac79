/* SPDX-License-Identifier: GPL-2.0-only */
/* Controllers, their slices, and the lanes between servers that they reserve. */
#ifndef SELFTESTS_NETLINK_RESERVATION_H
#define SELFTESTS_NETLINK_RESERVATION_H

#include "fabric.h"
#include "nl.h"

/* A lease that outlasts the test. */
#define LONG 600000000000ULL

/* Take control of the fabric with that lease: 0 or an errno. */
int controller_take(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch);
/* Make a slice named "job" of two accelerators for a controller: its number, or 0. */
unsigned int controller_slice(struct nl *nl, const struct sim *sim, uint32_t id, unsigned int first,
			      unsigned int second);
/* Open the slice's node: its file, or -1. */
int slice_open(unsigned int slice);

/* Wait for the transaction that the latest request started: 0 or an errno. */
int txn_status(struct nl *nl, const struct sim *sim);

/* Begin a command about the lanes of a guide for a controller. */
void reservation_begin(struct nl *nl, const struct sim *sim, uint8_t cmd, uint32_t id,
		       uint32_t guide);
/* Reserve @count lanes among @among, or any lanes if that is 0: 0 or an errno. */
int reserve_epoch(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch, uint32_t guide,
		  uint32_t count, uint64_t among);
/* Reserve at epoch 1. */
int reserve(struct nl *nl, const struct sim *sim, uint32_t id, uint32_t guide, uint32_t count,
	    uint64_t among);
/* Return the lanes of a guide that a controller has reserved; all ones on failure. */
uint64_t reserved(struct nl *nl, const struct sim *sim, uint32_t id, uint32_t guide);

/* The reservations of controllers 1 and 2 in a dump. */
struct reservations {
	unsigned int first, second;
	uint64_t lanes;
};

/* Add one object of that dump to a struct reservations. */
void reservation_count(const struct nlmsghdr *message, void *context);

#endif /* SELFTESTS_NETLINK_RESERVATION_H */
