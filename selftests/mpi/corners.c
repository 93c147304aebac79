// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unusual uses of MPI besides those of training.c, by four ranks without code for light. The name
 * of each case states the mistake that it would detect. The ranks check their data.
 *
 * 	corners CASE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#define RANKS 4
#define MANY 1000000 /* words of a message that is not sent before it is received */
#define TIMES 20

static int rank;
static const char *program;
static MPI_Comm pairs, across; /* 0-1 and 2-3; 0-2 and 1-3 */
static int many[MANY];
static MPI_Request pending = MPI_REQUEST_NULL;
static int *reached; /* of all ranks */

static void check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "corners: rank %d: %s is wrong\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 2);
}

static void check_sum(MPI_Comm comm, const char *what)
{
	int one = 1, sum, size;

	MPI_Comm_size(comm, &size);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	check(sum == size, what);
}

/* Order the actions of two ranks without MPI, because MPI makes progress in its calls. */
static void reach(int place)
{
	__atomic_store_n(reached, place, __ATOMIC_RELEASE);
}

static void wait_for_reach(int place)
{
	while (__atomic_load_n(reached, __ATOMIC_ACQUIRE) < place)
		usleep(100);
}

static void make_reached(void)
{
	MPI_Aint bytes;
	MPI_Win window;
	int unit;

	MPI_Win_allocate_shared(rank ? 0 : sizeof(*reached), sizeof(*reached), MPI_INFO_NULL,
				MPI_COMM_WORLD, &reached, &window);
	MPI_Win_shared_query(window, 0, &bytes, &unit, &reached);
	if (!rank)
		*reached = 0;
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The first action in MPI_Finalize(). */
static void call_at_end(MPI_Comm_delete_attr_function *function)
{
	int key;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, function, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

/* ------------------------------------------------------------------- requests */

/* Rank 2 requests another phase than the one that rank 0 has finished. */
static void send_across(void)
{
	int word = 0;

	if (rank == 0) {
		reach(1);
		MPI_Recv(&word, 1, MPI_INT, 1, 0, across, MPI_STATUS_IGNORE);
		check(word == 2, "a message");
	} else if (rank == 1) {
		MPI_Recv(&word, 1, MPI_INT, 0, 0, pairs, MPI_STATUS_IGNORE);
	} else if (rank == 2) {
		wait_for_reach(1);
		MPI_Send(&rank, 1, MPI_INT, 0, 0, across);
	}
}

static void freed_send(void)
{
	make_reached();
	if (rank == 0) {
		MPI_Isend(&rank, 1, MPI_INT, 1, 0, pairs, &pending);
		MPI_Request_free(&pending);
	}
	send_across();
}

/* Open MPI gives both requests one handle. */
static void over_at_once(void)
{
	MPI_Request other = MPI_REQUEST_NULL;
	int word;

	make_reached();
	if (rank == 0) {
		MPI_Isend(&rank, 1, MPI_INT, 1, 0, pairs, &pending);
		MPI_Irecv(&word, 1, MPI_INT, MPI_PROC_NULL, 0, across, &other);
		MPI_Wait(&pending, MPI_STATUS_IGNORE);
	}
	send_across();
	MPI_Wait(&other, MPI_STATUS_IGNORE);
}

/* Rank 0 leaves its phase after rank 1 has received. Rank 1 waits for another phase. */
static void progress(void)
{
	int word;

	make_reached();
	if (rank == 0) {
		MPI_Isend(many, MANY, MPI_INT, 1, 0, pairs, &pending);
		reach(1);
	} else if (rank == 1) {
		MPI_Irecv(many, MANY, MPI_INT, 0, 0, pairs, &pending);
		wait_for_reach(1);
		MPI_Send(&rank, 1, MPI_INT, 1, 0, across);
	} else if (rank == 3) {
		MPI_Recv(&word, 1, MPI_INT, 0, 0, across, MPI_STATUS_IGNORE);
		check(word == 1, "a message");
	}
	MPI_Wait(&pending, MPI_STATUS_IGNORE);
}

/* Rank 0 cannot enter a phase that all ranks have to enter. */
static void pending_elsewhere(void)
{
	make_reached();
	for (int at = 1; at <= TIMES; at++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			MPI_Isend(many, MANY, MPI_INT, 1, 0, pairs, &pending);
			reach(at);
		} else if (rank == 1) {
			wait_for_reach(at);
			MPI_Recv(many, MANY, MPI_INT, 0, 0, pairs, MPI_STATUS_IGNORE);
		}
		check_sum(across, "a sum");
		MPI_Wait(&pending, MPI_STATUS_IGNORE);
	}
}

/* No other rank can either, but the last one may find the phase of the first one finished. */
static void overlapped(void)
{
	MPI_Request sum;
	int all;

	for (int at = 0; at < TIMES; at++) {
		MPI_Ibarrier(pairs, &pending);
		MPI_Iallreduce(&rank, &all, 1, MPI_INT, MPI_SUM, across, &sum);
		MPI_Wait(&sum, MPI_STATUS_IGNORE);
		MPI_Wait(&pending, MPI_STATUS_IGNORE);
		check(all == 2 * (rank % 2) + 2, "a sum");
	}
}

static int receive(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm, (void)key, (void)value, (void)extra;
	if (rank == 1)
		MPI_Recv(many, MANY, MPI_INT, 0, 0, pairs, MPI_STATUS_IGNORE);
	MPI_Wait(&pending, MPI_STATUS_IGNORE);
	return MPI_SUCCESS;
}

static void pending_at_end(void)
{
	call_at_end(receive);
	if (rank == 0)
		MPI_Isend(many, MANY, MPI_INT, 1, 0, pairs, &pending);
}

static void freed_at_end(void)
{
	pending_at_end();
	if (rank == 0)
		MPI_Request_free(&pending);
}

static void persistent(void)
{
	int left = (rank + RANKS - 1) % RANKS, right = (rank + 1) % RANKS, partner = !(rank % 2);
	int from = 0, word = 0, flag, index;
	MPI_Request ring[2], pair[3];
	MPI_Comm all;

	MPI_Comm_dup(MPI_COMM_WORLD, &all);
	MPI_Send_init(many, MANY / 2, MPI_INT, right, 0, all, &ring[0]);
	MPI_Recv_init(many + MANY / 2, MANY / 2, MPI_INT, left, 0, all, &ring[1]);
	MPI_Ssend_init(&rank, 1, MPI_INT, partner, 0, pairs, &pair[0]);
	MPI_Recv_init(&from, 1, MPI_INT, partner, 0, pairs, &pair[1]);
	MPI_Recv_init(&word, 1, MPI_INT, MPI_PROC_NULL, 0, pairs, &pair[2]);
	for (int at = 0; at < TIMES; at++) {
		MPI_Barrier(MPI_COMM_WORLD);
		many[0] = rank + at;
		MPI_Startall(2, ring);
		if (at % 3 == 0)
			MPI_Waitall(2, ring, MPI_STATUSES_IGNORE);
		for (flag = at % 3 != 1; !flag;)
			MPI_Testall(2, ring, &flag, MPI_STATUSES_IGNORE);
		for (int ended = 0; at % 3 == 2 && ended < 2; ended++)
			MPI_Waitany(2, ring, &index, MPI_STATUS_IGNORE);
		check(many[MANY / 2] == left + at, "what went round");
		from = -1;
		for (int of = 0; of < 3; of++)
			MPI_Start(&pair[of]);
		MPI_Waitall(3, pair, MPI_STATUSES_IGNORE);
		check(from == (rank ^ 1), "what a partner has sent");
	}
	/* Free a request that is still active. */
	MPI_Start(&pair[!(rank % 2)]);
	if (rank % 2 == 0)
		MPI_Wait(&pair[1], MPI_STATUS_IGNORE);
	for (int of = 0; of < 3; of++)
		MPI_Request_free(&pair[of]);
	for (int of = 0; of < 2; of++)
		MPI_Request_free(&ring[of]);
	MPI_Comm_free(&all);
}

/* -------------------------------------------------------------- communicators */

static void duplicates(void)
{
	MPI_Comm comms[3];

	MPI_Comm_idup(MPI_COMM_WORLD, &comms[0], &pending);
	MPI_Wait(&pending, MPI_STATUS_IGNORE);
	MPI_Comm_dup(comms[0], &comms[1]);
	MPI_Comm_dup_with_info(comms[1], MPI_INFO_NULL, &comms[2]);
	for (int at = 0; at < 3; at++) {
		check_sum(comms[at], "a duplicate's sum");
		MPI_Comm_free(&comms[at]);
	}
}

static void neighbours(void)
{
	int left = (rank + RANKS - 1) % RANKS, right = (rank + 1) % RANKS;
	int size = RANKS, round = 1, weight = 1, there[2], back[2];
	MPI_Comm grid, graph;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &round, 0, &grid);
	MPI_Neighbor_allgather(&rank, 1, MPI_INT, there, 1, MPI_INT, grid);
	check(there[0] == left && there[1] == right, "what neighbours have sent");
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weight, 1, &right, &weight,
				       MPI_INFO_NULL, 0, &graph);
	MPI_Ineighbor_alltoall(&rank, 1, MPI_INT, back, 1, MPI_INT, graph, &pending);
	MPI_Wait(&pending, MPI_STATUS_IGNORE);
	check(back[0] == left, "what a neighbour has sent");
	MPI_Comm_free(&graph);
	MPI_Comm_free(&grid);
}

static void matched_probes(void)
{
	int left = (rank + RANKS - 1) % RANKS, right = (rank + 1) % RANKS, word, flag = 0;
	MPI_Message message;

	for (int at = 0; at < 2; at++) {
		MPI_Isend(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &pending);
		if (!at)
			MPI_Mprobe(left, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		while (at && !flag)
			MPI_Improbe(left, 0, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
		check(word == left, "a message that was matched");
		MPI_Wait(&pending, MPI_STATUS_IGNORE);
	}
}

static void group_of_two(void)
{
	const int members[] = { 0, RANKS - 1 };
	MPI_Group all, group;
	MPI_Comm comm;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 2, members, &group);
	if (rank == members[0] || rank == members[1]) {
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
		check_sum(comm, "a group's sum");
		MPI_Comm_free(&comm);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

/* This needs no light. */
static void alone(void)
{
	MPI_Comm one, outer;

	MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &one);
	check_sum(one, "a sum of one");
	MPI_Comm_free(&one);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 1 || rank == 2, rank, &outer);
	check_sum(outer, "a sum of two");
	MPI_Comm_free(&outer);
}

/* ------------------------------------------------------------- other programs */

/* The same as in fortran.f90. */
static void sums(void)
{
	check_sum(pairs, "a sum of two");
}

/* Each half has members of both programs, or of one program only. */
static void sum_with(MPI_Comm between, int is_child)
{
	MPI_Comm all, half;
	int number;

	MPI_Intercomm_merge(between, is_child, &all);
	MPI_Comm_rank(all, &number);
	for (int at = 0; at < 2; at++) {
		MPI_Comm_split(all, at ? is_child : number % 2, number, &half);
		check_sum(half, "a sum with another program");
		MPI_Comm_free(&half);
	}
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&between);
}

static void spawn(void)
{
	MPI_Comm between;

	MPI_Comm_spawn("env", (char *[]){ "-u", "LD_PRELOAD", (char *)program, "child", NULL }, 2,
		       MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
	sum_with(between, 0);
}

static void spawn_alike(void)
{
	MPI_Comm between;

	MPI_Comm_spawn(program, (char *[]){ "child", NULL }, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
		       &between, MPI_ERRCODES_IGNORE);
	sum_with(between, 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "freed_send", freed_send },
	{ "over_at_once", over_at_once },
	{ "progress", progress },
	{ "pending_elsewhere", pending_elsewhere },
	{ "overlapped", overlapped },
	{ "pending_at_end", pending_at_end },
	{ "freed_at_end", freed_at_end },
	{ "persistent", persistent },
	{ "duplicates", duplicates },
	{ "neighbours", neighbours },
	{ "matched_probes", matched_probes },
	{ "group_of_two", group_of_two },
	{ "alone", alone },
	{ "sums", sums },
	{ "spawn", spawn },
	{ "spawn_alike", spawn_alike },
};

static void run(const char *name)
{
	int runs = 0;

	for (size_t at = 0; at < sizeof(cases) / sizeof(*cases); at++) {
		if (strcmp(cases[at].name, name))
			continue;
		cases[at].run();
		runs++;
	}
	check(runs, "the name of the case");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	MPI_Comm parent;
	int size;

	program = argv[0];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		sum_with(parent, 1);
		MPI_Finalize();
		return 0;
	}
	check(size == RANKS, "the number of ranks");
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pairs);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &across);
	run(name);
	MPI_Finalize();
	return 0;
}
