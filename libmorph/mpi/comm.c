// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: communicators. The record of each is an attribute of it. The communicators of one call
 * have the same number, which the ranks of their parent agree upon. They also have one phase, in
 * which each has a ring of circuits.
 */
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define NO_NUMBER UINT32_MAX

static int keyval = MPI_KEYVAL_INVALID;
static uint32_t next_number;

struct shim_comm *shim_comm_of(MPI_Comm comm)
{
	struct shim_comm *known;
	int found = 0;

	if (!shim.ready || comm == MPI_COMM_NULL)
		return NULL;
	if (PMPI_Comm_get_attr(comm, keyval, &known, &found) != MPI_SUCCESS || !found)
		return NULL;
	/* All members decide alike, because they wait for each other. */
	return known->size < 2 ? NULL : known;
}

bool shim_comm_joins(const struct shim_comm *comm, int member)
{
	return comm && member >= 0 && comm->size > 1 &&
	       ((comm->rank + 1) % comm->size == member || (member + 1) % comm->size == comm->rank);
}

/*
 * A duplicate has the same ranks, and so the same circuits. It shares the record, whichever call
 * creates it.
 */
static int duplicate(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
	struct shim_comm *known = value;

	(void)comm;
	(void)key;
	(void)extra;
	shim_lock();
	known->uses++;
	shim_unlock();
	*(struct shim_comm **)copy = known;
	*flag = true;
	return MPI_SUCCESS;
}

/* Keep it for the trace, and for another communicator of the same members. */
static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
	struct shim_comm *known = value;

	(void)comm;
	(void)key;
	(void)extra;
	shim_lock();
	known->uses--;
	shim_unlock();
	return MPI_SUCCESS;
}

/* The members of a communicator as ranks of the whole program. The caller frees them. */
static uint32_t *members_of(MPI_Comm comm, int size)
{
	uint32_t *members = calloc((size_t)size, sizeof(*members));
	int *from = calloc(2 * (size_t)size, sizeof(*from)), *to = from ? from + size : NULL;
	MPI_Group group, world;

	if (members && from) {
		PMPI_Comm_group(comm, &group);
		PMPI_Comm_group(MPI_COMM_WORLD, &world);
		for (int at = 0; at < size; at++)
			from[at] = at;
		PMPI_Group_translate_ranks(group, size, from, world, to);
		for (int at = 0; at < size; at++)
			members[at] = (uint32_t)to[at];
		PMPI_Group_free(&group);
		PMPI_Group_free(&world);
	}
	free(from);
	return members;
}

/* The record of a freed communicator with the same members, or a new one. Takes @members. */
static struct shim_comm *record_of(uint32_t *members, int size)
{
	struct shim_comm **more, *comm;

	for (int at = 0; at < shim.comms_count; at++) {
		comm = shim.comms[at];
		if (comm->uses || comm->size != size ||
		    memcmp(comm->members, members, (size_t)size * sizeof(*members)))
			continue;
		free(members);
		comm->uses = 1;
		return comm;
	}
	comm = calloc(1, sizeof(*comm));
	more = realloc(shim.comms, (size_t)(shim.comms_count + 1) * sizeof(*more));
	if (more)
		shim.comms = more;
	if (!comm || !more) {
		free(comm);
		free(members);
		return NULL;
	}
	comm->members = members;
	comm->size = size;
	comm->phase = NO_PHASE;
	comm->group = -1;
	comm->uses = 1;
	shim.comms[shim.comms_count++] = comm;
	return comm;
}

/* The record of a new communicator before it has a number; NULL without memory. */
static struct shim_comm *know(MPI_Comm comm)
{
	struct shim_comm *known = NULL;
	uint32_t *members;
	int size;

	PMPI_Comm_size(comm, &size);
	members = members_of(comm, size);
	if (!members)
		return NULL;
	shim_lock();
	known = record_of(members, size);
	shim_unlock();
	if (!known)
		return NULL;
	PMPI_Comm_rank(comm, &known->rank);
	return PMPI_Comm_set_attr(comm, keyval, known) == MPI_SUCCESS ? known : NULL;
}

/* A number that no rank of a communicator has used; NO_NUMBER if one of them cannot take part. */
static uint32_t agree(MPI_Comm parent, bool can)
{
	uint32_t number;

	shim_lock();
	number = can ? next_number : NO_NUMBER;
	shim_unlock();
	PMPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_UINT32_T, MPI_MAX, parent);
	shim_lock();
	if (number != NO_NUMBER && next_number <= number)
		next_number = number + 1;
	shim_unlock();
	return number;
}

/* Data that a rank reports about a communicator whose parent has all ranks. */
struct part {
	int rank, leader, place, stuck;
};

/*
 * Allocate the reports of all ranks, and find leader and place of each. A parent with fewer ranks
 * has no reports.
 */
static bool wants_phase(MPI_Comm parent, struct part **parts)
{
	int size;

	PMPI_Comm_size(parent, &size);
	*parts = NULL;
	if (size != shim.size || shim.mode == SHIM_OBSERVE)
		return false;
	*parts = calloc((size_t)size, sizeof(**parts) + 2 * sizeof(int));
	return true;
}

/* The phase of communicators whose parent has all ranks. */
static uint32_t phase_of(MPI_Comm parent, const struct shim_comm *known, struct part *parts)
{
	struct part mine = { shim.rank, -1, 0, shim_holds_alone(NO_PHASE) };
	int *leaders = (int *)(parts + shim.size), *places = leaders + shim.size, root = 0;
	bool any = false, stuck = false;

	if (known && known->size > 1) {
		mine.leader = (int)known->members[0];
		mine.place = known->rank;
	}
	PMPI_Allgather(&mine, 4, MPI_INT, parts, 4, MPI_INT, parent);
	for (int at = 0; at < shim.size; at++) {
		leaders[parts[at].rank] = parts[at].leader;
		places[parts[at].rank] = parts[at].place;
		root = parts[at].rank ? root : at;
		any |= parts[at].leader >= 0;
		stuck |= parts[at].stuck;
	}
	/* Single ranks need no light. */
	return any ? shim_load_add(parent, leaders, places, root, stuck) : NO_PHASE;
}

/* Ranks of another program can have no shim, or another slice. All members get the same result. */
static bool has_strangers(MPI_Comm comm)
{
	MPI_Group group, world, strangers;
	int count = 0;

	PMPI_Comm_group(comm, &group);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_difference(group, world, &strangers);
	PMPI_Group_size(strangers, &count);
	PMPI_Group_free(&strangers);
	PMPI_Group_free(&world);
	PMPI_Group_free(&group);
	return count;
}

/* All ranks of @parent have created communicators; @comm is this rank's, or none. */
static void created(MPI_Comm parent, MPI_Comm comm)
{
	bool has = comm != MPI_COMM_NULL, wants;
	uint32_t number, phase = NO_PHASE;
	struct shim_comm *known;
	struct part *parts;
	int inter;

	if (!shim.ready || PMPI_Comm_test_inter(parent, &inter) != MPI_SUCCESS || inter ||
	    has_strangers(parent))
		return;
	known = has ? know(comm) : NULL;
	wants = wants_phase(parent, &parts);
	number = agree(parent, (known || !has) && (parts || !wants));
	if (number == NO_NUMBER) {
		free(parts);
		shim_say("out of memory: a communicator is not observed");
		if (known)
			PMPI_Comm_delete_attr(comm, keyval);
		return;
	}
	if (parts)
		phase = phase_of(parent, known, parts);
	free(parts);
	if (!known)
		return;
	shim_lock();
	known->number = number;
	known->phase = phase;
	if (known->group < 0)
		shim_learn_comm(known);
	shim_unlock();
}

bool shim_comm_new(void)
{
	return PMPI_Comm_create_keyval(duplicate, forget, &keyval, NULL) == MPI_SUCCESS;
}

void shim_comm_begin(void)
{
	created(MPI_COMM_WORLD, MPI_COMM_WORLD);
}

/* ------------------------------------------------------------- calls of MPI */

#define CREATES(name, parameters, arguments)                                         \
	SHIM_API int MPI_##name(MPI_Comm comm, UNPACK parameters, MPI_Comm *newcomm) \
	{                                                                            \
		int ret = PMPI_##name(comm, UNPACK arguments, newcomm);              \
                                                                                     \
		if (ret == MPI_SUCCESS)                                              \
			created(comm, *newcomm);                                     \
		return ret;                                                          \
	}
#define UNPACK(...) __VA_ARGS__

CREATES(Comm_split, (int color, int key), (color, key))
CREATES(Comm_split_type, (int type, int key, MPI_Info info), (type, key, info))
CREATES(Comm_create, (MPI_Group group), (group))
CREATES(Cart_create, (int ndims, const int dims[], const int periods[], int reorder),
	(ndims, dims, periods, reorder))
CREATES(Cart_sub, (const int remain[]), (remain))
CREATES(Graph_create, (int nodes, const int index[], const int edges[], int reorder),
	(nodes, index, edges, reorder))
CREATES(Dist_graph_create,
	(int count, const int sources[], const int degrees[], const int targets[],
	 const int weights[], MPI_Info info, int reorder),
	(count, sources, degrees, targets, weights, info, reorder))
CREATES(Dist_graph_create_adjacent,
	(int in, const int sources[], const int source_weights[], int out, const int targets[],
	 const int target_weights[], MPI_Info info, int reorder),
	(in, sources, source_weights, out, targets, target_weights, info, reorder))

/* Only its members take part. */
SHIM_API int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
	int ret = PMPI_Comm_create_group(comm, group, tag, newcomm);

	if (ret == MPI_SUCCESS && *newcomm != MPI_COMM_NULL)
		created(*newcomm, *newcomm);
	return ret;
}
