! SPDX-License-Identifier: GPL-2.0-only
! One rank in Fortran; the other ranks run "corners sums".
program sums
    use mpi
    implicit none
    integer :: rank, pairs, across, total, error

    call mpi_init(error)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
    call mpi_comm_split(MPI_COMM_WORLD, rank / 2, rank, pairs, error)
    call mpi_comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, across, error)
    call mpi_allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, pairs, error)
    if (total /= 2) call mpi_abort(MPI_COMM_WORLD, 2, error)
    call mpi_finalize(error)
end program
