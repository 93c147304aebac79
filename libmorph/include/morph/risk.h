/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: how many spares a rack needs. Included by <morph/plan.h>. */
#ifndef MORPH_RISK_H
#define MORPH_RISK_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Risk
 *
 * An accelerator fails alone, with its server, or with a part that several servers share. A power
 * supply takes down all of its servers, a bundle of fibres the two that it joins. All parts fail
 * independently. The input is the share of time that each part is down. From it the library
 * computes exactly how often a number of accelerators is down at once, and how many spares suffice.
 *
 * Morphlux (arXiv 2508.03674v3, 5.3) takes the least K for which K or more accelerators are down
 * rarely enough. But K spares are too few only if more than K are down, so this rule takes one too
 * many. The result has both numbers. One thread at a time can use a model of risk.
 */

/**
 * morph_risk_new() - begin a model of risk
 * @ctx: the context, which must outlive the model
 *
 * Return: the model, freed by morph_risk_free(); NULL when out of memory.
 */
struct morph_risk *morph_risk_new(struct morph_ctx *ctx);

/**
 * morph_risk_free() - free a model of risk
 * @risk: the model, or NULL
 */
void morph_risk_free(struct morph_risk *risk);

/**
 * morph_risk_add_server() - add a server and its accelerators
 * @risk: the model
 * @accelerators: how many; 1 if whole servers are counted
 * @each: share of time that each of them is down by itself, including its lasers: 0 to 1
 * @whole: share of time that the server is down: 0 to 1
 *
 * Return: the server's number, counted from 0; -EINVAL (no accelerators, more than 4096, or a share
 * out of range), -E2BIG (more than 64 servers) or -ENOMEM.
 */
int morph_risk_add_server(struct morph_risk *risk, uint32_t accelerators, double each,
			  double whole);

/**
 * morph_risk_add_shared() - add a part that several servers share
 * @risk: the model
 * @servers: their numbers; all of their accelerators are down when the part is
 * @count: how many
 * @share: share of time that the part is down: 0 to 1
 *
 * Return: 0, -ENOENT (no such server), -EINVAL (no servers, or a share out of range), -E2BIG (more
 * than 4096 parts) or -ENOMEM.
 */
int morph_risk_add_shared(struct morph_risk *risk, const uint32_t *servers, size_t count,
			  double share);

/**
 * struct morph_spare_count - number of spares that suffice
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @enough: least K so that more than K accelerators are down rarely enough
 * @published: least K so that K or more are down rarely enough
 * @short_of: share of time that @enough spares are too few
 */
struct morph_spare_count {
	size_t sz;
	uint32_t enough;
	uint32_t published;
	double short_of;
};

/**
 * morph_risk_spares() - find the number of spares that suffice
 * @risk: the model
 * @covered: required share of time: above 0, up to 1
 * @out: the answer
 *
 * The first call after an addition solves the model. It takes one server after the other and keeps
 * a row for each combination of later servers that a shared part has taken down. O(combinations *
 * accelerators * accelerators of a server) for each server and each shared part: two combinations
 * for supplies that contain one another, 2^8 for the fibres of a 2x2x4 torus.
 *
 * Return: 0, -EINVAL (@covered is out of range), -E2BIG (unknown results, or more than 2^23 /
 * accelerators combinations; the text names the server) or -ENOMEM.
 */
int morph_risk_spares(struct morph_risk *risk, double covered, struct morph_spare_count *out);

/**
 * morph_risk_at_least() - read how often @count or more accelerators are down
 * @risk: the model, after morph_risk_spares()
 * @count: number of accelerators
 *
 * Return: the share of time, 0 to 1; 0 above the number of accelerators.
 */
double morph_risk_at_least(const struct morph_risk *risk, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_RISK_H */
