/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hooks of a fake kernel that has an object of each type, so that no request of the library fails.
 */
#ifndef FURNISHED_H
#define FURNISHED_H

#include "fake.h"

/* fake->ioctl; the slices that were created are counted in fake->state. */
int furnished_ioctl(struct fake *kernel, unsigned long command, void *argument);
/* fake->request */
void furnished_answer(struct fake *kernel, const struct nlmsghdr *request);
/* Send a notification about a fabric. */
void furnished_notify(struct fake *kernel);

#endif /* FURNISHED_H */
