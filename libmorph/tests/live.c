// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run the library against the real module and the simulated provider. The program makes each kind
 * of call once and prints the results. Run it as root, with a simulated fabric that no other
 * program uses. With MORPH_RECORD set, the library records the run. "live RECORDING" replays the
 * recording, and must print the same output.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <morph/morph.h>

#include "../internal/client.h"

#define SECOND 1000000000LL

static struct morph_ctx *ctx;
static struct morph_fabric *fabric;
static struct morph_slice *slice;
static uint32_t number; /* of the fabric */

static void print_value(const struct morph_object *object, const struct morph_attr *attr,
			size_t at);

static void print(const struct morph_object *object)
{
	struct morph_attr attr = { .sz = sizeof(attr) };

	printf("%s{", morph_object_type_name(morph_object_type(object)));
	for (size_t position = 0; morph_object_attr(object, position, &attr); position++) {
		printf("%s%s=", position ? " " : "", attr.name);
		for (size_t at = 0; at < attr.values; at++)
			print_value(object, &attr, at);
	}
	printf("}");
}

static void print_value(const struct morph_object *object, const struct morph_attr *attr, size_t at)
{
	const char *comma = at ? "," : "";
	const char *text;

	switch (attr->type) {
	case MORPH_ATTR_OBJECT:
		print(morph_object_nested_at(object, attr->name, at));
		break;
	case MORPH_ATTR_SINT:
		printf("%s%lld", comma, (long long)morph_object_sint_at(object, attr->name, at));
		break;
	case MORPH_ATTR_UINT:
	case MORPH_ATTR_FLAG:
		printf("%s%llu", comma,
		       (unsigned long long)morph_object_uint_at(object, attr->name, at));
		break;
	default:
		text = morph_object_text_at(object, attr->name, at);
		printf("%s%s", comma, text ? text : "?");
	}
}

/* Print an object and free it. @error is the call's result. */
static void tell(const char *what, int error, struct morph_object *object)
{
	printf("%s: ", what);
	if (error < 0)
		printf("%s ", morph_error_text(ctx));
	if (object)
		print(object);
	printf("\n");
	morph_object_free(object);
}

/* Print the length of a list and its first object; free the list. */
static void tell_list(const char *what, int error, struct morph_list *list)
{
	printf("%s: ", what);
	if (error < 0)
		printf("%s ", morph_error_text(ctx));
	printf("%zu ", morph_list_count(list));
	if (morph_list_count(list))
		print(morph_list_get(list, 0));
	printf("\n");
	morph_list_free(list);
}

/*
 * Make a call that returns an object or a list, and print its result. The macro evaluates the call
 * before its output.
 */
#define TELL(what, call)                    \
	do {                                \
		int error_ = (call);        \
                                            \
		tell(what, error_, object); \
	} while (0)

#define TELL_LIST(what, call)                  \
	do {                                   \
		int error_ = (call);           \
                                               \
		tell_list(what, error_, list); \
	} while (0)

/* Check a call without which the program cannot continue. */
static void must(int error, const char *what)
{
	if (error < 0)
		errx(1, "%s: %s", what, morph_error_text(ctx));
}

/* ------------------------------------------------------------------ reading */

static void read_fabric(void)
{
	struct morph_fabric *again;
	struct morph_object *object;
	struct morph_list *list;

	must(morph_devices(ctx, &list), "devices");
	tell_list("devices", 0, list);
	must(morph_fabrics(ctx, &list), "fabrics");
	tell_list("fabrics", 0, list);
	must(morph_fabric_open(ctx, NULL, &fabric), "open the fabric");
	number = morph_fabric_number(fabric);
	must(morph_fabric_from_fd(ctx, morph_fabric_get_fd(fabric), &again), "fabric of an fd");
	morph_fabric_close(fabric);
	fabric = again;
	TELL("info", morph_fabric_info(fabric, &object));
	TELL_LIST("accelerators", morph_fabric_accelerators(fabric, &list));
	TELL_LIST("guides", morph_fabric_guides(fabric, &list));
	TELL_LIST("elements", morph_fabric_elements(fabric, &list));
}

static void read_as_administrator(void)
{
	struct morph_object *object;
	struct morph_list *list;

	TELL("fabric", morph_admin_get(ctx, MORPH_OBJECT_FABRIC, number, MORPH_ANY, 0, &object));
	TELL("accelerator",
	     morph_admin_get(ctx, MORPH_OBJECT_ACCELERATOR, number, MORPH_ANY, 0, &object));
	TELL_LIST("accelerators",
		  morph_admin_list(ctx, MORPH_OBJECT_ACCELERATOR, number, MORPH_ANY, &list));
	TELL("guide", morph_admin_get(ctx, MORPH_OBJECT_GUIDE, number, MORPH_ANY, 0, &object));
	TELL_LIST("guides", morph_admin_list(ctx, MORPH_OBJECT_GUIDE, number, MORPH_ANY, &list));
	TELL("element", morph_admin_get(ctx, MORPH_OBJECT_ELEMENT, number, MORPH_ANY, 0, &object));
	TELL_LIST("elements",
		  morph_admin_list(ctx, MORPH_OBJECT_ELEMENT, MORPH_ANY, MORPH_ANY, &list));
	TELL_LIST("slices", morph_admin_list(ctx, MORPH_OBJECT_SLICE, number, MORPH_ANY, &list));
	TELL_LIST("circuits",
		  morph_admin_list(ctx, MORPH_OBJECT_CIRCUIT, number, MORPH_ANY, &list));
	TELL_LIST("transactions",
		  morph_admin_list(ctx, MORPH_OBJECT_TXN, number, MORPH_ANY, &list));
	TELL_LIST("hardware",
		  morph_admin_list(ctx, MORPH_OBJECT_HARDWARE, number, MORPH_ANY, &list));
	TELL("receiver", morph_admin_hardware_part(ctx, number, MORPH_PART_RECEIVER, 0, &object));
	TELL("quota", morph_admin_quota(ctx, MORPH_ANY, &object));
	TELL_LIST("quotas", morph_admin_list(ctx, MORPH_OBJECT_QUOTA, MORPH_ANY, MORPH_ANY, &list));
	TELL_LIST("stats", morph_admin_list(ctx, MORPH_OBJECT_STATS, number, MORPH_ANY, &list));
}

static void read_slice(const char *what)
{
	struct morph_object *info;
	struct morph_list *circuits;

	must(morph_slice_read(slice, &info, &circuits), what);
	tell(what, 0, info);
	tell_list("its circuits", 0, circuits);
}

/* ----------------------------------------------------------------- a tenant */

static void make_slice(void)
{
	MORPH_OPTS(morph_accelerator_opts, spare, .use = MORPH_USE_SPARE, .set = MORPH_SET_USE);
	MORPH_OPTS(morph_request_opts, opts, .spare_policy = MORPH_SPARES_ANY, .name = "live",
		   .mode = 0640);
	struct morph_request *request = morph_request_new(ctx);
	struct morph_object *object;
	struct morph_slice *again;

	must(morph_admin_accelerator_set(ctx, number, 3, &spare, &object), "make a spare");
	tell("spare", 0, object);
	must(morph_request_set_count(request, 3), "count");
	must(morph_request_set_opts(request, &opts), "options");
	must(morph_slice_check(fabric, request), "check");
	must(morph_slice_create(fabric, request, &slice), "create");
	tell("the name is taken", morph_slice_create(fabric, request, &again), NULL);
	must(morph_request_set_count(request, 100000), "count");
	opts.name = NULL;
	opts.mode = 0;
	must(morph_request_set_opts(request, &opts), "options");
	tell("too many", morph_slice_check(fabric, request), NULL);
	must(morph_slice_open(ctx, "live", &again), "open by name");
	printf("opened by name: %d\n", morph_slice_number(again) == morph_slice_number(slice));
	morph_slice_close(again);
	must(morph_slice_from_fd(ctx, morph_slice_get_fd(slice), &again), "slice of an fd");
	printf("slice of an fd: %d\n", morph_slice_number(again) == morph_slice_number(slice));
	morph_slice_close(again);
	tell("busy", morph_slice_delete(fabric, "live", false), NULL);
	morph_request_free(request);
}

static void grant_part(void)
{
	MORPH_OPTS(morph_grant_opts, opts, .accelerators = 1, .bytes = 1 << 20);
	struct morph_request *request = morph_request_new(ctx);
	struct morph_fabric *grant, *handed;
	uint32_t which;

	must(morph_fabric_grant(fabric, &opts, &grant, &which), "grant");
	printf("grant: %d\n", which != 0);
	must(morph_fabric_from_fd(ctx, morph_fabric_get_fd(grant), &handed), "fabric of a grant");
	morph_fabric_close(grant);
	must(morph_request_set_count(request, 2), "count");
	tell("more than is granted", morph_slice_check(handed, request), NULL);
	must(morph_request_set_count(request, 1), "count");
	tell("within the grant", morph_slice_check(handed, request), NULL);
	morph_fabric_close(handed);
	opts.bytes = 0;
	tell("no room for the file", morph_fabric_grant(fabric, &opts, &grant, NULL), NULL);
	morph_request_free(request);
}

static void light(void)
{
	MORPH_OPTS(morph_circuit_opts, how, .src_plane = 60000, .flags = MORPH_CIRCUIT_SRC_PLANE);
	struct morph_txn *txn = morph_txn_new(ctx);
	MORPH_OPTS(morph_txn_opts, opts);
	struct morph_object *object;

	must(morph_slice_light_ring(slice, NULL, &object), "light a ring");
	tell("ring", 0, object);
	must(morph_slice_light_ring(slice, NULL, &object), "light a ring again");
	tell("ring again", 0, object);
	read_slice("slice");
	TELL("path", morph_slice_circuit_path(slice, 1, &object));
	TELL("no such circuit", morph_slice_circuit_path(slice, 4711, &object));
	must(morph_txn_add(txn, 0, 2, &how), "add");
	TELL("no such plane", morph_txn_run(slice, txn, &object));
	morph_txn_clear(txn);
	must(morph_txn_add(txn, 0, 2, NULL), "add");
	opts.flags = MORPH_TXN_DRY_RUN;
	must(morph_txn_set_opts(txn, &opts), "dry run");
	TELL("dry run", morph_txn_run(slice, txn, &object));
	must(morph_txn_set_opts(txn, NULL), "no options");
	morph_txn_set_generation(txn, 123456789);
	TELL("old generation", morph_txn_run(slice, txn, &object));
	morph_txn_set_generation(txn, MORPH_GENERATION_ANY);
	must(morph_txn_remove(txn, 4711), "remove");
	opts.flags = MORPH_TXN_EACH;
	must(morph_txn_set_opts(txn, &opts), "each");
	TELL("each", morph_txn_run(slice, txn, &object));
	morph_txn_clear(txn);
	must(morph_txn_move(txn, 1, NULL), "move");
	TELL("move", morph_txn_run(slice, txn, &object));
	morph_txn_free(txn);
}

static void two_phases(void)
{
	MORPH_OPTS(morph_txn_opts, opts, .lease_ns = 10 * SECOND);
	struct morph_txn *txn = morph_txn_new(ctx);
	struct morph_object *object;
	uint32_t id;

	must(morph_txn_add(txn, 1, 0, NULL), "add");
	must(morph_txn_set_opts(txn, &opts), "prepare");
	morph_txn_set_cookie(txn, 77);
	must(morph_txn_run(slice, txn, &object), "prepare");
	id = morph_object_uint(object, "id");
	tell("prepared", 0, object);
	TELL("query", morph_txn_step(slice, id, MORPH_TXN_QUERY, 0, &object));
	TELL("commit", morph_txn_step(slice, id, MORPH_TXN_COMMIT, 10 * SECOND, &object));
	TELL("revert", morph_txn_step(slice, id, MORPH_TXN_REVERT, 0, &object));
	TELL("confirm too late", morph_txn_step(slice, id, MORPH_TXN_CONFIRM, 0, &object));
	morph_txn_free(txn);
}

/* ----------------------------------------------------------- administration */

static void ask_and_set(void)
{
	MORPH_OPTS(morph_why_not_opts, why, .count = 3, .flags = MORPH_WHY_NOT_RING);
	MORPH_OPTS(morph_slice_set_opts, policy, .failover = MORPH_FAILOVER_AUTOMATIC,
		   .set = MORPH_SET_FAILOVER);
	MORPH_OPTS(morph_quota_opts, quota, .accelerators = 1000, .set = MORPH_QUOTA_ACCELERATORS);
	MORPH_OPTS(morph_accelerator_opts, accelerator, .pci = "nonsense", .set = MORPH_SET_PCI);
	struct morph_object *object;

	TELL("why not 3", morph_admin_why_not(ctx, number, &why, &object));
	why.count = 100000;
	TELL("why not 100000", morph_admin_why_not(ctx, number, &why, &object));
	TELL("policy",
	     morph_admin_slice_set(ctx, number, morph_slice_number(slice), &policy, &object));
	TELL("limits", morph_admin_quota_set(ctx, 4711, &quota, &object));
	TELL("bad address", morph_admin_accelerator_set(ctx, number, 0, &accelerator, &object));
	TELL("no such slice",
	     morph_admin_get(ctx, MORPH_OBJECT_SLICE, number, MORPH_ANY, 4711, &object));
	TELL("no such fabric",
	     morph_admin_get(ctx, MORPH_OBJECT_FABRIC, 4711, MORPH_ANY, 0, &object));
	TELL("cordon", morph_admin_hardware_set(ctx, number, MORPH_PART_GUIDE, 0, true, &object));
	TELL("uncordon",
	     morph_admin_hardware_set(ctx, number, MORPH_PART_GUIDE, 0, false, &object));
}

static void apply_and_step(struct morph_monitor *monitor)
{
	MORPH_OPTS(morph_txn_opts, opts, .lease_ns = 10 * SECOND);
	struct morph_txn *txn = morph_txn_new(ctx);
	struct morph_object *object;
	uint32_t id;
	int error;

	must(morph_txn_add(txn, 0, 4711, NULL), "add");
	/* the reply may be late enough to have the verdict */
	error = morph_admin_circuit_apply(ctx, number, morph_slice_number(slice), txn, &object);
	id = object ? morph_object_uint(object, "id") : 0;
	tell("no such rank", error, object);
	TELL("its end", morph_monitor_wait_txn(monitor, number, id, 5 * SECOND, &object));
	morph_txn_clear(txn);
	must(morph_txn_add(txn, 2, 1, NULL), "add");
	must(morph_txn_set_opts(txn, &opts), "prepare");
	must(morph_admin_circuit_apply(ctx, number, morph_slice_number(slice), txn, &object),
	     "apply");
	id = morph_object_uint(object, "id");
	tell("queued", 0, object);
	TELL("its end", morph_monitor_wait_txn(monitor, number, id, 5 * SECOND, &object));
	TELL("commit",
	     morph_admin_txn_step(ctx, number, id, MORPH_TXN_COMMIT, 10 * SECOND, &object));
	TELL("its end",
	     morph_monitor_wait_step(monitor, number, id, MORPH_TXN_COMMIT, 5 * SECOND, &object));
	TELL("confirm", morph_admin_txn_step(ctx, number, id, MORPH_TXN_CONFIRM, 0, &object));
	TELL("its end",
	     morph_monitor_wait_step(monitor, number, id, MORPH_TXN_CONFIRM, 5 * SECOND, &object));
	morph_txn_free(txn);
}

/* ----------------------------------------------------------------- failover */

static uint32_t accelerator_of_rank(uint32_t rank)
{
	struct morph_object *info;
	uint32_t accelerator;

	must(morph_slice_read(slice, &info, NULL), "read the slice");
	accelerator = morph_object_uint(morph_object_nested_at(info, "rank", rank), "accelerator");
	morph_object_free(info);
	return accelerator;
}

/* Read events until one of @type arrives. */
static void wait_event(uint32_t type)
{
	struct morph_list *events;
	bool found = false;

	while (!found && morph_slice_wait(slice, 5 * SECOND) == 1) {
		if (morph_slice_read_events(slice, &events) < 0)
			break;
		for (size_t at = 0; at < morph_list_count(events); at++) {
			printf("event: ");
			print(morph_list_get(events, at));
			printf("\n");
			found |= morph_object_uint(morph_list_get(events, at), "type") == type;
		}
		morph_list_free(events);
	}
	if (!found)
		errx(1, "no event %s: %s", morph_enum_name(MORPH_ENUM_EVENT_TYPE, type),
		     morph_error_text(ctx));
}

static void fail_over(struct morph_monitor *monitor)
{
	uint32_t failed = accelerator_of_rank(1);
	struct morph_object *object;
	uint32_t txn, state, health;

	must(morph_admin_hardware_fail(ctx, number, MORPH_PART_ACCELERATOR, failed, &object),
	     "fail an accelerator");
	tell("fail", 0, object);
	wait_event(MORPH_EVENT_REPLACED);
	printf("the accelerator behind rank 1 is another: %d\n", accelerator_of_rank(1) != failed);
	must(morph_admin_hardware_test(ctx, number, MORPH_PART_ACCELERATOR, failed, 0, &object),
	     "test it");
	txn = morph_object_uint(object, "txn");
	tell("test", 0, object);
	TELL("its end", morph_monitor_wait_txn(monitor, number, txn, 5 * SECOND, &object));
	if (morph_slice_report(slice, 1, &state, &health) < 0)
		tell("report", -1, NULL);
	else
		printf("report: %s, %s\n", morph_enum_name(MORPH_ENUM_SLICE_STATE, state),
		       morph_enum_name(MORPH_ENUM_HEALTH, health));
	tell("no such rank", morph_slice_replace(slice, 4711, MORPH_ANY, NULL, NULL), NULL);
}

static void follow(struct morph_monitor *monitor)
{
	struct morph_list *list;
	int count = morph_monitor_read(monitor, &list);

	printf("notifications: %d\n", count > 0);
	morph_list_free(list);
}

static void finish(struct morph_watch *watch)
{
	struct morph_object *object;

	morph_slice_close(slice);
	must(morph_slice_delete(fabric, "live", false), "delete the slice");
	while (morph_watch_wait(watch, 5 * SECOND) == 1) {
		bool gone;

		must(morph_watch_read(watch, &object), "read the watch");
		gone = !strcmp(morph_object_text(object, "action"), "remove");
		tell("watch", 0, object);
		if (gone)
			break;
	}
	morph_watch_free(watch);
}

int main(int count, char **arguments)
{
	MORPH_OPTS(morph_ctx_opts, opts, .replay_path = count > 1 ? arguments[1] : NULL);
	struct morph_monitor *monitor;
	struct morph_watch *watch;
	int error = morph_ctx_new(&opts, &ctx);

	if (error)
		errx(1, "make a context: %s", strerror(-error));
	read_fabric();
	must(morph_watch_new(ctx, &watch), "watch");
	must(morph_monitor_new(ctx, NULL, &monitor), "monitor");
	grant_part();
	make_slice();
	light();
	two_phases();
	ask_and_set();
	read_as_administrator();
	apply_and_step(monitor);
	fail_over(monitor);
	follow(monitor);
	read_slice("slice");
	morph_monitor_free(monitor);
	finish(watch);
	morph_fabric_close(fabric);
	morph_ctx_free(ctx);
	return 0;
}
