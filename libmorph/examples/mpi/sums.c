// SPDX-License-Identifier: MIT
/*
 * Plain MPI: the ranks form a grid with two columns. Sum over the rows, then over the columns.
 *
 *	sums ROUNDS [PAUSE]
 *
 * PAUSE is the time after each sum in seconds (default: 0).
 *
 * mpicc -o sums sums.c
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank;
static unsigned int pause_seconds;

static int sum(const char *what, int number, MPI_Comm comm)
{
	int result;

	MPI_Allreduce(&number, &result, 1, MPI_INT, MPI_SUM, comm);
	if (rank == 0)
		printf("%s: %d\n", what, result);
	sleep(pause_seconds);
	return result;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	MPI_Comm row, column;

	pause_seconds = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
	for (int round = 0; round < rounds; round++)
		sum("columns", sum("rows", rank, row), column);
	MPI_Comm_free(&column);
	MPI_Comm_free(&row);
	MPI_Finalize();
	return 0;
}
