// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: calls between two ranks. Who sends to a neighbour in its communicator's ring has the circuit; who receives is only
 * counted. There is none to others, whom data reach some other way.
 */
#include "shim.h"

static void begin_send(MPI_Comm comm, int to, struct shim_op *op)
{
	if (shim_comm_joins(shim_comm_of(comm), to))
		shim_begin(comm, false, op);
	else
		shim_begin_counted(comm, op);
}

#define SEND(name)                                                                               \
	SHIM_API int MPI_##name(const void *data, int count, MPI_Datatype type, int to, int tag, \
				MPI_Comm comm)                                                   \
	{                                                                                        \
		struct shim_op op;                                                               \
		int ret;                                                                         \
                                                                                                 \
		begin_send(comm, to, &op);                                                       \
		ret = PMPI_##name(data, count, type, to, tag, comm);                             \
		shim_end(&op);                                                                   \
		return ret;                                                                      \
	}

#define ISEND(name)                                                                              \
	SHIM_API int MPI_##name(const void *data, int count, MPI_Datatype type, int to, int tag, \
				MPI_Comm comm, MPI_Request *request)                             \
	{                                                                                        \
		struct shim_op op;                                                               \
		int ret;                                                                         \
                                                                                                 \
		begin_send(comm, to, &op);                                                       \
		ret = PMPI_##name(data, count, type, to, tag, comm, request);                    \
		if (ret == MPI_SUCCESS)                                                          \
			shim_hold(*request, false, &op);                                         \
		else                                                                             \
			shim_end(&op);                                                           \
		return ret;                                                                      \
	}

SEND(Send)
SEND(Bsend)
SEND(Rsend)
SEND(Ssend)
ISEND(Isend)
ISEND(Ibsend)
ISEND(Irsend)
ISEND(Issend)

SHIM_API int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
		      MPI_Status *status)
{
	struct shim_op op;
	int ret;

	shim_begin_counted(comm, &op);
	ret = PMPI_Recv(data, count, type, from, tag, comm, status);
	shim_end(&op);
	return ret;
}

SHIM_API int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
		       MPI_Request *request)
{
	struct shim_op op;
	int ret;

	shim_begin_counted(comm, &op);
	ret = PMPI_Irecv(data, count, type, from, tag, comm, request);
	if (ret == MPI_SUCCESS)
		shim_hold(*request, false, &op);
	else
		shim_end(&op);
	return ret;
}

SHIM_API int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag,
			  void *into, int room, MPI_Datatype into_type, int from, int from_tag,
			  MPI_Comm comm, MPI_Status *status)
{
	struct shim_op op;
	int ret;

	begin_send(comm, to, &op);
	ret = PMPI_Sendrecv(data, count, type, to, tag, into, room, into_type, from, from_tag, comm,
			    status);
	shim_end(&op);
	return ret;
}

SHIM_API int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int tag,
				  int from, int from_tag, MPI_Comm comm, MPI_Status *status)
{
	struct shim_op op;
	int ret;

	begin_send(comm, to, &op);
	ret = PMPI_Sendrecv_replace(data, count, type, to, tag, from, from_tag, comm, status);
	shim_end(&op);
	return ret;
}
