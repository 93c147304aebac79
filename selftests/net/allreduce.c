// SPDX-License-Identifier: GPL-2.0-only
/*
 * An MPI program that sums vectors over all ranks, and checks each sum.
 *
 * 	allreduce ITERATIONS WORDS
 *
 * When an iteration has ended, rank 0 prints its milliseconds, and its begin and end in nanoseconds
 * by the clock of the driver's events. Each iteration begins when the one before ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

static int rank, size;

static void check_sum(const int *sum, int words, int iteration)
{
	for (int i = 0; i < words; i++) {
		if (sum[i] == size * (size - 1) / 2 + size * (iteration + i))
			continue;
		fprintf(stderr, "allreduce: rank %d, iteration %d: word %d is %d\n", rank,
			iteration, i, sum[i]);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 1, words = argc > 2 ? atoi(argv[2]) : 1;
	int *mine = malloc(words * sizeof(*mine)), *sum = malloc(words * sizeof(*sum));
	long long begin, end;

	if (!mine || !sum)
		return 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	begin = now_ns();
	for (int iteration = 0; iteration < iterations; iteration++) {
		for (int i = 0; i < words; i++)
			mine[i] = rank + iteration + i;
		MPI_Allreduce(mine, sum, words, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		check_sum(sum, words, iteration);
		if (!rank) {
			end = now_ns();
			printf("iteration %d %lld %lld %lld\n", iteration, (end - begin) / 1000000,
			       begin, end);
			fflush(stdout);
			begin = end;
		}
	}
	MPI_Finalize();
	free(mine);
	free(sum);
	return 0;
}
