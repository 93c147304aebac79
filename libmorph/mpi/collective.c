// SPDX-License-Identifier: LGPL-2.1-or-later
/* The shim: calls in which all members take part. */
#include "shim.h"

/* All members have begun before one of them enters, so no rank in a phase waits for one outside. */
#define COLLECTIVE(name, parameters, arguments)            \
	SHIM_API int MPI_##name parameters                 \
	{                                                  \
		struct shim_op op;                         \
		int ret;                                   \
                                                           \
		shim_begin(shim_comm_of(comm), comm, &op); \
		ret = PMPI_##name arguments;               \
		shim_end(&op);                             \
		return ret;                                \
	}

/* A call that continues: its circuits are busy until the program has waited for it. */
#define NONBLOCKING(name, parameters, arguments)                    \
	SHIM_API int MPI_##name parameters                          \
	{                                                           \
		struct shim_op op;                                  \
		int ret;                                            \
                                                                    \
		shim_begin(shim_comm_of(comm), MPI_COMM_NULL, &op); \
		ret = PMPI_##name arguments;                        \
		if (ret == MPI_SUCCESS)                             \
			shim_hold(*request, true, &op);             \
		else                                                \
			shim_end(&op);                              \
		return ret;                                         \
	}

/* Both forms of each call. */
#define BOTH(name, iname, parameters, arguments)                                       \
	COLLECTIVE(name, (UNPACK parameters, MPI_Comm comm), (UNPACK arguments, comm)) \
	NONBLOCKING(iname, (UNPACK parameters, MPI_Comm comm, MPI_Request * request),  \
		    (UNPACK arguments, comm, request))
#define UNPACK(...) __VA_ARGS__

COLLECTIVE(Barrier, (MPI_Comm comm), (comm))
NONBLOCKING(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request))

BOTH(Allreduce, Iallreduce, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op how),
     (from, to, count, type, how))
BOTH(Reduce, Ireduce,
     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op how, int root),
     (from, to, count, type, how, root))
BOTH(Reduce_scatter, Ireduce_scatter,
     (const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op how),
     (from, to, counts, type, how))
BOTH(Reduce_scatter_block, Ireduce_scatter_block,
     (const void *from, void *to, int count, MPI_Datatype type, MPI_Op how),
     (from, to, count, type, how))
BOTH(Bcast, Ibcast, (void *data, int count, MPI_Datatype type, int root), (data, count, type, root))
BOTH(Allgather, Iallgather,
     (const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type),
     (from, count, type, to, to_count, to_type))
BOTH(Allgatherv, Iallgatherv,
     (const void *from, int count, MPI_Datatype type, void *to, const int to_counts[],
      const int places[], MPI_Datatype to_type),
     (from, count, type, to, to_counts, places, to_type))
BOTH(Alltoall, Ialltoall,
     (const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type),
     (from, count, type, to, to_count, to_type))
BOTH(Alltoallv, Ialltoallv,
     (const void *from, const int counts[], const int from_places[], MPI_Datatype type, void *to,
      const int to_counts[], const int places[], MPI_Datatype to_type),
     (from, counts, from_places, type, to, to_counts, places, to_type))
BOTH(Alltoallw, Ialltoallw,
     (const void *from, const int counts[], const int from_places[], const MPI_Datatype types[],
      void *to, const int to_counts[], const int places[], const MPI_Datatype to_types[]),
     (from, counts, from_places, types, to, to_counts, places, to_types))
BOTH(Gather, Igather,
     (const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
      int root),
     (from, count, type, to, to_count, to_type, root))
BOTH(Gatherv, Igatherv,
     (const void *from, int count, MPI_Datatype type, void *to, const int to_counts[],
      const int places[], MPI_Datatype to_type, int root),
     (from, count, type, to, to_counts, places, to_type, root))
BOTH(Scatter, Iscatter,
     (const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
      int root),
     (from, count, type, to, to_count, to_type, root))
BOTH(Scatterv, Iscatterv,
     (const void *from, const int counts[], const int places[], MPI_Datatype type, void *to,
      int to_count, MPI_Datatype to_type, int root),
     (from, counts, places, type, to, to_count, to_type, root))
BOTH(Scan, Iscan, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op how),
     (from, to, count, type, how))
BOTH(Exscan, Iexscan, (const void *from, void *to, int count, MPI_Datatype type, MPI_Op how),
     (from, to, count, type, how))

BOTH(Neighbor_allgather, Ineighbor_allgather,
     (const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type),
     (from, count, type, to, to_count, to_type))
BOTH(Neighbor_allgatherv, Ineighbor_allgatherv,
     (const void *from, int count, MPI_Datatype type, void *to, const int to_counts[],
      const int places[], MPI_Datatype to_type),
     (from, count, type, to, to_counts, places, to_type))
BOTH(Neighbor_alltoall, Ineighbor_alltoall,
     (const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type),
     (from, count, type, to, to_count, to_type))
BOTH(Neighbor_alltoallv, Ineighbor_alltoallv,
     (const void *from, const int counts[], const int from_places[], MPI_Datatype type, void *to,
      const int to_counts[], const int places[], MPI_Datatype to_type),
     (from, counts, from_places, type, to, to_counts, places, to_type))
BOTH(Neighbor_alltoallw, Ineighbor_alltoallw,
     (const void *from, const int counts[], const MPI_Aint from_places[],
      const MPI_Datatype types[], void *to, const int to_counts[], const MPI_Aint places[],
      const MPI_Datatype to_types[]),
     (from, counts, from_places, types, to, to_counts, places, to_types))
