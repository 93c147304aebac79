// SPDX-License-Identifier: GPL-2.0-only
/* Loading of a schedule: check the request, make the circuits, hold them, and judge all steps. */
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define MOST_SCHEDULES	64u	/* per slice: each may queue work items */
#define LEAST_AFTER_NS	NSEC_PER_USEC
#define LEAST_IDLE_NS	(100 * NSEC_PER_USEC)	/* minimum of a step that changes nothing */

static int blame(struct morph_schedule_wrong *wrong, u32 step, u32 circuit, int error)
{
	*wrong = (struct morph_schedule_wrong){ step, circuit };
	return error;
}

#define refuse_request(refusal, wrong, step, circuit, error, ...)			\
	blame(wrong, step, circuit,							\
	      morph_refuse(refusal, error, MORPH_REASON_ARGUMENT, 0, 0, __VA_ARGS__))

/* ------------------------------------------------------- copy of the request */

static int check_step(const struct morph_schedule_request *request, u32 number,
		      struct morph_schedule_wrong *wrong, struct morph_refusal *refusal)
{
	const struct morph_schedule_step *step = &request->steps[number];
	u32 i;

	if (step->reserved)
		return refuse_request(refusal, wrong, number, MORPH_ANY, -EOPNOTSUPP,
				      "steps[%u].reserved must be zero", number);
	if (step->advance > MORPH_ADVANCE_TIME)
		return refuse_request(refusal, wrong, number, MORPH_ANY, -EOPNOTSUPP,
				      "steps[%u].advance must be 0 (call), 1 (barrier) or 2 (time)",
				      number);
	if (step->after_ns && step->advance != MORPH_ADVANCE_TIME)
		return refuse_request(refusal, wrong, number, MORPH_ANY, -EINVAL,
				      "steps[%u].after_ns is only valid with advance 2 (time)",
				      number);
	if (step->after_ns < LEAST_AFTER_NS && step->advance == MORPH_ADVANCE_TIME)
		return refuse_request(refusal, wrong, number, MORPH_ANY, -EINVAL,
				      "steps[%u].after_ns is %llu, must be at least 1000", number,
				      step->after_ns);
	if (step->after_ns > MORPH_MOST_LEASE_NS || step->deadline_ns > MORPH_MOST_LEASE_NS)
		return refuse_request(refusal, wrong, number, MORPH_ANY, -EINVAL,
				      "steps[%u]: times must be at most an hour", number);
	if (step->deadline_ns && step->deadline_ns < step->after_ns)
		return refuse_request(refusal, wrong, number, MORPH_ANY, -EINVAL,
				      "steps[%u].deadline_ns comes before after_ns", number);
	if (step->first > request->held_count || step->count > request->held_count - step->first)
		return refuse_request(refusal, wrong, number, MORPH_ANY, -EINVAL,
				      "steps[%u] exceeds the %u entries of held", number,
				      request->held_count);
	for (i = 0; i < step->count; i++)
		if (request->held[step->first + i] >= request->circuits_count)
			return refuse_request(refusal, wrong, number, MORPH_ANY, -EINVAL,
					      "steps[%u] holds circuit %u, there are %u circuits",
					      number, request->held[step->first + i],
					      request->circuits_count);
	return 0;
}

static int check_circuit(const struct morph_schedule_request *request, u32 index,
			 struct morph_schedule_wrong *wrong, struct morph_refusal *refusal)
{
	const struct morph_schedule_circuit *circuit = &request->circuits[index];

	if ((circuit->src_rank | circuit->dst_rank) & MORPH_RANK_EDGE)
		return refuse_request(refusal, wrong, MORPH_ANY, index, -EINVAL,
				      "circuits[%u] ends at an edge; steps connect ranks only",
				      index);
	if (!circuit->guides_count && circuit->first_guide)
		return refuse_request(refusal, wrong, MORPH_ANY, index, -EINVAL,
				      "circuits[%u].first_guide is %u, but it has no guides", index,
				      circuit->first_guide);
	if (circuit->guides_count > OPTICS_MAX_HOPS)
		return refuse_request(refusal, wrong, MORPH_ANY, index, -EINVAL,
				      "circuits[%u]: a path has at most %u guides, not %u", index,
				      OPTICS_MAX_HOPS, circuit->guides_count);
	if (circuit->first_guide > request->guides_count ||
	    circuit->guides_count > request->guides_count - circuit->first_guide)
		return refuse_request(refusal, wrong, MORPH_ANY, index, -EINVAL,
				      "circuits[%u] exceeds the %u entries of guides", index,
				      request->guides_count);
	return 0;
}

static int check_request(const struct morph_schedule_request *request,
			 struct morph_schedule_wrong *wrong, struct morph_refusal *refusal)
{
	u64 total = 0;
	u32 i;
	int ret = 0;

	/* Check this first, because later code visits the entries of all steps. */
	for (i = 0; i < request->steps_count; i++)
		total += request->steps[i].count;
	if (total > request->held_count)
		return refuse_request(refusal, wrong, MORPH_ANY, MORPH_ANY, -EINVAL,
				      "steps hold %llu circuits in total, held has %u entries",
				      total, request->held_count);
	for (i = 0; i < request->circuits_count && !ret; i++)
		ret = check_circuit(request, i, wrong, refusal);
	for (i = 0; i < request->steps_count && !ret; i++)
		ret = check_step(request, i, wrong, refusal);
	return ret;
}

/* ------------------------------------------------------------------- memory */

static size_t schedule_bytes(const struct morph_schedule_request *request, u32 ranks)
{
	size_t words = request->circuits_count;

	/* uses and stamps; held, used_in, changes (2) and ranks (4); arrived and rank_stamps */
	words = 2 * words + 1 + 8 * (size_t)request->held_count + 3 * (size_t)ranks;
	return sizeof(struct morph_schedule) +
	       array_size(request->steps_count, sizeof(struct morph_step)) +
	       array_size(request->circuits_count, sizeof(struct morph_circuit *)) +
	       array_size(words, sizeof(u32));
}

static struct morph_schedule *schedule_alloc(struct morph_slice *slice,
					     const struct morph_schedule_request *request)
{
	struct morph_schedule *schedule = kzalloc(sizeof(*schedule), GFP_KERNEL_ACCOUNT);
	size_t held = request->held_count, circuits = request->circuits_count;

	if (!schedule)
		return NULL;
	kref_init(&schedule->kref);
	INIT_LIST_HEAD(&schedule->node);
	kref_get(&slice->kref);
	schedule->slice = slice;
	schedule->flags = request->flags;
	schedule->step = MORPH_ANY;
	schedule->failed_step = MORPH_ANY;
	schedule->dice = get_random_u64();
	morph_schedule_run_init(schedule);
	schedule->steps = kvcalloc(request->steps_count, sizeof(*schedule->steps),
				   GFP_KERNEL_ACCOUNT);
	schedule->circuits = kvcalloc(circuits, sizeof(*schedule->circuits), GFP_KERNEL_ACCOUNT);
	schedule->held = kvmalloc_array(8 * held + 1, sizeof(u32), GFP_KERNEL_ACCOUNT);
	schedule->uses = kvcalloc(2 * circuits + 1, sizeof(u32), GFP_KERNEL_ACCOUNT);
	schedule->arrived = kvcalloc(slice->ranks_count, sizeof(u64), GFP_KERNEL_ACCOUNT);
	schedule->rank_stamps = kvcalloc(slice->ranks_count, sizeof(u32), GFP_KERNEL_ACCOUNT);
	if (!schedule->steps || !schedule->circuits || !schedule->held || !schedule->uses ||
	    !schedule->arrived || !schedule->rank_stamps) {
		morph_schedule_put(schedule);
		return NULL;
	}
	schedule->used_in = schedule->held + held;
	schedule->changes = schedule->used_in + held;
	schedule->ranks = schedule->changes + 2 * held;
	schedule->stamps = schedule->uses + circuits + 1;
	schedule->held_count = held;
	schedule->steps_count = request->steps_count;
	return schedule;
}

/* Record the circuits of each step. A step holds each circuit once. */
static int fill_steps(struct morph_schedule *schedule, const struct morph_schedule_request *request,
		      struct morph_schedule_wrong *wrong, struct morph_refusal *refusal)
{
	u32 *uses = schedule->uses, i, j, index;

	for (i = 0; i < request->steps_count; i++) {
		const struct morph_schedule_step *from = &request->steps[i];
		struct morph_step *step = &schedule->steps[i];

		step->held = from->first;
		step->count = from->count;
		step->advance = from->advance;
		step->after_ns = from->after_ns;
		step->deadline_ns = from->deadline_ns;
		step->info.circuits = from->count;
		schedule->most = max(schedule->most, from->count);
		for (j = 0; j < from->count; j++) {
			index = request->held[from->first + j];
			if (schedule->stamps[index] == i + 1)
				return refuse_request(refusal, wrong, i, index, -EINVAL,
						      "steps[%u] holds circuit %u twice", i, index);
			schedule->stamps[index] = i + 1;
			uses[index + 1]++;
		}
	}
	for (i = 0; i < request->circuits_count; i++) {
		/* No step would check its path against other slices' claims. */
		if (!uses[i + 1])
			return refuse_request(refusal, wrong, MORPH_ANY, i, -EINVAL,
					      "no step holds circuits[%u]", i);
		uses[i + 1] += uses[i];
	}
	return 0;
}

/* uses[c] is the position of the next entry of circuit c; afterwards shift all by one. */
static void fill_uses(struct morph_schedule *schedule, const struct morph_schedule_request *request)
{
	u32 *uses = schedule->uses, i, j;

	for (i = 0; i < request->steps_count; i++)
		for (j = 0; j < request->steps[i].count; j++)
			schedule->used_in[uses[request->held[request->steps[i].first + j]]++] = i;
	memmove(uses + 1, uses, array_size(request->circuits_count, sizeof(u32)));
	uses[0] = 0;
}

/* ------------------------------------------------------------------- pauses */

/*
 * The loading thread has taken fabric->lock again. It has entered the slice, so check for a waiting
 * repair or the end of the slice.
 */
int morph_schedule_check_yielded(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	int ret = morph_txn_check_slice(schedule->slice, refusal);

	schedule->work = 0;
	return !ret && signal_pending(current) ? -EINTR : ret;
}

/* Drop fabric->lock for a while. Caller holds it. */
int morph_schedule_yield(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = schedule->slice->fabric;

	morph_path_search_pause(fabric, schedule->search);
	morph_schedule_relock(schedule);
	morph_path_search_resume(fabric, schedule->search);
	return morph_schedule_check_yielded(schedule, refusal);
}

/* --------------------------------------------------------------------- load */

/*
 * Judge each step as it will run: new circuits may disturb the ones that stay, and a start may
 * light any step completely. Context as above.
 */
static int judge_steps(struct morph_schedule *schedule, struct morph_schedule_wrong *wrong)
{
	u32 i;
	int ret = 0;

	for (i = 0; i < schedule->steps_count && !ret; i++) {
		ret = morph_schedule_judge(schedule, i, &wrong->circuit);
		if (ret)
			wrong->step = i;
		else
			ret = morph_schedule_yield(schedule, &schedule->txn->refusal);
	}
	return ret;
}

/* Allocate for the longest step, and for lighting or darkening all of it. */
static int make_txn(struct morph_schedule *schedule, struct morph_refusal *refusal)
{
	u32 changes = max(2 * schedule->most, 1u), hops = 0, i;
	struct morph_txn *txn;
	int ret;

	for (i = 0; i < schedule->circuits_count; i++)
		hops = max(hops, schedule->circuits[i]->route->path.hops_count);
	txn = morph_txn_alloc(schedule->slice, NULL, NULL, changes, 0, GFP_KERNEL_ACCOUNT);
	if (!txn)
		return -ENOMEM;
	schedule->txn = txn;
	txn->kind = morph_txn_kinds[MORPH_TXN_OF_SCHEDULE];
	/* A repair may find longer paths. */
	ret = morph_txn_reserve_for(txn, changes, changes * min(2 * hops, OPTICS_MAX_HOPS));
	return ret ? ret : morph_txn_charge(txn, schedule->slice->user, refusal);
}

/*
 * A barrier without ranks would end at once. A loop of steps that change nothing and that time
 * begins would never wait for the device, and would keep fabric->lock busy.
 */
static int check_beginnings(const struct morph_schedule *schedule,
			    struct morph_schedule_wrong *wrong, struct morph_refusal *refusal)
{
	u32 i = schedule->flags & MORPH_SCHEDULE_LOOP ? 0 : 1;

	for (; i < schedule->steps_count; i++) {
		const struct morph_step *step = &schedule->steps[i];

		if (step->advance == MORPH_ADVANCE_BARRIER && !step->ranks)
			return refuse_request(refusal, wrong, i, MORPH_ANY, -EINVAL,
					      "steps[%u] changes nothing, so no rank would begin it",
					      i);
		if (step->advance == MORPH_ADVANCE_TIME && !step->ranks &&
		    step->after_ns < LEAST_IDLE_NS)
			return refuse_request(refusal, wrong, i, MORPH_ANY, -EINVAL,
					      "steps[%u] changes nothing: its after_ns is %llu, must be at least 100000",
					      i, step->after_ns);
	}
	return 0;
}

/*
 * Allocate, list the resources, and check the steps, without fabric->lock. The thread has entered
 * the slice, so no other one changes the circuits. Caller holds fabric->lock before and after.
 */
static int prepare(struct morph_schedule *schedule, struct morph_schedule_wrong *wrong,
		   struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	int ret;

	mutex_unlock(&slice->fabric->lock);
	ret = morph_schedule_number_circuits(schedule, refusal);
	if (!ret)
		ret = make_txn(schedule, refusal);
	if (!ret)
		ret = morph_schedule_list(schedule, wrong, refusal);
	if (!ret)
		ret = check_beginnings(schedule, wrong, refusal);
	morph_fabric_lock(slice->fabric);
	return ret ? ret : morph_schedule_check_yielded(schedule, refusal);
}

/* The caller has entered the slice and holds fabric->lock; the function drops it at times. */
static int load(struct morph_schedule *schedule, const struct morph_schedule_request *request,
		struct morph_txn *scratch, struct morph_schedule_wrong *wrong,
		struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	int ret;

	if (request->generation != MORPH_GENERATION_ANY && request->generation != slice->generation)
		return morph_refuse(refusal, -ESTALE, MORPH_REASON_GENERATION, 0, 0,
				    "the slice is at generation %llu, not %llu", slice->generation,
				    request->generation);
	ret = morph_controller_permits(slice, &scratch->token, &scratch->refusal);
	if (!ret)
		ret = morph_schedule_make_circuits(schedule, request, scratch, wrong);
	if (ret)
		*refusal = scratch->refusal;
	if (!ret)
		ret = prepare(schedule, wrong, refusal);
	if (!ret)
		ret = morph_schedule_hold(schedule, wrong, refusal);
	if (!ret)
		ret = morph_schedule_yield(schedule, refusal);
	if (ret)
		return ret;
	ret = judge_steps(schedule, wrong);
	if (ret)
		*refusal = schedule->txn->refusal;
	return ret;
}

static size_t list_count(struct list_head *head)
{
	struct list_head *node;
	size_t count = 0;

	list_for_each(node, head)
		count++;
	return count;
}

/* Sum of the circuits in the steps of all schedules; at most MORPH_SCHEDULE_MOST_HELD. */
static u32 held_count(const struct morph_slice *slice)
{
	const struct morph_schedule *schedule;
	u32 held = 0;

	list_for_each_entry(schedule, &slice_scheduling(slice)->schedules, node)
		held += schedule->held_count;
	return held;
}

static int load_entered(struct morph_schedule *schedule,
			const struct morph_schedule_request *request, struct morph_txn *scratch,
			struct morph_schedule_wrong *wrong, struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	u32 held;
	int ret;

	if (list_count(&slice_scheduling(slice)->schedules) >= MOST_SCHEDULES)
		return morph_refuse(refusal, -EDQUOT, MORPH_REASON_QUOTA, 0, 0,
				    "the slice has %u schedules, the maximum",
				    MOST_SCHEDULES);
	/* A repair visits all of them in one hold of the lock. */
	held = held_count(slice);
	if (request->held_count > MORPH_SCHEDULE_MOST_HELD - held)
		return morph_refuse(refusal, -EDQUOT, MORPH_REASON_QUOTA, 0, 0,
				    "schedules of the slice hold %u circuits, this one %u: at most %u in total",
				    held, request->held_count, MORPH_SCHEDULE_MOST_HELD);
	/* A load ends in bounded time, so another load waits for it. */
	list_add_tail(&schedule->node, &slice_scheduling(slice)->schedules);
	slice_tenancy(slice)->schedules_count++;
	/* A slice with schedules has no protections; their reservations must not block it. */
	morph_protection_drop_slice(slice);
	ret = load(schedule, request, scratch, wrong, refusal);
	if (!ret && slice->dying)
		ret = -ENODEV;
	if (ret) {
		/*
		 * Repairs of other slices may have failed for lack of resources that the load
		 * claimed.
		 */
		if (schedule->hold.begun)
			morph_repair_recover(slice->fabric, MORPH_FREED_PATHS);
		morph_schedule_drop(schedule);
		morph_protection_touch_slice(slice);
		return ret;
	}
	schedule->id = ++slice_scheduling(slice)->last_schedule;
	slice->fabric->seq++;
	morph_protection_touch_slice(slice);
	morph_schedule_get(schedule);	/* reference of the caller; the list has the first one */
	return 0;
}

/* Enter the slice and load. No lock held; all memory is allocated without one. */
static int load_alone(struct morph_schedule *schedule, const struct morph_schedule_request *request,
		      struct morph_schedule_wrong *wrong, struct morph_refusal *refusal)
{
	struct morph_slice *slice = schedule->slice;
	struct morph_path_search search = {};
	struct morph_txn *scratch;
	int ret;

	scratch = morph_txn_alloc(slice, NULL, NULL, 1, 0, GFP_KERNEL_ACCOUNT);
	if (!scratch)
		return -ENOMEM;
	morph_fabric_lock(slice->fabric);
	schedule->search = &search;
	ret = morph_schedule_enter(schedule, refusal);
	if (!ret) {
		ret = load_entered(schedule, request, scratch, wrong, refusal);
		morph_slice_leave(slice);
	}
	schedule->search = NULL;
	mutex_unlock(&slice->fabric->lock);
	morph_schedule_free_traces(schedule);
	morph_path_search_free(&search);
	morph_chunk_put(scratch->chunk);
	scratch->chunk = NULL;
	morph_txn_put(scratch);
	return ret;
}

int morph_schedule_load(struct morph_slice *slice, const struct morph_schedule_request *request,
			struct morph_schedule **result, struct morph_schedule_wrong *wrong,
			struct morph_refusal *refusal)
{
	size_t bytes = schedule_bytes(request, slice->ranks_count);
	struct morph_schedule *schedule;
	int ret;

	*wrong = (struct morph_schedule_wrong){ MORPH_ANY, MORPH_ANY };
	ret = check_request(request, wrong, refusal);
	if (ret)
		return ret;
	ret = morph_user_charge(slice->user, MORPH_RES_BYTES, bytes, refusal);
	if (ret)
		return ret;
	schedule = schedule_alloc(slice, request);
	if (!schedule) {
		morph_user_uncharge(slice->user, MORPH_RES_BYTES, bytes);
		return -ENOMEM;
	}
	schedule->bytes = bytes;
	memcpy(schedule->held, request->held, array_size(request->held_count, sizeof(u32)));
	ret = fill_steps(schedule, request, wrong, refusal);
	if (!ret) {
		fill_uses(schedule, request);
		ret = load_alone(schedule, request, wrong, refusal);
	}
	if (ret)
		morph_schedule_put(schedule);
	else
		*result = schedule;
	return ret;
}
