// SPDX-License-Identifier: LGPL-2.1-or-later
/* Each call of the library, on a kernel that has all objects that the calls need. */
#include <poll.h>

#include "../internal/client.h"
#include "acts.h"
#include "acts_planning.h"
#include "acts_running.h"
#include "furnished.h"
#include "stepping.h"

static struct fake *fake;
static struct morph_ctx *ctx;
static struct morph_fabric *fabric;
static struct morph_slice *slice;
static struct morph_monitor *monitor;
static const char *profile;

/* ------------------------------------------------------- acts: on devices */

static int devices(struct morph_list **out)
{
	return morph_devices(ctx, out);
}

/* Listing fabrics uses netlink or the device nodes. Each path gives both fabrics. */
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

/* The device nodes give both fabrics or none. */
static int fabrics_of_nodes(struct morph_list **out)
{
	int error;

	fake->request = refuse;
	error = fabrics(out);
	fake->request = furnished_answer;
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

/* Opening by name reads the second fabric, too, before it can report that the name is ambiguous. */
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

/* A slice that the library could not return to the program must not exist. */
static int create_slice(void)
{
	static const uint32_t which[] = { 1, 2 };
	struct morph_request *request = morph_request_new(ctx);
	struct morph_slice *made = NULL;
	int error;

	fake->state = 0;
	if (!request)
		return -morph_error_code(ctx);
	error = morph_request_set_accelerators(request, which, 2);
	if (!error)
		error = morph_slice_create(fabric, request, &made);
	if (error)
		assert_null(made);
	if (error == -ENOMEM)
		assert_int_equal(fake->state, 0);
	morph_slice_close(made);
	morph_request_free(request);
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

static int prefer(void)
{
	return morph_slice_prefer(slice, 0, 8);
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
	struct morph_event event = { .size = sizeof(event) + 8 }; /* of a newer kernel */
	struct morph_list *events = NULL;
	int result;

	memset(fake->events, 0, sizeof(event) + 8);
	memcpy(fake->events, &event, sizeof(event));
	fake->events_bytes = sizeof(event) + 8;
	result = morph_slice_wait(slice, 0);
	if (result > 0)
		result = morph_slice_read_events(slice, &events);
	morph_list_free(events);
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

/* A request that the kernel carried out succeeds even if memory for its report is missing. */
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
	return morph_admin_get(ctx, MORPH_OBJECT_FABRIC, 3, MORPH_ANY, 0, out);
}

static int admin_fabric(struct morph_object **out)
{
	return morph_admin_get(ctx, MORPH_OBJECT_FABRIC, 3, MORPH_ANY, 0, out);
}

static int admin_fabrics(struct morph_list **out)
{
	return morph_admin_list(ctx, MORPH_OBJECT_FABRIC, MORPH_ANY, MORPH_ANY, out);
}

static int admin_edges(struct morph_list **out)
{
	return morph_admin_list(ctx, MORPH_OBJECT_EDGE, 3, MORPH_ANY, out);
}

static int admin_slice(struct morph_object **out)
{
	return morph_admin_get(ctx, MORPH_OBJECT_SLICE, 3, MORPH_ANY, 9, out);
}

static int admin_slice_named(struct morph_object **out)
{
	return morph_admin_slice_named(ctx, 3, "job", out);
}

static int admin_slice_create(struct morph_object **out)
{
	struct morph_request *request = morph_request_new(ctx);
	int error;

	if (!request) {
		*out = NULL;
		return -morph_error_code(ctx);
	}
	assert_int_equal(morph_request_set_count(request, 2), 0);
	assert_int_equal(morph_request_set_name(request, "job", 0), 0);
	error = morph_admin_slice_create(ctx, 3, request, 1000, out);
	morph_request_free(request);
	return error;
}

static int admin_slice_set(struct morph_object **out)
{
	MORPH_OPTS(morph_slice_set_opts, opts, .set = MORPH_SET_OWNER);

	return morph_admin_slice_set(ctx, 3, 9, &opts, out);
}

static int admin_slice_prefer(struct morph_object **out)
{
	static const struct morph_preference preferences[] = { { 0, 8 }, { 1, MORPH_ANY } };
	MORPH_OPTS(morph_slice_set_opts, opts, .preferences = preferences, .preferences_count = 2,
		   .set = MORPH_SET_PREFERENCES);

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

static int own_slices(struct morph_list **out)
{
	return morph_admin_list(ctx, MORPH_OBJECT_SLICE | MORPH_OWN, MORPH_ANY, MORPH_ANY, out);
}

static int own_circuits(struct morph_list **out)
{
	return morph_admin_list(ctx, MORPH_OBJECT_CIRCUIT | MORPH_OWN, MORPH_ANY, 9, out);
}

static int own_slice(struct morph_object **out)
{
	return morph_admin_get(ctx, MORPH_OBJECT_SLICE | MORPH_OWN, MORPH_ANY, MORPH_ANY, 9, out);
}

static int own_circuit(struct morph_object **out)
{
	return morph_admin_get(ctx, MORPH_OBJECT_CIRCUIT | MORPH_OWN, MORPH_ANY, 9, 0, out);
}

static int own_why_not(struct morph_object **out)
{
	MORPH_OPTS(morph_why_not_opts, opts, .count = 3, .flags = MORPH_WHY_NOT_OWN);

	return morph_admin_why_not(ctx, 3, &opts, out);
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

static int controller_get(struct morph_object **out)
{
	return morph_admin_get(ctx, MORPH_OBJECT_CONTROLLER, 3, MORPH_ANY, 7, out);
}

static int controller_take(struct morph_object **out)
{
	return morph_controller_take(ctx, 3, 7, 1, 1000000, MORPH_TAKE_FORCE, out);
}

static int controller_renew(struct morph_object **out)
{
	return morph_controller_take(ctx, 3, 7, 1, 1000000, MORPH_TAKE_RENEW, out);
}

static int controller_settle(struct morph_object **out)
{
	return morph_controller_settle(ctx, 3, 7, 1, out);
}

static int controller_drop(void)
{
	return morph_controller_drop(ctx, 3, 7);
}

static int controller_assign(struct morph_object **out)
{
	MORPH_OPTS(morph_slice_set_opts, opts, .controller = 7, .set = MORPH_SET_CONTROLLER);

	return morph_admin_slice_set(ctx, 3, 9, &opts, out);
}

static int controller_reserve(struct morph_object **out)
{
	return morph_controller_reserve(ctx, 3, 7, 1, 17, 2, 0, out);
}

static int controller_reserve_edge(void)
{
	const struct morph_controller_end ends[] = { { ctx, 3, 5, 1 }, { ctx, 4, 5, 1 } };
	uint64_t lanes;

	return morph_controller_reserve_edge(ends, 7, 2, 0, &lanes);
}

static int controller_list(struct morph_list **out)
{
	return morph_admin_list(ctx, MORPH_OBJECT_CONTROLLER, 3, MORPH_ANY, out);
}

static int controller_reservations(struct morph_list **out)
{
	return morph_admin_list(ctx, MORPH_OBJECT_RESERVATION, 3, 7, out);
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
	furnished_notify(fake);
	furnished_notify(fake);
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
	fake->request = furnished_answer;
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

/* -------------------------------------------------------------------- all */

const struct act acts[] = {
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
	PLAIN(prefer),
	PLAIN(set_failover),
	PLAIN(delete_slice),
	PLAIN(read_events),
	{ .name = "run", .plain = run, .may_succeed = true },
	{ .name = "step", .plain = step, .may_succeed = true },
	{ .name = "light_ring", .plain = light_ring, .may_succeed = true },
	PLAIN(load_schedule),
	PLAIN(go_through_schedule),
	OBJECT(schedule_state),
	LIST(schedule_states),
	{ .name = "use_ring", .plain = use_ring, .may_succeed = true },
	{ .name = "use_ring_of_own", .plain = use_ring_of_own, .may_succeed = true },
	PLAIN(read_state),
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
	OBJECT(admin_slice_prefer),
	PLAIN(admin_slice_delete),
	OBJECT(accelerator_set),
	OBJECT(hardware_set),
	OBJECT(replace),
	OBJECT(why_not),
	LIST(own_slices),
	LIST(own_circuits),
	OBJECT(own_slice),
	OBJECT(own_circuit),
	OBJECT(own_why_not),
	OBJECT(quota_set),
	OBJECT(controller_get),
	OBJECT(controller_take),
	OBJECT(controller_renew),
	OBJECT(controller_settle),
	PLAIN(controller_drop),
	OBJECT(controller_assign),
	OBJECT(controller_reserve),
	PLAIN(controller_reserve_edge),
	LIST(controller_list),
	LIST(controller_reservations),
	PLAIN(make_monitor),
	LIST(read_monitor),
	OBJECT(wait_txn),
	OBJECT(watch),
	OBJECT(model),
	PLAIN(solve_traffic),
	PLAIN(solve_fabric),
	PLAIN(place_slice),
	PLAIN(make_room),
	PLAIN(assign_tenants),
	PLAIN(count_spares),
	PLAIN(share_bandwidth),
	PLAIN(build_collectives),
	PLAIN(make_delay),
	PLAIN(plan_schedules),
	PLAIN(choose_schedule),
	PLAIN(describe_schedule),
};

const size_t acts_count = ARRAY_SIZE(acts);

int act_do(const struct act *act)
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

struct morph_ctx *acts_begin(const char *profile_path)
{
	profile = profile_path;
	fake = fake_new();
	stepping_begin();
	fake->ioctl = furnished_ioctl;
	fake->map = stepping_map;
	fake->request = furnished_answer;
	fake->devices = "present fabric 3 /dev/morph/fabric3\npresent fabric 4 /dev/morph/fabric4\n"
			"present slice 9 /dev/morph/slice9\n";
	fake->poll_events = POLLIN;
	ctx = fake_ctx(&fake->transport);
	assert_int_equal(morph_fabric_open(ctx, "3", &fabric), 0);
	assert_int_equal(morph_slice_open(ctx, "9", &slice), 0);
	acts_running_begin(ctx, slice);
	acts_planning_begin(ctx, profile);
	assert_int_equal(morph_monitor_new(ctx, NULL, &monitor), 0);
	return ctx;
}

void acts_end(void)
{
	morph_monitor_free(monitor);
	morph_slice_close(slice);
	morph_fabric_close(fabric);
	morph_ctx_free(ctx);
}
