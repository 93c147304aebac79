/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network devices of slices, by rtnetlink. */
#ifndef MORPHCTL_NET_H
#define MORPHCTL_NET_H

#include <stddef.h>
#include <stdint.h>

/* The kernel's answer to a request: a negative errno, and a sentence or "". */
struct link_answer {
	int error;
	char text[160];
};

struct links {
	int *indices; /* interface indices */
	size_t count;
};

/* Create the device of a rank in the current network namespace. */
struct link_answer link_create(uint32_t fabric, uint32_t slice, uint32_t rank);
struct link_answer link_delete(int index);
/* List the devices of a slice in the current network namespace. The caller frees links->indices. */
struct link_answer link_list(uint32_t fabric, uint32_t slice, struct links *links);

#endif /* MORPHCTL_NET_H */
