// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Every act of the library, with the first, second, ... n-th allocation failing, and with the
 * first, second, ... n-th call of the kernel failing, until it succeeds: each time it says so,
 * gives nothing, leaks nothing (the sanitizer tells in the end), and can be done again.
 */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "fake.h"

#define POISON ((void *)1)

static struct fake *fake;
static struct morph_ctx *ctx;
static struct morph_fabric *fabric;
static struct morph_slice *slice;
static struct morph_monitor *monitor;
static const char *profile;
static int created; /* slices */

/* ------------------------------------------------------------------- kernel */

static int fill_slice(struct morph_slice_info *info)
{
	struct morph_circuit_info *circuits = (void *)(uintptr_t)info->circuits.ptr;
	struct morph_rank_info *ranks = (void *)(uintptr_t)info->ranks.ptr;
	bool fits = info->ranks.count >= 3 && info->circuits.count >= 2;

	for (uint32_t at = 0; fits && at < 3; at++) {
		ranks[at].rank = at;
		ranks[at].uuid[0] = 1;
		strcpy(ranks[at].pci, "0000:01:00.0");
	}
	for (uint32_t at = 0; fits && at < 2; at++)
		circuits[at].dst_rank = MORPH_RANK_EDGE | at;
	info->slice = 9;
	strcpy(info->name, "job");
	info->ranks.count = 3;
	info->circuits.count = 2;
	return fits || !ranks ? 0 : -EMSGSIZE;
}

static int fill_path(struct morph_circuit_path *path)
{
	bool fits = path->guides.count >= 70;

	path->guides.count = 70;
	path->elements.count = 2;
	return fits ? 0 : -EMSGSIZE;
}

/* A name is that of one fabric only, as each is of its own number. */
static void fill_fabric(struct morph_fabric_info *info)
{
	info->uuid[0] = 1;
	strcpy(info->name, "bench");
}

static int run_txn(struct morph_txn_run *run)
{
	run->out_txn = 5;
	run->cookie = 6;
	run->head.reason = MORPH_REASON_LANES;
	run->head.part = MORPH_PART_GUIDE;
	strcpy((char *)(uintptr_t)run->head.detail_ptr, "a sentence");
	return 0;
}

static int device(struct fake *kernel, unsigned long command, void *argument)
{
	struct morph_fabric_read *read = argument;

	(void)kernel;
	switch (command) {
	case MORPH_FABRIC_INFO:
		fill_fabric(argument);
		return 0;
	case MORPH_FABRIC_READ_ACCELERATORS:
	case MORPH_FABRIC_READ_GUIDES:
	case MORPH_FABRIC_READ_ELEMENTS:
	case MORPH_FABRIC_READ_EDGES:
		memset((void *)(uintptr_t)read->entries.ptr, 1, 17 * read->entries.stride);
		read->entries.count = 17;
		return 0;
	case MORPH_SLICE_CREATE:
		created++;
		return 0;
	case MORPH_SLICE_INFO:
		return fill_slice(argument);
	case MORPH_CIRCUIT_PATH:
		return fill_path(argument);
	case MORPH_TXN_RUN:
		return run_txn(argument);
	}
	return 0;
}

static void put_object(struct nl_msg *message, uint32_t command)
{
	struct nlattr *nest;

	switch (command) {
	case MORPH_CMD_FABRIC_GET:
		nla_put_string(message, MORPH_A_FABRIC_NAME, "bench");
		nla_put(message, MORPH_A_FABRIC_UUID, MORPH_UUID_BYTES, "0123456789abcdef");
		break;
	case MORPH_CMD_SLICE_GET:
		nla_put_u32(message, MORPH_A_SLICE_ID, 9);
		for (int rank = 0; rank < 256; rank++) {
			nest = nla_nest_start(message, MORPH_A_SLICE_RANK);
			nla_nest_end(message, nest);
		}
		break;
	}
}

/* A dump has two messages: of a slice they are parts of one object. */
static void answer(struct fake *kernel, const struct nlmsghdr *request)
{
	uint32_t command = fake_command(request);
	bool dump = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	for (int at = 0; at < (dump ? 2 : 1); at++) {
		struct nl_msg *message = fake_message(command, dump ? NLM_F_MULTI : 0);

		put_object(message, command);
		fake_queue(kernel, message, request->nlmsg_seq);
	}
	if (dump)
		fake_done(kernel);
	else
		fake_ack(kernel);
}

static void notify(void)
{
	struct nl_msg *message = fake_message(MORPH_CMD_FABRIC_NTF, 0);

	put_object(message, MORPH_CMD_FABRIC_GET);
	fake_queue(fake, message, 0);
}

/* ------------------------------------------------------- acts: on devices */

static int devices(struct morph_list **out)
{
	return morph_devices(ctx, out);
}

/* From netlink or from the nodes: in either case both. */
static int fabrics(struct morph_list **out)
{
	int error = morph_fabrics(ctx, out);

	if (!error)
		assert_int_equal(morph_list_count(*out), 2);
	return error;
}

static void refuse(struct fake *kernel, const struct nlmsghdr *request)
{
	(void)request;
	fake_refuse(kernel, EPERM, NULL, 0, 0, 0);
}

/* Of the nodes, both or none. */
static int fabrics_of_nodes(struct morph_list **out)
{
	int error;

	fake->request = refuse;
	error = fabrics(out);
	fake->request = answer;
	return error;
}

static int open_fabric(const char *which)
{
	struct morph_fabric *opened = POISON;
	int error = morph_fabric_open(ctx, which, &opened);

	if (error)
		assert_null(opened);
	morph_fabric_close(opened);
	return error;
}

static int open_fabric_number(void)
{
	return open_fabric("3");
}

/* The other of the two has to be looked at, to say that there are two. */
static int open_fabric_name(void)
{
	int error = open_fabric("bench");

	return error == -ENOTUNIQ ? 0 : error;
}

static int adopt_fabric(void)
{
	struct morph_fabric *opened = POISON;
	int error = morph_fabric_from_fd(ctx, 0, &opened);

	if (error)
		assert_null(opened);
	morph_fabric_close(opened);
	return error;
}

static int grant(void)
{
	struct morph_fabric *granted = POISON;
	int error = morph_fabric_grant(fabric, NULL, &granted, NULL);

	if (error)
		assert_null(granted);
	morph_fabric_close(granted);
	return error;
}

static int fabric_info(struct morph_object **out)
{
	return morph_fabric_info(fabric, out);
}

static int accelerators(struct morph_list **out)
{
	return morph_fabric_accelerators(fabric, out);
}

static int guides(struct morph_list **out)
{
	return morph_fabric_guides(fabric, out);
}

static int elements(struct morph_list **out)
{
	return morph_fabric_elements(fabric, out);
}

static int edges(struct morph_list **out)
{
	return morph_fabric_edges(fabric, out);
}

/* --------------------------------------------------------- acts: on slices */

/* One that could not be given to the program must not stay. */
static int create_slice(void)
{
	static const uint32_t which[] = { 1, 2 };
	struct morph_slice_request *request = morph_slice_request_new(ctx);
	struct morph_slice *made = NULL;
	int error;

	created = 0;
	if (!request)
		return -morph_error_code(ctx);
	error = morph_slice_request_set_accelerators(request, which, 2);
	if (!error)
		error = morph_slice_create(fabric, request, &made);
	if (error)
		assert_null(made);
	if (error == -ENOMEM)
		assert_int_equal(created, 0);
	morph_slice_close(made);
	morph_slice_request_free(request);
	return error;
}

static int open_slice(const char *which)
{
	struct morph_slice *opened = POISON;
	int error = morph_slice_open(ctx, which, &opened);

	if (error)
		assert_null(opened);
	morph_slice_close(opened);
	return error;
}

static int open_slice_number(void)
{
	return open_slice("9");
}

static int open_slice_path(void)
{
	return open_slice(LM_DEV_DIR "/slice9");
}

static int open_slice_name(void)
{
	return open_slice("job");
}

static int adopt_slice(void)
{
	struct morph_slice *opened = POISON;
	int error = morph_slice_from_fd(ctx, 0, &opened);

	if (error)
		assert_null(opened);
	morph_slice_close(opened);
	return error;
}

static int read_slice(struct morph_object **out)
{
	struct morph_list *circuits = POISON;
	int error = morph_slice_read(slice, out, &circuits);

	if (error)
		assert_null(circuits);
	morph_list_free(circuits);
	return error;
}

static int circuit_path(struct morph_object **out)
{
	return morph_slice_circuit_path(slice, 3, out);
}

static int report(void)
{
	return morph_slice_report(slice, 0, NULL, NULL);
}

static int set_failover(void)
{
	return morph_slice_set_failover(slice, MORPH_FAILOVER_AUTOMATIC);
}

static int delete_slice(void)
{
	return morph_slice_delete(fabric, "job", false);
}

static int read_events(void)
{
	struct morph_events *events = morph_events_new(ctx, 1);
	struct morph_event event = { .size = sizeof(event) + 8 }; /* of a newer kernel */
	int result;

	if (!events)
		return -morph_error_code(ctx);
	memset(fake->events, 0, sizeof(event) + 8);
	memcpy(fake->events, &event, sizeof(event));
	fake->events_bytes = sizeof(event) + 8;
	result = morph_slice_wait(slice, 0);
	if (result > 0)
		result = morph_slice_read_events(slice, events);
	morph_events_free(events);
	return result;
}

/* -------------------------------------------------- acts: on transactions */

static struct morph_txn *txn_new(int *error)
{
	static const uint32_t way[] = { 1, 2 };
	MORPH_OPTS(morph_circuit_opts, opts, .guides = way, .guides_count = 2);
	struct morph_txn *txn = morph_txn_new(ctx);

	*error = txn ? morph_txn_add(txn, 0, 1, &opts) : -morph_error_code(ctx);
	return txn;
}

/* What the kernel did is no failure for want of memory to tell it. */
static int run(void)
{
	struct morph_object *out = NULL;
	struct morph_txn *txn;
	int error;

	txn = txn_new(&error);
	if (!error)
		error = morph_txn_run(slice, txn, &out);
	morph_object_free(out);
	morph_txn_free(txn);
	return error < 0 ? error : 0;
}

static int step(void)
{
	struct morph_object *out = NULL;
	int error = morph_txn_step_cookie(slice, 5, MORPH_TXN_QUERY, 0, &out);

	morph_object_free(out);
	return error;
}

static int light_ring(void)
{
	struct morph_object *out = NULL;
	int error = morph_slice_light_ring(slice, NULL, &out);

	morph_object_free(out);
	return error;
}

static int apply(void)
{
	struct morph_object *out = POISON;
	struct morph_txn *txn;
	int error;

	txn = txn_new(&error);
	if (error >= 0) {
		error = morph_admin_circuit_apply(ctx, 3, 9, txn, &out);
		if (error)
			assert_null(out);
		morph_object_free(out);
	}
	morph_txn_free(txn);
	return error < 0 ? error : 0;
}

static int admin_step(struct morph_object **out)
{
	return morph_admin_txn_step(ctx, 3, 5, MORPH_TXN_COMMIT, 1000, out);
}

/* -------------------------------------------------- acts: administration */

static int connect_anew(struct morph_object **out)
{
	ctx->family = 0;
	if (ctx->netlink >= 0)
		ctx->transport->ops->close(ctx->transport, ctx->netlink);
	ctx->netlink = -1;
	return morph_admin_fabric(ctx, 3, out);
}

static int admin_fabric(struct morph_object **out)
{
	return morph_admin_fabric(ctx, 3, out);
}

static int admin_fabrics(struct morph_list **out)
{
	return morph_admin_fabrics(ctx, out);
}

static int admin_edges(struct morph_list **out)
{
	return morph_admin_edges(ctx, 3, out);
}

static int admin_slice(struct morph_object **out)
{
	return morph_admin_slice(ctx, 3, 9, out);
}

static int admin_slice_named(struct morph_object **out)
{
	return morph_admin_slice_named(ctx, 3, "job", out);
}

static int admin_slice_create(struct morph_object **out)
{
	struct morph_slice_request *request = morph_slice_request_new(ctx);
	int error;

	if (!request) {
		*out = NULL;
		return -morph_error_code(ctx);
	}
	assert_int_equal(morph_slice_request_set_count(request, 2), 0);
	assert_int_equal(morph_slice_request_set_name(request, "job", 0), 0);
	error = morph_admin_slice_create(ctx, 3, request, 1000, out);
	morph_slice_request_free(request);
	return error;
}

static int admin_slice_set(struct morph_object **out)
{
	MORPH_OPTS(morph_slice_set_opts, opts, .set = MORPH_SET_OWNER);

	return morph_admin_slice_set(ctx, 3, 9, &opts, out);
}

static int admin_slice_delete(void)
{
	return morph_admin_slice_delete(ctx, 3, 9, false);
}

static int accelerator_set(struct morph_object **out)
{
	MORPH_OPTS(morph_accelerator_opts, opts, .set = MORPH_SET_USE);

	return morph_admin_accelerator_set(ctx, 3, 0, &opts, out);
}

static int hardware_set(struct morph_object **out)
{
	return morph_admin_hardware_set(ctx, 3, MORPH_PART_GUIDE, 1, true, out);
}

static int replace(struct morph_object **out)
{
	return morph_admin_replace(ctx, 3, 9, 0, MORPH_ANY, out);
}

static int why_not(struct morph_object **out)
{
	MORPH_OPTS(morph_why_not_opts, opts, .count = 3);

	return morph_admin_why_not(ctx, 3, &opts, out);
}

static int quota_set(struct morph_object **out)
{
	MORPH_OPTS(morph_quota_opts, opts, .set = MORPH_QUOTA_LANES);

	return morph_admin_quota_set(ctx, 1000, &opts, out);
}

/* ------------------------------------------- acts: notifications, the rest */

static int make_monitor(void)
{
	struct morph_monitor *made = POISON;
	int error = morph_monitor_new(ctx, NULL, &made);

	if (error)
		assert_null(made);
	morph_monitor_free(made);
	return error;
}

static int read_monitor(struct morph_list **out)
{
	int result;

	*out = NULL;
	fake_queue_error(fake, ENOBUFS);
	notify();
	notify();
	result = morph_monitor_wait(monitor, 0);
	return result < 0 ? result : morph_monitor_read(monitor, out);
}

static void answer_running(struct fake *kernel, const struct nlmsghdr *request)
{
	struct nl_msg *message = fake_message(MORPH_CMD_TXN_GET, 0);

	nla_put_u32(message, MORPH_A_TXN_OUTCOME, MORPH_OUTCOME_RUNNING);
	fake_queue(kernel, message, request->nlmsg_seq);
	fake_ack(kernel);
	message = fake_message(MORPH_CMD_TXN_NTF, 0);
	nla_put_u32(message, MORPH_A_TXN_OUTCOME, MORPH_OUTCOME_COMMITTED);
	nla_put_string(message, MORPH_A_TXN_TEXT, "done");
	fake_queue(kernel, message, 0);
}

static int wait_txn(struct morph_object **out)
{
	int error;

	fake->request = answer_running;
	error = morph_monitor_wait_txn(monitor, 0, 0, -1, out);
	fake->request = answer;
	return error;
}

static int watch(struct morph_object **out)
{
	struct morph_watch *made = POISON;
	int result = morph_watch_new(ctx, &made);

	*out = NULL;
	if (result) {
		assert_null(made);
		return result;
	}
	result = morph_watch_wait(made, 0);
	if (result >= 0)
		result = morph_watch_read(made, out);
	morph_watch_free(made);
	return result;
}

static int model(struct morph_object **out)
{
	struct morph_model *loaded = POISON;
	int error = morph_model_load(ctx, profile, &loaded);

	*out = NULL;
	if (error)
		assert_null(loaded);
	else
		error = morph_model_info(ctx, loaded, out);
	morph_model_put(loaded);
	return error;
}

/* -------------------------------------------------------------------- sweep */

/* One of the three is there. */
static const struct act {
	const char *name;
	int (*plain)(void);
	int (*object)(struct morph_object **out);
	int (*list)(struct morph_list **out);
	bool may_succeed; /* although something failed */
} acts[] = {
#define PLAIN(act)                         \
	{                                  \
		.name = #act, .plain = act \
	}
#define OBJECT(act)                         \
	{                                   \
		.name = #act, .object = act \
	}
#define LIST(act)                         \
	{                                 \
		.name = #act, .list = act \
	}
	LIST(devices),
	{ .name = "fabrics", .list = fabrics, .may_succeed = true },
	{ .name = "fabrics_of_nodes", .list = fabrics_of_nodes, .may_succeed = true },
	PLAIN(open_fabric_number),
	PLAIN(open_fabric_name),
	PLAIN(adopt_fabric),
	PLAIN(grant),
	OBJECT(fabric_info),
	LIST(accelerators),
	LIST(guides),
	LIST(elements),
	LIST(edges),
	PLAIN(create_slice),
	PLAIN(open_slice_number),
	PLAIN(open_slice_path),
	PLAIN(open_slice_name),
	PLAIN(adopt_slice),
	OBJECT(read_slice),
	OBJECT(circuit_path),
	PLAIN(report),
	PLAIN(set_failover),
	PLAIN(delete_slice),
	PLAIN(read_events),
	{ .name = "run", .plain = run, .may_succeed = true },
	{ .name = "step", .plain = step, .may_succeed = true },
	{ .name = "light_ring", .plain = light_ring, .may_succeed = true },
	PLAIN(apply),
	OBJECT(admin_step),
	OBJECT(connect_anew),
	OBJECT(admin_fabric),
	LIST(admin_fabrics),
	LIST(admin_edges),
	OBJECT(admin_slice),
	OBJECT(admin_slice_named),
	OBJECT(admin_slice_create),
	OBJECT(admin_slice_set),
	PLAIN(admin_slice_delete),
	OBJECT(accelerator_set),
	OBJECT(hardware_set),
	OBJECT(replace),
	OBJECT(why_not),
	OBJECT(quota_set),
	PLAIN(make_monitor),
	LIST(read_monitor),
	OBJECT(wait_txn),
	OBJECT(watch),
	OBJECT(model),
};

/* Do it and drop what it gave: on failure nothing. */
static int do_act(const struct act *act)
{
	struct morph_object *object = POISON;
	struct morph_list *list = POISON;
	int result;

	if (act->plain)
		return act->plain();
	result = act->object ? act->object(&object) : act->list(&list);
	if (act->object && (result < 0) != !object)
		fail_msg("%s: %d, and %s object", act->name, result, object ? "an" : "no");
	if (act->list && (result < 0) != !list)
		fail_msg("%s: %d, and %s list", act->name, result, list ? "a" : "no");
	if (act->object)
		morph_object_free(object);
	else
		morph_list_free(list);
	return result;
}

/* How many calls of @what there are. */
static unsigned int sweep(const struct act *act, const char *what, int error)
{
	for (unsigned int nth = 1;; nth++) {
		int result;

		fault_at(what, nth, error);
		result = do_act(act);
		if (!fault_struck()) {
			if (result < 0)
				fail_msg("%s with nothing failing: %s", act->name,
					 morph_error_text(ctx));
			return nth - 1;
		}
		if (result >= 0 && act->may_succeed)
			continue;
		if (result != -error || morph_error_code(ctx) != error || !*morph_error_text(ctx))
			fail_msg("%s, with call %u of %s failing: %d and %d, \"%s\"", act->name,
				 nth, what, result, morph_error_code(ctx), morph_error_text(ctx));
	}
}

static int begin(void **state)
{
	(void)state;
	fake = fake_new();
	fake->ioctl = device;
	fake->request = answer;
	fake->devices = "present fabric 3 /dev/morph/fabric3\npresent fabric 4 /dev/morph/fabric4\n"
			"present slice 9 /dev/morph/slice9\n";
	fake->poll_events = POLLIN;
	ctx = fake_ctx(&fake->transport);
	assert_int_equal(morph_fabric_open(ctx, "3", &fabric), 0);
	assert_int_equal(morph_slice_open(ctx, "9", &slice), 0);
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	morph_monitor_free(monitor);
	morph_slice_close(slice);
	morph_fabric_close(fabric);
	morph_ctx_free(ctx);
	return 0;
}

static void every_allocation_may_fail(void **state)
{
	unsigned int calls = 0;

	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(acts); at++)
		calls += sweep(&acts[at], "memory", ENOMEM);
	print_message("%u allocations failed\n", calls);
	assert_true(calls > 600);
}

static void every_call_of_the_kernel_may_fail(void **state)
{
	unsigned int calls = 0;

	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(acts); at++)
		calls += sweep(&acts[at], "kernel", EMFILE);
	print_message("%u calls of the kernel failed\n", calls);
	assert_true(calls > 170);
}

/* ----------------------------------------------------- without a context */

static void contexts_are_made_or_not(void **state)
{
	static char path[] = "/tmp/libmorph-faults-XXXXXX";
	MORPH_OPTS(morph_ctx_opts, plain);
	MORPH_OPTS(morph_ctx_opts, recorded, .record_path = path);
	MORPH_OPTS(morph_ctx_opts, replayed, .replay_path = path);
	const struct {
		const struct morph_ctx_opts *opts;
		unsigned int allocations; /* of a replay, before it reads */
	} ways[] = { { &plain, 2 }, { &recorded, 4 }, { &replayed, 3 } };
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	for (size_t at = 0; at < ARRAY_SIZE(ways); at++) {
		struct morph_ctx *made = POISON;

		for (unsigned int nth = 1; nth <= ways[at].allocations; nth++) {
			fault_at("memory", nth, ENOMEM);
			assert_int_equal(morph_ctx_new(ways[at].opts, &made), -ENOMEM);
			assert_true(fault_struck());
			assert_null(made);
		}
		assert_int_equal(morph_ctx_new(ways[at].opts, &made), 0);
		morph_ctx_free(made);
	}
	unlink(path);
}

static void copies_are_made_or_not(void **state)
{
	struct morph_object *object = lm_object_new(MORPH_OBJECT_SLICE, NULL), *copy;
	unsigned int nth = 0;
	int error;

	(void)state;
	assert_int_equal(lm_put_text(object, MORPH_A_SLICE_NAME, "job", 3), 0);
	for (int rank = 0; rank < 40; rank++) {
		struct morph_object *inner = lm_object_new(MORPH_OBJECT_RANK, NULL);

		assert_int_equal(lm_put_uuid(inner, MORPH_A_RANK_UUID, "0123456789abcdef"), 0);
		assert_int_equal(lm_put_object(object, MORPH_A_SLICE_RANK, inner), 0);
	}
	do {
		fault_at("memory", ++nth, ENOMEM);
		error = morph_object_copy(object, &copy);
		assert_int_equal(error, fault_struck() ? -ENOMEM : 0);
		assert_int_equal(!copy, !!error);
	} while (error);
	assert_int_equal(morph_object_values(copy, "rank"), 40);
	morph_object_free(copy);
	morph_object_free(object);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_allocation_may_fail, begin, end),
		cmocka_unit_test_setup_teardown(every_call_of_the_kernel_may_fail, begin, end),
		cmocka_unit_test(contexts_are_made_or_not),
		cmocka_unit_test(copies_are_made_or_not),
	};

	if (count < 2) {
		fprintf(stderr, "usage: %s PROFILE\n", arguments[0]);
		return 2;
	}
	profile = arguments[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
