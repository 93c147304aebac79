/* SPDX-License-Identifier: GPL-2.0-only */
/* libmorph above a kernel that says what the input says. */
#ifndef FUZZ_TRANSPORT_H
#define FUZZ_TRANSPORT_H

#include "fuzz.h"
#include "internal.h"

#define FUZZ_FAMILY 33
#define FUZZ_HANDLE 3

/* A context whose kernel is the input; @connected: the family needs no resolving. */
struct morph_ctx *transport_ctx(struct input *input, bool connected);

/* All that an object or a list has, once. */
void read_object(const struct morph_object *object);
void read_list(const struct morph_list *list);

#endif /* FUZZ_TRANSPORT_H */
