/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of planners that need a context and no kernel. */
#ifndef ALONE_H
#define ALONE_H

#include "fake.h"

/* From begin() to end(), which go round each test or all of them. */
extern struct morph_ctx *ctx;

int begin(void **state);
int end(void **state);

#endif /* ALONE_H */
