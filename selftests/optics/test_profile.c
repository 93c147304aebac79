// SPDX-License-Identifier: GPL-2.0-only
/* The profile is hostile input: optics must reject each error and report its offset. */
#include "maker.h"
#include "tap.h"

#define FIELD(member) ((s64)offsetof(struct morph_profile_header, member))

/* A small profile with one object of every kind, and access to its parts. */
struct sample {
	struct maker maker;
	u8 *blob;
	u64 bytes;
	struct morph_profile_header *header;
	struct morph_profile_kind *kinds;
	struct morph_profile_state *states;
	struct morph_profile_element *elements;
	struct morph_profile_guide *guides;
	struct morph_profile_accelerator *accelerators;
	struct morph_profile_host *hosts;
	struct morph_profile_edge *edges;
};

static void *section(struct sample *sample, const struct morph_profile_section *section)
{
	return sample->blob + le64toh(section->offset);
}

static void sample_open(struct sample *sample)
{
	struct maker *maker = &sample->maker;
	u32 kind, element, i;

	maker_init(maker, 1, 4);
	kind = maker_kind(maker, "cell", 4, 250, 35000);
	maker_state(maker, "0-1 2-3");
	maker_state(maker, "0-2 1-3");
	maker_host(maker);
	maker_edge(maker, -10000, 5000);
	maker_accelerator(maker, 0);
	maker_accelerator(maker, 0);
	element = maker_element(maker, kind, OPTICS_NONE);
	maker_element(maker, kind, 1);
	for (i = 0; i < 2; i++) {
		maker_guide(maker, TX(i, 0), AT(element, (u8)(i * 3)), 100);
		maker_guide(maker, AT(element, (u8)(i + 1)), RX(i, 0), 100);
	}
	maker_guide(maker, AT(element + 1, 0), EDGE(0), 100);
	sample->blob = maker_blob(maker, &sample->bytes);
	sample->header = (void *)sample->blob;
	sample->kinds = section(sample, &sample->header->kinds);
	sample->states = section(sample, &sample->header->states);
	sample->elements = section(sample, &sample->header->elements);
	sample->guides = section(sample, &sample->header->guides);
	sample->accelerators = section(sample, &sample->header->accelerators);
	sample->hosts = section(sample, &sample->header->hosts);
	sample->edges = section(sample, &sample->header->edges);
}

static void sample_close(struct sample *sample)
{
	free(sample->blob);
	maker_free(&sample->maker);
}

/* Return the offset at which optics rejects a blob, or -1 if it accepts it. */
static s64 refused_at(const void *blob, u64 bytes)
{
	struct optics_refusal refusal = { .reason = OPTICS_OK, .have = -2 };
	const struct optics_graph *graph = NULL;
	s64 size = optics_graph_bytes(blob, bytes, &refusal);

	if (size > 0) {
		void *block = malloc((size_t)size);

		graph = optics_graph_build(block, blob, bytes, &refusal);
		free(block);
	} else {
		CHECK_EQUAL(size, -EINVAL);
	}
	if (graph)
		return -1;
	CHECK_EQUAL(refusal.reason, OPTICS_BAD_PROFILE);
	return refusal.have;
}

static s64 sealed_refused_at(struct sample *sample)
{
	profile_seal(sample->blob, sample->bytes);
	return refused_at(sample->blob, sample->bytes);
}

/* Change one field of a good profile: the error must point at @offset. */
#define SPOIL(field, value, offset)                                \
	do {                                                       \
		struct sample s;                                   \
                                                                   \
		sample_open(&s);                                   \
		s.field = (value);                                 \
		CHECK_EQUAL(sealed_refused_at(&s), (s64)(offset)); \
		sample_close(&s);                                  \
	} while (0)

/* As above, pointing at the field itself, or at the field @named. */
#define SPOIL_HERE(field, value) SPOIL_NAMED(field, value, field)
#define SPOIL_NAMED(field, value, named)                                            \
	do {                                                                        \
		struct sample s;                                                    \
                                                                                    \
		sample_open(&s);                                                    \
		s.field = (value);                                                  \
		CHECK_EQUAL(sealed_refused_at(&s), (s64)((u8 *)&s.named - s.blob)); \
		sample_close(&s);                                                   \
	} while (0)

static void profile_well_formed_is_accepted(void)
{
	struct optics_refusal refusal;
	struct sample s;
	const struct optics_graph *graph;
	void *block;

	sample_open(&s);
	CHECK_EQUAL(refused_at(s.blob, s.bytes), -1);
	block = malloc((size_t)optics_graph_bytes(s.blob, s.bytes, &refusal));
	graph = optics_graph_build(block, s.blob, s.bytes, &refusal);
	memset(s.blob, 0, s.bytes); /* the graph must not refer to the blob */
	CHECK_EQUAL(graph->elements_count, 2);
	CHECK_EQUAL(graph->ports_count, 2);
	CHECK_EQUAL(graph->all_lanes, 0xf);
	CHECK_EQUAL(graph->kinds[0].leaks[0], 1 << 1 | 1 << 2);
	CHECK_EQUAL(optics_joined(graph, 0, 1, 0), 2);
	CHECK_EQUAL(optics_joined(graph, 0, 0, 3), 2);
	CHECK_EQUAL(graph->tx_guide[1], 2 * 2);
	CHECK_EQUAL(graph->rx_guide[1], 3 * 2 + 1);
	CHECK_EQUAL(graph->port_guide[3], 2 * 2 + 1);
	CHECK_EQUAL(graph->port_guide[graph->elements[1].first_port + 1], OPTICS_NONE);
	CHECK_EQUAL(graph->ends_count, 3);
	CHECK_EQUAL(graph->tx_guide[optics_edge_end(graph, 0)], 4 * 2 + 1);
	CHECK_EQUAL(graph->rx_guide[optics_edge_end(graph, 0)], 4 * 2 + 1);
	CHECK_EQUAL(optics_edge_least(graph, 0), -10000);
	CHECK_EQUAL(optics_edge_most(graph, 0), 5000);
	CHECK(!strcmp(graph->hosts[0].name, "host0"));
	free(block);
	sample_close(&s);
}

static void header_with_wrong_identity_is_refused(void)
{
	SPOIL(header->magic, 1, FIELD(magic));
	SPOIL(header->version, htole32(2), FIELD(version));
	SPOIL(header->header_bytes, htole32(8), FIELD(header_bytes));
	SPOIL(header->total_bytes, htole64(1), FIELD(total_bytes));
	SPOIL(header->reserved0, htole32(1), FIELD(reserved0));
	SPOIL(header->reserved1, htole32(1), FIELD(reserved1));
	SPOIL(header->flags, htole32(1), FIELD(flags));
	SPOIL(header->name[0], 'A', FIELD(name));
	SPOIL(header->name[0], 0, FIELD(name));
	SPOIL(header->name[30], 'a', FIELD(name));
}

static void header_with_insane_numbers_is_refused(void)
{
	SPOIL(header->wavelengths, htole32(0), FIELD(wavelengths));
	SPOIL(header->wavelengths, htole32(65), FIELD(wavelengths));
	SPOIL(header->planes, htole32(0), FIELD(planes));
	SPOIL(header->planes, htole32(65), FIELD(planes));
	SPOIL(header->planes, htole32(60), FIELD(guides.count));
	SPOIL(header->lane_mbps, 0, FIELD(lane_mbps));
	SPOIL(header->laser_mdbm, htole32(0x80000000), FIELD(laser_mdbm));
	SPOIL(header->overload_mdbm, htole32((u32)-30000), FIELD(overload_mdbm));
	SPOIL(header->dark_mdbm, htole32((u32)-10000), FIELD(dark_mdbm));
	SPOIL(header->margin_mdb, htole32(0xffffffff), FIELD(margin_mdb));
	SPOIL(header->isolation_mdb, htole32(100001), FIELD(isolation_mdb));
	SPOIL(header->deadline_ns, 0, FIELD(deadline_ns));
	SPOIL(header->settle_ns, htole64(~0ull), FIELD(settle_ns));
	SPOIL(header->drift_period_ns, htole64(~0ull), FIELD(drift_period_ns));
}

static void section_out_of_bounds_is_refused(void)
{
	SPOIL(header->kinds.stride, htole32(1), FIELD(kinds.stride));
	SPOIL(header->elements.offset, htole64(~0ull), FIELD(elements.offset));
	SPOIL(header->elements.offset, htole64(~7ull), FIELD(elements.offset));
	SPOIL(header->elements.count, htole32(0xffffffff), FIELD(elements.count));
	SPOIL(header->guides.offset, htole64(0), FIELD(guides.offset));
	SPOIL(header->states.offset, htole64(le64toh(s.header->states.offset) + 1),
	      FIELD(states.offset));
	SPOIL(header->edges.count, htole32(2), FIELD(edges.count));
	SPOIL(header->accelerators.count, 0, FIELD(accelerators.count));
}

static void kind_malformed_is_refused(void)
{
	SPOIL_HERE(kinds[0].ports, 0);
	SPOIL_HERE(kinds[0].ports, 17);
	SPOIL_HERE(kinds[0].park, 2);
	SPOIL_HERE(kinds[0].states, 0);
	SPOIL_HERE(kinds[0].states, htole16(65));
	SPOIL_NAMED(kinds[0].states, htole16(3), kinds[0].first_state);
	SPOIL_HERE(kinds[0].first_state, htole32(0xffffffff));
	SPOIL_HERE(kinds[0].loss_mdb, htole32(100000));
	SPOIL_HERE(kinds[0].extinction_mdb, htole32(100));
	SPOIL_HERE(kinds[0].flags, htole32(1));
	SPOIL_HERE(kinds[0].reserved, htole32(1));
	SPOIL_NAMED(kinds[0].name[15], 'x', kinds[0].name);
	SPOIL_NAMED(kinds[0].name[0], '\n', kinds[0].name);
}

/* A kind without elements has no effect on sizes, and must be valid nevertheless. */
static void kind_malformed_and_unused_is_refused(void)
{
	struct sample s;
	u32 kind;

	sample_open(&s);
	kind = maker_kind(&s.maker, "spare", 0, 250, 35000);
	maker_state(&s.maker, "");
	free(s.blob);
	s.blob = maker_blob(&s.maker, &s.bytes);
	s.header = (void *)s.blob;
	s.kinds = section(&s, &s.header->kinds);
	CHECK_EQUAL(sealed_refused_at(&s), (s64)(&s.kinds[kind].ports - s.blob));
	sample_close(&s);
}

static void state_asymmetric_is_refused(void)
{
	SPOIL_HERE(states[0].joins[0], 0); /* joined to itself */
	SPOIL_HERE(states[0].joins[0], 2); /* 2 is joined to 3 */
	SPOIL_HERE(states[0].joins[0], 4); /* no such port */
	SPOIL_HERE(states[0].joins[7], 0); /* after the last port */
	SPOIL_NAMED(states[1].joins[3], MORPH_PORT_NONE, states[1].joins[1]);
}

static void record_with_bad_index_is_refused(void)
{
	SPOIL_HERE(elements[1].kind, htole32(1));
	SPOIL_HERE(elements[1].tile, htole32(2));
	SPOIL_HERE(accelerators[1].host, htole32(1));
	SPOIL_HERE(accelerators[1].flags, htole16(2));
	SPOIL_NAMED(hosts[0].name[31], 'x', hosts[0]);
	SPOIL_HERE(edges[0].most_mdbm, htole16(10001)); /* more than a laser emits */
	SPOIL_HERE(edges[0].least_mdbm, htole16(5001)); /* more than the maximum */
	SPOIL_NAMED(edges[0].name[0], '\t', edges[0].name);
}

static void guide_malformed_is_refused(void)
{
	SPOIL_HERE(guides[0].a_index, htole32(2));
	SPOIL_NAMED(guides[0].a_port, 1, guides[0].a_index); /* no such plane */
	SPOIL_NAMED(guides[0].a_type, 9, guides[0].a_index);
	SPOIL_NAMED(guides[0].b_port, 4, guides[0].b_index); /* no such port */
	SPOIL_NAMED(guides[2].b_port, 0, guides[2].b_index); /* used by guide 0 */
	SPOIL_HERE(guides[2].a_index, htole32(0)); /* used by guide 0 */
	SPOIL_NAMED(guides[4].b_port, 1, guides[4].b_index); /* edges have port 0 */
	SPOIL_HERE(guides[4].b_index, htole32(1));
	SPOIL_HERE(guides[0].class, htole16(4));
	SPOIL_HERE(guides[0].b_type, MORPH_END_TX); /* laser to laser */
	/* A receiver without a guide: the error names the accelerator. */
	SPOIL_NAMED(guides[3].b_type, MORPH_END_EDGE, guides[3].b_index);
	SPOIL_NAMED(guides[4].b_type, MORPH_END_RX, guides[4].b_index);
}

static void edge_without_a_guide_is_refused(void)
{
	struct sample s;

	sample_open(&s);
	s.guides[4].b_type = MORPH_END_ELEMENT;
	s.guides[4].b_index = htole32(1);
	s.guides[4].b_port = 1;
	CHECK_EQUAL(sealed_refused_at(&s), (s64)((u8 *)&s.edges[0] - s.blob));
	sample_close(&s);
}

static void port_without_guide_is_refused(void)
{
	struct sample s;

	sample_open(&s);
	s.guides[2].a_type = MORPH_END_ELEMENT;
	s.guides[2].a_index = htole32(1);
	s.guides[2].a_port = 1;
	CHECK_EQUAL(sealed_refused_at(&s), (s64)((u8 *)&s.accelerators[1] - s.blob));
	sample_close(&s);
}

static void blob_truncated_is_refused(void)
{
	struct sample s;
	u64 bytes;

	sample_open(&s);
	for (bytes = 0; bytes < s.bytes; bytes++) {
		void *copy = malloc((size_t)bytes + 1);

		memcpy(copy, s.blob, (size_t)bytes);
		CHECK(refused_at(copy, bytes) >= 0);
		free(copy);
	}
	sample_close(&s);
}

static void byte_flipped_breaks_checksum(void)
{
	struct sample s;
	u64 at;

	sample_open(&s);
	for (at = 0; at < s.bytes; at++) {
		s.blob[at] ^= 0x10;
		CHECK(refused_at(s.blob, s.bytes) >= 0);
		s.blob[at] ^= 0x10;
	}
	CHECK_EQUAL(refused_at(s.blob, s.bytes), -1);
	sample_close(&s);
}

/* The blob may have changed after the caller read the size. */
static void blob_changed_between_size_and_graph_is_refused(void)
{
	struct optics_refusal refusal;
	struct sample s;
	void *block;

	sample_open(&s);
	block = malloc((size_t)optics_graph_bytes(s.blob, s.bytes, &refusal));
	s.blob[s.bytes - 1] ^= 0x10;
	CHECK(!optics_graph_build(block, s.blob, s.bytes, &refusal));
	CHECK_EQUAL(refusal.reason, OPTICS_BAD_PROFILE);
	CHECK_EQUAL(refusal.have, FIELD(checksum));
	free(block);
	sample_close(&s);
}

/* Use the result of a mutated profile: routes, claims, leaks. The sanitizers detect errors. */
static void exercise(const void *blob, u64 bytes)
{
	struct optics_refusal refusal;
	s64 size = optics_graph_bytes(blob, bytes, &refusal);
	const struct optics_graph *graph;
	struct fabric fabric;
	struct route route;
	void *block;

	if (size < 0)
		return;
	block = malloc((size_t)size);
	graph = optics_graph_build(block, blob, bytes, &refusal);
	if (graph && graph->accelerators_count > 1) {
		struct optics_route_request request;
		struct optics_view view;

		fabric.graph = graph;
		fabric.state = optics_state_init(malloc((size_t)optics_state_bytes(graph)), graph);
		fabric.steps = 64;
		fabric.work = malloc((size_t)optics_route_bytes(64));
		memset(fabric.work, 0, (size_t)optics_route_bytes(64));
		request = fabric_request(&fabric, 0, 1, 1);
		fabric_route(&fabric, &request, &route);
		if (!route.error && !optics_claim(fabric.state, &route.path, &refusal)) {
			view = fabric_view(&fabric);
			optics_validate(&view, &route.path, 1, 0, true, NULL, &refusal);
			optics_release(fabric.state, &route.path);
		}
		free(fabric.work);
		free(fabric.state);
	}
	free(block);
}

static void blob_mutated_and_sealed_never_crashes(void)
{
	static const u8 values[] = { 0, 1, 2, 3, 4, 16, 63, 64, 65, 127, 128, 254, 255 };
	struct sample s;
	u64 seed = 42, at;
	u32 round, i;
	u8 *copy;

	sample_open(&s);
	copy = malloc((size_t)s.bytes);
	for (at = 0; at < s.bytes; at++)
		for (i = 0; i < sizeof(values); i++) {
			memcpy(copy, s.blob, (size_t)s.bytes);
			copy[at] = values[i];
			profile_seal(copy, s.bytes);
			exercise(copy, s.bytes);
		}
	for (round = 0; round < 20000; round++) {
		memcpy(copy, s.blob, (size_t)s.bytes);
		for (i = next_random(&seed) % 4 + 1; i--;) {
			u8 value = values[next_random(&seed) % sizeof(values)];

			copy[next_random(&seed) % s.bytes] = value;
		}
		profile_seal(copy, s.bytes);
		exercise(copy, s.bytes);
	}
	free(copy);
	sample_close(&s);
}

static void reasons_all_have_text_and_errno(void)
{
	u32 reason;

	for (reason = 0; reason < 40; reason++) {
		CHECK(optics_reason_text(reason) && *optics_reason_text(reason));
		CHECK(reason ? optics_reason_errno(reason) < 0 : !optics_reason_errno(reason));
	}
	CHECK_EQUAL(optics_reason_errno(OPTICS_NO_ROUTE), -EHOSTUNREACH);
	CHECK_EQUAL(optics_reason_errno(OPTICS_ISOLATION), -EXDEV);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(profile_well_formed_is_accepted),
		TEST(header_with_wrong_identity_is_refused),
		TEST(header_with_insane_numbers_is_refused),
		TEST(section_out_of_bounds_is_refused),
		TEST(kind_malformed_is_refused),
		TEST(kind_malformed_and_unused_is_refused),
		TEST(state_asymmetric_is_refused),
		TEST(record_with_bad_index_is_refused),
		TEST(guide_malformed_is_refused),
		TEST(edge_without_a_guide_is_refused),
		TEST(port_without_guide_is_refused),
		TEST(blob_truncated_is_refused),
		TEST(byte_flipped_breaks_checksum),
		TEST(blob_changed_between_size_and_graph_is_refused),
		TEST(blob_mutated_and_sealed_never_crashes),
		TEST(reasons_all_have_text_and_errno),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
