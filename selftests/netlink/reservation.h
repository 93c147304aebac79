/* SPDX-License-Identifier: GPL-2.0-only */
/* Controllers, their slices, and the lanes between servers that they reserve. */
#ifndef SELFTESTS_NETLINK_RESERVATION_H
#define SELFTESTS_NETLINK_RESERVATION_H

#include "fabric.h"
#include "nl.h"

/* A lease that outlasts the test. */
#define LONG 600000000000ULL

/* Take control of the fabric for long: 0 or an errno. */
int controller_take(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch);
/* A slice of a controller's, named "job", of two accelerators: its number, or 0. */
unsigned int controller_slice(struct nl *nl, const struct sim *sim, uint32_t id, unsigned int first,
			      unsigned int second);
/* Open the slice's node: its file, or -1. */
int slice_open(unsigned int slice);

/* How the transaction that netlink has just begun ended: 0, or an errno. */
int txn_status(struct nl *nl, const struct sim *sim);

/* Begin a command about a controller's lanes of a guide. */
void reservation_begin(struct nl *nl, const struct sim *sim, uint8_t cmd, uint32_t id,
		       uint32_t guide);
/* So many lanes, of these; 0: of any. 0 or an errno. */
int reserve_epoch(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch, uint32_t guide,
		  uint32_t count, uint64_t among);
/* The same at epoch 1. */
int reserve(struct nl *nl, const struct sim *sim, uint32_t id, uint32_t guide, uint32_t count,
	    uint64_t among);
/* The lanes that a controller has of a guide; all ones: that was refused. */
uint64_t reserved(struct nl *nl, const struct sim *sim, uint32_t id, uint32_t guide);

/* What a dump tells of controllers 1 and 2. */
struct reservations {
	unsigned int first, second;
	uint64_t lanes;
};

/* One object of that dump, into a struct reservations. */
void reservation_count(const struct nlmsghdr *message, void *context);

#endif /* SELFTESTS_NETLINK_RESERVATION_H */
