// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From structures of the device to objects with netlink's attributes. Only this file reads the
 * device's answers. Values that do not apply (MORPH_ANY, no PCI address, no culprit) become absent
 * attributes.
 */
#include <linux/morph_netlink.h>

#include "internal.h"

/* Values are added one after the other, and the failure is checked once at the end. */
struct builder {
	struct morph_object *object;
	int error;
};

static struct builder begin(uint32_t type)
{
	struct builder b = { .object = lm_object_new(type, NULL) };

	if (!b.object)
		b.error = -ENOMEM;
	return b;
}

static struct morph_object *end(struct builder *b)
{
	if (!b->error)
		return b->object;
	morph_object_free(b->object);
	return NULL;
}

static void put(struct builder *b, uint32_t number, uint64_t value)
{
	if (!b->error)
		b->error = lm_put_uint(b->object, number, value);
}

static void put_signed(struct builder *b, uint32_t number, int64_t value)
{
	if (!b->error)
		b->error = lm_put_sint(b->object, number, value);
}

/* An index, unless it is "none". */
static void put_index(struct builder *b, uint32_t number, uint32_t value)
{
	if (value != MORPH_ANY)
		put(b, number, value);
}

static void put_text(struct builder *b, uint32_t number, const char *text, size_t room)
{
	if (!b->error && *text)
		b->error = lm_put_text(b->object, number, text, room);
}

static void put_uuid(struct builder *b, uint32_t number, const __u8 *bytes)
{
	static const __u8 none[MORPH_UUID_BYTES];

	if (!b->error && memcmp(bytes, none, sizeof(none)))
		b->error = lm_put_uuid(b->object, number, bytes);
}

static void put_object(struct builder *b, uint32_t number, struct morph_object *inner)
{
	if (!b->error)
		b->error = lm_put_object(b->object, number, inner);
	else
		morph_object_free(inner);
}

struct morph_object *lm_from_fabric(const struct morph_fabric_info *info)
{
	struct builder b = begin(MORPH_OBJECT_FABRIC);

	put(&b, MORPH_A_FABRIC_ID, info->fabric);
	put_uuid(&b, MORPH_A_FABRIC_UUID, info->uuid);
	put_text(&b, MORPH_A_FABRIC_NAME, info->name, sizeof(info->name));
	put_text(&b, MORPH_A_FABRIC_PROFILE, info->profile, sizeof(info->profile));
	put(&b, MORPH_A_FABRIC_PROFILE_CHECKSUM, info->profile_checksum);
	put(&b, MORPH_A_FABRIC_SIMULATED, !!(info->features & MORPH_FABRIC_SIMULATED));
	put(&b, MORPH_A_FABRIC_STATE, info->state);
	put(&b, MORPH_A_FABRIC_ACCELERATORS, info->accelerators);
	put(&b, MORPH_A_FABRIC_HOSTS, info->hosts);
	put(&b, MORPH_A_FABRIC_ELEMENTS, info->elements);
	put(&b, MORPH_A_FABRIC_GUIDES, info->guides);
	put(&b, MORPH_A_FABRIC_PLANES, info->planes);
	put(&b, MORPH_A_FABRIC_WAVELENGTHS, info->wavelengths);
	put(&b, MORPH_A_FABRIC_EDGES, info->edges);
	put(&b, MORPH_A_FABRIC_FREE, info->free);
	put(&b, MORPH_A_FABRIC_SPARES, info->spares);
	if (info->lent)
		put(&b, MORPH_A_FABRIC_LENT, info->lent);
	put(&b, MORPH_A_FABRIC_SLICES, info->slices);
	put(&b, MORPH_A_FABRIC_LANE_MBPS, info->lane_mbps);
	put(&b, MORPH_A_FABRIC_SETTLE_NS, info->settle_ns);
	put(&b, MORPH_A_FABRIC_RELOCK_NS, info->relock_ns);
	put(&b, MORPH_A_FABRIC_SEQ, info->seq);
	put(&b, LM_LOCAL_FABRIC_ABI_VERSION, info->abi_version);
	return end(&b);
}

struct morph_object *lm_from_accelerator(const void *entry, uint32_t fabric, uint64_t seq)
{
	const struct morph_accelerator_info *info = entry;
	struct builder b = begin(MORPH_OBJECT_ACCELERATOR);

	put(&b, MORPH_A_ACCELERATOR_FABRIC, fabric);
	put(&b, MORPH_A_ACCELERATOR_ID, info->accelerator);
	put(&b, MORPH_A_ACCELERATOR_HOST, info->host);
	put(&b, MORPH_A_ACCELERATOR_X, info->x);
	put(&b, MORPH_A_ACCELERATOR_Y, info->y);
	put(&b, MORPH_A_ACCELERATOR_Z, info->z);
	put(&b, MORPH_A_ACCELERATOR_USE, info->use);
	put(&b, MORPH_A_ACCELERATOR_HEALTH, info->health);
	put(&b, MORPH_A_ACCELERATOR_CORDONED, info->cordoned);
	put_text(&b, MORPH_A_ACCELERATOR_PCI, info->pci, sizeof(info->pci));
	put_uuid(&b, MORPH_A_ACCELERATOR_UUID, info->uuid);
	put(&b, MORPH_A_ACCELERATOR_LAST_VERIFIED_NS, info->last_verified_ns);
	put(&b, MORPH_A_ACCELERATOR_SEQ, seq);
	return end(&b);
}

struct morph_object *lm_from_guide(const void *entry, uint32_t fabric, uint64_t seq)
{
	const struct morph_guide_info *info = entry;
	struct builder b = begin(MORPH_OBJECT_GUIDE);

	put(&b, MORPH_A_GUIDE_FABRIC, fabric);
	put(&b, MORPH_A_GUIDE_ID, info->guide);
	put(&b, MORPH_A_GUIDE_CLASS, info->type);
	put(&b, MORPH_A_GUIDE_HEALTH, info->health);
	put(&b, MORPH_A_GUIDE_CORDONED, info->cordoned);
	put(&b, MORPH_A_GUIDE_LANES, info->lanes);
	put(&b, MORPH_A_GUIDE_LANES_FREE, info->lanes_free);
	put(&b, MORPH_A_GUIDE_LOSS_MDB, info->loss_mdb);
	put(&b, MORPH_A_GUIDE_SEQ, seq);
	return end(&b);
}

struct morph_object *lm_from_element(const void *entry, uint32_t fabric, uint64_t seq)
{
	const struct morph_element_info *info = entry;
	struct builder b = begin(MORPH_OBJECT_ELEMENT);

	put(&b, MORPH_A_ELEMENT_FABRIC, fabric);
	put(&b, MORPH_A_ELEMENT_ID, info->element);
	put_index(&b, MORPH_A_ELEMENT_TILE, info->tile);
	put(&b, MORPH_A_ELEMENT_STATE, info->state);
	put(&b, MORPH_A_ELEMENT_PINS, info->pins);
	put(&b, MORPH_A_ELEMENT_HEALTH, info->health);
	put(&b, MORPH_A_ELEMENT_CORDONED, info->cordoned);
	put(&b, MORPH_A_ELEMENT_SEQ, seq);
	return end(&b);
}

struct morph_object *lm_from_edge(const void *entry, uint32_t fabric, uint64_t seq)
{
	const struct morph_edge_info *info = entry;
	struct builder b = begin(MORPH_OBJECT_EDGE);
	static const __u8 none[sizeof(info->peer_uuid)];

	put(&b, MORPH_A_EDGE_FABRIC, fabric);
	put(&b, MORPH_A_EDGE_ID, info->edge);
	put_text(&b, MORPH_A_EDGE_NAME, info->name, sizeof(info->name));
	put(&b, MORPH_A_EDGE_GUIDE, info->guide);
	if (memcmp(info->peer_uuid, none, sizeof(none))) {
		put_uuid(&b, MORPH_A_EDGE_PEER_UUID, info->peer_uuid);
		put(&b, MORPH_A_EDGE_PEER_EDGE, info->peer_edge);
	}
	put_signed(&b, MORPH_A_EDGE_LEAST_MDBM, info->least_mdbm);
	put_signed(&b, MORPH_A_EDGE_MOST_MDBM, info->most_mdbm);
	put(&b, MORPH_A_EDGE_LANES_OUT, info->lanes_out);
	put(&b, MORPH_A_EDGE_LANES_IN, info->lanes_in);
	put(&b, MORPH_A_EDGE_SEQ, seq);
	return end(&b);
}

/* One end of a circuit: a rank, or an edge. */
static void put_circuit_end(struct builder *b, uint32_t rank_number, uint32_t edge_number,
			    uint32_t rank)
{
	if (rank & MORPH_RANK_EDGE)
		put(b, edge_number, rank & ~MORPH_RANK_EDGE);
	else
		put(b, rank_number, rank);
}

static struct morph_object *from_rank(const struct morph_rank_info *info)
{
	struct builder b = begin(MORPH_OBJECT_RANK);

	put(&b, MORPH_A_RANK_RANK, info->rank);
	put(&b, MORPH_A_RANK_ACCELERATOR, info->accelerator);
	put(&b, MORPH_A_RANK_HOST, info->host);
	put(&b, MORPH_A_RANK_HEALTH, info->health);
	put(&b, MORPH_A_RANK_PLAN, info->plan);
	put_index(&b, MORPH_A_RANK_SPARE, info->spare);
	put(&b, MORPH_A_RANK_REPLACEMENTS, info->replacements);
	put_text(&b, MORPH_A_RANK_PCI, info->pci, sizeof(info->pci));
	put_uuid(&b, MORPH_A_RANK_UUID, info->uuid);
	return end(&b);
}

static void put_tenancy(struct builder *b, const struct morph_slice_info *info)
{
	put(b, MORPH_A_SLICE_OWNER, info->owner);
	if (*info->name)
		put(b, MORPH_A_SLICE_MODE, info->mode);
	put(b, MORPH_A_SLICE_FILES, info->files);
	put(b, MORPH_A_SLICE_USED_REPLACEMENTS, info->used_replacements);
	put(b, MORPH_A_SLICE_BANDWIDTH_MBPS, info->bandwidth_mbps);
}

struct morph_object *lm_from_slice(const struct morph_slice_info *info, uint32_t fabric)
{
	const struct morph_rank_info *ranks = (const void *)(uintptr_t)info->ranks.ptr;
	struct builder b = begin(MORPH_OBJECT_SLICE);

	put(&b, MORPH_A_SLICE_FABRIC, fabric);
	put(&b, MORPH_A_SLICE_ID, info->slice);
	put_text(&b, MORPH_A_SLICE_NAME, info->name, sizeof(info->name));
	put(&b, MORPH_A_SLICE_STATE, info->state);
	put(&b, MORPH_A_SLICE_FAILOVER, info->failover);
	put(&b, MORPH_A_SLICE_TRANSIT, info->transit);
	put(&b, MORPH_A_SLICE_SPARES, info->spare_policy);
	put(&b, MORPH_A_SLICE_RESERVED, info->reserved);
	put(&b, MORPH_A_SLICE_GENERATION, info->generation);
	put(&b, MORPH_A_SLICE_SEQ, info->seq);
	put(&b, MORPH_A_SLICE_RANKS_COUNT, info->ranks.count);
	put(&b, MORPH_A_SLICE_CIRCUITS_COUNT, info->circuits.count);
	put(&b, LM_LOCAL_SLICE_EVENTS_LOST, info->events_lost);
	/* Earlier kernels do not fill the fields from owner on. */
	if (info->files)
		put_tenancy(&b, info);
	for (uint32_t rank = 0; ranks && rank < info->ranks.count; rank++)
		put_object(&b, MORPH_A_SLICE_RANK, from_rank(&ranks[rank]));
	return end(&b);
}

struct morph_object *lm_from_circuit(const struct morph_circuit_info *info, uint32_t fabric,
				     uint32_t slice)
{
	struct builder b = begin(MORPH_OBJECT_CIRCUIT);

	put(&b, MORPH_A_CIRCUIT_FABRIC, fabric);
	put(&b, MORPH_A_CIRCUIT_SLICE, slice);
	put(&b, MORPH_A_CIRCUIT_ID, info->circuit);
	put(&b, MORPH_A_CIRCUIT_STATE, info->state);
	put_circuit_end(&b, MORPH_A_CIRCUIT_SRC_RANK, MORPH_A_CIRCUIT_SRC_EDGE, info->src_rank);
	put_circuit_end(&b, MORPH_A_CIRCUIT_DST_RANK, MORPH_A_CIRCUIT_DST_EDGE, info->dst_rank);
	if (info->src_plane != MORPH_PLANE_ANY)
		put(&b, MORPH_A_CIRCUIT_SRC_PLANE, info->src_plane);
	if (info->dst_plane != MORPH_PLANE_ANY)
		put(&b, MORPH_A_CIRCUIT_DST_PLANE, info->dst_plane);
	put(&b, MORPH_A_CIRCUIT_LANES, info->lanes);
	put(&b, MORPH_A_CIRCUIT_BANDWIDTH_MBPS, info->bandwidth_mbps);
	put(&b, MORPH_A_CIRCUIT_LOSS_MDB, info->loss_mdb);
	put_signed(&b, MORPH_A_CIRCUIT_MARGIN_MDB, info->margin_mdb);
	put_signed(&b, MORPH_A_CIRCUIT_POWER_MDBM, info->power_mdbm);
	put_signed(&b, MORPH_A_CIRCUIT_ISOLATION_MDB, info->isolation_mdb);
	put(&b, MORPH_A_CIRCUIT_DARK_NS, info->dark_ns);
	put(&b, MORPH_A_CIRCUIT_LAST_VERIFIED_NS, info->last_verified_ns);
	put(&b, LM_LOCAL_CIRCUIT_HOPS, info->hops);
	return end(&b);
}

struct morph_object *lm_from_path(const struct morph_circuit_path *path, uint32_t fabric,
				  uint32_t slice)
{
	const struct morph_path_element *elements = (const void *)(uintptr_t)path->elements.ptr;
	const __u32 *guides = (const void *)(uintptr_t)path->guides.ptr;
	struct builder b = begin(MORPH_OBJECT_CIRCUIT);

	put(&b, MORPH_A_CIRCUIT_FABRIC, fabric);
	put(&b, MORPH_A_CIRCUIT_SLICE, slice);
	put(&b, MORPH_A_CIRCUIT_ID, path->circuit);
	for (uint32_t at = 0; at < path->guides.count; at++)
		put(&b, MORPH_A_CIRCUIT_GUIDE, guides[at]);
	for (uint32_t at = 0; at < path->elements.count; at++) {
		put(&b, MORPH_A_CIRCUIT_ELEMENT, elements[at].element);
		put(&b, MORPH_A_CIRCUIT_ELEMENT_STATE, elements[at].state);
	}
	put(&b, LM_LOCAL_CIRCUIT_HOPS, path->guides.count);
	return end(&b);
}

struct morph_object *lm_from_times(const struct morph_times *times)
{
	static const uint16_t numbers[MORPH_PHASE_COUNT] = {
		[MORPH_PHASE_DETECT] = MORPH_A_TIMES_DETECT_NS,
		[MORPH_PHASE_PLAN] = MORPH_A_TIMES_PLAN_NS,
		[MORPH_PHASE_PROGRAM] = MORPH_A_TIMES_PROGRAM_NS,
		[MORPH_PHASE_SETTLE] = MORPH_A_TIMES_SETTLE_NS,
		[MORPH_PHASE_RELOCK] = MORPH_A_TIMES_RELOCK_NS,
		[MORPH_PHASE_VERIFY] = MORPH_A_TIMES_VERIFY_NS,
		[MORPH_PHASE_NOTIFY] = MORPH_A_TIMES_NOTIFY_NS,
	};
	struct builder b = begin(MORPH_OBJECT_TIMES);

	for (int phase = 0; phase < MORPH_PHASE_COUNT; phase++)
		put(&b, numbers[phase], times->phase_ns[phase]);
	put(&b, MORPH_A_TIMES_PROVIDER_NS, times->provider_ns);
	put(&b, MORPH_A_TIMES_MODELLED_NS, times->modelled_ns);
	return end(&b);
}

/* @staged: a new circuit has a number, even if nothing is lit. */
static struct morph_object *from_change(const struct morph_change *change, bool staged)
{
	struct builder b = begin(MORPH_OBJECT_CHANGE);

	put(&b, MORPH_A_CHANGE_OP, change->op);
	if (change->op != MORPH_CHANGE_ADD || (staged && !change->status))
		put(&b, MORPH_A_CHANGE_CIRCUIT, change->circuit);
	if (change->op == MORPH_CHANGE_ADD) {
		put_circuit_end(&b, MORPH_A_CHANGE_SRC_RANK, MORPH_A_CHANGE_SRC_EDGE,
				change->src_rank);
		put_circuit_end(&b, MORPH_A_CHANGE_DST_RANK, MORPH_A_CHANGE_DST_EDGE,
				change->dst_rank);
	}
	if (change->op != MORPH_CHANGE_REMOVE) {
		if (change->src_plane != MORPH_PLANE_ANY)
			put(&b, MORPH_A_CHANGE_SRC_PLANE, change->src_plane);
		if (change->dst_plane != MORPH_PLANE_ANY)
			put(&b, MORPH_A_CHANGE_DST_PLANE, change->dst_plane);
		put(&b, MORPH_A_CHANGE_LANES, change->lanes);
	}
	put_signed(&b, MORPH_A_CHANGE_STATUS, change->status);
	if (change->reason)
		put(&b, MORPH_A_CHANGE_REASON, change->reason);
	if (change->part) {
		put(&b, MORPH_A_CHANGE_PART, change->part);
		put(&b, MORPH_A_CHANGE_INDEX, change->index);
	}
	put(&b, MORPH_A_CHANGE_DARK_NS, change->dark_ns);
	return end(&b);
}

/* The failure in struct morph_head. */
static void put_failure(struct builder *b, const struct morph_head *head, int error)
{
	const char *sentence = (const char *)(uintptr_t)head->detail_ptr;

	put_signed(b, MORPH_A_TXN_STATUS, error);
	if (!head->reason)
		return;
	put(b, MORPH_A_TXN_REASON, head->reason);
	if (head->part) {
		put(b, MORPH_A_TXN_PART, head->part);
		put(b, MORPH_A_TXN_INDEX, head->index);
	}
	put_signed(b, MORPH_A_TXN_HAVE, head->have);
	put_signed(b, MORPH_A_TXN_NEED, head->need);
	if (sentence)
		put_text(b, MORPH_A_TXN_TEXT, sentence, head->detail_len);
}

struct morph_object *lm_from_run(const struct morph_txn_run *run, uint32_t fabric, uint32_t slice,
				 int error)
{
	const struct morph_change *changes = (const void *)(uintptr_t)run->changes.ptr;
	bool staged = !error || (run->head.flags & MORPH_TXN_EACH);
	struct builder b = begin(MORPH_OBJECT_TXN);

	put(&b, MORPH_A_TXN_FABRIC, fabric);
	put(&b, MORPH_A_TXN_SLICE, slice);
	if (run->out_txn)
		put(&b, MORPH_A_TXN_ID, run->out_txn);
	put(&b, MORPH_A_TXN_OUTCOME, run->out_outcome);
	put_failure(&b, &run->head, error);
	if (run->cookie)
		put(&b, MORPH_A_TXN_COOKIE, run->cookie);
	put(&b, MORPH_A_TXN_GENERATION, run->out_generation);
	put(&b, MORPH_A_TXN_SEQ, run->out_seq);
	for (uint32_t at = 0; at < run->changes.count; at++)
		put_object(&b, MORPH_A_TXN_CHANGE, from_change(&changes[at], staged));
	put_object(&b, MORPH_A_TXN_TIMES, lm_from_times(&run->out_times));
	return end(&b);
}

struct morph_object *lm_from_step(const struct morph_txn_step *step, uint32_t fabric,
				  uint32_t slice, int error)
{
	struct builder b = begin(MORPH_OBJECT_TXN);

	put(&b, MORPH_A_TXN_FABRIC, fabric);
	put(&b, MORPH_A_TXN_SLICE, slice);
	put(&b, MORPH_A_TXN_ID, step->txn);
	put(&b, MORPH_A_TXN_OUTCOME, step->out_outcome);
	put_failure(&b, &step->head, error);
	put(&b, MORPH_A_TXN_LEASE_NS, step->out_lease_ns);
	put(&b, MORPH_A_TXN_VERB, step->verb);
	put(&b, MORPH_A_TXN_SEQ, step->out_seq);
	put_object(&b, MORPH_A_TXN_TIMES, lm_from_times(&step->out_times));
	return end(&b);
}

static struct morph_object *from_schedule_step(const struct morph_schedule_step_info *info,
					       uint32_t step)
{
	struct builder b = begin(MORPH_OBJECT_SCHEDULE_STEP);

	put(&b, LM_LOCAL_SCHEDULE_STEP_STEP, step);
	put(&b, LM_LOCAL_SCHEDULE_STEP_CIRCUITS_COUNT, info->circuits);
	put(&b, LM_LOCAL_SCHEDULE_STEP_CHANGES, info->changes);
	put(&b, LM_LOCAL_SCHEDULE_STEP_AHEAD, info->ahead);
	put(&b, LM_LOCAL_SCHEDULE_STEP_RUNS, info->runs);
	put(&b, LM_LOCAL_SCHEDULE_STEP_LATE, info->late);
	put(&b, LM_LOCAL_SCHEDULE_STEP_WAIT_NS, info->wait_ns);
	put(&b, LM_LOCAL_SCHEDULE_STEP_PROGRAM_NS, info->program_ns);
	put(&b, LM_LOCAL_SCHEDULE_STEP_SETTLE_NS, info->settle_ns);
	put(&b, LM_LOCAL_SCHEDULE_STEP_RELOCK_NS, info->relock_ns);
	put(&b, LM_LOCAL_SCHEDULE_STEP_VERIFY_NS, info->verify_ns);
	put(&b, LM_LOCAL_SCHEDULE_STEP_LATE_NS, info->late_ns);
	put(&b, LM_LOCAL_SCHEDULE_STEP_LONGEST_NS, info->longest_ns);
	return end(&b);
}

struct morph_object *lm_from_schedule(const struct morph_schedule_info *info, uint32_t fabric,
				      uint32_t slice)
{
	static const char *const states[] = {
		[MORPH_SCHEDULE_LOADED] = "loaded",
		[MORPH_SCHEDULE_RUNNING] = "running",
		[MORPH_SCHEDULE_STOPPED] = "stopped",
	};
	const struct morph_schedule_step_info *steps = (const void *)(uintptr_t)info->steps.ptr;
	struct builder b = begin(MORPH_OBJECT_SCHEDULE_STATE);

	put(&b, LM_LOCAL_SCHEDULE_STATE_FABRIC, fabric);
	put(&b, LM_LOCAL_SCHEDULE_STATE_SLICE, slice);
	put(&b, LM_LOCAL_SCHEDULE_STATE_ID, info->schedule);
	if (info->state < ARRAY_SIZE(states))
		put_text(&b, LM_LOCAL_SCHEDULE_STATE_STATE, states[info->state], SIZE_MAX);
	put(&b, LM_LOCAL_SCHEDULE_STATE_LOOP, !!(info->flags & MORPH_SCHEDULE_LOOP));
	put_index(&b, LM_LOCAL_SCHEDULE_STATE_AT, info->step);
	put(&b, LM_LOCAL_SCHEDULE_STATE_POSITION, info->position);
	if (info->error)
		put_signed(&b, LM_LOCAL_SCHEDULE_STATE_ERROR, info->error);
	put_index(&b, LM_LOCAL_SCHEDULE_STATE_FAILED_STEP, info->failed_step);
	put(&b, LM_LOCAL_SCHEDULE_STATE_CIRCUITS_COUNT, info->circuits);
	put(&b, LM_LOCAL_SCHEDULE_STATE_LIT, info->lit);
	put(&b, LM_LOCAL_SCHEDULE_STATE_MOVED, info->moved);
	put(&b, LM_LOCAL_SCHEDULE_STATE_FIRST_CIRCUIT, info->first_circuit);
	put(&b, LM_LOCAL_SCHEDULE_STATE_STEPS_COUNT, info->steps.count);
	for (uint32_t at = 0; steps && at < info->steps.count; at++)
		put_object(&b, LM_LOCAL_SCHEDULE_STATE_STEP, from_schedule_step(&steps[at], at));
	return end(&b);
}

static void put_event_ends(struct builder *b, const struct morph_event *event)
{
	put_index(b, MORPH_A_EVENT_OLD_ACCELERATOR, event->old_accelerator);
	if (event->old_accelerator != MORPH_ANY)
		put_index(b, MORPH_A_EVENT_OLD_HOST, event->old_host);
	put_text(b, MORPH_A_EVENT_OLD_PCI, event->old_pci, sizeof(event->old_pci));
	put_uuid(b, MORPH_A_EVENT_OLD_UUID, event->old_uuid);
	put_index(b, MORPH_A_EVENT_NEW_ACCELERATOR, event->new_accelerator);
	if (event->new_accelerator != MORPH_ANY)
		put_index(b, MORPH_A_EVENT_NEW_HOST, event->new_host);
	put_text(b, MORPH_A_EVENT_NEW_PCI, event->new_pci, sizeof(event->new_pci));
	put_uuid(b, MORPH_A_EVENT_NEW_UUID, event->new_uuid);
}

struct morph_object *lm_from_event(const struct morph_event *event, uint32_t fabric)
{
	struct builder b = begin(MORPH_OBJECT_EVENT);
	bool moved = event->type == MORPH_EVENT_REPLACED ||
		     event->type == MORPH_EVENT_CIRCUIT_MOVED;
	bool changed = event->type == MORPH_EVENT_TXN || event->type == MORPH_EVENT_SCHEDULE;

	put(&b, MORPH_A_EVENT_FABRIC, fabric);
	put(&b, MORPH_A_EVENT_TYPE, event->type);
	put(&b, MORPH_A_EVENT_SEQ, event->seq);
	put(&b, MORPH_A_EVENT_GENERATION, event->generation);
	put(&b, MORPH_A_EVENT_TIME_NS, event->time_ns);
	put(&b, MORPH_A_EVENT_SLICE, event->slice);
	put(&b, MORPH_A_EVENT_STATE, event->state);
	put_index(&b, MORPH_A_EVENT_RANK, event->rank);
	put_index(&b, MORPH_A_EVENT_CIRCUIT, event->circuit);
	if (event->txn)
		put(&b, MORPH_A_EVENT_TXN, event->txn);
	if (changed)
		put(&b, MORPH_A_EVENT_OUTCOME, event->outcome);
	if (event->part) {
		put(&b, MORPH_A_EVENT_PART, event->part);
		put(&b, MORPH_A_EVENT_INDEX, event->index);
	}
	put_event_ends(&b, event);
	if (event->type == MORPH_EVENT_LOST)
		put(&b, LM_LOCAL_EVENT_LOST, event->lost);
	put(&b, MORPH_A_EVENT_BANDWIDTH_MBPS, event->bandwidth_mbps);
	if (moved)
		put(&b, MORPH_A_EVENT_DARK_NS, event->dark_ns);
	if (moved || changed)
		put_object(&b, MORPH_A_EVENT_TIMES, lm_from_times(&event->times));
	return end(&b);
}
