/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Let calls of the library fail on demand. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>

/*
 * From now on, the @nth call of @what fails with @error, once; 0: no call. @what is "memory" (any
 * allocation), "kernel" (any call of the fake except close), or the name of a function that
 * faults.c wraps.
 */
void fault_at(const char *what, unsigned int nth, int error);

/* Check whether the failure has occurred, and let no later call fail. */
bool fault_struck(void);

/* Number of calls since fault_at(). Call this before fault_struck(). */
unsigned int fault_calls(void);

/*
 * Number of allocations since the last call of this function, also by the C library. Only a build
 * with AddressSanitizer counts them; another build returns 0.
 */
unsigned long allocations(void);

/* For functions that can fail: check whether this call must fail, and set errno. */
bool fault_strikes(const char *what);

/*
 * The directory that the library's opendir() opens instead of the requested one; NULL: opendir()
 * fails.
 */
extern const char *fault_directory;

/* Nodes that udev knows and reports. A node with path NULL ends the list. */
struct fault_node {
	const char *action;
	const char *path; /* "" for a device without a node */
};

extern const struct fault_node *fault_nodes;

#endif /* FAULTS_H */
