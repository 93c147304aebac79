// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acts of a tenant on schedules of its own slice and of its sibling's slice. A schedule that is
 * left running must stop by itself, so each loop has a step that waits for a call. The log has the
 * answer to each call, and proof.py has a rule for each.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

#define MOST_STEPS 4
#define MOST_HELD (MOST_STEPS * MOST_RANKS)
#define MOST_LOADED 4
#define US 1000ull
#define MS 1000000ull

int log_call(struct tenant *t, const char *call, int ret)
{
	int error = ret < 0 ? errno : 0;

	actor_log(&t->actor, "call %s %s", call, error ? strerrorname_np(error) : "0");
	return error;
}

/*
 * Duplicate the file: the number stays valid when the sibling closes its slice and opens another
 * one.
 */
int borrow_slice(struct tenant *t, struct morph_slice_info *info)
{
	int slice = fcntl(tenant_either(t), F_DUPFD_CLOEXEC, 0), error;

	if (slice < 0)
		return -errno;
	if (!slice_info(slice, info))
		return slice;
	error = errno;
	close(slice);
	return -error;
}

static int look(int slice, unsigned int least, struct morph_schedule_info *info,
		struct morph_schedule_step_info *steps)
{
	*info = (struct morph_schedule_info){
		.head = HEAD(morph_schedule_info),
		.schedule = least,
		.steps = ARRAY(steps, steps ? MOST_STEPS : 0),
	};
	return ioctl(slice, MORPH_SCHEDULE_INFO, info);
}

/* Read the numbers of a slice's schedules, up to the size of the array. */
static unsigned int list(int slice, unsigned int *numbers, unsigned int room)
{
	struct morph_schedule_info info;
	unsigned int count = 0, next = 1;

	while (count < room && !look(slice, next, &info, NULL)) {
		numbers[count++] = info.schedule;
		next = info.schedule + 1;
	}
	return count;
}

int any_schedule(struct tenant *t, int slice, struct morph_schedule_info *info)
{
	unsigned int numbers[2 * MOST_LOADED], count;

	count = list(slice, numbers, 2 * MOST_LOADED);
	if (!count)
		return -ENOENT;
	return look(slice, numbers[draw(t, count)], info, NULL) ? -errno : 0;
}

/* ---------------------------------------------------------------------- plans */

struct plan {
	struct morph_schedule_circuit circuits[MOST_HELD];
	struct morph_schedule_step steps[MOST_STEPS];
	uint32_t held[MOST_HELD];
	unsigned int circuits_count, steps_count, held_count;
	struct morph_schedule_load load;
};

/*
 * Add a step with @count circuits, each from rank i to rank (i + @far) % @ranks. No two share a
 * port.
 */
static void plan_shift(struct plan *plan, const struct morph_schedule_circuit *like,
		       unsigned int ranks, unsigned int count, unsigned int far)
{
	struct morph_schedule_step *step = &plan->steps[plan->steps_count++];
	unsigned int i;

	step->first = plan->held_count;
	step->count = count;
	for (i = 0; i < count; i++) {
		struct morph_schedule_circuit *circuit = &plan->circuits[plan->circuits_count];

		*circuit = *like;
		circuit->src_rank = i;
		circuit->dst_rank = (i + far) % ranks;
		plan->held[plan->held_count++] = plan->circuits_count++;
	}
}

/* Add a step of one circuit of the first step and one of the second. */
static void plan_mix(struct plan *plan)
{
	struct morph_schedule_step *step = &plan->steps[plan->steps_count++];
	const struct morph_schedule_step *second = &plan->steps[1];

	step->first = plan->held_count;
	step->count = 2;
	plan->held[plan->held_count++] = 0;
	plan->held[plan->held_count++] = plan->held[second->first + second->count - 1];
}

static void plan_begin(struct tenant *t, struct morph_schedule_step *step, bool by_call)
{
	step->advance = by_call ? MORPH_ADVANCE_CALL : draw(t, 3);
	if (step->advance == MORPH_ADVANCE_TIME)
		step->after_ns = 100 * US + draw(t, 2 * MS);
	if (!draw(t, 6))
		step->deadline_ns = step->after_ns + MS + draw(t, 20 * MS);
}

/* Choose explicit wavelengths from the few that all tenants use, or a number of any wavelengths. */
static void plan_lanes(struct tenant *t, struct morph_schedule_circuit *like,
		       const struct morph_fabric_info *fabric)
{
	if (draw(t, 3)) {
		like->lanes = draw(t, 3) ? 1 : 3;
		like->lanes <<= draw(t, fabric->wavelengths < 6 ? fabric->wavelengths - 1 : 5);
	} else {
		like->lanes_count = 1 + draw(t, 2);
	}
}

static void plan_make(struct tenant *t, struct plan *plan, unsigned int ranks,
		      const struct morph_fabric_info *fabric)
{
	unsigned int planes = fabric->planes;
	unsigned int steps = 1 + draw(t, MOST_STEPS), plane = draw(t, planes), i;
	struct morph_schedule_circuit like = { .src_plane = plane, .dst_plane = plane };
	/*
	 * On different planes the driver can light steps ahead. With any, the driver chooses the
	 * planes.
	 */
	bool apart = draw(t, 2), any = !draw(t, 4), loop = steps > 1 && draw(t, 2);

	*plan = (struct plan){};
	plan_lanes(t, &like, fabric);
	for (i = 0; i < steps; i++) {
		unsigned int count = draw(t, 3) ? ranks : 1 + draw(t, ranks);

		if (apart)
			like.src_plane = like.dst_plane = (plane + i) % planes;
		if (any)
			like.src_plane = like.dst_plane = MORPH_PLANE_ANY;
		if (i > 1 && i == steps - 1 && draw(t, 2))
			plan_mix(plan);
		else
			plan_shift(plan, &like, ranks, count, 1 + i % (ranks - 1));
		plan_begin(t, &plan->steps[i], !i);
	}
	plan->load = (struct morph_schedule_load){
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(plan->circuits, plan->circuits_count),
		.held = ARRAY(plan->held, plan->held_count),
		.steps = ARRAY(plan->steps, plan->steps_count),
		.generation = GENERATION_ANY,
	};
	if (loop)
		plan->load.head.flags = MORPH_SCHEDULE_LOOP;
}

/* Log the loaded schedule for proof.py. */
static void log_plan(struct tenant *t, const struct plan *plan,
		     const struct morph_slice_info *slice)
{
	const struct morph_schedule_circuit *like = &plan->circuits[0];
	char line[160];
	unsigned int i, bytes;

	bytes = snprintf(line, sizeof(line), "loaded %u %u %u %llu %llx %u %u", slice->slice,
			 plan->load.out_schedule, plan->load.out_circuit,
			 (unsigned long long)slice->generation, (unsigned long long)like->lanes,
			 like->lanes ? __builtin_popcountll(like->lanes) : like->lanes_count,
			 plan->load.head.flags & MORPH_SCHEDULE_LOOP);
	/* Put a blank before each step and a comma between its circuits. */
	for (i = 0; i < plan->held_count && bytes < sizeof(line); i++) {
		unsigned int step = 0;

		while (step < plan->steps_count && plan->steps[step].first != i)
			step++;
		bytes += snprintf(line + bytes, sizeof(line) - bytes, "%c%u",
				  step < plan->steps_count ? ' ' : ',', plan->held[i]);
	}
	actor_log(&t->actor, "%s", line);
}

/* A slice of one rank has no circuit. */
static int plan_for(struct tenant *t, int slice, const struct morph_slice_info *info,
		    struct plan *plan)
{
	struct morph_fabric_info fabric;
	unsigned int ranks = info->ranks.count < MOST_RANKS ? info->ranks.count : MOST_RANKS;

	if (ranks < 2)
		return EINVAL;
	if (fabric_info(slice, &fabric))
		return errno;
	plan_make(t, plan, ranks, &fabric);
	return 0;
}

static int plan_load(struct tenant *t, int slice, const struct morph_slice_info *info,
		     struct plan *plan)
{
	int error = log_call(t, "load", ioctl(slice, MORPH_SCHEDULE_LOAD, &plan->load));

	if (!error)
		log_plan(t, plan, info);
	return error;
}

/* ----------------------------------------------------------------------- verbs */

static int act(struct tenant *t, int slice, unsigned int schedule, unsigned int verb,
	       struct morph_schedule_act *args)
{
	static const char *const names[] = {
		[MORPH_SCHEDULE_START] = "start",   [MORPH_SCHEDULE_GO] = "go",
		[MORPH_SCHEDULE_ARRIVE] = "arrive", [MORPH_SCHEDULE_WAIT] = "wait",
		[MORPH_SCHEDULE_STOP] = "stop",	    [MORPH_SCHEDULE_UNLOAD] = "unload",
		[MORPH_SCHEDULE_JUMP] = "jump",
	};

	return log_call(t, names[verb], schedule_act(slice, schedule, verb, args));
}

static int start(struct tenant *t, int slice, struct morph_schedule_info *info)
{
	struct morph_schedule_act args = { .step = draw(t, info->steps.count) };
	int error = act(t, slice, info->schedule, MORPH_SCHEDULE_START, &args);

	return error || !look(slice, info->schedule, info, NULL) ? error : errno;
}

/* Choose one of the slice's schedules; load one if there is none. */
static int some_schedule(struct tenant *t, int slice, const struct morph_slice_info *info,
			 struct morph_schedule_info *schedule)
{
	int error = -any_schedule(t, slice, schedule);
	struct plan plan;

	if (error != ENOENT)
		return error;
	error = plan_for(t, slice, info, &plan);
	if (!error)
		error = plan_load(t, slice, info, &plan);
	return error || !look(slice, plan.load.out_schedule, schedule, NULL) ? error : errno;
}

int running_schedule(struct tenant *t, int slice, struct morph_schedule_info *schedule)
{
	struct morph_slice_info info;
	int error = slice_info(slice, &info) ? errno : some_schedule(t, slice, &info, schedule);

	if (!error && schedule->state != MORPH_SCHEDULE_RUNNING)
		error = start(t, slice, schedule);
	return -error;
}

/* Return a slice with a schedule, to be closed by the caller, or a negative errno. */
static int borrow_schedule(struct tenant *t, struct morph_schedule_info *schedule)
{
	struct morph_slice_info info;
	int slice = borrow_slice(t, &info), error;

	if (slice < 0)
		return slice;
	error = some_schedule(t, slice, &info, schedule);
	if (!error)
		return slice;
	close(slice);
	return -error;
}

/* Apply one verb to any schedule. */
static int borrow_and_act(struct tenant *t, unsigned int verb)
{
	struct morph_schedule_act args = {};
	struct morph_schedule_info info;
	int slice = borrow_schedule(t, &info), error;

	if (slice < 0)
		return -slice;
	if (verb == MORPH_SCHEDULE_START)
		error = start(t, slice, &info);
	else
		error = act(t, slice, info.schedule, verb, &args);
	close(slice);
	return error;
}

int schedule_load(void *who)
{
	unsigned int numbers[MOST_LOADED];
	struct morph_slice_info info;
	struct tenant *t = who;
	int slice = borrow_slice(t, &info), error;
	struct plan plan;

	if (slice < 0)
		return -slice;
	if (list(slice, numbers, MOST_LOADED) == MOST_LOADED) {
		error = act(t, slice, numbers[draw(t, MOST_LOADED)], MORPH_SCHEDULE_UNLOAD, NULL);
	} else {
		error = plan_for(t, slice, &info, &plan);
		if (!error) {
			if (!draw(t, 3))
				plan.load.generation = info.generation;
			error = plan_load(t, slice, &info, &plan);
		}
	}
	close(slice);
	return error;
}

/* Invalid schedules: the driver must refuse each of them, whatever the state of the fabric. */
static void corrupt_plan(struct tenant *t, struct plan *plan)
{
	unsigned int last = plan->held_count - 1, unknown;

	switch (draw(t, 12)) {
	case 0:
		unknown = plan->circuits_count + draw(t, 3);
		plan->held[draw(t, plan->held_count)] = unknown;
		break;
	case 1:
		plan->steps[draw(t, plan->steps_count)].reserved = 1;
		break;
	case 2:
		plan->steps[draw(t, plan->steps_count)].advance = MORPH_ADVANCE_TIME + 1;
		break;
	case 3:
		plan->steps[0].advance = MORPH_ADVANCE_TIME;
		break;
	case 4:
		plan->circuits[0].dst_rank = MORPH_RANK_EDGE;
		break;
	case 5:
		plan->load.head.flags = 0x80;
		break;
	case 6:
		plan->load.circuits.count = 0;
		break;
	case 7:
		plan->load.steps.ptr = 16;
		break;
	case 8:
		plan->circuits[0].src_rank = 1000;
		break;
	case 9:
		plan->load.profile_checksum = 1;
		break;
	case 10:
		plan->circuits[0].dst_rank = plan->circuits[0].src_rank;
		break;
	case 11:
		/* Choose one past the end, and the same one twice. */
		plan->steps[plan->steps_count - 1].count++;
		plan->held[last] = plan->held[0];
		break;
	}
}

int schedule_load_wrong(void *who)
{
	struct morph_slice_info info;
	struct tenant *t = who;
	int slice = borrow_slice(t, &info), error;
	struct plan plan;

	if (slice < 0)
		return -slice;
	error = plan_for(t, slice, &info, &plan);
	if (!error) {
		corrupt_plan(t, &plan);
		error = log_call(t, "load-wrong", ioctl(slice, MORPH_SCHEDULE_LOAD, &plan.load));
	}
	close(slice);
	return error;
}

int schedule_start(void *who)
{
	return borrow_and_act(who, MORPH_SCHEDULE_START);
}

int schedule_stop(void *who)
{
	return borrow_and_act(who, MORPH_SCHEDULE_STOP);
}

int schedule_unload(void *who)
{
	return borrow_and_act(who, MORPH_SCHEDULE_UNLOAD);
}

/* Choose all ranks, or all but one. */
static int arrive(struct tenant *t, int slice, const struct morph_schedule_info *info,
		  unsigned int ranks)
{
	struct morph_schedule_act args;
	unsigned int missing = draw(t, 2 * ranks), rank;
	int error = 0;

	for (rank = 0; rank < ranks && !error; rank++) {
		if (rank == missing)
			continue;
		args = (struct morph_schedule_act){ .rank = rank, .position = info->position };
		error = act(t, slice, info->schedule, MORPH_SCHEDULE_ARRIVE, &args);
	}
	return error;
}

/*
 * Choose a position: 0 (the next one), the correct one, a past one, or one that is too far ahead.
 */
static uint64_t position(struct tenant *t, const struct morph_schedule_info *info)
{
	unsigned int kind = draw(t, 8);

	if (kind < 2)
		return 0;
	return kind < 6 ? info->position + 1 : info->position + 2 * (kind - 6);
}

int schedule_walk(void *who)
{
	struct tenant *t = who;
	unsigned int times = 1 + draw(t, 4), verb;
	struct morph_schedule_info info;
	struct morph_slice_info slice_has;
	int slice = borrow_schedule(t, &info), error;

	if (slice < 0)
		return -slice;
	error = slice_info(slice, &slice_has) ? errno : 0;
	if (!error && info.state != MORPH_SCHEDULE_RUNNING)
		error = start(t, slice, &info);
	while (times-- && !error) {
		struct morph_schedule_act args = {};

		verb = draw(t, 4);
		args.position = position(t, &info);
		if (!verb) {
			args.step = draw(t, info.steps.count);
			error = act(t, slice, info.schedule, MORPH_SCHEDULE_JUMP, &args);
		} else if (verb == 1) {
			error = arrive(t, slice, &info, slice_has.ranks.count);
		} else {
			error = act(t, slice, info.schedule, MORPH_SCHEDULE_GO, &args);
		}
		if (!error)
			error = look(slice, info.schedule, &info, NULL) ? errno : 0;
	}
	close(slice);
	return error;
}

static void be_interrupted(int number)
{
	(void)number;
}

/*
 * No other process may ever begin this step. A periodic signal ends the wait, also if one signal
 * comes too early.
 */
int schedule_wait(void *who)
{
	struct sigaction action = { .sa_handler = be_interrupted };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec times = { .it_interval.tv_nsec = 3 * MS, .it_value.tv_nsec = 3 * MS };
	struct morph_schedule_act args = {};
	struct morph_schedule_info info;
	struct tenant *t = who;
	int slice = borrow_schedule(t, &info), error;
	timer_t timer;

	if (slice < 0)
		return -slice;
	sigaction(SIGUSR1, &action, NULL);
	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		_exit(1);
	args.position = info.position + draw(t, 3);
	timer_settime(timer, 0, &times, NULL);
	error = act(t, slice, info.schedule, MORPH_SCHEDULE_WAIT, &args);
	timer_delete(timer);
	close(slice);
	return error;
}

/* The statistics must be consistent while other threads step. */
int schedule_look(void *who)
{
	struct morph_schedule_step_info steps[MOST_STEPS];
	struct morph_schedule_info info;
	struct tenant *t = who;
	uint64_t runs = 0;
	unsigned int i;
	int slice = borrow_schedule(t, &info), error;

	if (slice < 0)
		return -slice;
	error = log_call(t, "info", look(slice, info.schedule, &info, steps));
	for (i = 0; !error && i < info.steps.count; i++) {
		runs += steps[i].runs;
		if (steps[i].changes < steps[i].ahead || steps[i].late > steps[i].runs)
			actor_log(&t->actor,
				  "wrong: step %u has %u changes, %u ahead, %u late of %llu", i,
				  steps[i].changes, steps[i].ahead, steps[i].late,
				  (unsigned long long)steps[i].runs);
	}
	if (!error && runs < info.position)
		actor_log(&t->actor, "wrong: position %llu after %llu runs",
			  (unsigned long long)info.position, (unsigned long long)runs);
	close(slice);
	return error;
}

/*
 * Run steps that a timer begins, in an endless loop, until the schedule is unloaded. No other
 * process may keep such a schedule, because it never stops. So skip shared slices, and close the
 * slice if the schedule cannot be unloaded.
 */
int schedule_spin(void *who)
{
	struct tenant *t = who;
	long long until = now_ms() + PATIENCE_MS;
	struct morph_slice_info info;
	struct plan plan;
	unsigned int i;
	int error;

	if (t->actor.log < 0 || t->shared || t->slice < 0)
		return EPERM;
	error = slice_info(t->slice, &info) ? errno : plan_for(t, t->slice, &info, &plan);
	if (error)
		return error;
	if (plan.steps_count < 2)
		return EINVAL;
	plan.load.head.flags = MORPH_SCHEDULE_LOOP;
	for (i = 0; i < plan.steps_count; i++) {
		plan.steps[i].advance = MORPH_ADVANCE_TIME;
		plan.steps[i].after_ns = 100 * US + draw(t, 500 * US);
		plan.steps[i].deadline_ns = 0;
	}
	error = plan_load(t, t->slice, &info, &plan);
	if (error)
		return error;
	act(t, t->slice, plan.load.out_schedule, MORPH_SCHEDULE_START, NULL);
	usleep(draw(t, 10000));
	page_read(t);
	do
		error = act(t, t->slice, plan.load.out_schedule, MORPH_SCHEDULE_UNLOAD, NULL);
	while (error == EAGAIN && now_ms() < until && !usleep(1000));
	return error ? tenant_drop(t) : 0;
}

int schedule_leave(void *who)
{
	struct tenant *t = who;
	struct morph_schedule_info info;

	if (t->slice < 0 || !draw(t, 3))
		return 0;
	return -running_schedule(t, t->slice, &info);
}
