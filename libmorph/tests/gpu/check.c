// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * check DIR: a GPU sends requests through a queue. A thread of this program answers them with
 * functions of the driver. Both sides check all that they read. DIR holds the programs of the GPU:
 * sound.ptx, and one for each defect of the header, which the checks must find.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cuda.h"
#include "driver.h"

#define PAGE 4096u
#define STALL_NS 2000000000ULL
#define LIMIT_NS 20000000000ULL
#define DRIVER_IDLE_NS 1000000 /* default of the driver */
#define IDLE_NS 20000 /* short, so that the thread sleeps often */
#define STOP (64 / sizeof(morph_half)) /* index of the stop word; the wake word has index 0 */
#define SHARED_BYTES (PAGE + JOB_PAYLOAD * sizeof(morph_word))
#define LOOKS 1024 /* reads of the wake word between two queries of the GPU */

struct scene {
	const char *name;
	const char *kernel;
	u32 warps, blocks, requests; /* of each block, of the grid, of each warp */
	u32 entries;
	u32 pause, patience;
	u32 writers; /* additional blocks that only write */
	u32 rate; /* requests in a second (default: the maximum of the driver) */
	const char *defect;
	u64 least_sleeps, least_full, least_retries;
	bool inserted, interrupted, blind, timed;
};

/* Several runs show the spread. */
#define ROUND_TRIP                                                   \
	{                                                            \
		"round trip", "ask", 1, 1, 100000, 64, .timed = true \
	}

static const struct scene scenes[] = {
	{ "32 producers, queue of 8 entries", "contend", 8, 4, 32000, .entries = 8 },
	{ "32 producers, 4096 entries in pages that the kernel inserted", "contend", 8, 4, 4000,
	  4096, .inserted = true },
	{ "the driver's thread is interrupted", "contend", 8, 4, 4000, 8, .interrupted = true },
	{ "the driver is slow, the queue full", "contend", 8, 4, 500, 8, .rate = 5000,
	  .least_full = 1000 },
	{ "the driver's thread sleeps, 4 producers", "contend", 4, 1, 10000, 8, .pause = 200000,
	  .least_sleeps = 1000 },
	{ "the driver's thread sleeps, one producer", "ask", 1, 1, 40000, 8, .pause = 100000,
	  .least_sleeps = 10000 },
	{ "the driver's thread sleeps, 63 warps write", "ask", 1, 1, 20000, 8, .writers = 63,
	  .pause = 100000, .least_sleeps = 1000 },
	{ "state page, 32 readers", "watch", 8, 4, 2000, 8, .least_retries = 1000 },
	{ "state page, one reader", "watch", 1, 1, 50000, 8, .least_retries = 1000 },
	{ "state page, its writer is interrupted", "watch", 1, 1, 50000, 8, .least_retries = 1000,
	  .interrupted = true },
	{ "one read of the host's memory", "read_bus", 1, 1, 100000, 8, .timed = true },
	ROUND_TRIP,
	ROUND_TRIP,
	ROUND_TRIP,
	ROUND_TRIP,
	ROUND_TRIP,
	{ "round trip, 16 polls before the asleep word is read", "ask", 1, 1, 100000, 64,
	  .patience = 16, .timed = true },
	{ "wrong lap bit", "contend", 8, 4, 1000, 8, .defect = "lap" },
	{ "answers by their first word alone", "ask", 1, 1, 40000, 8, .defect = "word",
	  .interrupted = true },
	{ "one request more than the queue has entries", "contend", 8, 4, 500, 8, .rate = 5000,
	  .defect = "full" },
	{ "state page without its version", "watch", 8, 4, 2000, 8, .defect = "sound",
	  .blind = true },
};

#define SCENES (sizeof(scenes) / sizeof(scenes[0]))

static const char *const mistake_names[JOB_MISTAKES] = {
	[JOB_ORDER] = "requests lost, repeated or out of order",
	[JOB_CONTENT] = "requests with other contents",
	[JOB_PAYLOAD_OLD] = "requests that came before their data",
	[JOB_NO_WAKE] = "requests without a wake-up",
	[JOB_STOPPED] = "queues that the driver stopped",
	[JOB_STALLED] = "standstills",
	[JOB_ANSWER_ORDER] = "answers lost, repeated or out of order",
	[JOB_ANSWER_ERROR] = "answers with another error",
	[JOB_ANSWER_POSITION] = "answers with another position",
	[JOB_STATE_TORN] = "torn states",
	[JOB_STATE_OLD] = "states older than an answer",
};

/* ------------------------------------------------------------------ memory */

static _Noreturn void bail_out(const char *what)
{
	printf("Bail out! %s: %m\n", what);
	exit(1);
}

static void *must_map(void *memory, const char *what)
{
	if (!memory || memory == MAP_FAILED)
		bail_out(what);
	return memory;
}

static void *map_pages(size_t bytes)
{
	return must_map(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			     0),
			"map memory");
}

/*
 * Map pages that the kernel inserted with vm_insert_page(), as the driver does with a queue. They
 * belong to a packet socket, which never sends them.
 */
static void *map_inserted(size_t bytes)
{
	struct tpacket_req blocks = { PAGE, (u32)(bytes / PAGE), PAGE, (u32)(bytes / PAGE) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	void *memory;

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_TX_RING, &blocks, sizeof(blocks)))
		return NULL;
	memory = must_map(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
			  "map pages of a socket");
	close(fd);
	return memory;
}

/* Map a state page twice: writable for the driver, and read-only for the GPU as for a process. */
static struct morph_state_page *map_state(void **of_process)
{
	int fd = memfd_create("state", 0), reader;
	char path[32];
	void *state;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY);
	if (fd < 0 || reader < 0 || ftruncate(fd, PAGE))
		bail_out("make a state page");
	state = must_map(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
			 "map the state");
	*of_process = must_map(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reader, 0), "map the state");
	close(fd);
	close(reader);
	return state;
}

/* ------------------------------------------------------------------- a scene */

struct stage {
	const struct scene *scene;
	struct driver driver;
	struct job job;
	struct job_device device;
	void *queue, *state;
	volatile morph_half *shared;
	morph_half *ticks;
	u64 ns;
};

static u32 warps_of(const struct scene *scene)
{
	return scene->warps * scene->blocks;
}

/* Return false if this system has no packet sockets. */
static bool stage_open(struct stage *stage, const struct scene *scene)
{
	size_t bytes = MORPH_RING_BYTES(scene->entries),
	       ticks = scene->requests * sizeof(*stage->ticks);
	struct morph_state_page *state;
	char *shared;

	memset(stage, 0, sizeof(*stage));
	stage->scene = scene;
	stage->queue = scene->inserted ? map_inserted(bytes) : map_pages(bytes);
	if (!stage->queue)
		return false;
	state = map_state(&stage->state);
	stage->shared = map_pages(SHARED_BYTES);
	driver_init(&stage->driver, stage->queue, scene->entries,
		    scene->pause ? IDLE_NS : DRIVER_IDLE_NS, state);
	if (scene->rate)
		stage->driver.queue.entry_ns = 1000000000 / scene->rate;
	stage->driver.producers = warps_of(scene);
	stage->driver.interrupted = scene->interrupted;
	stage->driver.payload = (void *)((char *)stage->shared + PAGE);
	shared = cuda_register((void *)stage->shared, SHARED_BYTES, false);
	stage->job.wake = (morph_half *)shared;
	stage->job.stop = (morph_half *)shared + STOP;
	stage->job.payload = (morph_word *)(shared + PAGE);
	stage->job.state = cuda_register(stage->state, PAGE, true);
	stage->job.device = cuda_alloc(sizeof(stage->device));
	stage->job.ticks = scene->timed ? cuda_alloc(ticks) : NULL;
	stage->ticks = must_map(calloc(1, ticks), "memory");
	stage->job.requests = scene->requests;
	stage->job.pause = scene->pause;
	stage->job.patience = scene->patience;
	stage->job.blind = scene->blind;
	stage->device.end.base = cuda_register(stage->queue, bytes, false);
	stage->device.end.entries = scene->entries;
	cuda_put(stage->job.device, &stage->device, sizeof(stage->device));
	return true;
}

static void stage_close(struct stage *stage)
{
	if (stage->job.ticks)
		cuda_free(stage->job.ticks);
	cuda_free(stage->job.device);
	cuda_unregister(stage->queue);
	cuda_unregister(stage->state);
	cuda_unregister((void *)stage->shared);
	munmap(stage->queue, MORPH_RING_BYTES(stage->scene->entries));
	munmap(stage->state, PAGE);
	munmap(stage->driver.slice.state_page, PAGE);
	munmap((void *)stage->shared, SHARED_BYTES);
	free(stage->ticks);
}

/* Wake the driver for the GPU until the GPU ends. Stop it when it makes no progress. */
static void stage_attend(struct stage *stage, bool queues)
{
	u64 begin = ktime_get_ns(), last = begin, taken = 0, now = begin;
	morph_half woken = 0;

	while (cuda_runs()) {
		for (u32 i = 0; i < LOOKS; i++) {
			if (stage->shared[0] == woken)
				continue;
			woken = stage->shared[0];
			driver_wake(&stage->driver);
		}
		now = ktime_get_ns();
		if (READ_ONCE(stage->driver.queue.taken_ever) != taken) {
			taken = READ_ONCE(stage->driver.queue.taken_ever);
			last = now;
		}
		if (now - last < (queues ? STALL_NS : LIMIT_NS))
			continue;
		if (stage->shared[STOP]) {
			printf("Bail out! the GPU does not stop\n");
			exit(1);
		}
		stage->driver.mistakes[JOB_STALLED]++;
		stage->shared[STOP] = 1;
		last = now;
	}
	stage->ns = now - begin;
}

static void stage_run(struct stage *stage)
{
	const struct scene *scene = stage->scene;
	bool queues = strcmp(scene->kernel, "watch") && strcmp(scene->kernel, "read_bus");
	u32 i;

	if (queues ? driver_run(&stage->driver) : driver_rewrite(&stage->driver))
		bail_out("start the driver's thread");
	cuda_start(scene->kernel, scene->blocks + scene->writers, scene->warps * JOB_LANES,
		   &stage->job);
	stage_attend(stage, queues);
	stage->driver.mistakes[JOB_STOPPED] += stage->driver.queue.state == MORPH_RING_STOPPED;
	driver_close(&stage->driver);
	cuda_get(&stage->device, stage->job.device, sizeof(stage->device));
	if (stage->job.ticks)
		cuda_get(stage->ticks, stage->job.ticks, scene->requests * sizeof(*stage->ticks));
	for (i = 0; i < JOB_MISTAKES; i++)
		stage->device.mistakes[i] += stage->driver.mistakes[i];
	/* Both sides have ended, so a request or answer that is missing now is lost. */
	for (i = 0; queues && i < warps_of(scene); i++) {
		stage->device.mistakes[JOB_ORDER] += stage->driver.served[i] != scene->requests;
		stage->device.mistakes[JOB_ANSWER_ORDER] += stage->device.answered[i] !=
							    scene->requests;
	}
}

/* ------------------------------------------------------------------- results */

static int compare_ticks(const void *a, const void *b)
{
	const morph_half *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static void print_times(struct stage *stage)
{
	double ns = (double)stage->device.ns / (double)stage->device.clocks;
	u32 count = stage->scene->requests;
	const struct {
		const char *name;
		u32 index;
	} at[] = {
		{ "minimum", 0 },
		{ "median", count / 2 },
		{ "99 %", count / 100 * 99 },
		{ "99.9 %", count / 1000 * 999 },
		{ "maximum", count - 1 },
	};

	qsort(stage->ticks, count, sizeof(*stage->ticks), compare_ticks);
	printf("#   us:");
	for (u32 i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		printf(" %s %.2f", at[i].name, stage->ticks[at[i].index] * ns / 1000);
	printf(" (%.3f GHz)\n", 1 / ns);
}

static bool print_result(struct stage *stage, u32 number)
{
	const struct scene *scene = stage->scene;
	const struct job_device *device = &stage->device;
	u64 found = 0;
	bool right;
	u32 i;

	for (i = 0; i < JOB_MISTAKES; i++)
		found += device->mistakes[i];
	right = scene->defect ? found > 0 :
				!found && stage->driver.queue.sleeps >= scene->least_sleeps &&
					device->full >= scene->least_full &&
					device->retries >= scene->least_retries;
	printf("%sok %u - %s%s\n", right ? "" : "not ", number,
	       scene->defect ? "defect found: " : "", scene->name);
	printf("#   %.2f s: %llu requests, %llu times full, %llu sleeps, %llu wakes; state: %llu reads, %llu retries\n",
	       (double)stage->ns / 1e9, (unsigned long long)stage->driver.queue.taken_ever,
	       device->full, (unsigned long long)stage->driver.queue.sleeps, device->wakes,
	       device->reads, device->retries);
	for (i = 0; i < JOB_MISTAKES; i++)
		if (device->mistakes[i])
			printf("#   %llu %s\n", device->mistakes[i], mistake_names[i]);
	if (scene->timed)
		print_times(stage);
	return right;
}

int main(int argc, char **argv)
{
	static struct stage stage;
	char gpu[256], path[4096];
	const char *reason;
	bool right = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	reason = argc == 2 ? cuda_open(gpu, sizeof(gpu)) : "usage: check DIR";
	if (reason) {
		printf("1..0 # SKIP no GPU: %s\n", reason);
		return argc != 2;
	}
	printf("TAP version 13\n1..%zu\n# %s\n", SCENES, gpu);
	for (u32 i = 0; i < SCENES; i++) {
		const struct scene *scene = &scenes[i];

		snprintf(path, sizeof(path), "%s/%s.ptx", argv[1],
			 scene->defect ? scene->defect : "sound");
		cuda_load(path);
		if (!stage_open(&stage, scene)) {
			printf("ok %u - %s # SKIP no packet sockets here\n", i + 1, scene->name);
			continue;
		}
		stage_run(&stage);
		right &= print_result(&stage, i + 1);
		stage_close(&stage);
	}
	return !right;
}
