// SPDX-License-Identifier: GPL-2.0-only
/* Run a program on a simulated fabric, and check the conditions after each call and at its end. */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "fabric.h"
#include "nl.h"
#include "surface.h"

#define ARENA_BYTES 65536u /* size of one array; the memory after it is invalid */
#define ARENAS 4u
#define STRUCT_BYTES 8192u
#define MOST_FILES 24u
#define MOST_KNOWN 8u
#define GUARD 0xa5

struct world {
	struct sim sim;
	bool gone; /* a program has removed the provider */
	bool hurt; /* hardware has failed since the fabric was made */
	unsigned int fabrics;
	struct nl nl, monitor;
	uint8_t *arenas[ARENAS];
	uint8_t *structure;
	int fds[MOST_FILES];
	unsigned int files;
	uint32_t slices[MOST_KNOWN], txns[MOST_KNOWN];
	unsigned int slices_count, txns_count;
	int fail; /* /proc/self/fail-nth, or -1 if the kernel has none */
	char wrong[200];
};

/* ---------------------------------------------------------------- the scene */

static uint8_t *arena_new(void)
{
	uint8_t *arena = mmap(NULL, 2 * ARENA_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (arena == MAP_FAILED || mprotect(arena + ARENA_BYTES, ARENA_BYTES, PROT_NONE)) {
		perror("mmap");
		exit(1);
	}
	return arena;
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

static void fabric_new(struct world *world)
{
	sim_start(&world->sim, "server8", NULL);
	world->gone = world->hurt = false;
	world->fabrics++;
}

struct world *world_open(void)
{
	struct world *world = calloc(1, sizeof(*world));
	unsigned int at;

	for (at = 0; at < ARENAS; at++)
		world->arenas[at] = arena_new();
	world->structure = arena_new();
	if (nl_open(&world->nl) || nl_open(&world->monitor) || nl_join(&world->monitor)) {
		fprintf(stderr, "# no netlink family\n");
		exit(1);
	}
	world->fail = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	write_text("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_text("/sys/kernel/debug/failslab/verbose", "0");
	write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_text("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	fabric_new(world);
	return world;
}

void world_close(struct world *world)
{
	sim_stop(&world->sim);
	nl_close(&world->nl);
	nl_close(&world->monitor);
}

unsigned int world_fabrics(const struct world *world)
{
	return world->fabrics;
}

static void __attribute__((format(printf, 2, 3)))
wrong(struct world *world, const char *format, ...)
{
	va_list arguments;

	if (world->wrong[0])
		return;
	va_start(arguments, format);
	vsnprintf(world->wrong, sizeof(world->wrong), format, arguments);
	va_end(arguments);
}

/* ------------------------------------------------------------------- values */

static uint64_t resolve(const struct world *world, const struct value *value)
{
	switch ((enum reference)value->reference) {
	case REF_FABRIC:
		return world->sim.number;
	case REF_SLICE:
		return value->number < world->slices_count ? world->slices[value->number] : 0;
	case REF_TXN:
		return value->number < world->txns_count ? world->txns[value->number] : 0;
	case REF_BUFFER:
		return (uintptr_t)world->arenas[ARENAS - 1];
	case REF_BRINK:
		return (uintptr_t)world->arenas[ARENAS - 1] + ARENA_BYTES - 4;
	default:
		return value->number;
	}
}

/* Names that are valid, duplicate or too long. */
static const char *text_of(uint64_t number)
{
	static const char *const texts[] = {
		"fuzz-a", "fuzz-b",	  "",	  "a b", "0123456789012345678901234567890",
		"../x",	  "0000:00:02.0", "\377",
	};

	return texts[number % (sizeof(texts) / sizeof(texts[0]))];
}

static void put_field(const struct world *world, const struct field *field,
		      const struct value *value, uint8_t *at)
{
	uint64_t number = resolve(world, value);

	if (field->form == FORM_TEXT)
		strncpy((char *)at, text_of(number), field->bytes);
	else
		memcpy(at, &number, field->bytes);
}

static int file_of(const struct world *world, const struct call *call)
{
	if (!call->fd)
		return world->sim.fd;
	return call->fd <= world->files ? world->fds[call->fd - 1] : world->sim.fd;
}

static void know_file(struct world *world, int fd)
{
	if (world->files == MOST_FILES) {
		close(fd);
		return;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	world->fds[world->files++] = fd;
}

static void know_slice(struct world *world, uint32_t slice)
{
	if (world->slices_count < MOST_KNOWN)
		world->slices[world->slices_count++] = slice;
}

static void know_txn(struct world *world, uint32_t txn)
{
	if (txn && world->txns_count < MOST_KNOWN)
		world->txns[world->txns_count++] = txn;
}

/* -------------------------------------------------------------------- ioctl */

/* Fill arrays that the program does not set with its own values, or with a few empty entries. */
static void lay_arrays(struct world *world, const struct command *command, const struct call *call)
{
	uint32_t counts[ARENAS] = { 0 };

	for (unsigned int at = 0; at < command->lists_count; at++)
		memset(world->arenas[at], 0, MOST_ENTRIES * 256u);
	for (unsigned int at = 0; at < call->count; at++) {
		const struct value *value = &call->values[at];
		const struct field *field = &command->fields[value->field];
		const struct list *list;

		if (field->list == NO_LIST)
			continue;
		list = &command->lists[field->list];
		put_field(world, field, value,
			  world->arenas[list->at == SCRATCH ? ARENAS - 1 : field->list] +
				  (size_t)value->entry * list->stride + field->at);
		if (counts[field->list] <= value->entry)
			counts[field->list] = value->entry + 1u;
	}
	for (unsigned int at = 0; at < command->lists_count; at++) {
		struct morph_array array = {
			.ptr = counts[at] ? (uintptr_t)world->arenas[at] : 0,
			.count = counts[at],
			.stride = command->lists[at].stride,
		};

		if (command->lists[at].at != SCRATCH)
			memcpy(world->structure + command->lists[at].at, &array, sizeof(array));
	}
}

/* Commands with arrays for answers get arrays of that size. */
static void make_room(struct world *world, const struct command *command)
{
	for (unsigned int at = 0; at < command->lists_count; at++) {
		uint8_t *place = world->structure + command->lists[at].at;
		struct morph_array array;

		if (command->number == MORPH_SLICE_CREATE || command->number == MORPH_TXN_RUN ||
		    command->number == MORPH_SCHEDULE_LOAD)
			continue;
		memcpy(&array, place, sizeof(array));
		array.ptr = (uintptr_t)world->arenas[at];
		array.count = MOST_ENTRIES;
		memcpy(place, &array, sizeof(array));
	}
}

/* Errnos that uapi/linux/morph.h documents, or that mean lack of memory or signals. */
static bool errno_known(int error)
{
	static const int known[] = {
		ENOTTY, EINVAL, E2BIG,	EOPNOTSUPP, EFAULT, EMSGSIZE, ENOENT,	    EEXIST, EPERM,
		EACCES, EDQUOT, ENOSPC, EBUSY,	    ERANGE, EXDEV,    EHOSTUNREACH, ESTALE, EAGAIN,
		ETIME,	ENXIO,	ENOMEM, ECANCELED,  EINTR,  ENODEV,   ETIMEDOUT,    EIO,
	};

	for (size_t at = 0; at < sizeof(known) / sizeof(known[0]); at++)
		if (known[at] == error)
			return true;
	return false;
}

/* Memory that the kernel must not write is unchanged. */
static void check_answer(struct world *world, const struct command *command, uint32_t size,
			 uint32_t flags, int error)
{
	const struct morph_head *head = (const void *)world->structure;
	uint32_t first = size > command->bytes ? size : command->bytes;

	if (head->size != size || head->flags != flags)
		wrong(world, "%s: size or flags have changed", command->name);
	if (error && !errno_known(error))
		wrong(world, "%s: undocumented: %s", command->name, strerror(error));
	for (uint32_t at = first; at < STRUCT_BYTES; at++)
		if (world->structure[at] != GUARD) {
			wrong(world, "%s: byte %u was written, the structure has %u", command->name,
			      at, size);
			return;
		}
}

static int run_ioctl(struct world *world, const struct command *command, const struct call *call)
{
	struct morph_head *head = (void *)world->structure;
	uint32_t size, flags;
	int error;

	memset(world->structure, GUARD, STRUCT_BYTES);
	memset(world->structure, 0, command->bytes);
	head->size = command->bytes;
	lay_arrays(world, command, call);
	make_room(world, command);
	for (unsigned int at = 0; at < call->count; at++) {
		const struct field *field = &command->fields[call->values[at].field];

		if (field->list == NO_LIST)
			put_field(world, field, &call->values[at], world->structure + field->at);
	}
	size = head->size;
	flags = head->flags;
	if (size > command->bytes && size <= STRUCT_BYTES && !(size & 1))
		memset(world->structure + command->bytes, 0, size - command->bytes);
	patience(command->number == MORPH_SCHEDULE_ACT);
	error = ioctl(file_of(world, call), command->number, world->structure) ? errno : 0;
	patience(false);
	check_answer(world, command, size, flags, error);
	if (!error && command->number == MORPH_SLICE_CREATE && !(flags & MORPH_SLICE_DRY_RUN)) {
		know_file(world, ((struct morph_slice_create *)head)->out_fd);
		know_slice(world, ((struct morph_slice_create *)head)->out_slice);
	}
	if (!error && command->number == MORPH_GRANT_CREATE)
		know_file(world, ((struct morph_grant_create *)head)->out_fd);
	if (!error && command->number == MORPH_TXN_RUN)
		know_txn(world, ((struct morph_txn_run *)head)->out_txn);
	return error;
}

/* ------------------------------------------------------------------ netlink */

static void put_attribute(struct world *world, const struct field *field, const struct value *value)
{
	uint8_t uuid[MORPH_UUID_BYTES] = { (uint8_t)value->number };
	uint64_t number = resolve(world, value);

	switch (field->form) {
	case FORM_TEXT:
		nl_put_text(&world->nl, field->at, text_of(number));
		break;
	case FORM_UUID:
		nl_put(&world->nl, field->at, uuid, number & 0x80 ? 3 : sizeof(uuid));
		break;
	case FORM_FLAG:
		nl_put(&world->nl, field->at, NULL, 0);
		break;
	default:
		nl_put(&world->nl, field->at, &number, field->bytes);
	}
}

/* Write the nests of one list: an entry for each number up to the highest. */
static void put_nests(struct world *world, const struct command *command, const struct call *call,
		      unsigned int list)
{
	unsigned int entries = 0;

	for (unsigned int at = 0; at < call->count; at++)
		if (command->fields[call->values[at].field].list == list &&
		    call->values[at].entry >= entries)
			entries = call->values[at].entry + 1u;
	for (unsigned int entry = 0; entry < entries; entry++) {
		size_t nest = nl_nest(&world->nl, command->lists[list].at);

		for (unsigned int at = 0; at < call->count; at++) {
			const struct field *field = &command->fields[call->values[at].field];

			if (field->list == list && call->values[at].entry == entry)
				put_attribute(world, field, &call->values[at]);
		}
		nl_nest_end(&world->nl, nest);
	}
}

static int run_netlink(struct world *world, const struct command *command, const struct call *call)
{
	const struct field *fields = command->fields;
	uint16_t flags = 0;
	uint32_t id;
	int error;

	for (unsigned int at = 0; at < call->count; at++)
		if (!call->values[at].field) /* "nlflags" */
			flags = (uint16_t)(call->values[at].number & 0xf0c);
	nl_begin(&world->nl, (uint8_t)command->number, flags);
	for (unsigned int at = 0; at < call->count; at++)
		if (call->values[at].field && fields[call->values[at].field].list == NO_LIST)
			put_attribute(world, &fields[call->values[at].field], &call->values[at]);
	for (unsigned int list = 0; list < command->lists_count; list++)
		put_nests(world, command, call, list);
	if ((flags & NLM_F_DUMP) == NLM_F_DUMP)
		return nl_dump(&world->nl, NULL, NULL);
	error = nl_do(&world->nl);
	if (error)
		return error;
	if (command->number == MORPH_CMD_SLICE_CREATE) {
		id = REPLY_U32(&world->nl, MORPH_A_SLICE_ID);
		if (id != MORPH_ANY)
			know_slice(world, id);
	}
	if (command->number == MORPH_CMD_CIRCUIT_APPLY) {
		id = REPLY_U32(&world->nl, MORPH_A_TXN_ID);
		if (id != MORPH_ANY)
			know_txn(world, id);
	}
	return 0;
}

/* ------------------------------------------------------------------- others */

static int run_read(struct world *world, const struct call *call)
{
	uint32_t bytes = call->count ? (uint32_t)resolve(world, &call->values[0]) : 4096;
	int fd = file_of(world, call);
	uint8_t *at = world->arenas[0];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	return read(fd, at, bytes) < 0 ? errno : 0;
}

static int run_poll(struct world *world, const struct call *call)
{
	struct pollfd wait = { .fd = file_of(world, call), .events = POLLIN };

	return poll(&wait, 1, 0) < 0 ? errno : 0;
}

static int run_close(struct world *world, const struct call *call)
{
	if (!call->fd || call->fd > world->files)
		return EBADF;
	close(world->fds[call->fd - 1]);
	world->fds[call->fd - 1] = world->fds[--world->files];
	return 0;
}

static int run_open(struct world *world)
{
	int fd = open_fabric(world->sim.number);

	if (fd < 0)
		return errno;
	know_file(world, fd);
	return 0;
}

static int run_fault(struct world *world, const struct call *call)
{
	static const char *const faults[] = {
		"accelerator_dead %u",
		"laser_dead %u.0",
		"element_stuck %u",
		"guide_lossy %u mdb=9000",
		"receiver_deaf %u.1",
		"programming_error",
		"programming_timeout",
		"programming_error every=2 for=2000000",
		"programming_timeout late=900000",
		"accelerator_flapping %u",
	};
	unsigned int values[3] = { 0 };
	char line[120];

	for (unsigned int at = 0; at < call->count; at++)
		values[call->values[at].field] = (unsigned int)resolve(world, &call->values[at]);
	snprintf(line, sizeof(line), faults[values[0] % 10], values[1] % 16);
	if (values[2])
		snprintf(line + strlen(line), sizeof(line) - strlen(line), " after=%u",
			 values[2] % 64);
	world->hurt = true;
	return sim_control(&world->sim, "fault", "%s", line) ? errno : 0;
}

static int run_ring(struct world *world, const struct command *command, const struct call *call)
{
	uint64_t values[SUBMIT_FIELDS] = { 0 };

	for (unsigned int at = 0; at < call->count; at++)
		values[call->values[at].field] = resolve(world, &call->values[at]);
	return command->how == HOW_MAP ? ring_map(file_of(world, call), values) :
					 ring_submit(values);
}

static int run_pull(struct world *world)
{
	if (!world->gone)
		sim_pull(&world->sim);
	world->gone = true;
	return 0;
}

/* --------------------------------------------------------------------- runs */

static void set_fail(const struct world *world, unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	if (world->fail >= 0 && pwrite(world->fail, text, strlen(text), 0) < 0)
		perror("fail-nth");
}

static int run_call(struct world *world, const struct call *call)
{
	const struct command *command = &commands[call->command];

	switch (command->how) {
	case HOW_IOCTL:
		return run_ioctl(world, command, call);
	case HOW_NETLINK:
		/* defaults of all users, and marks on hardware, would outlive the program */
		if (command->number == MORPH_CMD_HARDWARE_FAIL ||
		    command->number == MORPH_CMD_HARDWARE_SET ||
		    command->number == MORPH_CMD_ACCELERATOR_SET)
			world->hurt = true;
		return run_netlink(world, command, call);
	case HOW_READ:
		return run_read(world, call);
	case HOW_POLL:
		return run_poll(world, call);
	case HOW_CLOSE:
		return run_close(world, call);
	case HOW_OPEN:
		return run_open(world);
	case HOW_FAULT:
		return run_fault(world, call);
	case HOW_CLEAR:
		return sim_control(&world->sim, "clear", "all") ? errno : 0;
	case HOW_PULL:
		return run_pull(world);
	case HOW_MAP:
	case HOW_SUBMIT:
		return run_ring(world, command, call);
	}
	return ENOSYS;
}

static void list_slice(const struct nlmsghdr *message, void *context)
{
	struct world *world = context;

	if (world->slices_count < MOST_KNOWN)
		world->slices[world->slices_count++] =
			nl_get_u32(nl_find(message, MORPH_A_SLICE_ID));
}

/* Remove the rest of the program: files, named slices, limits and faults. */
static void clean(struct world *world)
{
	rings_forget();
	while (world->files)
		close(world->fds[--world->files]);
	if (!world->gone)
		sim_control(&world->sim, "clear", "all");
	do {
		world->slices_count = 0;
		nl_begin(&world->nl, MORPH_CMD_SLICE_GET, 0);
		nl_put_u32(&world->nl, MORPH_A_SLICE_FABRIC, world->sim.number);
		if (world->gone || nl_dump(&world->nl, list_slice, world))
			break;
		for (unsigned int at = 0; at < world->slices_count; at++) {
			nl_begin(&world->nl, MORPH_CMD_SLICE_DELETE, 0);
			nl_put_u32(&world->nl, MORPH_A_SLICE_FABRIC, world->sim.number);
			nl_put_u32(&world->nl, MORPH_A_SLICE_ID, world->slices[at]);
			nl_put(&world->nl, MORPH_A_SLICE_FORCE, NULL, 0);
			nl_do(&world->nl);
		}
	} while (world->slices_count == MOST_KNOWN);
	world->slices_count = world->txns_count = 0;
	while (recv(world->monitor.fd, world->monitor.reply, sizeof(world->monitor.reply),
		    MSG_DONTWAIT) >= 0)
		continue;
}

/* All resources of the program must be released, and its light must go out. */
static void check_end(struct world *world)
{
	long long until = now_ms() + PATIENCE_MS;

	if (!world->gone) {
		do {
			sim_refresh(&world->sim);
		} while (world->sim.info.slices && now_ms() < until && !usleep(500));
		if (world->sim.info.slices)
			wrong(world, "%u slices remain after all files are closed",
			      world->sim.info.slices);
		else if (!world->hurt && !sim_all_dark(&world->sim))
			wrong(world, "light remains after all files are closed");
		if (world->sim.info.free + world->sim.info.spares != world->sim.info.accelerators)
			world->hurt = true;
	}
	if (world->hurt || world->gone) {
		sim_stop(&world->sim);
		fabric_new(world);
	}
}

const char *world_run(struct world *world, const struct program *program, bool verbose)
{
	world->wrong[0] = '\0';
	for (unsigned int at = 0; at < program->count; at++) {
		const struct call *call = &program->calls[at];
		int error;

		if (call->fail)
			set_fail(world, call->fail);
		error = run_call(world, call);
		if (call->fail)
			set_fail(world, 0);
		if (verbose)
			printf("# %2u %s: %s\n", at + 1, commands[call->command].name,
			       error ? strerror(error) : "ok");
	}
	clean(world);
	check_end(world);
	return world->wrong[0] ? world->wrong : NULL;
}
