/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/steps.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_STEPS_H
#define LM_INTERNAL_STEPS_H

#include <morph/morph.h>

/**
 * morph_steps_write() - steps in bytes
 * @steps: the steps
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_steps_write(const struct morph_steps *steps, void *buffer, size_t bytes);

#endif /* LM_INTERNAL_STEPS_H */
