// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The GPU's side of a queue, by <morph/device.h>, and a reader of the state page. This file
 * declares what it needs of CUDA, so that the build needs no CUDA headers.
 */
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __CUDACC__

static __device__ inline void __threadfence_system(void)
{
	__nvvm_membar_sys();
}

#include "job.h"

#define ALL_LANES 0xffffffffu
#define BATCH 16u /* limit of answers that a warp reads under one lock */
#define STATE_EVERY 16u /* answers between two reads of the state page */
#define POLLS 1024u /* between two reads of the stop word */

static __device__ morph_half share(morph_half value)
{
	return (morph_half)__nvvm_shfl_sync_idx_i32(ALL_LANES, (int)value, 0, 31);
}

static __device__ morph_word clock_now(void)
{
	morph_word clock;

	asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock)::"memory");
	return clock;
}

static __device__ morph_word ns_now(void)
{
	morph_word ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
	return ns;
}

static __device__ int try_lock(morph_half *lock)
{
	if (__sync_val_compare_and_swap(lock, 0u, 1u))
		return 0;
	__nvvm_membar_gl();
	return 1;
}

static __device__ void unlock(morph_half *lock)
{
	__nvvm_membar_gl();
	*(volatile morph_half *)lock = 0;
}

static __device__ void count(morph_word *counter)
{
	__sync_fetch_and_add(counter, 1ull);
}

static __device__ void rest(morph_half clocks)
{
	morph_word end = clock_now() + clocks;

	while (clock_now() < end)
		;
}

/* ------------------------------------------------------------ the state page */

/* Read one pair and the position by the version of the page. Return 0 if the driver wrote. */
static __device__ int read_state(const struct job *job, morph_half which, morph_word *position)
{
	const volatile struct morph_state_page *page = job->state;
	const volatile struct morph_state_pair *pair =
		(const volatile struct morph_state_pair *)(page + 1) + which;
	morph_word version = page->version, generation, mbps;
	morph_half step, pair_generation, hops;

	__threadfence_system();
	generation = page->generation;
	step = page->step;
	*position = page->position;
	pair_generation = pair->generation;
	hops = pair->hops;
	mbps = pair->mbps;
	__threadfence_system();
	if (!job->blind && (version & 1 || page->version != version))
		return 0;
	if (step != (morph_half)job_mix(*position) || pair_generation != (morph_half)generation ||
	    hops != (morph_half)job_mix(generation) || mbps != job_mix(generation + which))
		count(&job->device->mistakes[JOB_STATE_TORN]);
	return 1;
}

/* Each warp reads the page as many times as the job has requests. */
extern "C" __global__ void watch(struct job job)
{
	morph_half done = 0;
	morph_word position;

	if (__nvvm_read_ptx_sreg_tid_x() % JOB_LANES)
		return;
	while (done < job.requests && !*job.stop) {
		if (read_state(&job, done % JOB_PAIRS, &position))
			done++;
		else
			count(&job.device->retries);
	}
	__sync_fetch_and_add(&job.device->reads, (morph_word)done);
}

/* ------------------------------------------------------------------ the queue */

/* All lanes write data that the driver must see when it takes the request. */
static __device__ void write_payload(const struct job *job, morph_word position)
{
	morph_half lane = __nvvm_read_ptx_sreg_tid_x() % JOB_LANES;

	job->payload[job_slot(position, lane)] = job_mix(position + lane);
	__nvvm_bar_warp_sync(ALL_LANES);
}

static __device__ int submit(const struct job *job, morph_word position)
{
	struct job_device *device = job->device;

	if (morph_device_submit(&device->end, job_op(position), job_tag(position),
				job_which(position), position)) {
		device->full++;
		return 0;
	}
	return 1;
}

/* If the thread of the driver sleeps, ask the host to wake it. Call this once after a request. */
static __device__ void ask_for_wake(const struct job *job)
{
	struct job_device *device = job->device;

	if (!morph_device_asleep(&device->end))
		return;
	*job->wake = device->end.submitted;
	device->wakes++;
}

static __device__ void check_state(const struct job *job, morph_word answered)
{
	struct job_device *device = job->device;
	morph_word position;

	while (!read_state(job, (morph_half)answered % JOB_PAIRS, &position)) {
		device->retries++;
		if (*job->stop)
			return;
	}
	device->reads++;
	if (position < answered)
		count(&device->mistakes[JOB_STATE_OLD]);
}

/* Read the next answer, of any producer. The answers of one producer come in its order. */
static __device__ int take_answer(const struct job *job)
{
	struct job_device *device = job->device;
	struct morph_device_answer answer;
	morph_half producer, number;
	morph_word position;

	if (!morph_device_answered(&device->end, &answer))
		return 0;
	producer = answer.tag / JOB_NUMBERS;
	number = device->answered[producer] + 1;
	position = job_position(producer, number);
	if (answer.tag != job_tag(position))
		count(&device->mistakes[JOB_ANSWER_ORDER]);
	if (answer.error != job_error(position))
		count(&device->mistakes[JOB_ANSWER_ERROR]);
	/* The test driver counts requests in the position. */
	if (answer.position != device->end.seen)
		count(&device->mistakes[JOB_ANSWER_POSITION]);
	if (!job->ticks && !(number % STATE_EVERY))
		check_state(job, answer.position);
	*(volatile morph_half *)&device->answered[producer] = number;
	return 1;
}

/* Each warp is a producer. Two locks leave one submitter and one reader of answers at a time. */
extern "C" __global__ void contend(struct job job)
{
	struct job_device *device = job.device;
	morph_half thread = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
			    __nvvm_read_ptx_sreg_tid_x();
	morph_half producer = thread / JOB_LANES, leads = !(thread % JOB_LANES);
	morph_half written = 0, sent = 0, rounds = 0, answered, batch;

	for (;;) {
		answered = *(volatile morph_half *)&device->answered[producer];
		if (!(++rounds % POLLS) && *job.stop)
			answered = job.requests;
		answered = share(answered);
		if (answered >= job.requests)
			return;
		if (sent < job.requests && sent - answered < JOB_WINDOW) {
			morph_word position = job_position(producer, sent + 1);
			morph_half done = 0;

			if (written == sent) {
				rest(job.pause ? (morph_half)job_mix(position) % job.pause : 0);
				write_payload(&job, position);
				written++;
			}
			if (leads && try_lock(&device->submitting)) {
				done = submit(&job, position);
				if (done)
					ask_for_wake(&job);
				unlock(&device->submitting);
			}
			sent += share(done);
		}
		if (leads && try_lock(&device->answering)) {
			for (batch = 0; batch < BATCH && take_answer(&job); batch++)
				;
			unlock(&device->answering);
		}
		__nvvm_bar_warp_sync(ALL_LANES);
	}
}

/* Write to the memory of the host until the producer has finished. */
static __device__ void write_much(const struct job *job, morph_half producer)
{
	morph_half lane = __nvvm_read_ptx_sreg_tid_x() % JOB_LANES, number = 0;

	for (; !*(volatile morph_half *)&job->device->done; number++)
		job->payload[job_slot(job_position(producer, number), lane)] = number;
}

/*
 * The first block, one warp, sends one request at a time without locks and measures the time to its
 * answer. Other blocks keep the bus busy.
 */
extern "C" __global__ void ask(struct job job)
{
	morph_word first_clock = clock_now(), first_ns = ns_now(), start, polls;
	morph_half leads = !__nvvm_read_ptx_sreg_tid_x(), block = __nvvm_read_ptx_sreg_ctaid_x(), i;

	if (block) {
		write_much(&job, block);
		return;
	}
	for (i = 0; i < job.requests && !share(*job.stop); i++) {
		morph_word position = job_position(0, i + 1);

		rest(job.pause ? (morph_half)job_mix(position) % job.pause : 0);
		write_payload(&job, position);
		start = clock_now();
		if (leads && submit(&job, position)) {
			for (polls = 0; polls == job.patience || !take_answer(&job); polls++) {
				if (polls == job.patience)
					ask_for_wake(&job);
				if (!((polls + 1) % POLLS) && *job.stop)
					break;
			}
		}
		if (leads && job.ticks)
			job.ticks[i] = (morph_half)(clock_now() - start);
	}
	if (leads) {
		job.device->clocks = clock_now() - first_clock;
		job.device->ns = ns_now() - first_ns;
		*(volatile morph_half *)&job.device->done = 1;
	}
}

/* Measure single reads of the memory of the host. */
extern "C" __global__ void read_bus(struct job job)
{
	morph_word first_clock = clock_now(), first_ns = ns_now(), start;

	if (__nvvm_read_ptx_sreg_tid_x())
		return;
	for (morph_half i = 0; i < job.requests; i++) {
		start = clock_now();
		if (*job.stop)
			return;
		job.ticks[i] = (morph_half)(clock_now() - start);
	}
	job.device->clocks = clock_now() - first_clock;
	job.device->ns = ns_now() - first_ns;
}
