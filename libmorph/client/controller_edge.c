// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reservation of lanes at both ends of an edge, which can be in two kernels.
 *
 * The kernels do not know each other, so no transaction covers both ends. Instead, requests have an
 * order. Each end first gets the wanted lanes in addition to its present ones. Only when both ends
 * have them, the surplus is released. So after a failure the controller still has all of its
 * earlier lanes, and no other controller can have taken them.
 */
#include <stdio.h>

#include <netlink/attr.h>

#include <linux/morph_netlink.h>

#include "internal.h"

#define TRIES 8 /* attempts, if other controllers reserve lanes of the edge */
#define UUID_BYTES 37 /* as text */

struct end {
	const struct morph_controller_end *of;
	const char *name;
	char uuid[UUID_BYTES]; /* of its fabric */
	char peer_uuid[UUID_BYTES]; /* of the fabric that the edge leads to, or "" */
	uint32_t peer_edge;
	uint32_t guide;
	bool asked; /* a change was requested, and can have happened despite a failed answer */
	uint64_t had; /* lanes of the controller before the call */
	uint64_t has; /* and now */
	uint64_t lit; /* lanes of circuits in its slices */
	uint64_t free; /* lanes that are neither reserved nor lit */
};

struct pair {
	struct end ends[2];
	uint32_t controller;
	uint32_t count;
	uint64_t among;
	struct lm_error error; /* the first failure, with its end */
};

static uint32_t weight(uint64_t lanes)
{
	return (uint32_t)__builtin_popcountll(lanes);
}

/* Record the failure of an end's context, unless there was an earlier one. */
static int check(struct pair *pair, const struct end *end, int error)
{
	const struct morph_controller_end *of = end->of;

	if (!error || pair->error.code)
		return error;
	pair->error = of->ctx->error;
	pair->error.text[0] = '\0';
	lm_error_add(&pair->error, "%s end, edge %u of fabric %u: %s", end->name, of->edge,
		     of->fabric, of->ctx->error.text);
	return error;
}

/* ----------------------------------------------------------- what is there */

static void keep_uuid(char *kept, const struct morph_object *object, const char *name)
{
	const char *uuid = morph_object_text(object, name);

	snprintf(kept, UUID_BYTES, "%s", uuid ? uuid : "");
}

static int read_fabric(struct end *end)
{
	struct morph_object *fabric;
	int error = morph_admin_get(end->of->ctx, MORPH_OBJECT_FABRIC, end->of->fabric, MORPH_ANY,
				    0, &fabric);

	if (error)
		return error;
	keep_uuid(end->uuid, fabric, "uuid");
	morph_object_free(fabric);
	return 0;
}

static bool is_at(const struct morph_object *circuit, const char *name, uint32_t edge)
{
	return morph_object_has(circuit, name) && morph_object_uint(circuit, name) == edge;
}

/* Lanes of a slice's circuits at the edge. A circuit that is only prepared has none. */
static int read_circuits(struct end *end, uint32_t slice)
{
	const struct morph_controller_end *of = end->of;
	struct morph_list *circuits;
	int error = morph_admin_list(of->ctx, MORPH_OBJECT_CIRCUIT, of->fabric, slice, &circuits);

	if (error)
		return error;
	for (size_t at = 0; at < morph_list_count(circuits); at++) {
		const struct morph_object *circuit = morph_list_get(circuits, at);

		if (morph_object_uint(circuit, "state") != MORPH_CIRCUIT_PREPARED &&
		    (is_at(circuit, "src-edge", of->edge) || is_at(circuit, "dst-edge", of->edge)))
			end->lit |= morph_object_uint(circuit, "lanes");
	}
	morph_list_free(circuits);
	return 0;
}

/* Only one slice has light on the edge. The light belongs to the controller if that slice does. */
static int read_lit(const struct pair *pair, struct end *end, uint32_t slice)
{
	struct morph_object *object;
	bool ours;
	int error = morph_admin_get(end->of->ctx, MORPH_OBJECT_SLICE, end->of->fabric, MORPH_ANY,
				    slice, &object);

	if (!error) {
		ours = morph_object_uint(object, "controller") == pair->controller;
		morph_object_free(object);
		error = ours ? read_circuits(end, slice) : 0;
	}
	return error == -ENOENT ? 0 : error; /* the slice has been deleted meanwhile */
}

static int read_edge(const struct pair *pair, struct end *end)
{
	const struct morph_controller_end *of = end->of;
	struct morph_object *edge;
	int error =
		morph_admin_get(of->ctx, MORPH_OBJECT_EDGE, of->fabric, MORPH_ANY, of->edge, &edge);

	if (error)
		return error;
	keep_uuid(end->peer_uuid, edge, "peer-uuid");
	end->peer_edge = morph_object_uint(edge, "peer-edge");
	end->guide = morph_object_uint(edge, "guide");
	end->lit = 0;
	if (morph_object_has(edge, "slice"))
		error = read_lit(pair, end, morph_object_uint(edge, "slice"));
	morph_object_free(edge);
	return error;
}

static int read_free(struct end *end)
{
	struct morph_object *guide;
	int error = morph_admin_get(end->of->ctx, MORPH_OBJECT_GUIDE, end->of->fabric, MORPH_ANY,
				    end->guide, &guide);

	if (error)
		return error;
	end->free = morph_object_uint(guide, "lanes-free");
	morph_object_free(guide);
	return 0;
}

static int read_has(const struct pair *pair, struct end *end)
{
	struct morph_ctx *ctx = end->of->ctx;
	struct nl_msg *request = lm_request(ctx, MORPH_CMD_RESERVATION_GET, 3 * 8);
	struct morph_object *reservation;
	int error;

	if (!request)
		return -ctx->error.code;
	nla_put_u32(request, MORPH_A_RESERVATION_FABRIC, end->of->fabric);
	nla_put_u32(request, MORPH_A_RESERVATION_CONTROLLER, pair->controller);
	nla_put_u32(request, MORPH_A_RESERVATION_GUIDE, end->guide);
	error = lm_do(ctx, request, &reservation, "read the reservations of guide %u", end->guide);
	if (error)
		return error;
	end->has = morph_object_uint(reservation, "lanes");
	morph_object_free(reservation);
	return 0;
}

static int read_end(struct pair *pair, struct end *end)
{
	int error = read_fabric(end);

	if (!error)
		error = read_edge(pair, end);
	if (!error)
		error = read_has(pair, end);
	if (!error)
		error = read_free(end);
	return check(pair, end, error);
}

static void add_peer(struct lm_error *error, const struct end *end)
{
	lm_error_add(error, "%s end, edge %u of fabric %s, ", end->name, end->of->edge, end->uuid);
	if (*end->peer_uuid)
		lm_error_add(error, "names edge %u of fabric %s", end->peer_edge, end->peer_uuid);
	else
		lm_error_add(error, "names none");
}

static bool names(const struct end *end, const struct end *other)
{
	return *end->peer_uuid && !strcmp(end->peer_uuid, other->uuid) &&
	       end->peer_edge == other->of->edge;
}

static int check_names(struct pair *pair)
{
	const struct end *a = &pair->ends[0], *b = &pair->ends[1];

	if (names(a, b) && names(b, a))
		return 0;
	pair->error.code = EINVAL;
	lm_error_add(&pair->error, "the ends do not name each other: ");
	add_peer(&pair->error, a);
	lm_error_add(&pair->error, "; ");
	add_peer(&pair->error, b);
	return -EINVAL;
}

/* --------------------------------------------------------------- requests */

/* Reserve @count lanes of a mask at an end, in place of the present ones. */
static int reserve(const struct pair *pair, struct end *end, uint32_t count, uint64_t among)
{
	const struct morph_controller_end *of = end->of;
	struct morph_object *reservation;
	int error;

	end->asked = true;
	error = morph_controller_reserve(of->ctx, of->fabric, pair->controller, of->epoch,
					 end->guide, count, among, &reservation);
	if (error)
		return error;
	end->has = morph_object_uint(reservation, "lanes");
	morph_object_free(reservation);
	return 0;
}

/* Reserve @count lanes of a mask, in addition to other present lanes. */
static int extend(struct pair *pair, struct end *end, uint32_t count, uint64_t mask)
{
	uint32_t beside = weight(end->has & ~mask);

	return check(pair, end, reserve(pair, end, count + beside, mask | end->has));
}

/*
 * Request lanes that are not available, so that the kernel counts the conflict and reports the
 * numbers. The lanes can have become available by now.
 */
static int be_refused(struct pair *pair, struct end *first, struct end *second)
{
	uint64_t may = (second->free | second->has | second->lit) & pair->among;

	if (weight(may) < pair->count)
		return extend(pair, second, pair->count, pair->among);
	return extend(pair, first, pair->count, may);
}

/* The lowest @count lanes of a mask. */
static uint64_t lowest(uint64_t lanes, uint32_t count)
{
	uint64_t rest = lanes;

	while (rest && count--)
		rest &= rest - 1;
	return lanes & ~rest;
}

/*
 * Choose lanes that both ends can have: first lanes reserved at both, of these lit ones first; then
 * lit lanes; then the rest of an interrupted call. Returns fewer if there are too few.
 */
static uint64_t choose(const struct pair *pair)
{
	const struct end *a = &pair->ends[0], *b = &pair->ends[1];
	uint64_t may = (a->free | a->has | a->lit) & (b->free | b->has | b->lit) & pair->among;
	uint64_t both = a->has & b->has, lit = a->lit | b->lit;
	const uint64_t order[] = { both & lit, both, lit, a->has | b->has, UINT64_MAX };
	uint64_t chosen = 0;

	for (size_t at = 0; at < ARRAY_SIZE(order); at++)
		chosen |= lowest(may & order[at] & ~chosen, pair->count - weight(chosen));
	return chosen;
}

/* Read both ends before each attempt. */
static int look(struct pair *pair, bool first)
{
	for (size_t at = 0; at < ARRAY_SIZE(pair->ends); at++) {
		struct end *end = &pair->ends[at];
		int error = read_end(pair, end);

		if (error)
			return error;
		if (first)
			end->had = end->has;
	}
	return check_names(pair);
}

/*
 * Give both ends the same additional lanes. -EAGAIN: the free lanes have changed since the read.
 * All controllers ask the same end first, so one of two that want all lanes gets them at both ends.
 */
static int try_both(struct pair *pair, uint64_t *chosen)
{
	bool turned = strcmp(pair->ends[0].uuid, pair->ends[1].uuid) > 0;
	struct end *first = &pair->ends[turned], *second = &pair->ends[!turned];
	int error;

	*chosen = choose(pair);
	if (weight(*chosen) < pair->count) {
		error = be_refused(pair, first, second);
		return error ? error : -EAGAIN;
	}
	error = extend(pair, first, pair->count, *chosen);
	if (!error)
		error = extend(pair, second, pair->count, *chosen);
	return error == -EBUSY ? -EAGAIN : error;
}

/* Try until both ends have the chosen lanes, or one refuses. */
static int reserve_both(struct pair *pair, uint64_t *chosen)
{
	for (unsigned int nth = 0; nth < TRIES; nth++) {
		int error;

		pair->error = (struct lm_error){ 0 };
		error = look(pair, !nth);
		if (error)
			return error;
		error = try_both(pair, chosen);
		if (error != -EAGAIN)
			return error;
	}
	if (!pair->error.code)
		lm_error_add(&pair->error, "the free lanes at the ends keep changing");
	pair->error.code = EBUSY;
	return -EBUSY;
}

/* Release the surplus of both ends, even if one of them fails. */
static int trim(struct pair *pair, uint64_t chosen)
{
	for (size_t at = 0; at < ARRAY_SIZE(pair->ends); at++) {
		struct end *end = &pair->ends[at];

		if (end->has != chosen)
			check(pair, end, reserve(pair, end, pair->count, chosen));
	}
	return -pair->error.code;
}

/* Restore both ends. The error remains the original one. */
static void put_back(struct pair *pair)
{
	for (size_t at = 0; at < ARRAY_SIZE(pair->ends); at++) {
		struct end *end = &pair->ends[at];
		int error;

		if (!end->asked)
			continue;
		error = read_has(pair, end);
		if (!error && end->has != end->had)
			error = reserve(pair, end, weight(end->had), end->had);
		if (error)
			lm_error_add(&pair->error, "; restoring the %s end failed: %s", end->name,
				     end->of->ctx->error.text);
	}
}

/* Release both ends. An unreachable end does not prevent the release of the other one. */
static int give_back(struct pair *pair)
{
	int errors[2], error;

	for (size_t at = 0; at < ARRAY_SIZE(errors); at++)
		errors[at] = read_end(pair, &pair->ends[at]);
	if (!errors[0] && !errors[1]) {
		error = check_names(pair);
		if (error)
			return error;
	}
	for (size_t at = 0; at < ARRAY_SIZE(errors); at++)
		if (!errors[at])
			errors[at] =
				check(pair, &pair->ends[at], reserve(pair, &pair->ends[at], 0, 0));
	return -pair->error.code;
}

MORPH_API int morph_controller_reserve_edge(const struct morph_controller_end ends[2],
					    uint32_t controller, uint32_t count, uint64_t among,
					    uint64_t *lanes)
{
	struct pair pair = {
		.ends = { { .of = &ends[0], .name = "first" },
			  { .of = &ends[1], .name = "second" } },
		.controller = controller,
		.count = count,
		.among = among ? among : UINT64_MAX,
	};
	uint64_t chosen = 0;
	int error;

	if (lanes)
		*lanes = 0;
	if (!count) {
		error = give_back(&pair);
	} else {
		error = reserve_both(&pair, &chosen);
		if (error) {
			put_back(&pair);
		} else {
			if (lanes)
				*lanes = chosen;
			error = trim(&pair, chosen);
		}
	}
	if (error)
		ends[0].ctx->error = ends[1].ctx->error = pair.error;
	return error;
}
