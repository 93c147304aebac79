/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of planners that need a context and no kernel. */
#ifndef ALONE_H
#define ALONE_H

#include "fake.h"

/*
 * The context exists from begin() to end(). These run around each test, or around all tests of a
 * program.
 */
extern struct morph_ctx *ctx;

int begin(void **state);
int end(void **state);

#endif /* ALONE_H */
