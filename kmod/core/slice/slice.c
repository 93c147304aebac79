// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices: a tenant's accelerators, numbered by rank, from the creation of the slice until its
 * circuits are dark and its accelerators free again.
 *
 * The creation of a big slice takes its accelerators in several holds of fabric->lock. Nobody can
 * find the slice before it has all of them. The creating thread has entered it, so a repair waits.
 */
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/ledger/ledger.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define FEW_RANKS	16u	/* their accelerators need no memory while they are chosen */

/* ----------------------------------------------------------------- lifetime */

struct morph_slice *morph_slice_find(struct morph_fabric *fabric, u32 number, const char *name)
{
	struct morph_slice *slice, *found = NULL;

	if (number != MORPH_ANY) {
		rcu_read_lock();
		slice = xa_load(&morph_slices, number);
		if (slice && slice->fabric == fabric && kref_get_unless_zero(&slice->kref))
			found = slice;
		rcu_read_unlock();
		return found;
	}
	morph_fabric_lock(fabric);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		if (slice->dying || !slice_tenancy(slice)->name[0] ||
		    strcmp(slice_tenancy(slice)->name, name))
			continue;
		kref_get(&slice->kref);
		found = slice;
		break;
	}
	morph_fabric_unlock(fabric);
	return found;
}

/* ----------------------------------------------------------------- creation */

int morph_slice_check_name(const char *name, struct morph_refusal *refusal)
{
	const char *c;

	if (strnlen(name, MORPH_NAME_BYTES) == MORPH_NAME_BYTES)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "name has no final NUL; at most %u characters are allowed",
				    MORPH_NAME_BYTES - 1);
	for (c = name; *c; c++)
		if (!isalnum(*c) && !strchr("_.-", *c))
			return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
					    "name may hold letters, digits and _ . - only");
	if (morph_reads_as_number(name))
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "name reads as a number; begin it with a letter");
	return 0;
}

static int check_params(struct morph_fabric *fabric, const struct morph_slice_params *params,
			struct morph_refusal *refusal)
{
	int ret = morph_place_possible(fabric, params->count, refusal);

	if (ret)
		return ret;
	if (params->failover > MORPH_FAILOVER_NONE)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "failover must be 0 (automatic), 1 (manual) or 2 (none)");
	if (params->transit > MORPH_TRANSIT_OWN)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "transit must be 0 (any) or 1 (own)");
	if (params->spare_policy > MORPH_SPARES_LIST)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "spare policy must be 0 (host), 1 (any) or 2 (list)");
	if (params->spare_policy == MORPH_SPARES_LIST ? !params->spares_count :
							params->spares_count)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "a list of spares and the spare policy list require each other");
	if (params->lend && (!params->accelerators || params->reserved))
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "lent spares require a list of accelerators, and exclude a reserved spare");
	if (params->mode & ~0777 || (params->mode && !params->name[0]))
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "mode must have permission bits only, and the slice a name");
	return morph_slice_check_name(params->name, refusal);
}

static int copy_spares(struct morph_slice *slice, const struct morph_slice_params *params,
		       struct morph_refusal *refusal)
{
	struct morph_slice_tenancy *tenancy = slice_tenancy(slice);
	u32 i;

	for (i = 0; i < params->spares_count; i++)
		if (params->spares[i] >= slice->fabric->graph->accelerators_count)
			return morph_refuse_index(refusal, MORPH_PART_ACCELERATOR,
						  params->spares[i],
						  slice->fabric->graph->accelerators_count);
	if (!params->spares_count)
		return 0;
	tenancy->spare_list = kvmemdup(params->spares,
				       array_size(params->spares_count, sizeof(u32)),
				       GFP_KERNEL_ACCOUNT);
	if (!tenancy->spare_list)
		return -ENOMEM;
	tenancy->spare_list_count = params->spares_count;
	return 0;
}

/* Bytes of kernel memory that a slice needs for its whole lifetime. */
static size_t slice_bytes(const struct morph_slice_params *params)
{
	return morph_slice_bytes(params->count) + morph_txn_idle_bytes() +
	       array_size(params->spares_count, sizeof(u32));
}

static struct morph_slice *slice_alloc(struct morph_fabric *fabric,
				       const struct morph_slice_params *params)
{
	struct morph_slice *slice = morph_slice_alloc(fabric, params->user, params->count);
	struct morph_slice_tenancy *tenancy;

	if (!slice)
		return NULL;
	tenancy = slice_tenancy(slice);
	slice->transit = params->transit;
	tenancy->failover = params->failover;
	tenancy->spare_policy = params->spare_policy;
	tenancy->reserved = params->reserved;
	tenancy->uid = params->uid;
	tenancy->named = params->name[0];
	tenancy->mode = params->mode ? params->mode : 0600;
	strscpy(tenancy->name, params->name, sizeof(tenancy->name));
	tenancy->controller = params->controller;
	return slice;
}

void morph_slice_take_chip(struct morph_slice *slice, u32 accelerator, u32 rank)
{
	morph_chip_hold(slice, accelerator, rank);
	morph_protection_touch_chip(slice->fabric, accelerator);
}

/*
 * Choose the spare that a slice holds in addition. Its list may name accelerators that the slice
 * has just got.
 */
static int choose_own_spare(struct morph_slice *slice, const u32 *chosen,
			    struct morph_refusal *refusal)
{
	struct morph_slice_tenancy *tenancy = slice_tenancy(slice);
	struct morph_chip *chips = ledger_of(slice->fabric)->chips;
	u32 i, rank;

	/* These accelerators are not held yet: exclude them from the search. */
	for (i = 0; i < slice->ranks_count; i++)
		chips[chosen[i]].use = MORPH_USE_HELD;
	tenancy->own_spare = morph_place_spare(slice, chosen[0], MORPH_ANY, 0);
	for (i = 0; i < slice->ranks_count; i++)
		chips[chosen[i]].use = MORPH_USE_FREE;
	if (tenancy->own_spare != MORPH_ANY)
		return 0;
	rank = morph_place_spare(slice, chosen[0], MORPH_ANY, 0);
	if (rank != MORPH_ANY)
		return morph_refuse_numbers(refusal, -ENOSPC, MORPH_REASON_NO_SPARE,
					    MORPH_PART_ACCELERATOR, rank, 0, 0,
					    "accelerator {index} becomes a rank of this slice, and no other listed spare is free");
	return morph_refuse(refusal, -ENOSPC, MORPH_REASON_NO_SPARE, 0, 0,
			    "no free spare to reserve for this slice");
}

/* Return whether another slice has the name. */
static bool name_is_taken(const struct morph_slice *slice)
{
	const char *name = slice_tenancy(slice)->name;
	struct morph_slice *other;

	list_for_each_entry(other, &ledger_of(slice->fabric)->slices, node)
		if (!other->dying && !strcmp(slice_tenancy(other)->name, name))
			return true;
	return false;
}

/* Check whether the fabric admits the slice. */
static int check_fabric(struct morph_slice *slice, struct morph_refusal *refusal)
{
	struct morph_slice_tenancy *tenancy = slice_tenancy(slice);
	struct morph_fabric *fabric = slice->fabric;
	int ret;

	ret = morph_fabric_check(fabric);
	if (ret)
		return morph_refuse(refusal, ret, MORPH_REASON_STATE, 0, 0, "the fabric is gone");
	if (tenancy->named && name_is_taken(slice))
		return morph_refuse(refusal, -EEXIST, MORPH_REASON_ARGUMENT, 0, 0,
				    "another slice has this name");
	return tenancy->controller ?
	       PTR_ERR_OR_ZERO(morph_controller_find(fabric, tenancy->controller, refusal)) : 0;
}

/* Choose the accelerators, which are all free afterwards. The function drops fabric->lock. */
static int slice_choose(struct morph_slice *slice, const struct morph_slice_params *params,
			u32 *chosen, struct morph_refusal *refusal)
{
	int ret;

	if (params->accelerators) {
		memcpy(chosen, params->accelerators, array_size(params->count, sizeof(u32)));
		ret = morph_place_check_again(slice->fabric, chosen, params->count, params->lend,
					      refusal);
	} else {
		ret = morph_place(slice->fabric, params->count, chosen, refusal);
	}
	if (!ret && slice_tenancy(slice)->reserved)
		ret = choose_own_spare(slice, chosen, refusal);
	return ret;
}

static void take_rank(struct morph_slice *slice, u32 rank, u32 accelerator)
{
	struct morph_chip *chip = &ledger_of(slice->fabric)->chips[accelerator];

	slice->ranks[rank].accelerator = accelerator;
	slice->ranks[rank].first = accelerator;
	slice->ranks[rank].failed = false;
	chip->lent = chip->spare;
	morph_slice_take_chip(slice, accelerator, rank);
	morph_protection_init(slice, rank);
}

/* Give back the first @count ranks and the own spare of a slice that nobody has seen. */
static void untake(struct morph_slice *slice, u32 count)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 own_spare = slice_tenancy(slice)->own_spare, i;

	for (i = 0; i < count; i++) {
		morph_fabric_pause_after(fabric, i);
		morph_chip_let_go(fabric, slice->ranks[i].accelerator);
		morph_protection_touch_chip(fabric, slice->ranks[i].accelerator);
	}
	if (own_spare != MORPH_ANY) {
		morph_chip_let_go(fabric, own_spare);
		morph_protection_touch_chip(fabric, own_spare);
	}
	slice_tenancy(slice)->own_spare = MORPH_ANY;
}

/* Return whether the creation drops fabric->lock. */
static bool is_big(const struct morph_slice_params *params)
{
	return params->count > MORPH_HOLD_PARTS;
}

/* Check whether an accelerator is still free; with @replace, choose another one if it is not. */
static int check_chosen(struct morph_slice *slice, const struct morph_slice_params *params,
			u32 *chosen, bool replace, struct morph_refusal *refusal)
{
	u32 other;
	int ret;

	ret = morph_place_check_again(slice->fabric, chosen, 1, params->lend, refusal);
	if (!ret || !replace || params->accelerators)
		return ret;
	other = morph_place_any(slice->fabric);
	if (other == MORPH_ANY)
		return ret;
	*refusal = (struct morph_refusal){};
	*chosen = other;
	return 0;
}

/*
 * Take the chosen accelerators. For a big slice, the function drops fabric->lock at times. If
 * another slice has taken one meanwhile, it fails, or with @replace takes another accelerator. So
 * all or none are taken at the end.
 */
static int take_chosen(struct morph_slice *slice, const struct morph_slice_params *params,
		       u32 *chosen, bool replace, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 own_spare = slice_tenancy(slice)->own_spare, i;
	int ret = 0;

	if (own_spare != MORPH_ANY)
		morph_slice_take_chip(slice, own_spare, MORPH_ANY);
	for (i = 0; i < params->count; i++) {
		if (is_big(params)) {
			morph_fabric_pause_after(fabric, i);
			ret = check_chosen(slice, params, chosen + i, replace, refusal);
		}
		if (ret)
			break;
		take_rank(slice, i, chosen[i]);
	}
	/* The fabric may have changed, too. */
	if (!ret && is_big(params))
		ret = check_fabric(slice, refusal);
	if (ret)
		untake(slice, i);
	return ret;
}

/*
 * Choose and take accelerators; those of a small slice in one hold. If other slices take chosen
 * ones again and again, this one keeps what it has got, and takes others instead of the rest. A
 * failure of one of them waits until the slice is left.
 */
static int slice_take(struct morph_slice *slice, const struct morph_slice_params *params,
		      u32 *chosen, struct morph_refusal *refusal)
{
	u32 restarts = 0;
	bool replace;
	int ret;

	do {
		replace = restarts == MORPH_MOST_RESTARTS;
		if (restarts++)
			*refusal = (struct morph_refusal){};
		ret = check_fabric(slice, refusal);
		if (!ret)
			ret = slice_choose(slice, params, chosen, refusal);
		if (ret || params->dry_run)
			return ret;
		ret = take_chosen(slice, params, chosen, replace, refusal);
	} while (ret && is_big(params) && !replace);
	return ret;
}

/* All accelerators are taken: show the slice. Caller holds fabric->lock. */
static void slice_publish(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	u32 i;

	kref_get(&slice->kref);		/* reference of the list; the caller has the first one */
	list_add_tail(&slice->node, &ledger_of(fabric)->slices);
	ledger_of(fabric)->slices_count++;
	fabric->seq++;
	morph_stat(fabric, MORPH_STAT_PUBLISHES);
	/* The number is reserved, so this does not allocate. */
	xa_store(&morph_slices, slice->number, slice, MORPH_GFP_LOCKED);
	morph_report_slice_changed(slice);
	for (i = 0; i < slice->ranks_count; i++) {
		morph_fabric_pause_after(fabric, i);
		morph_protection_touch_rank(slice, i);
	}
}

/* Perform all steps that may fail before fabric->lock is taken. */
static int slice_prepare(struct morph_slice *slice, const struct morph_slice_params *params,
			 struct morph_refusal *refusal)
{
	static u32 next_number;		/* lock of morph_slices */
	int ret;

	ret = copy_spares(slice, params, refusal);
	if (ret)
		return ret;
	ret = morph_user_charge(slice->user, MORPH_RES_BYTES, slice_bytes(params), refusal);
	if (ret)
		return ret;
	slice->bytes = slice_bytes(params);
	/*
	 * Numbers are allocated cyclically, so that an old number does not soon name another slice.
	 */
	ret = xa_alloc_cyclic(&morph_slices, &slice->number, NULL, XA_LIMIT(1, 0x7fffffff),
			      &next_number, GFP_KERNEL);
	return ret < 0 ? ret : 0;
}

int morph_slice_create(struct morph_fabric *fabric, const struct morph_slice_params *params,
		       struct morph_slice **result, struct morph_refusal *refusal)
{
	u32 charge = params->count + params->reserved;
	u32 few[FEW_RANKS], *chosen = few;
	struct morph_slice *slice;
	int ret;

	*result = NULL;
	ret = check_params(fabric, params, refusal);
	if (ret)
		return ret;
	slice = slice_alloc(fabric, params);
	if (!slice)
		return -ENOMEM;
	if (!try_module_get(fabric->owner)) {
		morph_slice_free(slice);
		return -ENODEV;
	}
	slice->owner_module = fabric->owner;
	get_device(&fabric->dev);
	morph_user_ref(slice->user);
	if (params->count > ARRAY_SIZE(few))
		chosen = kvmalloc_array(params->count, sizeof(u32), GFP_KERNEL_ACCOUNT);
	ret = chosen ? 0 : -ENOMEM;
	if (!ret && params->accelerators)
		ret = morph_place_distinct(params->accelerators, params->count, refusal);
	if (!ret)
		ret = slice_prepare(slice, params, refusal);
	if (ret)
		goto err_put;
	ret = morph_user_charge(slice->user, MORPH_RES_ACCELERATORS, charge, refusal);
	if (ret)
		goto err_number;
	morph_fabric_lock(fabric);
	morph_slice_enter(slice, true);
	do
		ret = slice_take(slice, params, chosen, refusal);
	while ((ret == -EAGAIN || ret == -ENOSPC) && params->may_wait &&
	       morph_place_wait(fabric, &ret));
	if (ret || params->dry_run)
		WRITE_ONCE(slice->dying, true);	/* a repair may wait for it */
	else
		slice_publish(slice);
	morph_slice_leave(slice);
	morph_fabric_unlock(fabric);
	if (ret || params->dry_run)
		goto err_uncharge;
	trace_morph_slice_create(fabric->id, slice->number, slice->ranks_count);
	*result = slice;
	goto out;

err_uncharge:
	morph_user_uncharge(slice->user, MORPH_RES_ACCELERATORS, charge);
err_number:
	xa_erase(&morph_slices, slice->number);
err_put:
	morph_slice_put(slice);
out:
	if (chosen != few)
		kvfree(chosen);
	return ret;
}

/* ----------------------------------------------------------------- policies */

int morph_slice_set_policy(struct morph_slice *slice, u32 failover, struct morph_refusal *refusal)
{
	struct morph_slice_tenancy *tenancy = slice_tenancy(slice);
	struct morph_fabric *fabric = slice->fabric;
	int ret = 0;

	if (failover > MORPH_FAILOVER_NONE)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, 0, 0,
				    "failover must be 0 (automatic), 1 (manual) or 2 (none)");
	morph_fabric_lock(fabric);
	if (slice->dying || fabric->state != MORPH_FABRIC_READY) {
		ret = -ENODEV;
	} else if (tenancy->failover != failover) {
		tenancy->failover = failover;
		fabric->seq++;
		if (failover == MORPH_FAILOVER_NONE)
			morph_protection_drop_slice(slice);
		morph_protection_touch_slice(slice);
		if (tenancy->state == MORPH_SLICE_DEGRADED)
			morph_report_light_lost(slice);
		morph_report_slice_changed(slice);
	}
	morph_fabric_unlock(fabric);
	return ret;
}

/* ------------------------------------------------------------------- moves */

/* A circuit that is moved stays on its planes, if their ports are usable. */
static void keep_planes(const struct morph_circuit *circuit, struct morph_change *change)
{
	const struct optics_graph *graph = circuit->slice->fabric->graph;
	const struct optics_state *ledger = ledger_of(circuit->slice->fabric)->state;
	const struct optics_path *path = &circuit->route->path;
	u32 first = path->hops[0].guide >> 1, last = path->hops[path->hops_count - 1].guide >> 1;

	if (!ledger->tx_dead[path->tx] && !(ledger->guide_marks[first] & OPTICS_UNHEALTHY))
		change->src_plane = morph_end_plane(graph, path->tx);
	if (!ledger->rx_dead[path->rx] && !(ledger->guide_marks[last] & OPTICS_UNHEALTHY))
		change->dst_plane = morph_end_plane(graph, path->rx);
}

void morph_slice_fill_move(struct morph_item *item, const struct morph_circuit *circuit)
{
	const struct morph_slice *slice = circuit->slice;

	item->change = (struct morph_change){
		.op = MORPH_CHANGE_MOVE,
		.circuit = circuit->id,
		.src_rank = circuit->src_rank,
		.dst_rank = circuit->dst_rank,
		.src_plane = MORPH_PLANE_ANY,
		.dst_plane = MORPH_PLANE_ANY,
		.lanes_count = circuit->lanes_count,
	};
	/* The other half circuit uses the same lanes. */
	if ((circuit->src_rank | circuit->dst_rank) & MORPH_RANK_EDGE)
		item->change.lanes = circuit->route->path.lanes;
	if (circuit->scheduled)
		keep_planes(circuit, &item->change);
	item->new_src = morph_end_place(slice, circuit->src_rank);
	item->new_dst = morph_end_place(slice, circuit->dst_rank);
}

/* -------------------------------------------------------------------- infos */

u64 morph_slice_bandwidth(struct morph_slice *slice)
{
	lockdep_assert_held(&slice->fabric->lock);
	return slice->lit_lanes * slice->fabric->graph->params.lane_mbps;
}

void morph_slice_fill_info(struct morph_slice *slice, struct morph_slice_info *info)
{
	const struct morph_slice_tenancy *tenancy = slice_tenancy(slice);

	lockdep_assert_held(&slice->fabric->lock);
	info->slice = slice->number;
	info->state = tenancy->state;
	strscpy(info->name, tenancy->name, sizeof(info->name));
	info->failover = tenancy->failover;
	info->transit = slice->transit;
	info->spare_policy = tenancy->spare_policy;
	info->reserved = tenancy->reserved;
	info->generation = slice->generation;
	info->seq = slice->fabric->seq;
}

void morph_rank_fill_info(struct morph_slice *slice, u32 rank, struct morph_rank_info *info)
{
	const struct morph_protection *protection = rank_protection(slice, rank);
	const struct morph_rank *entry = &slice->ranks[rank];
	const struct morph_chip *chip = &ledger_of(slice->fabric)->chips[entry->accelerator];

	lockdep_assert_held(&slice->fabric->lock);
	info->rank = rank;
	info->accelerator = entry->accelerator;
	info->host = slice->fabric->graph->accelerators[entry->accelerator].host;
	info->health = chip->health;
	info->plan = morph_protection_state(protection);
	info->spare = MORPH_ANY;
	if (protection->state != MORPH_PLAN_NONE)
		info->spare = protection->spare;
	info->replacements = entry->replacements;
	memcpy(info->pci, chip->identity.pci, sizeof(info->pci));
	memcpy(info->uuid, chip->identity.uuid, sizeof(info->uuid));
}

void morph_circuit_fill_info(struct morph_circuit *circuit, struct morph_circuit_info *info)
{
	const struct optics_graph *graph = circuit->slice->fabric->graph;
	const struct optics_params *params = &graph->params;
	const struct morph_route *route = circuit->route;

	lockdep_assert_held(&circuit->slice->fabric->lock);
	info->circuit = circuit->id;
	info->state = circuit->state;
	info->src_rank = circuit->src_rank;
	info->dst_rank = circuit->dst_rank;
	info->src_plane = morph_end_plane(graph, route->path.tx);
	info->dst_plane = morph_end_plane(graph, route->path.rx);
	info->hops = route->path.hops_count;
	info->lanes = route->path.lanes;
	info->bandwidth_mbps = params->lane_mbps * optics_weight64(route->path.lanes);
	info->loss_mdb = route->path.loss_mdb;
	info->margin_mdb = route->verdict.margin_mdb;
	info->power_mdbm = circuit->power_mdbm;
	info->isolation_mdb = route->verdict.isolation_mdb;
	info->dark_ns = circuit->dark_ns;
	info->last_verified_ns = circuit->last_verified_ns;
}

void morph_event_init(struct morph_event *event, struct morph_slice *slice, u32 type)
{
	lockdep_assert_held(&slice->fabric->lock);
	memset(event, 0, sizeof(*event));
	event->size = sizeof(*event);
	event->type = type;
	event->seq = slice->fabric->seq;
	event->generation = slice->generation;
	event->time_ns = ktime_get_boottime_ns();
	event->slice = slice->number;
	event->state = slice_tenancy(slice)->state;
	event->rank = MORPH_ANY;
	event->circuit = MORPH_ANY;
	event->old_accelerator = MORPH_ANY;
	event->new_accelerator = MORPH_ANY;
	event->old_host = MORPH_ANY;
	event->new_host = MORPH_ANY;
	event->bandwidth_mbps = morph_slice_bandwidth(slice);
}

void morph_event_fill_old(struct morph_event *event, const struct morph_fabric *fabric, u32 old)
{
	const struct morph_identity *identity = &ledger_of(fabric)->chips[old].identity;

	event->old_accelerator = old;
	event->old_host = fabric->graph->accelerators[old].host;
	memcpy(event->old_pci, identity->pci, sizeof(event->old_pci));
	memcpy(event->old_uuid, identity->uuid, sizeof(event->old_uuid));
}

void morph_event_fill_new(struct morph_event *event, const struct morph_fabric *fabric, u32 new)
{
	const struct morph_identity *identity = &ledger_of(fabric)->chips[new].identity;

	event->new_accelerator = new;
	event->new_host = fabric->graph->accelerators[new].host;
	memcpy(event->new_pci, identity->pci, sizeof(event->new_pci));
	memcpy(event->new_uuid, identity->uuid, sizeof(event->new_uuid));
}
