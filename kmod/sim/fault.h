/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Injectable faults: their types, arguments and interface.
 */
#ifndef MORPH_SIM_FAULT_H
#define MORPH_SIM_FAULT_H

#include <linux/types.h>

struct seq_file;
struct sim_event;
struct sim_hardware;

/* The kind of target of a fault. */
enum sim_target {
	SIM_TARGET_ACCELERATOR,
	SIM_TARGET_LASER,
	SIM_TARGET_ELEMENT,
	SIM_TARGET_GUIDE,
	SIM_TARGET_RECEIVER,
	SIM_TARGET_DEVICE,
};

/* Kinds of requests of the core; each has its own counter. */
enum sim_call {
	SIM_CALL_PROGRAM,	/* set_elements, set_lasers: the operations in the log */
	SIM_CALL_READ,		/* get_lasers, get_receivers */
	SIM_CALL_QUERY,		/* get_elements, probe */
	SIM_CALL_WAIT,
	SIM_CALLS,
};

/* Arguments, written as name=value. Every fault takes the last three. */
enum sim_argument {
	SIM_ARGUMENT_STATE,
	SIM_ARGUMENT_MDB,
	SIM_ARGUMENT_NS,
	SIM_ARGUMENT_PERIOD,
	SIM_ARGUMENT_COUNT,
	SIM_ARGUMENT_EVERY,
	SIM_ARGUMENT_LATE,
	SIM_ARGUMENT_DONE,
	SIM_ARGUMENT_AFTER,	/* start this number of operations from now */
	SIM_ARGUMENT_AT_OP,	/* start with this operation */
	SIM_ARGUMENT_FOR,	/* end this number of ns after the start */
	SIM_ARGUMENT_NONE,
};

#define SIM_ARGUMENTS_COUNT	SIM_ARGUMENT_NONE
#define SIM_FAULT_BYTES		160	/* the longest fault as text, with the final NUL */

enum sim_fault_type {
#define SIM_FAULT(name, ...) SIM_FAULT_##name,
#include "fault_table.h"
#undef SIM_FAULT
};

/* A fault as requested. */
struct sim_fault_spec {
	enum sim_fault_type type;
	u32 index;		/* port for lasers and receivers */
	u64 lanes;
	u32 given;		/* mask of the arguments that were given */
	u64 arguments[SIM_ARGUMENTS_COUNT];
};

/* The outcome of a request. */
enum sim_verdict {
	SIM_VERDICT_DONE,
	SIM_VERDICT_FAILS,
	SIM_VERDICT_SILENT,
};

struct sim_fate {
	enum sim_verdict verdict;
	bool partial;		/* the fault limits the settings: */
	u64 done;		/* number of executed settings; otherwise half */
	u64 late_ns;		/* delay of the answer */
};

/* fault.c */
u64 sim_argument(const struct sim_fault_spec *spec, enum sim_argument argument);
int sim_fault_add(struct sim_hardware *hw, const struct sim_fault_spec *spec);
int sim_fault_clear(struct sim_hardware *hw, u32 id);
void sim_fault_clear_all(struct sim_hardware *hw);
void sim_fault_free(struct sim_hardware *hw);
void sim_fault_event(struct sim_hardware *hw, struct sim_event *event);
int sim_fault_call(struct sim_hardware *hw, u64 *counter, enum sim_call call,
		   struct sim_fate *fate);
int sim_flip(struct sim_hardware *hw, u32 element, u32 state);
void sim_swap(struct sim_hardware *hw, u32 accelerator, const uuid_t *uuid);
void sim_faults_show(struct sim_hardware *hw, struct seq_file *file);
void sim_log_show(struct sim_hardware *hw, struct seq_file *file);

/* faulttext.c */
void sim_fault_format(const struct sim_hardware *hw, const struct sim_fault_spec *spec,
		      char *text, size_t size);
int sim_fault_line(struct sim_hardware *hw, char *line);
int sim_clear_line(struct sim_hardware *hw, char *line);
int sim_flip_line(struct sim_hardware *hw, char *line);
int sim_swap_line(struct sim_hardware *hw, char *line);
void sim_knobs_show(struct seq_file *file);

#endif /* MORPH_SIM_FAULT_H */
