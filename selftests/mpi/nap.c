// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let an MPI sleep where it would yield the processor: nap.so, to be loaded before it.
 *
 * Its ranks wait for messages in a loop that yields. Where they outnumber the processors, waiting
 * takes most of the time of those that work, and an emulated processor forgets all translated
 * addresses each time that another process has it.
 */
#include <sched.h>
#include <time.h>

#define NAP_NS 2000000

int sched_yield(void)
{
	return nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}
