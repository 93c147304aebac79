// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: operations that continue after their call has returned. While MPI examines a request it
 * is not in the table, because MPI can use the same handle for another request after the end.
 */
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define BUCKETS 1024

struct held {
	struct held *next;
	MPI_Request request;
	struct shim_op op;
	struct shim_comm *comm; /* of a persistent request, else NULL */
	bool sends;
};

static struct held *table[BUCKETS];
static struct held *orphans; /* freed by the program */
static uint32_t held_count, entered_count; /* of the table */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct held **bucket_of(MPI_Request request)
{
	uint64_t bits = 0;

	memcpy(&bits, &request, sizeof(request));
	return &table[(bits >> 4 ^ bits >> 14) % BUCKETS];
}

static void put(struct held *held)
{
	struct held **bucket = bucket_of(held->request);

	pthread_mutex_lock(&lock);
	held->next = *bucket;
	*bucket = held;
	__atomic_add_fetch(&held_count, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&entered_count, held->op.phase != NO_PHASE, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
}

static struct held *take(MPI_Request request)
{
	struct held **place, *held;

	if (!__atomic_load_n(&held_count, __ATOMIC_RELAXED) || request == MPI_REQUEST_NULL)
		return NULL;
	pthread_mutex_lock(&lock);
	place = bucket_of(request);
	while (*place && (*place)->request != request)
		place = &(*place)->next;
	held = *place;
	if (held) {
		*place = held->next;
		__atomic_sub_fetch(&held_count, 1, __ATOMIC_RELAXED);
		__atomic_sub_fetch(&entered_count, held->op.phase != NO_PHASE, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	return held;
}

/* Persistent requests are over whenever they are not active. */
static bool is_over(MPI_Request request)
{
	int over = true;

	PMPI_Request_get_status(request, &over, MPI_STATUS_IGNORE);
	return over;
}

void shim_hold(MPI_Request request, bool all, const struct shim_op *op)
{
	struct shim_op lost = *op;
	struct held *held;
	bool over;

	if (!op->comm)
		return;
	/*
	 * All finished requests can have the same handle. A request that involves all members can
	 * still run for other members; a rank that wants another phase finds out as they do.
	 */
	over = all ? request == MPI_REQUEST_NULL : is_over(request);
	held = over ? NULL : malloc(sizeof(*held));
	if (!held) {
		/* It is over, or no call would release its circuits. */
		shim_end(&lost);
		return;
	}
	*held = (struct held){ .request = request, .op = *op };
	put(held);
}

void shim_keep(MPI_Request request, struct shim_comm *comm, bool sends)
{
	struct held *held = comm ? malloc(sizeof(*held)) : NULL;

	if (!held)
		return;
	*held = (struct held){
		.request = request, .op.phase = NO_PHASE, .comm = comm, .sends = sends
	};
	put(held);
}

static void end(struct held *held)
{
	shim_end(&held->op);
	free(held);
}

bool shim_holds_alone(uint32_t phase)
{
	bool mine = false, others = false;

	if (!__atomic_load_n(&entered_count, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&lock);
	for (int at = 0; at < BUCKETS; at++)
		for (const struct held *held = table[at]; held; held = held->next)
			if (held->op.phase != NO_PHASE && held->op.phase != phase) {
				bool is_mine = !shim.threads ||
					       pthread_equal(held->op.thread, pthread_self());

				mine |= is_mine;
				others |= !is_mine;
			}
	pthread_mutex_unlock(&lock);
	return mine && !others;
}

static void adopt(struct held *held)
{
	pthread_mutex_lock(&lock);
	held->next = orphans;
	__atomic_store_n(&orphans, held, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
}

void shim_orphans(bool leave)
{
	struct held *list, *held;
	int over;

	if (!__atomic_load_n(&orphans, __ATOMIC_RELAXED))
		return;
	/* Without the lock, because a program's error handler can call anything. */
	pthread_mutex_lock(&lock);
	list = orphans;
	__atomic_store_n(&orphans, NULL, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	while ((held = list)) {
		list = held->next;
		over = leave;
		if (!leave && PMPI_Test(&held->request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			over = true;
		if (!over) {
			adopt(held);
			continue;
		}
		if (held->request != MPI_REQUEST_NULL)
			PMPI_Request_free(&held->request);
		end(held);
	}
}

/* A request that MPI has examined is over, or goes on. */
static void settle(struct held *held, MPI_Request request)
{
	if (!held)
		return;
	if (request == MPI_REQUEST_NULL) {
		end(held);
		return;
	}
	if (held->comm && is_over(request))
		shim_end(&held->op);
	put(held);
}

/* --------------------------------------------------------------- single ones */

SHIM_API int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct held *held = take(*request);
	int ret = PMPI_Wait(request, status);

	settle(held, *request);
	return ret;
}

SHIM_API int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct held *held = take(*request);
	int ret = PMPI_Test(request, flag, status);

	settle(held, *request);
	return ret;
}

/* No call will report its end, so keep and examine it. */
SHIM_API int MPI_Request_free(MPI_Request *request)
{
	struct held *held = take(*request);

	if (!held || held->op.phase == NO_PHASE) {
		if (held)
			end(held);
		return PMPI_Request_free(request);
	}
	adopt(held);
	*request = MPI_REQUEST_NULL;
	shim_orphans(false);
	return MPI_SUCCESS;
}

/* --------------------------------------------------------- persistent ones */

/* It is in the table meanwhile, because the next request can be of another phase. */
static void begin(MPI_Request request)
{
	struct held *held = take(request);

	if (!held)
		return;
	if (held->sends)
		shim_begin(held->comm, MPI_COMM_NULL, &held->op);
	else
		shim_begin_counted(held->comm, &held->op);
	put(held);
}

SHIM_API int MPI_Start(MPI_Request *request)
{
	int ret;

	begin(*request);
	ret = PMPI_Start(request);
	settle(take(*request), *request);
	return ret;
}

SHIM_API int MPI_Startall(int count, MPI_Request requests[])
{
	int ret;

	for (int at = 0; at < count; at++)
		begin(requests[at]);
	ret = PMPI_Startall(count, requests);
	for (int at = 0; at < count; at++)
		settle(take(requests[at]), requests[at]);
	return ret;
}

/* ------------------------------------------------------------------- several */

#define FEW 16

struct several {
	int count;
	struct held *few[FEW], **list;
};

static void take_all(struct several *several, int count, const MPI_Request *requests)
{
	several->count = 0;
	several->list = several->few;
	if (!__atomic_load_n(&held_count, __ATOMIC_RELAXED))
		return;
	if (count > FEW)
		several->list = calloc((size_t)count, sizeof(*several->list));
	/* Without memory the requests stay in the table, as if they were active. */
	for (; several->list && several->count < count; several->count++)
		several->list[several->count] = take(requests[several->count]);
}

static void settle_all(struct several *several, const MPI_Request *requests)
{
	for (int at = 0; at < several->count; at++)
		settle(several->list[at], requests[at]);
	if (several->list != several->few)
		free(several->list);
}

#define SEVERAL(name, parameters, arguments)         \
	SHIM_API int MPI_##name parameters           \
	{                                            \
		struct several several;              \
		int ret;                             \
                                                     \
		take_all(&several, count, requests); \
		ret = PMPI_##name arguments;         \
		settle_all(&several, requests);      \
		return ret;                          \
	}

SEVERAL(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
	(count, requests, statuses))
SEVERAL(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
	(count, requests, index, status))
SEVERAL(Waitsome,
	(int count, MPI_Request requests[], int *over, int indices[], MPI_Status statuses[]),
	(count, requests, over, indices, statuses))
SEVERAL(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
	(count, requests, flag, statuses))
SEVERAL(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
	(count, requests, index, flag, status))
SEVERAL(Testsome,
	(int count, MPI_Request requests[], int *over, int indices[], MPI_Status statuses[]),
	(count, requests, over, indices, statuses))
