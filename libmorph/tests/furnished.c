// SPDX-License-Identifier: LGPL-2.1-or-later
/* Answers of a fake kernel that has an object of each type. */
#include "furnished.h"
#include "stepping.h"

static int fill_slice(struct morph_slice_info *info)
{
	struct morph_circuit_info *circuits = (void *)(uintptr_t)info->circuits.ptr;
	struct morph_rank_info *ranks = (void *)(uintptr_t)info->ranks.ptr;
	bool fits = info->ranks.count >= 3 && info->circuits.count >= 2;

	for (uint32_t at = 0; fits && at < 3; at++) {
		ranks[at].rank = at;
		ranks[at].uuid[0] = 1;
		strcpy(ranks[at].pci, "0000:01:00.0");
	}
	for (uint32_t at = 0; fits && at < 2; at++)
		circuits[at].dst_rank = MORPH_RANK_EDGE | at;
	info->slice = 9;
	strcpy(info->name, "job");
	info->ranks.count = 3;
	info->circuits.count = 2;
	return fits || !ranks ? 0 : -EMSGSIZE;
}

static int fill_path(struct morph_circuit_path *path)
{
	bool fits = path->guides.count >= 70;

	path->guides.count = 70;
	path->elements.count = 2;
	return fits ? 0 : -EMSGSIZE;
}

/* Each fabric has a name of its own, made from its number. */
static void fill_fabric(struct morph_fabric_info *info)
{
	info->uuid[0] = 1;
	strcpy(info->name, "bench");
}

static int run_txn(struct morph_txn_run *run)
{
	run->out_txn = 5;
	run->cookie = 6;
	run->head.reason = MORPH_REASON_LANES;
	run->head.part = MORPH_PART_GUIDE;
	strcpy((char *)(uintptr_t)run->head.detail_ptr, "a sentence");
	return 0;
}

int furnished_ioctl(struct fake *kernel, unsigned long command, void *argument)
{
	struct morph_fabric_read *read = argument;
	int result;

	if (stepping_ioctl(command, argument, &result))
		return result;
	switch (command) {
	case MORPH_FABRIC_INFO:
		fill_fabric(argument);
		return 0;
	case MORPH_FABRIC_READ_ACCELERATORS:
	case MORPH_FABRIC_READ_GUIDES:
	case MORPH_FABRIC_READ_ELEMENTS:
	case MORPH_FABRIC_READ_EDGES:
		memset((void *)(uintptr_t)read->entries.ptr, 1, 17 * read->entries.stride);
		read->entries.count = 17;
		return 0;
	case MORPH_SLICE_CREATE:
		kernel->state++;
		return 0;
	case MORPH_SLICE_INFO:
		return fill_slice(argument);
	case MORPH_CIRCUIT_PATH:
		return fill_path(argument);
	case MORPH_TXN_RUN:
		return run_txn(argument);
	}
	return 0;
}

static void put_object(struct nl_msg *message, uint32_t command)
{
	struct nlattr *nest;

	switch (command) {
	case MORPH_CMD_FABRIC_GET:
		nla_put_string(message, MORPH_A_FABRIC_NAME, "bench");
		nla_put(message, MORPH_A_FABRIC_UUID, MORPH_UUID_BYTES, "0123456789abcdef");
		break;
	case MORPH_CMD_EDGE_GET:
		nla_put(message, MORPH_A_EDGE_PEER_UUID, MORPH_UUID_BYTES, "0123456789abcdef");
		nla_put_u32(message, MORPH_A_EDGE_PEER_EDGE, 5);
		break;
	case MORPH_CMD_RESERVATION_GET:
	case MORPH_CMD_RESERVATION_SET:
		nla_put_u64(message, MORPH_A_RESERVATION_LANES, 3);
		break;
	case MORPH_CMD_SLICE_GET:
		nla_put_u32(message, MORPH_A_SLICE_ID, 9);
		for (int rank = 0; rank < 256; rank++) {
			nest = nla_nest_start(message, MORPH_A_SLICE_RANK);
			nla_nest_end(message, nest);
		}
		break;
	}
}

/* A dump has two messages. In a dump of slices, they are parts of one object. */
void furnished_answer(struct fake *kernel, const struct nlmsghdr *request)
{
	uint32_t command = fake_command(request);
	bool dump = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	for (int at = 0; at < (dump ? 2 : 1); at++) {
		struct nl_msg *message = fake_message(command, dump ? NLM_F_MULTI : 0);

		put_object(message, command);
		fake_queue(kernel, message, request->nlmsg_seq);
	}
	if (dump)
		fake_done(kernel);
	else
		fake_ack(kernel);
}

void furnished_notify(struct fake *kernel)
{
	struct nl_msg *message = fake_message(MORPH_CMD_FABRIC_NTF, 0);

	put_object(message, MORPH_CMD_FABRIC_GET);
	fake_queue(kernel, message, 0);
}
