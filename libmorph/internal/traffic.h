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
 * morph_traffic_add_path() - add a path that a demand may take
 * @te: the problem
 * @demand: its number
 * @links: the links of the path, each once
 * @count: how many; none for a path that shares nothing
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

/**
 * morph_traffic_capacity() - what a link may carry
 * @te: the problem
 * @link: its number
 *
 * Return: lanes, 0 for a link that does not exist.
 */
double morph_traffic_capacity(const struct morph_traffic *te, uint32_t link);

/**
 * morph_traffic_flow() - what a path carries
 * @te: the problem, solved
 * @path: its number
 *
 * Return: lanes, 0 for a path that does not exist.
 */
double morph_traffic_flow(const struct morph_traffic *te, uint32_t path);

/**
 * morph_traffic_load() - what a link carries
 * @te: the problem, solved
 * @link: its number
 *
 * Return: lanes, 0 for a link that does not exist.
 */
double morph_traffic_load(const struct morph_traffic *te, uint32_t link);

/**
 * morph_traffic_price() - what one lane more of a link would be worth
 * @te: the problem, solved
 * @link: its number
 *
 * Return: the price in the weights' unit, 0 where the link is not full.
 */
double morph_traffic_price(const struct morph_traffic *te, uint32_t link);

/**
 * morph_traffic_path_links() - the links of a path
 * @te: the problem
 * @path: its number
 * @links: where to put where they are: the problem's, until something is added to it
 *
 * Return: how many, 0 for a path that does not exist.
 */
uint32_t morph_traffic_path_links(const struct morph_traffic *te, uint32_t path,
				  const uint32_t **links);

/**
 * morph_traffic_link_ends() - read which servers a link joins
 * @te: the problem
 * @link: its number
 * @src_host: where to put the server that it leaves
 * @dst_host: where to put the server that it reaches
 *
 * Return: 0 or -ENOENT (no such link, or not of morph_traffic_add_servers()).
 */
int morph_traffic_link_ends(const struct morph_traffic *te, uint32_t link, uint32_t *src_host,
			    uint32_t *dst_host);

#endif /* LM_INTERNAL_TE_H */
