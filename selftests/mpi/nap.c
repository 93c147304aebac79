// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let an MPI program sleep instead of yielding the processor. Preload nap.so for this.
 *
 * MPI ranks wait for messages in a loop that yields. If there are more ranks than processors,
 * waiting takes most of the processor time. An emulated processor also discards all translated
 * addresses at each switch of processes.
 */
#include <sched.h>
#include <time.h>

#define NAP_NS 2000000

int sched_yield(void)
{
	return nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}
