/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/wire.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_WIRE_H
#define LM_INTERNAL_WIRE_H

#include <morph/plan.h>

/**
 * morph_request_write() - a request in bytes
 * @request: the request
 * @ledger: the ledger that it is for, whose profile says how many lanes make its bandwidth
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_request_write(const struct morph_request *request, const struct morph_ledger *ledger,
			    void *buffer, size_t bytes);

/**
 * morph_plan_write() - a plan with its certificate in bytes
 * @plan: the plan
 * @ledger: the ledger that it was made for
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_plan_write(const struct morph_plan *plan, const struct morph_ledger *ledger,
			 void *buffer, size_t bytes);

/**
 * morph_defrag_write_running() - the slices that were added, in bytes
 * @defrag: the problem
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * To be written before morph_defrag_take(), which changes them.
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_defrag_write_running(const struct morph_defrag *defrag, void *buffer, size_t bytes);

/**
 * morph_defrag_write() - an answer with its certificate in bytes
 * @defrag: the object, solved
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_defrag_write(const struct morph_defrag *defrag, void *buffer, size_t bytes);

/**
 * morph_protection_write() - a protection with its certificate in bytes
 * @protection: the protection
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_protection_write(const struct morph_protection *protection, void *buffer,
			       size_t bytes);

/**
 * morph_bandwidth_write_problem() - a bandwidth problem in bytes
 * @bw: the problem
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_bandwidth_write_problem(const struct morph_bandwidth *bw, void *buffer, size_t bytes);

/**
 * morph_bandwidth_write() - the answer to a bandwidth problem in bytes
 * @bw: the problem, solved
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, -ENOSPC when @bytes is less, or -EINVAL (it is not solved).
 */
ssize_t morph_bandwidth_write(const struct morph_bandwidth *bw, void *buffer, size_t bytes);

/**
 * morph_delay_write() - a delay in bytes, at the quantile that was set
 * @delay: the delay
 * @ranks: how many take part in barriers, as morph_collective_busy() says
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_delay_write(const struct morph_delay *delay, uint32_t ranks, void *buffer,
			  size_t bytes);

/**
 * morph_schedule_write() - a schedule with its bound in bytes
 * @schedule: the schedule
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_schedule_write(const struct morph_schedule *schedule, void *buffer, size_t bytes);

#endif /* LM_INTERNAL_WIRE_H */
