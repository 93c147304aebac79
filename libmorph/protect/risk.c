// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Distribution of the number of accelerators that are down at once. The distributions of
 * independent servers are convolved. Shared parts make servers dependent, so the table has a row
 * for each combination of servers that shared parts have taken down. A combination ends when all
 * shared parts of a server are done.
 */
#include <math.h>

#include "../internal/planner.h"

#define MOST_SERVERS 64
#define MOST_SHARED 4096
#define MOST_ACCELERATORS 4096 /* of a server */
#define MOST_NUMBERS (1U << 23) /* of all combinations together */

struct server {
	uint32_t accelerators;
	double each, whole;
};

struct shared {
	uint64_t servers;
	double share;
};

struct morph_risk {
	struct morph_ctx *ctx;
	uint32_t servers_count, shared_count, shared_room;
	struct server servers[MOST_SERVERS];
	struct shared *shared;
	bool solved;
	uint32_t total; /* accelerators */
	double *at_least; /* by number of accelerators, total + 1 entries */
};

/*
 * For each combination of later servers that are down: the distribution of the accelerators of
 * earlier servers that are down.
 */
struct table {
	uint32_t count; /* combinations */
	uint32_t width; /* numbers of each */
	uint64_t *hit;
	double *numbers;
};

MORPH_API struct morph_risk *morph_risk_new(struct morph_ctx *ctx)
{
	struct morph_risk *risk = calloc(1, sizeof(*risk));

	if (!risk) {
		lm_no_memory(ctx, "create a model of risk");
		return NULL;
	}
	risk->ctx = ctx;
	return risk;
}

MORPH_API void morph_risk_free(struct morph_risk *risk)
{
	if (!risk)
		return;
	free(risk->shared);
	free(risk->at_least);
	free(risk);
}

static int check_share(struct morph_ctx *ctx, double share, const char *what)
{
	if (share >= 0 && share <= 1)
		return 0;
	return lm_fail(ctx, EINVAL, "%s: the downtime must be 0 to 1, not %g", what, share);
}

MORPH_API int morph_risk_add_server(struct morph_risk *risk, uint32_t accelerators, double each,
				    double whole)
{
	int error = check_share(risk->ctx, each, "an accelerator");

	if (!error)
		error = check_share(risk->ctx, whole, "a server");
	if (error)
		return error;
	if (!accelerators || accelerators > MOST_ACCELERATORS)
		return lm_fail(risk->ctx, EINVAL, "a server has 1 to %d accelerators, not %u",
			       MOST_ACCELERATORS, accelerators);
	if (risk->servers_count == MOST_SERVERS)
		return lm_fail(risk->ctx, E2BIG, "a model of risk has at most %d servers",
			       MOST_SERVERS);
	risk->solved = false;
	risk->servers[risk->servers_count] = (struct server){
		.accelerators = accelerators,
		.each = each,
		.whole = whole,
	};
	return (int)risk->servers_count++;
}

MORPH_API int morph_risk_add_shared(struct morph_risk *risk, const uint32_t *servers, size_t count,
				    double share)
{
	struct shared shared = { .share = share };
	int error = check_share(risk->ctx, share, "a shared part");

	if (error)
		return error;
	if (!count)
		return lm_fail(risk->ctx, EINVAL, "a shared part requires at least one server");
	for (size_t at = 0; at < count; at++) {
		if (servers[at] >= risk->servers_count)
			return lm_fail(risk->ctx, ENOENT, "no server %u: %u were added",
				       servers[at], risk->servers_count);
		shared.servers |= 1ULL << servers[at];
	}
	if (risk->shared_count == MOST_SHARED)
		return lm_fail(risk->ctx, E2BIG, "at most %d shared parts of servers", MOST_SHARED);
	if (risk->shared_count == risk->shared_room) {
		uint32_t room = risk->shared_room ? 2 * risk->shared_room : 16;
		struct shared *grown = reallocarray(risk->shared, room, sizeof(*grown));

		if (!grown)
			return lm_no_memory(risk->ctx, "add to a model of risk");
		risk->shared = grown;
		risk->shared_room = room;
	}
	risk->solved = false;
	risk->shared[risk->shared_count++] = shared;
	return 0;
}

/* ------------------------------------------------------------- combinations */

static void table_free(struct table *table)
{
	free(table->hit);
	free(table->numbers);
}

static int table_make(struct morph_ctx *ctx, struct table *table, uint32_t count, uint32_t width)
{
	table->count = count;
	table->width = width;
	table->hit = calloc(count, sizeof(*table->hit));
	table->numbers = calloc((size_t)count * width, sizeof(*table->numbers));
	if (table->hit && table->numbers)
		return 0;
	table_free(table);
	lm_no_memory(ctx, "solve a model of risk");
	return -ENOMEM;
}

static double *table_row(const struct table *table, uint32_t at)
{
	return table->numbers + (size_t)at * table->width;
}

/* A row and its combination. */
struct row {
	uint64_t hit;
	uint32_t at;
};

static int by_hit(const void *one, const void *other)
{
	const struct row *a = one, *b = other;

	if (a->hit != b->hit)
		return a->hit < b->hit ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Add rows of the same combination. Replaces @table. */
static int unite(struct morph_ctx *ctx, struct table *table)
{
	struct row *rows = calloc(table->count, sizeof(*rows));
	uint32_t different = 0, kept = 0;
	struct table united;
	int error;

	if (!rows)
		return lm_no_memory(ctx, "solve a model of risk");
	for (uint32_t at = 0; at < table->count; at++)
		rows[at] = (struct row){ table->hit[at], at };
	qsort(rows, table->count, sizeof(*rows), by_hit);
	for (uint32_t at = 0; at < table->count; at++)
		different += !at || rows[at].hit != rows[at - 1].hit;
	error = table_make(ctx, &united, different, table->width);
	for (uint32_t at = 0; !error && at < table->count; at++) {
		const double *from = table_row(table, rows[at].at);
		double *to;

		kept += at && rows[at].hit != rows[at - 1].hit;
		to = table_row(&united, kept);
		united.hit[kept] = rows[at].hit;
		for (uint32_t down = 0; down < table->width; down++)
			to[down] += from[down];
	}
	free(rows);
	if (error)
		return error;
	table_free(table);
	*table = united;
	return 0;
}

/* Split each row: the shared part is up or down. */
static int look_at_shared(struct morph_ctx *ctx, struct table *table, const struct shared *shared)
{
	struct table both;
	int error = table_make(ctx, &both, 2 * table->count, table->width);

	if (error)
		return error;
	for (uint32_t at = 0; at < table->count; at++) {
		const double *from = table_row(table, at);
		double *up = table_row(&both, 2 * at), *down = table_row(&both, 2 * at + 1);

		both.hit[2 * at] = table->hit[at];
		both.hit[2 * at + 1] = table->hit[at] | shared->servers;
		for (uint32_t number = 0; number < table->width; number++) {
			up[number] = from[number] * (1 - shared->share);
			down[number] = from[number] * shared->share;
		}
	}
	table_free(table);
	*table = both;
	return unite(ctx, table);
}

/* The distribution of a server's own failures, without shared parts. */
static void server_numbers(const struct server *server, double *numbers)
{
	memset(numbers, 0, (server->accelerators + 1) * sizeof(*numbers));
	numbers[0] = 1;
	for (uint32_t count = 1; count <= server->accelerators; count++) {
		for (uint32_t down = count; down; down--)
			numbers[down] = numbers[down] * (1 - server->each) +
					numbers[down - 1] * server->each;
		numbers[0] *= 1 - server->each;
	}
	for (uint32_t down = 0; down <= server->accelerators; down++)
		numbers[down] *= 1 - server->whole;
	numbers[server->accelerators] += server->whole;
}

/*
 * All shared parts of a server are done: add its accelerators to the distribution and drop it from
 * combinations.
 */
static int go_through(struct morph_ctx *ctx, struct table *table, const struct server *server,
		      uint64_t bit)
{
	double numbers[MOST_ACCELERATORS + 1];
	uint32_t all = server->accelerators;

	server_numbers(server, numbers);
	for (uint32_t at = 0; at < table->count; at++) {
		double *row = table_row(table, at);
		bool hit = table->hit[at] & bit;

		table->hit[at] &= ~bit;
		for (uint32_t down = table->width; down--;) {
			double sum = 0;

			for (uint32_t its = hit ? all : 0; its <= all && its <= down; its++)
				sum += row[down - its] * (hit ? 1 : numbers[its]);
			row[down] = sum;
		}
	}
	return unite(ctx, table);
}

/* Servers in combinations if @server is next, including present ones. */
static uint64_t carried_with(const struct morph_risk *risk, uint32_t server, uint64_t done)
{
	uint64_t carried = 0;

	for (uint32_t at = 0; at < risk->shared_count; at++)
		if (risk->shared[at].servers >> server & 1 || risk->shared[at].servers & done)
			carried |= risk->shared[at].servers;
	return carried & ~done & ~(1ULL << server);
}

/* The server after which combinations have the fewest servers. */
static uint32_t next_server(const struct morph_risk *risk, uint64_t done)
{
	uint32_t best = risk->servers_count;
	int least = 0;

	for (uint32_t at = 0; at < risk->servers_count; at++) {
		int carried;

		if (done >> at & 1)
			continue;
		carried = __builtin_popcountll(carried_with(risk, at, done));
		if (best < risk->servers_count && carried >= least)
			continue;
		best = at;
		least = carried;
	}
	return best;
}

static int go_through_all(struct morph_risk *risk, struct table *table)
{
	uint64_t done = 0;
	int error = 0;

	while (!error && done != (risk->servers_count < 64 ? 1ULL << risk->servers_count : 0) - 1) {
		uint32_t next = next_server(risk, done);

		for (uint32_t at = 0; !error && at < risk->shared_count; at++) {
			const struct shared *shared = &risk->shared[at];

			if (!(shared->servers >> next & 1) || shared->servers & done)
				continue;
			if ((size_t)table->count * table->width > MOST_NUMBERS)
				return lm_fail(
					risk->ctx, E2BIG,
					"server %u shares parts with too many other servers: %u combinations",
					next, table->count);
			error = look_at_shared(risk->ctx, table, shared);
		}
		if (!error)
			error = go_through(risk->ctx, table, &risk->servers[next], 1ULL << next);
		done |= 1ULL << next;
	}
	return error;
}

int morph_risk_solve(struct morph_risk *risk)
{
	struct table table;
	uint32_t total = 0;
	int error;

	for (uint32_t at = 0; at < risk->servers_count; at++)
		total += risk->servers[at].accelerators;
	error = table_make(risk->ctx, &table, 1, total + 1);
	if (error)
		return error;
	table.numbers[0] = 1;
	error = go_through_all(risk, &table);
	if (error) {
		table_free(&table);
		return error;
	}
	/*
	 * One row is left. Sum from the rare end, so that large numbers do not absorb small ones.
	 */
	for (uint32_t down = total; down--;)
		table.numbers[down] += table.numbers[down + 1];
	free(table.hit);
	free(risk->at_least);
	risk->at_least = table.numbers;
	risk->total = total;
	risk->solved = true;
	return 0;
}

/* ------------------------------------------------------------------ answers */

MORPH_API double morph_risk_at_least(const struct morph_risk *risk, uint32_t count)
{
	return risk->solved && count <= risk->total ? fmin(risk->at_least[count], 1) : 0;
}

MORPH_API int morph_risk_spares(struct morph_risk *risk, double covered,
				struct morph_spare_count *out)
{
	struct morph_spare_count spares = { .sz = out->sz };
	int error = lm_opts_check(risk->ctx, out, sizeof(*out), "morph_spare_count");

	if (error)
		return error;
	if (!(covered > 0 && covered <= 1))
		return lm_fail(risk->ctx, EINVAL,
			       "the availability target is %g; must be above 0, at most 1",
			       covered);
	if (!risk->solved)
		error = morph_risk_solve(risk);
	if (error)
		return error;
	while (morph_risk_at_least(risk, spares.enough + 1) > 1 - covered)
		spares.enough++;
	while (morph_risk_at_least(risk, spares.published) > 1 - covered)
		spares.published++;
	spares.short_of = morph_risk_at_least(risk, spares.enough + 1);
	memcpy(out, &spares, out->sz < sizeof(spares) ? out->sz : sizeof(spares));
	return 0;
}
