// SPDX-License-Identifier: GPL-2.0-only
/*
 * Iterations of training with four ranks, without code for light. There are two pipelines of two
 * stages. The ranks of a stage sum their gradients, then all ranks sum a loss. The program checks
 * each sum. One evaluation runs between two iterations.
 *
 * 	training ITERATIONS [threads | turns | long]
 *
 * A long iteration alternates between two phases more often than the library can record. In
 * "turns", two threads use one phase again and again, until a third one has used another phase.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#define RANKS 4
#define BATCHES 3
#define WORDS 1024
#define OFTEN 600
#define TURNS 10
#define EVALUATED 5 /* iteration after the evaluation */

static int rank, iteration;
static MPI_Comm pipeline, gradients;

static void check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "training: rank %d, iteration %d: %s is wrong\n", rank, iteration, what);
	MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Activations go to the next stage, and their gradients come back. */
static void go_through_pipeline(void)
{
	int there[WORDS], back[WORDS];
	MPI_Request requests[2];

	for (int batch = 0; batch < BATCHES; batch++) {
		for (int at = 0; at < WORDS; at++)
			there[at] = 1000 * iteration + batch + at;
		if (rank % 2) {
			MPI_Recv(back, WORDS, MPI_INT, 0, batch, pipeline, MPI_STATUS_IGNORE);
			check(!memcmp(there, back, sizeof(there)), "an activation");
			MPI_Send(back, WORDS, MPI_INT, 0, batch, pipeline);
			continue;
		}
		MPI_Irecv(back, WORDS, MPI_INT, 1, batch, pipeline, &requests[0]);
		MPI_Isend(there, WORDS, MPI_INT, 1, batch, pipeline, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		check(!memcmp(there, back, sizeof(there)), "a gradient");
	}
}

static void sum_gradients(void)
{
	int all[2 * WORDS], part[WORDS], whole[2 * WORDS], sum = 0, mine = rank + iteration;
	MPI_Request request;
	int flag = 0;

	for (int at = 0; at < 2 * WORDS; at++)
		all[at] = rank * at;
	MPI_Reduce_scatter_block(all, part, WORDS, MPI_INT, MPI_SUM, gradients);
	MPI_Allgather(part, WORDS, MPI_INT, whole, WORDS, MPI_INT, gradients);
	for (int at = 0; at < 2 * WORDS; at++)
		check(whole[at] == (2 * (rank % 2) + 2) * at, "a sum");
	MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, gradients, &request);
	while (!flag)
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	check(sum == 2 * (rank % 2) + 2 + 2 * iteration, "a nonblocking sum");
}

static void sum_loss(void)
{
	double loss = rank, sum;

	MPI_Allreduce(&loss, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	check(sum == RANKS * (RANKS - 1) / 2, "the loss");
}

static void change_often(void)
{
	for (int at = 0; at < OFTEN; at++) {
		MPI_Barrier(pipeline);
		MPI_Barrier(gradients);
	}
}

/* Threads sum at the same time, each on its own communicator. */
static void *sum_often(void *argument)
{
	MPI_Comm comm = *(MPI_Comm *)argument;
	int one = 1, sum, size;

	MPI_Comm_size(comm, &size);
	for (int at = 0; at < 100; at++) {
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
		check(sum == size, "a thread's sum");
	}
	return NULL;
}

/* Two threads do this at the same time. */
static void *split_often(void *argument)
{
	static const int colours[][RANKS] = {
		{ 0, 1, 1, 0 }, { 0, 0, 0, 1 }, { 0, 1, 1, 1 }, { 0, 1, 0, 0 }
	};
	MPI_Comm all = *(MPI_Comm *)argument, comm;
	int one = 1, sum, size;

	for (int at = 0; at < 4; at++) {
		MPI_Comm_split(all, colours[at][rank], rank, &comm);
		MPI_Comm_size(comm, &size);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
		check(sum == size, "a sum of some");
		MPI_Comm_free(&comm);
	}
	return NULL;
}

static void use_threads(void)
{
	MPI_Comm comms[5] = { pipeline, gradients };
	pthread_t threads[5];

	for (int at = 2; at < 5; at++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
	for (int at = 0; at < 5; at++)
		pthread_create(&threads[at], NULL, at < 3 ? sum_often : split_often, &comms[at]);
	for (int at = 0; at < 5; at++)
		pthread_join(threads[at], NULL);
	for (int at = 2; at < 5; at++)
		MPI_Comm_free(&comms[at]);
}

static int others_are_done;

/* Until all members know it. */
static void *sum_till_others_are_done(void *argument)
{
	int done = 0;

	while (!done) {
		int mine = __atomic_load_n(&others_are_done, __ATOMIC_ACQUIRE);

		MPI_Allreduce(&mine, &done, 1, MPI_INT, MPI_MIN, *(MPI_Comm *)argument);
	}
	return NULL;
}

static void take_turns(void)
{
	pthread_t threads[2];
	MPI_Comm comms[2];
	int one = 1, sum;

	MPI_Comm_dup(pipeline, &comms[0]);
	MPI_Comm_dup(pipeline, &comms[1]);
	for (int at = 0; at < 2; at++)
		pthread_create(&threads[at], NULL, sum_till_others_are_done, &comms[at]);
	for (int at = 0; at < TURNS; at++) {
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, gradients);
		check(sum == 2, "a sum while other threads sum");
	}
	__atomic_store_n(&others_are_done, 1, __ATOMIC_RELEASE);
	for (int at = 0; at < 2; at++) {
		pthread_join(threads[at], NULL);
		MPI_Comm_free(&comms[at]);
	}
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 8, provided, size;
	int threads = argc > 2 && !strcmp(argv[2], "threads");
	int turns = argc > 2 && !strcmp(argv[2], "turns");
	int is_long = argc > 2 && !strcmp(argv[2], "long");

	MPI_Init_thread(&argc, &argv, threads || turns ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check(size == RANKS, "the number of ranks");
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pipeline);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &gradients);
	for (iteration = 0; iteration < iterations; iteration++) {
		if (iteration == EVALUATED)
			MPI_Barrier(MPI_COMM_WORLD);
		go_through_pipeline();
		sum_gradients();
		sum_loss();
		if (is_long)
			change_often();
	}
	if (threads && provided == MPI_THREAD_MULTIPLE)
		use_threads();
	if (turns && provided == MPI_THREAD_MULTIPLE)
		take_turns();
	MPI_Comm_free(&gradients);
	MPI_Comm_free(&pipeline);
	MPI_Finalize();
	return 0;
}
