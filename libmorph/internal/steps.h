/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/steps.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_STEPS_H
#define LM_INTERNAL_STEPS_H

#include <morph/morph.h>

/**
 * morph_steps_set_loop() - after the last step comes the first
 * @steps: the steps
 * @loop: whether; what begins the first step then counts
 */
void morph_steps_set_loop(struct morph_steps *steps, bool loop);

/**
 * morph_steps_set_profile() - the fabric that they were planned for
 * @steps: the steps
 * @checksum: of its profile; loading fails with ESTALE if it is another one. 0: not stated
 */
void morph_steps_set_profile(struct morph_steps *steps, uint32_t checksum);

/**
 * morph_steps_count() - how many steps there are
 * @steps: the steps
 * @circuits: where to put how many circuits there are; or NULL
 *
 * Return: the number. Never fails.
 */
uint32_t morph_steps_count(const struct morph_steps *steps, uint32_t *circuits);

/**
 * morph_steps_loop() - does the first step come after the last one?
 * @steps: the steps
 * @generation: where to put the generation of the slice that they are for, or MORPH_GENERATION_ANY;
 *   or NULL
 * @checksum: where to put that of the profile, or 0; or NULL
 *
 * Return: whether. Never fails.
 */
bool morph_steps_loop(const struct morph_steps *steps, uint64_t *generation, uint32_t *checksum);

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
