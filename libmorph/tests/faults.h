/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that the library makes, and that fail when a test wants it. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>

/*
 * The @nth call of @what from now on fails with @error, once; 0: none. @what is "memory" (whatever
 * allocates), "kernel" (whatever is asked of the fake, but to close), or the name of a
 * function that faults.c wraps.
 */
void fault_at(const char *what, unsigned int nth, int error);

/* Whether it has failed; from here on nothing fails. */
bool fault_struck(void);

/* How many calls of it there have been since then; before fault_struck(). */
unsigned int fault_calls(void);

/*
 * How often memory was allocated since the last call, by whomever, the C library among them: where
 * the test is built with AddressSanitizer, which alone sees all; else 0.
 */
unsigned long allocations(void);

/* For those who fail: is it this call? Sets errno. */
bool fault_strikes(const char *what);

/* What opendir() opens in the library, whatever it is asked for; NULL: nothing. */
extern const char *fault_directory;

/* Nodes that udev knows, and that it tells of; the list ends with a node of which path is NULL. */
struct fault_node {
	const char *action;
	const char *path; /* "" for a device without a node */
};

extern const struct fault_node *fault_nodes;

#endif /* FAULTS_H */
