/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/bandwidth.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_BANDWIDTH_H
#define LM_INTERNAL_BANDWIDTH_H

#include <morph/plan.h>

/**
 * morph_bandwidth_set_accelerator() - change an accelerator's ports
 * @bw: the problem
 * @accelerator: its number
 * @transmit: ports for circuits that leave it
 * @receive: ports for circuits that reach it
 *
 * Return: 0, -ENOENT or -E2BIG.
 */
int morph_bandwidth_set_accelerator(struct morph_bandwidth *bw, uint32_t accelerator,
				    uint32_t transmit, uint32_t receive);

/**
 * morph_bandwidth_set_guide() - change a guide
 * @bw: the problem
 * @guide: its number
 * @fibres: how many it has
 *
 * Return: 0, -ENOENT or -E2BIG.
 */
int morph_bandwidth_set_guide(struct morph_bandwidth *bw, uint32_t guide, uint32_t fibres);

/**
 * morph_bandwidth_set_group() - change what a group wants
 * @bw: the problem
 * @group: its number
 * @least: what it must have
 * @most: what it has use for; 0 for whatever it can get
 *
 * Return: 0, -ENOENT or -EINVAL.
 */
int morph_bandwidth_set_group(struct morph_bandwidth *bw, uint32_t group, uint32_t least,
			      uint32_t most);

/**
 * morph_bandwidth_of_group() - what a group gets
 * @bw: the problem, solved
 * @group: its number
 *
 * Return: lanes of each of its hops, for each circuit that the hop has by unit; 0 for a group
 * that does not exist.
 */
uint32_t morph_bandwidth_of_group(const struct morph_bandwidth *bw, uint32_t group);

#endif /* LM_INTERNAL_BANDWIDTH_H */
