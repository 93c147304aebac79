/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checker: is a plan what it says? Tests, benches and figures link it; it is not installed. */
#ifndef LM_CHECK_CHECK_H
#define LM_CHECK_CHECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Checking plans
 *
 * The checker reads the profile and the wire form of <morph/wire.h> by itself and shares no
 * code with the planners: it finds servers, racks and fibres anew, and knows of a plan only
 * what is written in it. A witness that nothing can be done is gone through: every box, every
 * embedding.
 */

/**
 * struct morph_check_bytes - something written
 * @data: the bytes
 * @bytes: how many
 */
struct morph_check_bytes {
	const void *data;
	size_t bytes;
};

/**
 * struct morph_check_input - what is to be held against what
 * @profile: the device profile
 * @ledger: what is held, written by morph_ledger_write()
 * @request: what was wanted, in bytes
 * @plan: what was answered, in bytes
 * @steps: embeddings and routes that may be looked at to check a witness; 0: 2^28
 */
struct morph_check_input {
	struct morph_check_bytes profile;
	struct morph_check_bytes ledger;
	struct morph_check_bytes request;
	struct morph_check_bytes plan;
	uint64_t steps;
};

/**
 * morph_check() - hold a plan against fabric, ledger and request
 * @input: what
 * @report: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * A feasible plan costs O(fabric); a witness is exponential in the parts at worst. Thread-safe.
 *
 * Return: 0 (it is what it says), -EBADMSG (it is not), -EINVAL (something can't be read),
 * -EAGAIN (the steps did not suffice) or -ENOMEM.
 */
int morph_check(const struct morph_check_input *input, char *report, size_t room);

/**
 * struct morph_check_defrag_input - what is to be held against what
 * @profile: the device profile
 * @ledger: what is held, written by morph_ledger_write() before anything is moved
 * @request: what was wanted, in bytes
 * @running: slices that run, in bytes, before anything is moved
 * @answer: what was answered, in bytes
 * @steps: ways that may be looked at to check a witness; 0: 2^28
 */
struct morph_check_defrag_input {
	struct morph_check_bytes profile;
	struct morph_check_bytes ledger;
	struct morph_check_bytes request;
	struct morph_check_bytes running;
	struct morph_check_bytes answer;
	uint64_t steps;
};

/**
 * morph_check_defrag() - hold an answer of defragmentation against what runs
 * @input: what
 * @report: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * The steps are carried out one after the other, in a ledger of the checker's own: no fibre is ever
 * used twice, no circuit is dark that was not said to be, and in the end what was wanted is
 * lit. A refusal, and a least number of circuits that are moved, is gone through: every place of
 * the request, and every way of every circuit, but for what the metrics rule out; exponential at
 * worst. Thread-safe.
 *
 * Return: as morph_check().
 */
int morph_check_defrag(const struct morph_check_defrag_input *input, char *report, size_t room);

/**
 * struct morph_check_protection_input - what is to be held against what
 * @profile: the device profile
 * @ledger: what is held, written by morph_ledger_write() after the plan was taken
 * @request: what was wanted, in bytes
 * @plan: the slice's plan, in bytes
 * @protection: what was answered, in bytes
 * @steps: ways that may be looked at to check that there are none; 0: 2^28
 */
struct morph_check_protection_input {
	struct morph_check_bytes profile;
	struct morph_check_bytes ledger;
	struct morph_check_bytes request;
	struct morph_check_bytes plan;
	struct morph_check_bytes protection;
	uint64_t steps;
};

/**
 * morph_check_protection() - hold a protection against fabric, ledger and plan
 * @input: what
 * @report: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * Of each rank that is protected, the spare is sound and nobody's, and each circuit leads to it over
 * fibres that are dark or the rank's own, none of them twice; with MORPH_TRANSIT_OWN it crosses
 * servers only of which others have no part and can get none. Of one that is not, each spare is refused, by a cut that
 * is counted, or all ways are tried, which is exponential at worst. Thread-safe.
 *
 * Return: as morph_check().
 */
int morph_check_protection(const struct morph_check_protection_input *input, char *report,
			   size_t room);

/**
 * struct morph_check_bandwidth_input - what is to be held against what
 * @problem: what was asked, in bytes
 * @answer: what was answered, in bytes
 * @steps: wavelengths and plans that may be looked at to check a proof; 0: 2^28
 */
struct morph_check_bandwidth_input {
	struct morph_check_bytes problem;
	struct morph_check_bytes answer;
	uint64_t steps;
};

/**
 * morph_check_bandwidth() - hold the bandwidths of groups against their ports and guides
 * @input: what
 * @report: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * Each circuit has a wavelength that nobody else has where it goes. What stops a group is counted again, and
 * all wavelengths are tried where it is these that are said to be short; of the fairest plan all that would be fairer
 * are tried, which is exponential in groups and wavelengths. Thread-safe.
 *
 * Return: as morph_check().
 */
int morph_check_bandwidth(const struct morph_check_bandwidth_input *input, char *report,
			  size_t room);

/**
 * struct morph_check_schedule_input - what is to be held against what
 * @collective: what was to be done, written by morph_collective_write()
 * @delay: what rounds and changes take, in bytes
 * @planes: ports of each rank
 * @after: the schedule before, whose light is there at first, in bytes; no data: none is
 * @schedule: what was answered, in bytes
 */
struct morph_check_schedule_input {
	struct morph_check_bytes collective;
	struct morph_check_bytes delay;
	uint32_t planes;
	struct morph_check_bytes after;
	struct morph_check_bytes schedule;
};

/**
 * morph_check_schedule() - carry a schedule out, with a clock of its own
 * @input: what
 * @report: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * On a plane each port has one circuit at a time; each change takes what the delay says; a send is over circuits that
 * are lit all the while, beside others at the same times only, and takes as long as the fullest circuit of its way
 * wants; all bytes are sent; each rank has what it sends, sums nothing twice, and each chunk ends as it should; and the
 * bound is what it says. O(circuits + sends * hops * log + chunk transfers * ranks / 64). Thread-safe.
 *
 * Return: as morph_check(), never -EAGAIN.
 */
int morph_check_schedule(const struct morph_check_schedule_input *input, char *report, size_t room);

/**
 * struct morph_check_light_input - what is to be held against what
 * @profile: the device profile
 * @ledger: what is held, written by morph_ledger_write()
 * @schedule: when which ranks are joined, in bytes
 * @steps: by which ways, in bytes
 * @accelerators: the accelerator of each rank
 * @ranks: how many
 * @lanes: that each circuit has; 0: any number
 * @transit: enum morph_transit
 */
struct morph_check_light_input {
	struct morph_check_bytes profile;
	struct morph_check_bytes ledger;
	struct morph_check_bytes schedule;
	struct morph_check_bytes steps;
	const uint32_t *accelerators;
	uint32_t ranks;
	uint32_t lanes;
	uint32_t transit;
};

/**
 * morph_check_light() - hold the light of steps against the schedule, and against the fabric
 * @input: what
 * @report: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * Each step has the circuits that the schedule holds then, on the same planes, and no others; those that stay lit
 * stay the same. Each circuit leads from its transmitter to its receiver: its guides join, they are sound and in its lanes dark.
 * In each step each port has one circuit, no lane is used twice, and each element has a state that
 * joins what all ways through it want. What begins by time begins as the schedule has it. Loss, leakage, and how elements
 * of others stand, are not looked at. O(steps * holds + entries * guides of a way). Thread-safe.
 *
 * Return: as morph_check(), never -EAGAIN.
 */
int morph_check_light(const struct morph_check_light_input *input, char *report, size_t room);

#ifdef __cplusplus
}
#endif

#endif /* LM_CHECK_CHECK_H */
