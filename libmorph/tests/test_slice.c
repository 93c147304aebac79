// SPDX-License-Identifier: LGPL-2.1-or-later
/* Slices: complete reads, outdated plans, events. */
#include <poll.h>

#include "../internal/client.h"
#include "fake.h"

#define CIRCUITS 3 /* circuits 0 to 2 join ranks n and n + 1 */

static struct fake *fake;
static struct morph_ctx *ctx;
static struct morph_slice *slice;
static uint32_t stale_runs; /* runs that are still to be refused */
static int stale_error;
static uint32_t snapshots;
static uint32_t added;
static uint32_t growing; /* number of ranks that each read of the slice adds */

static void fill_slice(struct morph_slice_info *info)
{
	struct morph_circuit_info *circuits = (void *)(uintptr_t)info->circuits.ptr;
	struct morph_rank_info *ranks = (void *)(uintptr_t)info->ranks.ptr;

	info->slice = 9;
	strcpy(info->name, "job");
	info->generation = 40 + snapshots;
	for (uint32_t at = 0; ranks && at < info->ranks.count && at < 4; at++) {
		ranks[at].rank = at;
		ranks[at].accelerator = 10 + at;
		ranks[at].spare = MORPH_ANY;
	}
	for (uint32_t at = 0; circuits && at < info->circuits.count && at < CIRCUITS; at++) {
		circuits[at].circuit = at;
		circuits[at].src_rank = at;
		circuits[at].dst_rank = at + 1;
		circuits[at].lanes = 0x3;
	}
	info->ranks.count = 4;
	info->circuits.count = CIRCUITS;
}

static int run(struct morph_txn_run *run)
{
	struct morph_change *changes = (void *)(uintptr_t)run->changes.ptr;

	assert_int_equal(run->generation, 40 + snapshots);
	if (stale_runs) {
		stale_runs--;
		run->head.reason = MORPH_REASON_GENERATION;
		changes[0].reason = MORPH_REASON_HARDWARE;
		changes[0].part = MORPH_PART_GUIDE;
		changes[0].index = 6;
		changes[0].status = -EIO;
		return -stale_error;
	}
	added = run->changes.count;
	for (uint32_t at = 0; at < added; at++) {
		changes[at].circuit = 50 + at;
		changes[at].lanes = 1;
	}
	run->out_outcome = MORPH_OUTCOME_COMMITTED;
	run->out_generation = run->generation;
	return 0;
}

static int device(struct fake *kernel, unsigned long command, void *argument)
{
	struct morph_slice_info *info = argument;
	struct morph_fabric_info *fabric = argument;

	(void)kernel;
	switch (command) {
	case MORPH_FABRIC_INFO:
		fabric->fabric = 3;
		return 0;
	case MORPH_SLICE_INFO:
		if (growing) {
			info->ranks.count += growing;
			return -EMSGSIZE;
		}
		if (info->ranks.count < 4 || info->circuits.count < CIRCUITS) {
			bool probe = !info->ranks.ptr;

			info->slice = 9;
			strcpy(info->name, "job");
			info->ranks.count = 4;
			info->circuits.count = CIRCUITS;
			return probe ? 0 : -EMSGSIZE;
		}
		snapshots++;
		fill_slice(info);
		return 0;
	case MORPH_TXN_RUN:
		return run(argument);
	}
	return -ENOTTY;
}

static int begin(void **state)
{
	(void)state;
	fake = fake_new();
	fake->ioctl = device;
	ctx = fake_ctx(&fake->transport);
	snapshots = stale_runs = added = 0;
	assert_int_equal(morph_slice_open(ctx, "9", &slice), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	morph_slice_close(slice);
	morph_ctx_free(ctx);
	return 0;
}

static void a_slice_is_read_whole(void **state)
{
	struct morph_list *circuits;
	struct morph_object *info;
	char *text;

	(void)state;
	assert_int_equal(morph_slice_read(slice, &info, &circuits), 0);
	assert_int_equal(morph_object_values(info, "rank"), 4);
	assert_int_equal(morph_object_uint(info, "fabric"), 3);
	text = fake_print(morph_object_nested_at(info, "rank", 2));
	assert_string_equal(text, "rank{rank=2 accelerator=12 host=0 health=ok plan=none "
				  "replacements=0}");
	free(text);
	assert_int_equal(morph_list_count(circuits), CIRCUITS);
	assert_int_equal(morph_object_uint(morph_list_get(circuits, 2), "dst-rank"), 3);
	morph_object_free(info);
	morph_list_free(circuits);
	assert_int_equal(morph_slice_read(slice, NULL, NULL), 0);
}

static void a_slice_that_grows_is_given_up(void **state)
{
	struct morph_object *info;

	(void)state;
	growing = 1;
	assert_int_equal(morph_slice_read(slice, &info, NULL), -EAGAIN);
	assert_string_equal(morph_error_text(ctx), "read slice 9: it grew during each of 8 tries");
	assert_null(info);
	growing = 0;
}

static void slices_are_found_by_name(void **state)
{
	struct morph_slice *found;

	(void)state;
	fake->devices = "present fabric 3 /dev/morph/fabric3\npresent slice 8 /elsewhere/slice8\n"
			"present slice 9 /dev/morph/slice9\n";
	assert_int_equal(morph_slice_open(ctx, "job", &found), 0);
	morph_slice_close(found);
	assert_int_equal(morph_slice_open(ctx, "jo", &found), -ENOENT);
	assert_string_equal(morph_error_text(ctx), "no slice \"jo\"");
	fault_at("kernel", 2, EACCES); /* after the list, the first that is there */
	assert_int_equal(morph_slice_open(ctx, "job", &found), -EACCES);
	assert_string_equal(morph_error_text(ctx),
			    "no slice named \"job\" that this user may open");
	assert_null(found);
}

static void a_name_that_reads_as_a_number_is_found_by_its_prefix(void **state)
{
	struct morph_slice *found;

	(void)state;
	fake->devices = "present slice 9 /dev/morph/slice9\n";
	assert_int_equal(morph_slice_open(ctx, "name:job", &found), 0);
	morph_slice_close(found);
	assert_int_equal(morph_slice_open(ctx, "name:9", &found), -ENOENT);
	assert_string_equal(morph_error_text(ctx), "no slice \"9\"");
}

static void acts_refuse_nonsense(void **state)
{
	struct morph_fabric *fabric;
	struct morph_object *object;

	(void)state;
	assert_int_equal(morph_fabric_open(ctx, "3", &fabric), 0);
	assert_int_equal(morph_slice_delete(fabric, "", false), -EINVAL);
	assert_int_equal(morph_slice_delete(fabric, "a2345678901234567890123456789012", false),
			 -EINVAL);
	morph_fabric_close(fabric);
	assert_int_equal(morph_txn_step(slice, 1, 99, 0, &object), -EINVAL);
	assert_null(object);
	fake->poll_events = POLLHUP;
	assert_int_equal(morph_slice_wait(slice, -1), -ENODEV);
}

static void a_ring_adds_missing_circuits(void **state)
{
	MORPH_OPTS(morph_ring_opts, opts, .lanes_count = 2);
	struct morph_object *result;

	(void)state;
	assert_int_equal(morph_slice_light_ring(slice, &opts, &result), 0);
	assert_int_equal(added, 1); /* 3 to 0; the others are there */
	assert_int_equal(morph_object_values(result, "change"), 1);
	assert_int_equal(morph_object_uint(morph_object_nested_at(result, "change", 0), "src-rank"),
			 3);
	assert_int_equal(morph_object_uint(morph_object_nested_at(result, "change", 0), "circuit"),
			 50);
	morph_object_free(result);
	opts.lanes_count = 3; /* those that are there are too thin */
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), 0);
	assert_int_equal(added, 4);
	opts.lanes_count = 1;
	opts.flags = MORPH_RING_BOTH_WAYS;
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), 0);
	assert_int_equal(added, 5); /* 3 to 0, and four back */
}

static void a_ring_that_is_lit_changes_nothing(void **state)
{
	static const uint32_t ranks[] = { 0, 1 };
	MORPH_OPTS(morph_ring_opts, opts, .ranks = ranks, .ranks_count = 2,
		   .flags = MORPH_RING_BOTH_WAYS);
	struct morph_object *result;

	(void)state;
	assert_int_equal(morph_slice_light_ring(slice, &opts, &result), 0);
	assert_int_equal(added, 1); /* 1 to 0 once, although both ways were asked for */
	morph_object_free(result);
}

static void rings_refuse_nonsense(void **state)
{
	static const uint32_t twice[] = { 0, 1, 0 }, beyond[] = { 0, 4 };
	MORPH_OPTS(morph_ring_opts, opts, .ranks = twice, .ranks_count = 3);

	(void)state;
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), -EINVAL);
	assert_string_equal(morph_error_text(ctx), "rank 0 is listed twice in the ring");
	opts.ranks = beyond;
	opts.ranks_count = 2;
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), -ENOENT);
	opts.ranks_count = 1;
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), -EINVAL);
	opts.flags = 2;
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), -EINVAL);
	assert_int_equal(added, 0);
}

static void overtaken_plans_are_planned_again(void **state)
{
	MORPH_OPTS(morph_ring_opts, opts, .attempts = 3);

	(void)state;
	stale_runs = 2;
	stale_error = ESTALE;
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), 0);
	assert_int_equal(snapshots, 3);
	stale_runs = 5;
	stale_error = EAGAIN;
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), -EAGAIN);
	assert_int_equal(snapshots, 6);
	assert_int_equal(ERROR_OF(ctx, reason), MORPH_REASON_GENERATION);
	stale_error = EBUSY; /* no reason to try again */
	assert_int_equal(morph_slice_light_ring(slice, &opts, NULL), -EBUSY);
	assert_int_equal(snapshots, 7);
}

static void a_failed_run_still_reports_its_changes(void **state)
{
	struct morph_txn *txn = morph_txn_new(ctx);
	struct morph_object *result;

	(void)state;
	stale_runs = 1;
	stale_error = ESTALE;
	morph_txn_set_generation(txn, 40);
	assert_int_equal(morph_txn_remove(txn, 2), 0);
	assert_int_equal(morph_txn_run(slice, txn, &result), -ESTALE);
	assert_int_equal(morph_object_sint(result, "status"), -ESTALE);
	assert_string_equal(morph_object_text(result, "reason"), "generation");
	assert_int_equal(morph_object_values(result, "change"), 1);
	assert_int_equal(morph_object_uint(morph_object_nested_at(result, "change", 0), "index"),
			 6);
	morph_object_free(result);
	morph_txn_free(txn);
}

/* ------------------------------------------------------------------- events */

static void put_event(uint32_t type, uint32_t size)
{
	struct morph_event event = {
		.size = size,
		.type = type,
		.rank = 1,
		.circuit = MORPH_ANY,
		.lost = 5,
		.old_accelerator = 10,
		.new_accelerator = MORPH_ANY,
	};
	ssize_t at = fake->events_bytes > 0 ? fake->events_bytes : 0;

	memset(fake->events + at, 0xee, size);
	memcpy(fake->events + at, &event, size < sizeof(event) ? size : sizeof(event));
	fake->events_bytes = at + (ssize_t)size;
}

static void events_are_read_in_batches(void **state)
{
	struct morph_list *events;
	char *text;

	(void)state;
	assert_int_equal(morph_slice_wait(slice, 0), 0);
	assert_int_equal(morph_slice_read_events(slice, &events), -EAGAIN);
	put_event(MORPH_EVENT_LOST, sizeof(struct morph_event));
	put_event(MORPH_EVENT_FAILING, sizeof(struct morph_event));
	assert_int_equal(morph_slice_wait(slice, 0), 1);
	assert_int_equal(morph_slice_read_events(slice, &events), 2);
	assert_int_equal(morph_object_uint(morph_list_get(events, 0), "lost"), 5);
	text = fake_print(morph_list_get(events, 1));
	assert_string_equal(text,
			    "event{fabric=3 type=failing seq=0 generation=0 time-ns=0 slice=0 "
			    "state=ok rank=1 old-accelerator=10 old-host=0 bandwidth-mbps=0}");
	free(text);
	assert_null(morph_list_get(events, 2));
	morph_list_free(events);
	assert_int_equal(morph_slice_read_events(slice, &events), -EAGAIN);
	assert_null(events);
}

static void records_of_other_kernels_are_understood(void **state)
{
	struct morph_list *events;

	(void)state;
	put_event(MORPH_EVENT_FAILING, sizeof(struct morph_event) + 24); /* a newer one */
	assert_int_equal(morph_slice_read_events(slice, &events), 1);
	assert_int_equal(morph_object_uint(morph_list_get(events, 0), "type"), MORPH_EVENT_FAILING);
	morph_list_free(events);
	put_event(MORPH_EVENT_RECOVERED, 64); /* an older one */
	assert_int_equal(morph_slice_read_events(slice, &events), 1);
	assert_int_equal(morph_object_uint(morph_list_get(events, 0), "type"),
			 MORPH_EVENT_RECOVERED);
	morph_list_free(events);
	put_event(MORPH_EVENT_RECOVERED, 64);
	fake->events[0] = 0; /* a record that is 0 bytes long */
	assert_int_equal(morph_slice_read_events(slice, &events), -EPROTO);
	put_event(MORPH_EVENT_RECOVERED, 64);
	fake->events[0] = 65; /* one that goes beyond the end */
	assert_int_equal(morph_slice_read_events(slice, &events), -EPROTO);
	assert_null(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_slice_is_read_whole, begin, end),
		cmocka_unit_test_setup_teardown(a_slice_that_grows_is_given_up, begin, end),
		cmocka_unit_test_setup_teardown(slices_are_found_by_name, begin, end),
		cmocka_unit_test_setup_teardown(
			a_name_that_reads_as_a_number_is_found_by_its_prefix, begin, end),
		cmocka_unit_test_setup_teardown(acts_refuse_nonsense, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_adds_missing_circuits, begin, end),
		cmocka_unit_test_setup_teardown(a_ring_that_is_lit_changes_nothing, begin, end),
		cmocka_unit_test_setup_teardown(rings_refuse_nonsense, begin, end),
		cmocka_unit_test_setup_teardown(overtaken_plans_are_planned_again, begin, end),
		cmocka_unit_test_setup_teardown(a_failed_run_still_reports_its_changes, begin, end),
		cmocka_unit_test_setup_teardown(events_are_read_in_batches, begin, end),
		cmocka_unit_test_setup_teardown(records_of_other_kernels_are_understood, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
