// SPDX-License-Identifier: GPL-2.0-only
/* The simulator's reader of profiles, its decibels and its light. */
#include <math.h>

#include "dump.h"
#include "tap.h"

#define FIELD(name)                                  \
	offsetof(struct morph_profile_header, name), \
		sizeof(((struct morph_profile_header *)0)->name)

static const char *profiles;

static void *load(const char *name, size_t *bytes)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.bin", profiles, name);
	return read_profile(path, bytes);
}

/* Correct the checksum, so that the reader reaches the data after it. */
static void sign(u8 *blob, size_t bytes)
{
	const size_t at = offsetof(struct morph_profile_header, checksum);
	u32 crc;

	memset(blob + at, 0, 4);
	crc = htole32(~crc32_le(~0u, blob, bytes));
	memcpy(blob + at, &crc, sizeof(crc));
}

/* The reader must reject the blob with a text that contains the word. */
static void expect_refusal(const void *blob, size_t bytes, const char *word)
{
	struct sim_refusal why = {};
	struct sim_optics o = {};
	int err = sim_profile_read(&o, blob, bytes, &why);

	CHECK_EQUAL(err, -EINVAL);
	if (!strstr(why.text, word)) {
		tap_failed = true;
		printf("# '%s' has no '%s'\n", why.text, word);
	}
	sim_profile_free(&o);
}

static u64 section_at(const u8 *blob, size_t section)
{
	return le64_to_cpu(((const struct morph_profile_section *)(blob + section))->offset);
}

static void test_header_rules(void)
{
	static const struct {
		size_t offset, size;
		u64 value;
		const char *word;
	} rules[] = {
		{ FIELD(magic), 1, "magic" },
		{ FIELD(version), 2, "version" },
		{ FIELD(header_bytes), 8, "header_bytes" },
		{ FIELD(total_bytes), 8, "total_bytes" },
		{ FIELD(reserved0), 1, "reserved0" },
		{ FIELD(reserved1), 1, "reserved1" },
		{ FIELD(flags), 1, "flags" },
		{ offsetof(struct morph_profile_header, name), 1, 'A', "0x41" },
		{ offsetof(struct morph_profile_header, name), 1, 0, "name" },
		{ FIELD(wavelengths), 0, "wavelengths" },
		{ FIELD(wavelengths), 65, "wavelengths" },
		{ FIELD(planes), 65, "planes" },
		{ FIELD(laser_mdbm), 200001, "laser_mdbm" },
		{ FIELD(dark_mdbm), 100000, "must ascend" },
		{ FIELD(drift_mdb), 100001, "drift_mdb" },
		{ FIELD(settle_ns), ~0ULL, "settle_ns" },
		{ FIELD(kinds.stride), 8, "stride" },
		{ FIELD(states.offset), 4, "multiple of 8" },
		{ FIELD(elements.offset), ~7ULL, "beyond" },
		{ FIELD(elements.count), ~0u, "beyond" },
		{ FIELD(guides.offset), 8, "overlaps" },
		{ FIELD(accelerators.count), 0, "accelerator" },
	};
	size_t bytes, i;
	u8 *blob = load("server4", &bytes), *copy = malloc(bytes);
	u64 value;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		memcpy(copy, blob, bytes);
		value = htole64(rules[i].value);
		memcpy(copy + rules[i].offset, &value, rules[i].size);
		sign(copy, bytes);
		expect_refusal(copy, bytes, rules[i].word);
	}
	memcpy(copy, blob, bytes);
	copy[bytes - 1] ^= 1;
	expect_refusal(copy, bytes, "checksum");
	for (i = 0; i < bytes; i += 97)
		expect_refusal(copy, i,
			       i < sizeof(struct morph_profile_header) ? "bytes" : "total_bytes");
	free(copy);
	free(blob);
}

static void test_record_rules(void)
{
	static const struct {
		size_t section, offset;
		u8 value;
		const char *word;
	} rules[] = {
#define RULE(section, record, field, value, word) \
	{ offsetof(struct morph_profile_header, section), offsetof(record, field), value, word }
		RULE(kinds, struct morph_profile_kind, ports, 17, "ports"),
		RULE(kinds, struct morph_profile_kind, park, 60, "parks"),
		RULE(kinds, struct morph_profile_kind, states, 0, "states"),
		RULE(kinds, struct morph_profile_kind, first_state, 255, "states begin at"),
		RULE(kinds, struct morph_profile_kind, flags, 1, "flags"),
		RULE(states, struct morph_profile_state, joins[15], 0, "joins"),
		RULE(states, struct morph_profile_state, joins[0], 0, "not the reverse"),
		RULE(elements, struct morph_profile_element, kind, 200, "kind 200"),
		RULE(elements, struct morph_profile_element, tile, 200, "accelerator 200"),
		RULE(guides, struct morph_profile_guide, a_type, 4, "does not exist"),
		RULE(guides, struct morph_profile_guide, a_port, 99, "does not exist"),
		RULE(guides, struct morph_profile_guide, class, 9, "class"),
		RULE(guides, struct morph_profile_guide, a_port, 1, "is also an end"),
		RULE(accelerators, struct morph_profile_accelerator, host, 99, "host 99"),
		RULE(accelerators, struct morph_profile_accelerator, flags, 2, "flags"),
	};
	size_t bytes, i;
	u8 *blob = load("server4", &bytes), *copy = malloc(bytes);

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		memcpy(copy, blob, bytes);
		copy[section_at(copy, rules[i].section) + rules[i].offset] = rules[i].value;
		sign(copy, bytes);
		expect_refusal(copy, bytes, rules[i].word);
	}
	free(copy);
	free(blob);
}

/* Trace light in every accepted profile; the sanitizers detect errors. */
static void test_random_bytes(void)
{
	struct sim_optics *end;
	size_t bytes, at;
	u8 *blob = load("server4", &bytes), *copy = malloc(bytes);
	unsigned int round, accepted = 0, change;
	u64 random = 7;

	for (round = 0; round < 4000; round++) {
		struct sim_reading reading;
		struct sim_refusal why;
		struct sim_optics o = {};
		u32 i;

		memcpy(copy, blob, bytes);
		for (change = 0; change <= round % 3; change++) {
			random = sim_mix(random);
			at = random % bytes;
			copy[at] = random >> 56;
		}
		sign(copy, bytes);
		if (!sim_profile_read(&o, copy, bytes, &why)) {
			accepted++;
			for (i = 0; i < o.elements_count; i++)
				o.elements[i].state =
					sim_mix(random + i) % o.kinds[o.elements[i].kind].states;
			for (i = 0; i < o.ports_count; i++)
				o.transmitters[i].on = o.all_lanes;
			for (i = 0; i < o.ports_count && i < 32; i++) {
				sim_receive(&o, i, o.all_lanes, round, false, &reading);
				end = &o;
				sim_follow(&end, o.transmitters[i].guide);
			}
		}
		sim_profile_free(&o);
	}
	printf("# %u of %u accepted\n", accepted, round);
	CHECK(accepted > 0 && accepted < round);
	free(copy);
	free(blob);
}

static void test_decibels(void)
{
	s32 mdbm;

	for (mdbm = -90000; mdbm <= 30000; mdbm += 7) {
		double exact = pow(10, (mdbm + 150000) / 10000.0);

		CHECK(fabs(sim_linear(mdbm) / exact - 1) < 1e-4);
		CHECK(abs(sim_mdbm(sim_linear(mdbm)) - mdbm) <= 1);
	}
	CHECK_EQUAL(sim_linear(-150001), 0);
	CHECK_EQUAL(sim_mdbm(0), -150000);
}

/* A power in mdbm is the greatest one that does not exceed the linear power. */
static void test_logarithm(void)
{
	u64 linear, step;
	s32 mdbm;

	for (linear = 1; linear < 1000000000000000000ULL; linear += step) {
		step = linear / 777 + 1;
		mdbm = sim_mdbm(linear);
		CHECK(sim_linear(mdbm) <= linear);
		CHECK(mdbm == 30000 || sim_linear(mdbm + 1) > linear);
	}
	for (mdbm = -150000; mdbm < 30000; mdbm++) {
		linear = sim_linear(mdbm);
		CHECK(sim_mdbm(linear) >= mdbm);
		CHECK(sim_linear(sim_mdbm(linear)) == linear);
		CHECK(sim_linear(sim_mdbm(linear - 1) + 1) >= linear);
	}
	CHECK_EQUAL(sim_mdbm(~0ULL), 30000);
}

/* Set the states of a path from port 0 of accelerator 0 to any receiver; return the receiver. */
static u32 make_path(struct sim_optics *o, u32 *last)
{
	struct sim_optics *end = o;
	u32 tries, i;

	for (tries = 0; tries < 100000; tries++) {
		u32 rx;

		for (i = 0; i < o->elements_count; i++) {
			struct sim_element *e = &o->elements[i];

			e->state = sim_mix((u64)tries << 32 | i) % o->kinds[e->kind].states;
			e->previous = e->state;
		}
		rx = sim_follow(&end, o->transmitters[0].guide);
		if (rx == SIM_NONE)
			continue;
		for (i = 0; i < o->ports_count; i++)
			o->transmitters[i].on = 0;
		o->transmitters[0].on = 1;
		*last = o->guides[o->receivers[rx].guide >> 1]
				.end[!(o->receivers[rx].guide & 1)]
				.index;
		return rx;
	}
	printf("# no path in %u tries\n", tries);
	tap_failed = true;
	return 0;
}

static void test_settle_and_relock(void)
{
	const u64 start = 1000000;
	struct sim_reading reading;
	struct sim_optics o;
	size_t bytes;
	void *blob = load("server4", &bytes);
	u32 rx, last, state;
	u64 nominal, before = 0, power, t;

	start_fabric(&o, blob, bytes, 1);
	rx = make_path(&o, &last);
	sim_receive(&o, rx, 1, start, false, &reading);
	CHECK_EQUAL(reading.locked, 1);
	nominal = o.light->total[0];
	state = o.elements[last].state;
	o.elements[last].previous = o.kinds[o.elements[last].kind].park;
	o.elements[last].settled_at = start + o.settle_ns;
	for (t = 0; t < o.settle_ns; t += 10) {
		sim_receive(&o, rx, 1, start + t, false, &reading);
		power = o.light->total[0];
		CHECK(power >= before && power < nominal);
		CHECK_EQUAL(reading.locked, 0);
		before = power;
	}
	CHECK(sim_mdbm(nominal) - sim_mdbm(before) < 600);
	sim_receive(&o, rx, 1, start + o.settle_ns, false, &reading);
	CHECK_EQUAL(o.light->total[0], nominal);
	CHECK_EQUAL(reading.locked, 0);
	sim_receive(&o, rx, 1, start + o.settle_ns + o.relock_ns - 1, false, &reading);
	CHECK_EQUAL(reading.locked, 0);
	sim_receive(&o, rx, 1, start + o.settle_ns + o.relock_ns, false, &reading);
	CHECK_EQUAL(reading.locked, 1);
	o.elements[last].previous = state;
	o.elements[last].state = o.kinds[o.elements[last].kind].park;
	sim_receive(&o, rx, 1, start + 1, false, &reading);
	before = o.light->total[0];
	sim_receive(&o, rx, 1, start + o.settle_ns, false, &reading);
	CHECK(before > nominal / 2 && o.light->total[0] < nominal / 1000);
	sim_profile_free(&o);
	free(blob);
}

static void test_what_locks(void)
{
	struct sim_reading reading;
	struct sim_optics o;
	size_t bytes;
	void *blob = load("server4", &bytes);
	u32 rx, last;

	start_fabric(&o, blob, bytes, 1);
	rx = make_path(&o, &last);
	o.accelerators[0].alive = false;
	sim_receive(&o, rx, 1, 1000000, false, &reading);
	CHECK_EQUAL(reading.lit, 1);
	CHECK_EQUAL(reading.usable, 0);
	o.accelerators[0].alive = true;
	o.receivers[rx].deaf = true;
	sim_receive(&o, rx, 1, 1000000, false, &reading);
	CHECK_EQUAL(reading.lit, 0);
	o.receivers[rx].deaf = false;
	o.transmitters[0].weak = 1;
	o.transmitters[0].weak_mdb = 30000;
	sim_receive(&o, rx, 1, 1000000, false, &reading);
	CHECK_EQUAL(reading.lit, 1);
	CHECK_EQUAL(reading.usable, 0);
	o.transmitters[0].dead = 1;
	sim_receive(&o, rx, 1, 1000000, false, &reading);
	CHECK_EQUAL(o.light->total[0], 0);
	o.transmitters[0].dead = 0;
	o.transmitters[0].weak = 0;
	o.guides[o.receivers[rx].guide >> 1].extra_mdb = SIM_OPAQUE_MDB;
	sim_receive(&o, rx, 1, 1000000, false, &reading);
	CHECK_EQUAL(o.light->total[0], 0);
	sim_profile_free(&o);
	free(blob);
}

static void test_drift(void)
{
	struct sim_element elements[8] = {};
	struct sim_optics o = {
		.drift_mdb = 20,
		.drift_period_ns = 1000000,
		.elements = elements,
		.elements_count = ARRAY_SIZE(elements),
	};
	s32 least = 0, most = 0;
	u64 t;

	sim_set_seed(&o, 3);
	for (t = 0; t < 1000000; t += 100) {
		s32 drift = sim_drift_mdb(&o, 5, t);

		least = min(least, drift);
		most = max(most, drift);
		CHECK_EQUAL(drift, sim_drift_mdb(&o, 5, t + 1000000));
	}
	CHECK(least <= -19 && least >= -20 && most >= 19 && most <= 20);
	CHECK(sim_drift_mdb(&o, 5, 0) != sim_drift_mdb(&o, 6, 0) ||
	      sim_drift_mdb(&o, 7, 0) != sim_drift_mdb(&o, 5, 0));
}

/* Print one fabric, or two whose edges are connected to each other. */
static int print(const char *path, const char *seed)
{
	struct sim_optics o, peer;
	size_t bytes;
	void *blob = read_profile(path, &bytes);
	u32 i;

	start_fabric(&o, blob, bytes, strtoull(seed, NULL, 0));
	start_fabric(&peer, blob, bytes, ~strtoull(seed, NULL, 0));
	for (i = 0; i < o.edges_count; i++) {
		o.edges[i].peer = &peer;
		peer.edges[i].peer = &o;
	}
	print_fabric(&o);
	if (o.edges_count)
		print_fabric(&peer);
	sim_profile_free(&peer);
	sim_profile_free(&o);
	free(blob);
	return 0;
}

int main(int count, char **arguments)
{
	static const struct tap_test tests[] = {
		TEST(test_header_rules), TEST(test_record_rules), TEST(test_random_bytes),
		TEST(test_decibels),	 TEST(test_logarithm),	  TEST(test_settle_and_relock),
		TEST(test_what_locks),	 TEST(test_drift),
	};

	if (count == 3)
		return print(arguments[1], arguments[2]);
	profiles = getenv("PROFILES");
	if (!profiles) {
		fprintf(stderr, "PROFILES must name the directory of the profiles\n");
		return 1;
	}
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
