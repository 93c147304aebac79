/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/traffic.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_TE_H
#define LM_INTERNAL_TE_H

#include <morph/plan.h>

/**
 * morph_traffic_add_link() - a link that circuits share
 * @te: the problem
 * @capacity: its lanes
 *
 * Return: its number, counted from 0; -EINVAL (@capacity is negative or no number), -E2BIG
 * (more than 1024) or -ENOMEM.
 */
int morph_traffic_add_link(struct morph_traffic *te, double capacity);

/**
 * morph_traffic_add_path() - a way that a demand may take
 * @te: the problem
 * @demand: its number
 * @links: the links on the way, each once
 * @count: how many; none for a way that shares nothing
 *
 * Return: the path's number, counted from 0; -ENOENT (no such demand or link), -EINVAL (a link
 * twice), -E2BIG (more than 2^20 paths, or 64 links on one) or -ENOMEM.
 */
int morph_traffic_add_path(struct morph_traffic *te, uint32_t demand, const uint32_t *links,
			   size_t count);

/**
 * morph_traffic_set_capacity() - change a link
 * @te: the problem
 * @link: its number
 * @capacity: its lanes
 *
 * Return: 0, -ENOENT or -EINVAL.
 */
int morph_traffic_set_capacity(struct morph_traffic *te, uint32_t link, double capacity);

/**
 * morph_traffic_set_amount() - change a demand
 * @te: the problem
 * @demand: its number
 * @amount: lanes wanted at most
 *
 * Return: 0, -ENOENT or -EINVAL.
 */
int morph_traffic_set_amount(struct morph_traffic *te, uint32_t demand, double amount);

#endif /* LM_INTERNAL_TE_H */
