// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: calls between two ranks. A rank that sends to a neighbour in its communicator's ring
 * has the circuit; the receiver is only counted. Other ranks have no circuit, and data reach them
 * by another network.
 */
#include "shim.h"

static void begin_send(MPI_Comm comm, int to, struct shim_op *op)
{
	struct shim_comm *known = shim_comm_of(comm);

	if (shim_comm_joins(known, to))
		shim_begin(known, MPI_COMM_NULL, op);
	else
		shim_begin_counted(known, op);
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

	shim_begin_counted(shim_comm_of(comm), &op);
	ret = PMPI_Recv(data, count, type, from, tag, comm, status);
	shim_end(&op);
	return ret;
}

SHIM_API int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
		       MPI_Request *request)
{
	struct shim_op op;
	int ret;

	shim_begin_counted(shim_comm_of(comm), &op);
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

/* A message counts when it is matched, because its receive names no communicator. */
SHIM_API int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	struct shim_op op;
	int ret;

	shim_begin_counted(shim_comm_of(comm), &op);
	ret = PMPI_Mprobe(from, tag, comm, message, status);
	shim_end(&op);
	return ret;
}

SHIM_API int MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
			 MPI_Status *status)
{
	int ret = PMPI_Improbe(from, tag, comm, flag, message, status);
	struct shim_op op;

	if (ret == MPI_SUCCESS && *flag) {
		shim_begin_counted(shim_comm_of(comm), &op);
		shim_end(&op);
	}
	return ret;
}

/* ------------------------------------------------------ again and again */

#define SEND_INIT(name)                                                                          \
	SHIM_API int MPI_##name(const void *data, int count, MPI_Datatype type, int to, int tag, \
				MPI_Comm comm, MPI_Request *request)                             \
	{                                                                                        \
		struct shim_comm *known = shim_comm_of(comm);                                    \
		int ret = PMPI_##name(data, count, type, to, tag, comm, request);                \
                                                                                                 \
		if (ret == MPI_SUCCESS)                                                          \
			shim_keep(*request, known, shim_comm_joins(known, to));                  \
		return ret;                                                                      \
	}

SEND_INIT(Send_init)
SEND_INIT(Bsend_init)
SEND_INIT(Rsend_init)
SEND_INIT(Ssend_init)

SHIM_API int MPI_Recv_init(void *data, int count, MPI_Datatype type, int from, int tag,
			   MPI_Comm comm, MPI_Request *request)
{
	int ret = PMPI_Recv_init(data, count, type, from, tag, comm, request);

	if (ret == MPI_SUCCESS)
		shim_keep(*request, shim_comm_of(comm), false);
	return ret;
}
