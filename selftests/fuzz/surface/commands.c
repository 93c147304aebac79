// SPDX-License-Identifier: GPL-2.0-only
/* The commands and their fields. */
#include <linux/morph.h>
#include <linux/morph_netlink.h>

#include "surface.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AT(type, member, list)                                                                    \
	{                                                                                         \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member), list, \
			FORM_NUMBER                                                               \
	}
#define F(member) AT(THIS, member, NO_LIST)
/* A field of the entries of the array. */
#define E(array, name, type, member, list)                                    \
	{                                                                     \
#array "." name, offsetof(struct type, member),               \
			sizeof(((struct type *)0)->member), list, FORM_NUMBER \
	}
#define ARRAY_FIELDS(array) F(array.ptr), F(array.count), F(array.stride)
#define NUMBERS(array, list)                              \
	{                                                 \
#array ".number", 0, 4, list, FORM_NUMBER \
	}
#define HEAD_FIELDS                                                                            \
	{ "size", offsetof(struct morph_head, size), 4, NO_LIST, FORM_NUMBER },                \
		{ "flags", offsetof(struct morph_head, flags), 4, NO_LIST, FORM_NUMBER },      \
		{ "detail_ptr", offsetof(struct morph_head, detail_ptr), 8, NO_LIST,           \
		  FORM_NUMBER },                                                               \
	{                                                                                      \
		"detail_len", offsetof(struct morph_head, detail_len), 4, NO_LIST, FORM_NUMBER \
	}
#define L(type, array, stride)                               \
	{                                                    \
#array, offsetof(struct type, array), stride \
	}
#define SCRATCH_LIST(name)       \
	{                        \
		name, SCRATCH, 4 \
	}

static const struct field fabric_info_fields[] = { HEAD_FIELDS };

#define THIS morph_fabric_read
static const struct field fabric_read_fields[] = { HEAD_FIELDS, F(first), F(reserved),
						   ARRAY_FIELDS(entries), F(seq) };
static const struct list accelerator_lists[] = { L(THIS, entries,
						   sizeof(struct morph_accelerator_info)) };
static const struct list guide_lists[] = { L(THIS, entries, sizeof(struct morph_guide_info)) };
static const struct list element_lists[] = { L(THIS, entries, sizeof(struct morph_element_info)) };
static const struct list edge_lists[] = { L(THIS, entries, sizeof(struct morph_edge_info)) };
#undef THIS

#define THIS morph_slice_create
static const struct field slice_create_fields[] = {
	HEAD_FIELDS,
	ARRAY_FIELDS(accelerators),
	ARRAY_FIELDS(spares),
	F(failover),
	F(transit),
	F(spare_policy),
	F(mode),
	{ "name", offsetof(struct THIS, name), MORPH_NAME_BYTES, NO_LIST, FORM_TEXT },
	F(ring_lanes),
	F(reserved),
	NUMBERS(accelerators, 0),
	NUMBERS(spares, 1),
};
static const struct list slice_create_lists[] = { L(THIS, accelerators, 4), L(THIS, spares, 4) };
#undef THIS

#define THIS morph_slice_delete
static const struct field slice_delete_fields[] = {
	HEAD_FIELDS,
	F(slice),
	F(reserved),
	{ "name", offsetof(struct THIS, name), MORPH_NAME_BYTES, NO_LIST, FORM_TEXT },
};
#undef THIS

#define THIS morph_grant_create
static const struct field grant_create_fields[] = {
	HEAD_FIELDS, F(accelerators), F(circuits), F(lanes),
	F(prepared), F(replacements), F(reserved), F(bytes),
};
#undef THIS

#define THIS morph_slice_info
static const struct field slice_info_fields[] = { HEAD_FIELDS, ARRAY_FIELDS(ranks),
						  ARRAY_FIELDS(circuits) };
static const struct list slice_info_lists[] = {
	L(THIS, ranks, sizeof(struct morph_rank_info)),
	L(THIS, circuits, sizeof(struct morph_circuit_info)),
};
#undef THIS

#define THIS morph_circuit_path
static const struct field circuit_path_fields[] = { HEAD_FIELDS, F(circuit), F(reserved),
						    ARRAY_FIELDS(guides), ARRAY_FIELDS(elements) };
static const struct list circuit_path_lists[] = {
	L(THIS, guides, 4),
	L(THIS, elements, sizeof(struct morph_path_element)),
};
#undef THIS

#define THIS morph_txn_run
#define CHANGE(name, member) E(changes, name, morph_change, member, 0)
static const struct field txn_run_fields[] = {
	HEAD_FIELDS,
	ARRAY_FIELDS(changes),
	F(cookie),
	F(generation),
	F(lease_ns),
	F(profile_checksum),
	F(reserved),
	CHANGE("op", op),
	CHANGE("circuit", circuit),
	CHANGE("src_rank", src_rank),
	CHANGE("dst_rank", dst_rank),
	CHANGE("src_plane", src_plane),
	CHANGE("dst_plane", dst_plane),
	CHANGE("lanes_count", lanes_count),
	CHANGE("lanes", lanes),
	CHANGE("guides.ptr", guides.ptr),
	CHANGE("guides.count", guides.count),
	CHANGE("guides.stride", guides.stride),
	CHANGE("status", status),
	NUMBERS(scratch, 1),
};
static const struct list txn_run_lists[] = {
	L(THIS, changes, sizeof(struct morph_change)),
	SCRATCH_LIST("scratch"),
};
#undef THIS

#define THIS morph_txn_step
static const struct field txn_step_fields[] = { HEAD_FIELDS, F(txn),	  F(verb),
						F(lease_ns), F(reserved), F(cookie) };
#undef THIS

#define THIS morph_rank_act
static const struct field rank_act_fields[] = { HEAD_FIELDS, F(rank), F(spare) };
#undef THIS

#define THIS morph_slice_policy
static const struct field slice_policy_fields[] = { HEAD_FIELDS, F(failover), F(reserved) };
#undef THIS

#define THIS morph_schedule_load
#define CIRCUIT(member) E(circuits, #member, morph_schedule_circuit, member, 0)
#define STEP(member) E(steps, #member, morph_schedule_step, member, 1)
static const struct field schedule_load_fields[] = {
	HEAD_FIELDS,	      ARRAY_FIELDS(circuits),
	ARRAY_FIELDS(guides), ARRAY_FIELDS(held),
	ARRAY_FIELDS(steps),  F(generation),
	F(profile_checksum),  F(reserved),
	CIRCUIT(src_rank),    CIRCUIT(dst_rank),
	CIRCUIT(src_plane),   CIRCUIT(dst_plane),
	CIRCUIT(lanes_count), CIRCUIT(lanes),
	CIRCUIT(first_guide), CIRCUIT(guides_count),
	STEP(first),	      E(steps, "holds", morph_schedule_step, count, 1),
	STEP(advance),	      STEP(reserved),
	STEP(after_ns),	      STEP(deadline_ns),
	NUMBERS(held, 2),     NUMBERS(guides, 3),
};
static const struct list schedule_load_lists[] = {
	L(THIS, circuits, sizeof(struct morph_schedule_circuit)),
	L(THIS, steps, sizeof(struct morph_schedule_step)),
	L(THIS, held, 4),
	L(THIS, guides, 4),
};
#undef THIS

#define THIS morph_schedule_act
static const struct field schedule_act_fields[] = { HEAD_FIELDS, F(schedule), F(verb),
						    F(step),	 F(rank),     F(position) };
#undef THIS

#define THIS morph_schedule_info
static const struct field schedule_info_fields[] = { HEAD_FIELDS, F(schedule),
						     ARRAY_FIELDS(steps) };
static const struct list schedule_info_lists[] = {
	L(THIS, steps, sizeof(struct morph_schedule_step_info)),
};
#undef THIS

#define THIS morph_ring_setup
static const struct field ring_setup_fields[] = { HEAD_FIELDS, F(schedule), F(entries), F(idle_ns),
						  F(rate),     F(user_ptr), F(reserved) };
#undef THIS

#define THIS morph_ring_act
static const struct field ring_act_fields[] = { HEAD_FIELDS, F(ring), F(verb) };
#undef THIS

static const struct field read_fields[] = { { "bytes", 0, 4, NO_LIST, FORM_NUMBER } };
static const struct field fault_fields[] = {
	{ "type", 0, 1, NO_LIST, FORM_NUMBER },
	{ "index", 0, 1, NO_LIST, FORM_NUMBER },
	{ "after", 0, 1, NO_LIST, FORM_NUMBER },
};

static const struct field map_fields[MAP_FIELDS] = {
	{ "ring", 0, 4, NO_LIST, FORM_NUMBER },
	{ "entries", 0, 4, NO_LIST, FORM_NUMBER },
	{ "kind", 0, 1, NO_LIST, FORM_NUMBER },
};
static const struct field submit_fields[SUBMIT_FIELDS] = {
	{ "op", 0, 1, NO_LIST, FORM_NUMBER },	    { "which", 0, 4, NO_LIST, FORM_NUMBER },
	{ "position", 0, 8, NO_LIST, FORM_NUMBER }, { "tag", 0, 4, NO_LIST, FORM_NUMBER },
	{ "seen", 0, 4, NO_LIST, FORM_NUMBER },
};

/* netlink_fields_N, netlink_lists_N and NETLINK_COMMANDS */
#include "netlink_table.h"

#define IOCTL(name, code, type, fields)                                                    \
	{                                                                                  \
		name, HOW_IOCTL, code, sizeof(struct type), fields, COUNT(fields), NULL, 0 \
	}
#define IOCTL_LISTS(name, code, type, fields, lists)                                      \
	{                                                                                 \
		name, HOW_IOCTL, code, sizeof(struct type), fields, COUNT(fields), lists, \
			COUNT(lists)                                                      \
	}
#define READ_COMMAND(name, code, lists) \
	IOCTL_LISTS(name, code, morph_fabric_read, fabric_read_fields, lists)

const struct command commands[] = {
	IOCTL("fabric_info", MORPH_FABRIC_INFO, morph_fabric_info, fabric_info_fields),
	READ_COMMAND("read_accelerators", MORPH_FABRIC_READ_ACCELERATORS, accelerator_lists),
	READ_COMMAND("read_guides", MORPH_FABRIC_READ_GUIDES, guide_lists),
	READ_COMMAND("read_elements", MORPH_FABRIC_READ_ELEMENTS, element_lists),
	READ_COMMAND("read_edges", MORPH_FABRIC_READ_EDGES, edge_lists),
	IOCTL_LISTS("slice_create", MORPH_SLICE_CREATE, morph_slice_create, slice_create_fields,
		    slice_create_lists),
	IOCTL("slice_delete", MORPH_SLICE_DELETE, morph_slice_delete, slice_delete_fields),
	IOCTL("grant_create", MORPH_GRANT_CREATE, morph_grant_create, grant_create_fields),
	IOCTL_LISTS("slice_info", MORPH_SLICE_INFO, morph_slice_info, slice_info_fields,
		    slice_info_lists),
	IOCTL_LISTS("circuit_path", MORPH_CIRCUIT_PATH, morph_circuit_path, circuit_path_fields,
		    circuit_path_lists),
	IOCTL_LISTS("txn_run", MORPH_TXN_RUN, morph_txn_run, txn_run_fields, txn_run_lists),
	IOCTL("txn_step", MORPH_TXN_STEP, morph_txn_step, txn_step_fields),
	IOCTL("rank_report", MORPH_RANK_REPORT, morph_rank_act, rank_act_fields),
	IOCTL("rank_replace", MORPH_RANK_REPLACE, morph_rank_act, rank_act_fields),
	IOCTL("rank_prefer", MORPH_RANK_PREFER, morph_rank_act, rank_act_fields),
	IOCTL("slice_policy", MORPH_SLICE_POLICY, morph_slice_policy, slice_policy_fields),
	IOCTL_LISTS("schedule_load", MORPH_SCHEDULE_LOAD, morph_schedule_load, schedule_load_fields,
		    schedule_load_lists),
	IOCTL("schedule_act", MORPH_SCHEDULE_ACT, morph_schedule_act, schedule_act_fields),
	IOCTL_LISTS("schedule_info", MORPH_SCHEDULE_INFO, morph_schedule_info, schedule_info_fields,
		    schedule_info_lists),
	IOCTL("ring_setup", MORPH_RING_SETUP, morph_ring_setup, ring_setup_fields),
	IOCTL("ring_act", MORPH_RING_ACT, morph_ring_act, ring_act_fields),
	{ "read", HOW_READ, 0, 0, read_fields, COUNT(read_fields), NULL, 0 },
	{ "poll", HOW_POLL, 0, 0, NULL, 0, NULL, 0 },
	{ "close", HOW_CLOSE, 0, 0, NULL, 0, NULL, 0 },
	{ "open", HOW_OPEN, 0, 0, NULL, 0, NULL, 0 },
	{ "fault", HOW_FAULT, 0, 0, fault_fields, COUNT(fault_fields), NULL, 0 },
	{ "clear", HOW_CLEAR, 0, 0, NULL, 0, NULL, 0 },
	{ "pull", HOW_PULL, 0, 0, NULL, 0, NULL, 0 },
	{ "map", HOW_MAP, 0, 0, map_fields, MAP_FIELDS, NULL, 0 },
	{ "submit", HOW_SUBMIT, 0, 0, submit_fields, SUBMIT_FIELDS, NULL, 0 },
	NETLINK_COMMANDS
};

const unsigned int commands_count = COUNT(commands);
