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
 * Accelerators fail one by one, with their server, and with whatever several servers share: a
 * power supply takes all of its servers, a bundle of fibres the two that it joins. From how
 * often each of these is down follows, exactly, how often so many accelerators are down at
 * once, and from that how many spares are enough. Everything fails independently of the rest.
 *
 * Morphlux (arXiv 2508.03674v3, 5.3) takes the least K for which K or more are down rarely
 * enough. K spares fall short only when more than K are down: that rule is one too careful. Both
 * are told. A model of risk is used by one thread at a time.
 */

/**
 * morph_unavailability() - the share of time for which a thing is down
 * @active_ns: mean time from its repair to its next failure
 * @repair_ns: mean time of a repair
 *
 * Return: a number from 0 to 1; 0 where both are 0.
 */
double morph_unavailability(uint64_t active_ns, uint64_t repair_ns);

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
 * morph_risk_add_server() - accelerators that one server has
 * @risk: the model
 * @accelerators: how many; 1 where whole servers are counted
 * @each: how often each of them is down by itself, its lasers included: 0 to 1
 * @whole: how often the server is: 0 to 1
 *
 * Return: the server's number, counted from 0; -EINVAL (no accelerators, more than 4096, or
 * a share that is none), -E2BIG (more than 64 servers) or -ENOMEM.
 */
int morph_risk_add_server(struct morph_risk *risk, uint32_t accelerators, double each,
			  double whole);

/**
 * morph_risk_add_shared() - what several servers share
 * @risk: the model
 * @servers: their numbers; all of their accelerators are down when it is
 * @count: how many
 * @share: how often it is down: 0 to 1
 *
 * Return: 0, -ENOENT (no such server), -EINVAL (no servers, or a share that is none), -E2BIG
 * (more than 4096 such things) or -ENOMEM.
 */
int morph_risk_add_shared(struct morph_risk *risk, const uint32_t *servers, size_t count,
			  double share);

/**
 * struct morph_spare_count - how many spares are enough
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @enough: least K so that more than K are down rarely enough
 * @published: least K so that K or more are
 * @short_of: how often @enough of them are too few
 */
struct morph_spare_count {
	size_t sz;
	uint32_t enough;
	uint32_t published;
	double short_of;
};

/**
 * morph_risk_spares() - find how many spares are enough
 * @risk: the model
 * @covered: the share of time for which they shall be: above 0, up to 1
 * @out: the answer
 *
 * The first call after something was added solves the model. It takes the servers one after the
 * other and keeps a row for each
 * combination of the servers to come that what they share has hit. O(combinations *
 * accelerators * accelerators of a server) for each server and each thing shared: two
 * combinations for supplies that contain one another, 2^8 for the fibres of a 2x2x4 torus.
 *
 * Return: 0, -EINVAL (@covered is no such share), -E2BIG (unknown results, or more than 2^23 /
 * accelerators combinations; the
 * text names the server) or -ENOMEM.
 */
int morph_risk_spares(struct morph_risk *risk, double covered, struct morph_spare_count *out);

/**
 * morph_risk_at_least() - read how often that many accelerators or more are down
 * @risk: the model, after morph_risk_spares()
 * @count: so many
 *
 * Return: the share of time, 0 to 1; 0 for more than there are.
 */
double morph_risk_at_least(const struct morph_risk *risk, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_RISK_H */
