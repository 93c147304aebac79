/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: what all of its headers need. Included by <morph/morph.h>. */
#ifndef MORPH_TYPES_H
#define MORPH_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/morph.h>

/**
 * MORPH_OPTS - declare a structure of options
 * @type: tag of the structure
 * @name: name of the variable
 * @...: designated initialisers of the options wanted, after a comma
 */
#ifndef __cplusplus
#define MORPH_OPTS(type, name, ...) struct type name = { .sz = sizeof(struct type), __VA_ARGS__ }
#else /* C++20, whose compilers warn of fields left out although that is meant */
#define MORPH_OPTS(type, name, ...)                                                             \
	_Pragma("GCC diagnostic push") _Pragma(                                                 \
		"GCC diagnostic ignored \"-Wmissing-field-initializers\"") struct type name = { \
		.sz = sizeof(struct type), __VA_ARGS__                                          \
	};                                                                                      \
	_Pragma("GCC diagnostic pop") static_assert(true, "takes the semicolon")
#endif

/**
 * enum morph_verdict - what a planner found
 * @MORPH_FEASIBLE: a plan
 * @MORPH_INFEASIBLE: the proof that there is none
 * @MORPH_UNDECIDED: neither
 */
enum morph_verdict {
	MORPH_FEASIBLE = 1,
	MORPH_INFEASIBLE = 2,
	MORPH_UNDECIDED = 3,
};

struct morph_ctx;
struct morph_object;
struct morph_list;
struct morph_model;
struct morph_fabric;
struct morph_slice;
struct morph_txn;
struct morph_monitor;
struct morph_watch;
struct morph_traffic;
struct morph_risk;
struct morph_request;
struct morph_ledger;
struct morph_plan;
struct morph_bandwidth;
struct morph_defrag;
struct morph_protection;
struct morph_delay;
struct morph_collective;
struct morph_matchings;
struct morph_jobs;
struct morph_schedule;
struct morph_steps;
struct morph_queue;
struct morph_state;
struct morph_slice_phases;

#endif /* MORPH_TYPES_H */
