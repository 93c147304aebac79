// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: ranks that begin in Fortran, whose calls it does not see. They report this, because
 * other ranks can begin in C and would wait for calls that never come.
 */
#include <dlfcn.h>

#include "shim.h"

#define INIT(name, parameters, arguments)                  \
	SHIM_API void name parameters;                     \
	void name parameters                               \
	{                                                  \
		void(*real) parameters;                    \
                                                           \
		*(void **)&real = dlsym(RTLD_NEXT, #name); \
		real arguments;                            \
		shim_start(false);                         \
	}
#define THREAD_PARAMETERS (const MPI_Fint *wanted, MPI_Fint *given, MPI_Fint *error)

INIT(mpi_init_, (MPI_Fint * error), (error))
INIT(mpi_init_f08_, (MPI_Fint * error), (error))
INIT(mpi_init_thread_, THREAD_PARAMETERS, (wanted, given, error))
INIT(mpi_init_thread_f08_, THREAD_PARAMETERS, (wanted, given, error))
