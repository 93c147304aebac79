// SPDX-License-Identifier: GPL-2.0-only
/*
 * The supplied profiles: optics accepts them, and the router connects every possible pair within
 * the power budget.
 */
#include "maker.h"
#include "tap.h"

static bool open_profile(struct fabric *fabric, const char *name)
{
	const char *folder = getenv("PROFILES");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.bin", folder ? folder : "build/profiles", name);
	if (fabric_open_file(fabric, path, OPTICS_ROUTE_STEPS))
		return true;
	printf("# no file %s: make -C profiles makes it\n", path);
	tap_failed = true;
	return false;
}

/* Route, claim, judge and release one circuit alone in the fabric. */
static void try_pair(struct fabric *fabric, u32 from, u32 to, u32 *worst_loss, u32 *most_steps)
{
	struct optics_route_request request = fabric_request(fabric, from, to, 1);
	struct optics_view view = fabric_view(fabric);
	struct optics_verdict verdict;
	struct route r;
	int error;

	fabric_route(fabric, &request, &r);
	CHECK_EQUAL(r.error, 0);
	if (r.error)
		return;
	CHECK_EQUAL(r.path.loss_mdb, optics_path_loss(fabric->graph, &r.path));
	CHECK_EQUAL(optics_claim(fabric->state, &r.path, &r.refusal), 0);
	error = optics_validate(&view, &r.path, 1, 1, false, &verdict, &r.refusal);
	if (error)
		printf("# %u to %u: %s, have %lld, need %lld\n", from, to,
		       optics_reason_text(r.refusal.reason), (long long)r.refusal.have,
		       (long long)r.refusal.need);
	CHECK_EQUAL(error, 0);
	optics_release(fabric->state, &r.path);
	*worst_loss = r.path.loss_mdb > *worst_loss ? r.path.loss_mdb : *worst_loss;
	*most_steps = r.steps > *most_steps ? r.steps : *most_steps;
}

static void try_profile(const char *name, u32 stride)
{
	u32 from, to, worst_loss = 0, most_steps = 0, pairs = 0;
	struct fabric f;

	if (!open_profile(&f, name))
		return;
	fabric_own_all(&f, 1);
	for (from = 0; from < f.graph->accelerators_count && !tap_failed; from++)
		for (to = from % stride; to < f.graph->accelerators_count && !tap_failed;
		     to += stride)
			if (from != to) {
				try_pair(&f, from, to, &worst_loss, &most_steps);
				pairs++;
			}
	printf("# %s: %u elements, %u guides, %u pairs, worst loss %u mdb, most steps %u\n",
	       f.graph->params.name, f.graph->elements_count, f.graph->guides_count, pairs,
	       worst_loss, most_steps);
	fabric_close(&f);
}

static void server4_joins_every_pair(void)
{
	try_profile("server4", 1);
}

static void server8_joins_every_pair(void)
{
	try_profile("server8", 1);
}

static void server16_joins_every_pair(void)
{
	try_profile("server16", 1);
}

static void smartlight72_joins_every_pair(void)
{
	try_profile("smartlight72", 1);
}

static void rack64_joins_every_fifth_pair(void)
{
	try_profile("rack64", 5);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(server4_joins_every_pair),	     TEST(server8_joins_every_pair),
		TEST(server16_joins_every_pair),     TEST(smartlight72_joins_every_pair),
		TEST(rack64_joins_every_fifth_pair),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
