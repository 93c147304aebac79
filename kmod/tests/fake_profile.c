// SPDX-License-Identifier: GPL-2.0-only
/* The profile of the fake fabric: a full mesh of selectors, see fake.h. */
#include "fake.h"

#define SECTIONS	7u

/* Number of records in each section. */
static void count_records(const struct fake *fake, u32 *counts)
{
	u32 ports = fake->accelerators * FAKE_PLANES;

	counts[0] = 1;					/* kinds */
	counts[1] = fake->accelerators + 1;		/* states */
	counts[2] = 2 * ports;				/* elements */
	counts[3] = ports * (fake->accelerators + 1);	/* guides */
	counts[4] = fake->accelerators;
	counts[5] = fake->shape.hosts;
	counts[6] = 0;					/* edges */
}

static void fill_header(struct fake *fake, struct morph_profile_header *header)
{
	header->magic = cpu_to_le64(MORPH_PROFILE_MAGIC);
	header->version = cpu_to_le32(MORPH_PROFILE_VERSION);
	header->header_bytes = cpu_to_le32(sizeof(*header));
	header->total_bytes = cpu_to_le64(fake->bytes);
	strscpy(header->name, "fake", sizeof(header->name));
	header->wavelengths = cpu_to_le32(FAKE_LANES);
	header->planes = cpu_to_le32(FAKE_PLANES);
	header->lane_mbps = cpu_to_le64(100000);
	header->laser_mdbm = cpu_to_le32(10000);
	header->sensitivity_mdbm = cpu_to_le32(-20000);
	header->overload_mdbm = cpu_to_le32(12000);
	header->margin_mdb = cpu_to_le32(3000);
	header->isolation_mdb = cpu_to_le32(20000);
	header->dark_mdbm = cpu_to_le32(-40000);
	header->window_mdb = cpu_to_le32(1500);
	header->settle_ns = cpu_to_le64(4000);
	header->relock_ns = cpu_to_le64(1000);
	header->write_fixed_ns = cpu_to_le64(500);
	header->write_each_ns = cpu_to_le64(10);
	header->deadline_ns = cpu_to_le64(FAKE_DEADLINE);
}

static void fill_states(struct fake *fake, struct morph_profile_kind *kind,
			struct morph_profile_state *states)
{
	u32 i;

	strscpy(kind->name, "selector", sizeof(kind->name));
	kind->ports = fake->accelerators + 1;
	kind->states = cpu_to_le16(fake->accelerators + 1);
	kind->loss_mdb = cpu_to_le32(500);
	kind->extinction_mdb = cpu_to_le32(40000);
	for (i = 0; i <= fake->accelerators; i++) {
		memset(states[i].joins, MORPH_PORT_NONE, sizeof(states[i].joins));
		if (!i)
			continue;
		states[i].joins[0] = i;
		states[i].joins[i] = 0;
	}
}

static void fill_guide(struct morph_profile_guide *guide, u8 a_type, u32 a_index, u8 a_port,
		       u8 b_type, u32 b_index, u8 b_port)
{
	guide->a_type = a_type;
	guide->a_index = cpu_to_le32(a_index);
	guide->a_port = a_port;
	guide->b_type = b_type;
	guide->b_index = cpu_to_le32(b_index);
	guide->b_port = b_port;
	guide->loss_mdb = cpu_to_le16(300);
}

/* The selectors of a port, and the guides that start there. */
static u32 fill_port(struct fake *fake, struct morph_profile_element *elements,
		     struct morph_profile_guide *guides, u32 at, u32 accelerator, u32 plane)
{
	u32 port = accelerator * FAKE_PLANES + plane, other, selector;

	elements[2 * port].tile = cpu_to_le32(accelerator);
	elements[2 * port + 1].tile = cpu_to_le32(accelerator);
	fill_guide(&guides[at++], MORPH_END_TX, accelerator, plane, MORPH_END_ELEMENT, 2 * port,
		   0);
	fill_guide(&guides[at++], MORPH_END_ELEMENT, 2 * port + 1, 0, MORPH_END_RX, accelerator,
		   plane);
	for (other = 0; other < fake->accelerators; other++) {
		if (other == accelerator)
			continue;
		selector = 2 * (other * FAKE_PLANES + plane) + 1;
		guides[at].class = cpu_to_le16(other / fake->shape.each ==
					       accelerator / fake->shape.each ?
					       MORPH_GUIDE_TILE : MORPH_GUIDE_FIBRE);
		fill_guide(&guides[at++], MORPH_END_ELEMENT, 2 * port, other + 1,
			   MORPH_END_ELEMENT, selector, accelerator + 1);
	}
	return at;
}

static void fill_places(struct fake *fake, struct morph_profile_accelerator *accelerators,
			struct morph_profile_host *hosts)
{
	u32 i, within;

	for (i = 0; i < fake->accelerators; i++) {
		within = i % fake->shape.each;
		accelerators[i].host = cpu_to_le32(i / fake->shape.each);
		accelerators[i].x = cpu_to_le16(within);
		accelerators[i].y = cpu_to_le16(i / fake->shape.each);
		if (within >= fake->shape.each - fake->shape.spares)
			accelerators[i].flags = cpu_to_le16(MORPH_ACCELERATOR_F_SPARE);
	}
	for (i = 0; i < fake->shape.hosts; i++)
		snprintf(hosts[i].name, sizeof(hosts[i].name), "host%u", i);
}

/* CRC-32 of the format, bit by bit. The implementation in optics uses a table. */
void fake_seal(struct fake *fake)
{
	struct morph_profile_header *header = fake->blob;
	const u8 *data = fake->blob;
	u32 crc = ~0u;
	size_t i;
	int bit;

	header->checksum = 0;
	for (i = 0; i < fake->bytes; i++) {
		crc ^= data[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	header->checksum = cpu_to_le32(~crc);
}

void fake_make_profile(struct fake *fake)
{
	static const u32 strides[SECTIONS] = {
		sizeof(struct morph_profile_kind), sizeof(struct morph_profile_state),
		sizeof(struct morph_profile_element), sizeof(struct morph_profile_guide),
		sizeof(struct morph_profile_accelerator), sizeof(struct morph_profile_host),
		sizeof(struct morph_profile_edge),
	};
	struct morph_profile_section *sections;
	struct morph_profile_header *header;
	size_t at[SECTIONS + 1];
	u32 counts[SECTIONS], i, plane, guides = 0;

	count_records(fake, counts);
	at[0] = ALIGN(sizeof(*header), 8);
	for (i = 0; i < SECTIONS; i++)
		at[i + 1] = ALIGN(at[i] + counts[i] * strides[i], 8);
	fake->bytes = at[SECTIONS];
	fake->blob = kunit_kzalloc(fake->test, fake->bytes, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, fake->blob);
	header = fake->blob;
	fill_header(fake, header);
	sections = &header->kinds;
	for (i = 0; i < SECTIONS; i++) {
		sections[i].offset = cpu_to_le64(at[i]);
		sections[i].count = cpu_to_le32(counts[i]);
		sections[i].stride = cpu_to_le32(strides[i]);
	}
	fill_states(fake, fake->blob + at[0], fake->blob + at[1]);
	for (i = 0; i < fake->accelerators; i++)
		for (plane = 0; plane < FAKE_PLANES; plane++)
			guides = fill_port(fake, fake->blob + at[2], fake->blob + at[3], guides, i,
					   plane);
	fill_places(fake, fake->blob + at[4], fake->blob + at[5]);
	fake_seal(fake);
}
