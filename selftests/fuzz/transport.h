/* SPDX-License-Identifier: GPL-2.0-only */
/* libmorph with a kernel whose answers come from the input. */
#ifndef FUZZ_TRANSPORT_H
#define FUZZ_TRANSPORT_H

#include "fuzz.h"
#include "internal.h"

#define FUZZ_FAMILY 33
#define FUZZ_HANDLE 3

/* A context whose kernel is the input; @connected: the family is already resolved. */
struct morph_ctx *transport_ctx(struct input *input, bool connected);

/* Read everything of an object or a list once. */
void read_object(const struct morph_object *object);
void read_list(const struct morph_list *list);

#endif /* FUZZ_TRANSPORT_H */
