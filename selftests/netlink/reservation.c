// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdio.h>

#include "reservation.h"

int controller_take(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch)
{
	return nl_control(nl, MORPH_CMD_CONTROLLER_TAKE, sim->number, id, epoch, LONG);
}

unsigned int controller_slice(struct nl *nl, const struct sim *sim, uint32_t id, unsigned int first,
			      unsigned int second)
{
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, sim->number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, "job");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FAILOVER, MORPH_FAILOVER_AUTOMATIC);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, first);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, second);
	nl_put_u32(nl, MORPH_A_SLICE_CONTROLLER, id);
	return nl_do(nl) ? 0 : REPLY_U32(nl, MORPH_A_SLICE_ID);
}

int slice_open(unsigned int slice)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/slice%u", slice);
	return open(path, O_RDWR);
}

int txn_status(struct nl *nl, const struct sim *sim)
{
	int outcome = nl_wait_outcome(nl, sim->number, REPLY_U32(nl, MORPH_A_TXN_ID));

	if (outcome == MORPH_OUTCOME_COMMITTED)
		return 0;
	return outcome < 0 ? -outcome : -(int)REPLY_U32(nl, MORPH_A_TXN_STATUS);
}

void reservation_begin(struct nl *nl, const struct sim *sim, uint8_t cmd, uint32_t id,
		       uint32_t guide)
{
	nl_begin(nl, cmd, 0);
	nl_put_u32(nl, MORPH_A_RESERVATION_FABRIC, sim->number);
	nl_put_u32(nl, MORPH_A_RESERVATION_CONTROLLER, id);
	nl_put_u32(nl, MORPH_A_RESERVATION_GUIDE, guide);
}

int reserve_epoch(struct nl *nl, const struct sim *sim, uint32_t id, uint64_t epoch, uint32_t guide,
		  uint32_t count, uint64_t among)
{
	reservation_begin(nl, sim, MORPH_CMD_RESERVATION_SET, id, guide);
	nl_put_u64(nl, MORPH_A_RESERVATION_EPOCH, epoch);
	nl_put_u32(nl, MORPH_A_RESERVATION_LANES_COUNT, count);
	if (among)
		nl_put_u64(nl, MORPH_A_RESERVATION_LANES, among);
	return nl_do(nl);
}

int reserve(struct nl *nl, const struct sim *sim, uint32_t id, uint32_t guide, uint32_t count,
	    uint64_t among)
{
	return reserve_epoch(nl, sim, id, 1, guide, count, among);
}

uint64_t reserved(struct nl *nl, const struct sim *sim, uint32_t id, uint32_t guide)
{
	reservation_begin(nl, sim, MORPH_CMD_RESERVATION_GET, id, guide);
	return nl_do(nl) ? UINT64_MAX : REPLY_U64(nl, MORPH_A_RESERVATION_LANES);
}

void reservation_count(const struct nlmsghdr *message, void *context)
{
	struct reservations *sum = context;
	uint32_t id = nl_get_u32(nl_find(message, MORPH_A_RESERVATION_CONTROLLER));

	sum->first += id == 1;
	sum->second += id == 2;
	sum->lanes += nl_get_u32(nl_find(message, MORPH_A_RESERVATION_LANES_COUNT));
}
