/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints, group "morph": the actions of the core in their order. The fields are the numbers
 * that netlink and the device file use too: fabric, slice, rank, transaction, part and index. Times
 * are in nanoseconds; a status is 0 or a negative errno.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM morph

#if !defined(MORPH_CORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MORPH_CORE_TRACE_H

#include <linux/tracepoint.h>

#include "core/base/base.h"

#ifndef MORPH_CORE_TRACE_NAMES
#define MORPH_CORE_TRACE_NAMES

#define morph_trace_outcome(outcome)				\
	__print_symbolic(outcome,				\
			 { MORPH_OUTCOME_NONE, "none" },	\
			 { MORPH_OUTCOME_COMMITTED, "committed" },	\
			 { MORPH_OUTCOME_ROLLED_BACK, "rolled-back" },	\
			 { MORPH_OUTCOME_BROKEN, "broken" },		\
			 { MORPH_OUTCOME_PREPARED, "prepared" },	\
			 { MORPH_OUTCOME_REVOKED, "revoked" },		\
			 { MORPH_OUTCOME_EXPIRED, "expired" },		\
			 { MORPH_OUTCOME_RUNNING, "running" },		\
			 { MORPH_OUTCOME_UNCONFIRMED, "unconfirmed" })

#define morph_trace_slice_state(state)				\
	__print_symbolic(state,					\
			 { MORPH_SLICE_OK, "ok" },		\
			 { MORPH_SLICE_REPAIRING, "repairing" },	\
			 { MORPH_SLICE_DEGRADED, "degraded" })

#define morph_trace_part(part)					\
	__print_symbolic(part,					\
			 { MORPH_PART_NONE, "none" },		\
			 { MORPH_PART_ACCELERATOR, "accelerator" },	\
			 { MORPH_PART_LASER, "laser" },		\
			 { MORPH_PART_RECEIVER, "receiver" },	\
			 { MORPH_PART_ELEMENT, "element" },	\
			 { MORPH_PART_GUIDE, "guide" },		\
			 { MORPH_PART_EDGE, "edge" })

#define morph_trace_health(health)				\
	__print_symbolic(health,				\
			 { MORPH_HEALTH_OK, "ok" },		\
			 { MORPH_HEALTH_SUSPECT, "suspect" },	\
			 { MORPH_HEALTH_FAILED, "failed" },	\
			 { MORPH_HEALTH_QUARANTINED, "quarantined" })

#define morph_trace_signal(type)				\
	__print_symbolic(type,					\
			 { MORPH_SIGNAL_HEARTBEAT, "heartbeat" },	\
			 { MORPH_SIGNAL_RECEIVER, "receiver" },		\
			 { MORPH_SIGNAL_LASER, "laser" },		\
			 { MORPH_SIGNAL_ELEMENT, "element" },		\
			 { MORPH_SIGNAL_TEMPERATURE, "temperature" })

#define morph_trace_controller_state(state)			\
	__print_symbolic(state,					\
			 { MORPH_CONTROLLER_ACTIVE, "active" },	\
			 { MORPH_CONTROLLER_EXPIRED, "expired" },	\
			 { MORPH_CONTROLLER_GONE, "gone" })

#endif /* MORPH_CORE_TRACE_NAMES */

/* The search for paths pauses, so that other tasks can take the lock. @found: items with paths. */
TRACE_EVENT(morph_search_pause,
	    TP_PROTO(u32 fabric, u32 slice, u32 found),
	    TP_ARGS(fabric, slice, found),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, slice)
			     __field(u32, found)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->slice = slice;
			   __entry->found = found;),
	    TP_printk("fabric=%u slice=%u found=%u",
		      __entry->fabric, __entry->slice, __entry->found)
);

/* The transaction is staged: the ledger has its claims. */
TRACE_EVENT(morph_txn_stage,
	    TP_PROTO(u32 fabric, u32 slice, u32 changes),
	    TP_ARGS(fabric, slice, changes),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, slice)
			     __field(u32, changes)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->slice = slice;
			   __entry->changes = changes;),
	    TP_printk("fabric=%u slice=%u changes=%u",
		      __entry->fabric, __entry->slice, __entry->changes)
);

/* The transaction begins to change light; txn 0: its caller runs it, and it has no number. */
TRACE_EVENT(morph_txn_commit,
	    TP_PROTO(u32 fabric, u32 txn, u32 slice, u32 changes),
	    TP_ARGS(fabric, txn, slice, changes),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, txn)
			     __field(u32, slice)
			     __field(u32, changes)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->txn = txn;
			   __entry->slice = slice;
			   __entry->changes = changes;),
	    TP_printk("fabric=%u txn=%u slice=%u changes=%u",
		      __entry->fabric, __entry->txn, __entry->slice, __entry->changes)
);

/* The transaction has ended. */
/* The lease of a transaction begins: it is prepared, or committed and awaits confirmation. */
TRACE_EVENT(morph_txn_lease,
	    TP_PROTO(u32 fabric, u32 txn, u32 slice, u32 outcome, u64 lease_ns),
	    TP_ARGS(fabric, txn, slice, outcome, lease_ns),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, txn)
			     __field(u32, slice)
			     __field(u32, outcome)
			     __field(u64, lease_ns)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->txn = txn;
			   __entry->slice = slice;
			   __entry->outcome = outcome;
			   __entry->lease_ns = lease_ns;),
	    TP_printk("fabric=%u txn=%u slice=%u outcome=%s lease_ns=%llu",
		      __entry->fabric, __entry->txn, __entry->slice,
		      morph_trace_outcome(__entry->outcome), __entry->lease_ns)
);

TRACE_EVENT(morph_txn_end,
	    TP_PROTO(u32 fabric, u32 txn, u32 slice, u32 outcome, int status),
	    TP_ARGS(fabric, txn, slice, outcome, status),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, txn)
			     __field(u32, slice)
			     __field(u32, outcome)
			     __field(int, status)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->txn = txn;
			   __entry->slice = slice;
			   __entry->outcome = outcome;
			   __entry->status = status;),
	    TP_printk("fabric=%u txn=%u slice=%u outcome=%s status=%d",
		      __entry->fabric, __entry->txn, __entry->slice,
		      morph_trace_outcome(__entry->outcome), __entry->status)
);

DECLARE_EVENT_CLASS(morph_op,
		    TP_PROTO(u32 fabric, u64 cookie, const char *method, int result),
		    TP_ARGS(fabric, cookie, method, result),
		    TP_STRUCT__entry(__field(u32, fabric)
				     __field(u64, cookie)
				     __field(const char *, method)
				     __field(int, result)),
		    TP_fast_assign(__entry->fabric = fabric;
				   __entry->cookie = cookie;
				   __entry->method = method;
				   __entry->result = result;),
		    TP_printk("fabric=%u op=%llu method=%s result=%d",
			      __entry->fabric, __entry->cookie, __entry->method, __entry->result)
);

/* The provider's operation returned; -EINPROGRESS: it completes later. @method: a literal. */
DEFINE_EVENT(morph_op, morph_op_submit,
	     TP_PROTO(u32 fabric, u64 cookie, const char *method, int result),
	     TP_ARGS(fabric, cookie, method, result)
);

/* The operation failed; -ETIMEDOUT: it missed its deadline, and its cookie is invalid. */
DEFINE_EVENT(morph_op, morph_op_fail,
	     TP_PROTO(u32 fabric, u64 cookie, const char *method, int result),
	     TP_ARGS(fabric, cookie, method, result)
);

/* The provider completed an operation; not found: the completion came too late. */
TRACE_EVENT(morph_op_complete,
	    TP_PROTO(u32 fabric, u64 cookie, int status, bool found),
	    TP_ARGS(fabric, cookie, status, found),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u64, cookie)
			     __field(int, status)
			     __field(bool, found)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->cookie = cookie;
			   __entry->status = status;
			   __entry->found = found;),
	    TP_printk("fabric=%u op=%llu status=%d%s",
		      __entry->fabric, __entry->cookie, __entry->status,
		      __entry->found ? "" : " late")
);

/* The provider reported a signal. */
TRACE_EVENT(morph_signal,
	    TP_PROTO(u32 fabric, u32 type, u32 index, s32 value),
	    TP_ARGS(fabric, type, index, value),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, type)
			     __field(u32, index)
			     __field(s32, value)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->type = type;
			   __entry->index = index;
			   __entry->value = value;),
	    TP_printk("fabric=%u type=%s index=%u value=%d",
		      __entry->fabric, morph_trace_signal(__entry->type), __entry->index,
		      __entry->value)
);

/* The health of hardware changes. */
TRACE_EVENT(morph_fault,
	    TP_PROTO(u32 fabric, u32 part, u32 index, u32 health),
	    TP_ARGS(fabric, part, index, health),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, part)
			     __field(u32, index)
			     __field(u32, health)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->part = part;
			   __entry->index = index;
			   __entry->health = health;),
	    TP_printk("fabric=%u part=%s index=%u health=%s",
		      __entry->fabric, morph_trace_part(__entry->part), __entry->index,
		      morph_trace_health(__entry->health))
);

/* A controller took control, dropped it, or its lease expired. */
TRACE_EVENT(morph_controller,
	    TP_PROTO(u32 fabric, u32 controller, u64 epoch, u32 state),
	    TP_ARGS(fabric, controller, epoch, state),
	    TP_STRUCT__entry(__field(u64, epoch)
			     __field(u32, fabric)
			     __field(u32, controller)
			     __field(u32, state)),
	    TP_fast_assign(__entry->epoch = epoch;
			   __entry->fabric = fabric;
			   __entry->controller = controller;
			   __entry->state = state;),
	    TP_printk("fabric=%u controller=%u epoch=%llu state=%s", __entry->fabric,
		      __entry->controller, __entry->epoch,
		      morph_trace_controller_state(__entry->state))
);

/* A controller asked for more lanes of a guide than are available. */
TRACE_EVENT(morph_conflict,
	    TP_PROTO(u32 fabric, u32 controller, u32 guide, u32 have, u32 need),
	    TP_ARGS(fabric, controller, guide, have, need),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, controller)
			     __field(u32, guide)
			     __field(u32, have)
			     __field(u32, need)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->controller = controller;
			   __entry->guide = guide;
			   __entry->have = have;
			   __entry->need = need;),
	    TP_printk("fabric=%u controller=%u guide=%u have=%u need=%u", __entry->fabric,
		      __entry->controller, __entry->guide, __entry->have, __entry->need)
);

/* A rank got another accelerator; the phases have the order of enum morph_phase. */
TRACE_EVENT(morph_failover,
	    TP_PROTO(u32 fabric, u32 slice, u32 rank, u32 old, u32 new,
		     const struct morph_times *times),
	    TP_ARGS(fabric, slice, rank, old, new, times),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, slice)
			     __field(u32, rank)
			     __field(u32, old)
			     __field(u32, new)
			     __array(u64, phase_ns, MORPH_PHASE_COUNT)
			     __field(u64, provider_ns)
			     __field(u64, modelled_ns)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->slice = slice;
			   __entry->rank = rank;
			   __entry->old = old;
			   __entry->new = new;
			   memcpy(__entry->phase_ns, times->phase_ns,
				  sizeof(__entry->phase_ns));
			   __entry->provider_ns = times->provider_ns;
			   __entry->modelled_ns = times->modelled_ns;),
	    TP_printk("fabric=%u slice=%u rank=%u old=%u new=%u phases_ns=%s modelled_ns=%llu",
		      __entry->fabric, __entry->slice, __entry->rank, __entry->old, __entry->new,
		      __print_array(__entry->phase_ns, MORPH_PHASE_COUNT, sizeof(u64)),
		      __entry->modelled_ns)
);

TRACE_EVENT(morph_slice_create,
	    TP_PROTO(u32 fabric, u32 slice, u32 ranks),
	    TP_ARGS(fabric, slice, ranks),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, slice)
			     __field(u32, ranks)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->slice = slice;
			   __entry->ranks = ranks;),
	    TP_printk("fabric=%u slice=%u ranks=%u",
		      __entry->fabric, __entry->slice, __entry->ranks)
);

/* The circuits of an ended slice are verified dark, or its accelerators are quarantined. */
/* The repair of a slice begins, or has ended with this state. */
TRACE_EVENT(morph_slice_state,
	    TP_PROTO(u32 fabric, u32 slice, u32 state),
	    TP_ARGS(fabric, slice, state),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, slice)
			     __field(u32, state)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->slice = slice;
			   __entry->state = state;),
	    TP_printk("fabric=%u slice=%u state=%s", __entry->fabric, __entry->slice,
		      morph_trace_slice_state(__entry->state))
);

TRACE_EVENT(morph_slice_release,
	    TP_PROTO(u32 fabric, u32 slice, bool dark),
	    TP_ARGS(fabric, slice, dark),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, slice)
			     __field(bool, dark)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->slice = slice;
			   __entry->dark = dark;),
	    TP_printk("fabric=%u slice=%u dark=%d",
		      __entry->fabric, __entry->slice, __entry->dark)
);

/* A reader's queue was full and lost an event; @lost counts them since the last read. */
TRACE_EVENT(morph_event_lost,
	    TP_PROTO(u32 fabric, u32 slice, u32 type, u64 lost),
	    TP_ARGS(fabric, slice, type, lost),
	    TP_STRUCT__entry(__field(u32, fabric)
			     __field(u32, slice)
			     __field(u32, type)
			     __field(u64, lost)),
	    TP_fast_assign(__entry->fabric = fabric;
			   __entry->slice = slice;
			   __entry->type = type;
			   __entry->lost = lost;),
	    TP_printk("fabric=%u slice=%u type=%u lost=%llu",
		      __entry->fabric, __entry->slice, __entry->type, __entry->lost)
);

#endif /* MORPH_CORE_TRACE_H */

/* The compiler finds the file by -I of kmod. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core/base
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
