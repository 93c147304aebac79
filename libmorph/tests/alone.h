/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests that need a context with a fake kernel, and nothing else. */
#ifndef ALONE_H
#define ALONE_H

#include "fake.h"

/*
 * The context and its fake kernel exist from begin() to end(). These run around each test, or
 * around all tests of a program. Tests of planners do not use the fake kernel.
 */
extern struct fake *fake;
extern struct morph_ctx *ctx;

int begin(void **state);
int end(void **state);

#endif /* ALONE_H */
