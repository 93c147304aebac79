// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulator's own reader of device profiles (kmod/optics/profile.h).
 *
 * A profile is hostile input: every value is checked before its use. Each refusal
 * states the broken rule, the value, and the permitted values.
 */
#include <linux/bits.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "physics.h"

#define MOST_MDBM	200000
#define MOST_MDB	100000
#define MOST_NS		(3600ULL * 1000000000)
#define MOST_MBPS	1000000000000ULL

/* A profile while it is read. */
struct reader {
	const u8 *blob;
	const struct morph_profile_header *head;
	struct sim_optics *o;
	struct sim_refusal *why;
};

__printf(2, 3)
static int refuse(const struct reader *r, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(r->why->text, sizeof(r->why->text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static const void *records(const struct reader *r, const struct morph_profile_section *section)
{
	return r->blob + le64_to_cpu(section->offset);
}

/* Whether a text is printable, terminated, and padded with zeros. */
static bool text_ok(const char *text, size_t size)
{
	size_t length = strnlen(text, size), i;

	for (i = 0; i < size; i++)
		if (i < length ? text[i] < ' ' || text[i] > '~' : text[i])
			return false;
	return length < size;
}

static u32 blob_checksum(const u8 *blob, size_t bytes)
{
	const size_t at = offsetof(struct morph_profile_header, checksum);
	static const u8 zeros[4];
	u32 crc;

	crc = crc32_le(~0u, blob, at);
	crc = crc32_le(crc, zeros, sizeof(zeros));
	crc = crc32_le(crc, blob + at + sizeof(zeros), bytes - at - sizeof(zeros));
	return ~crc;
}

static int read_head(struct reader *r, size_t bytes)
{
	const struct morph_profile_header *head = r->head;
	const char *c;

	if (bytes < sizeof(*head) || bytes > MORPH_PROFILE_MAX_BYTES)
		return refuse(r, "the file has %zu bytes; must have %zu to %u", bytes,
			      sizeof(*head), MORPH_PROFILE_MAX_BYTES);
	if (le64_to_cpu(head->magic) != MORPH_PROFILE_MAGIC)
		return refuse(r, "the magic at byte 0 is not MORPHPF1");
	if (le32_to_cpu(head->version) != MORPH_PROFILE_VERSION)
		return refuse(r, "version is %u, only %u is known", le32_to_cpu(head->version),
			      MORPH_PROFILE_VERSION);
	if (le32_to_cpu(head->header_bytes) != sizeof(*head))
		return refuse(r, "header_bytes is %u, must be %zu",
			      le32_to_cpu(head->header_bytes), sizeof(*head));
	if (le64_to_cpu(head->total_bytes) != bytes)
		return refuse(r, "total_bytes is %llu, but the file has %zu",
			      (unsigned long long)le64_to_cpu(head->total_bytes), bytes);
	r->o->checksum = blob_checksum(r->blob, bytes);
	if (le32_to_cpu(head->checksum) != r->o->checksum)
		return refuse(r, "checksum is %08x, but the bytes have %08x",
			      le32_to_cpu(head->checksum), r->o->checksum);
	if (head->reserved0 || head->reserved1 || head->flags)
		return refuse(r, "reserved0, reserved1 and flags must be 0");
	if (!text_ok(head->name, sizeof(head->name)) || !head->name[0])
		return refuse(r, "the name is empty, has no NUL, or bytes after the NUL");
	for (c = head->name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", *c))
			return refuse(r, "the name has the byte 0x%02x; a-z 0-9 _ - are allowed",
				      (u8)*c);
	memcpy(r->o->name, head->name, sizeof(r->o->name));
	return 0;
}

static int read_power(struct reader *r, const char *name, __le32 raw, s32 *value)
{
	*value = (s32)le32_to_cpu(raw);
	if (*value < -MOST_MDBM || *value > MOST_MDBM)
		return refuse(r, "%s is %d, must be %d to %d", name, *value, -MOST_MDBM,
			      MOST_MDBM);
	return 0;
}

static int check_ratio(struct reader *r, const char *name, __le32 raw)
{
	if (le32_to_cpu(raw) > MOST_MDB)
		return refuse(r, "%s is %u, must be at most %u", name, le32_to_cpu(raw), MOST_MDB);
	return 0;
}

static int read_time(struct reader *r, const char *name, __le64 raw, u64 *value)
{
	*value = le64_to_cpu(raw);
	if (*value > MOST_NS)
		return refuse(r, "%s is %llu, must be at most %llu", name,
			      (unsigned long long)*value, MOST_NS);
	return 0;
}

static int read_powers(struct reader *r)
{
	const struct morph_profile_header *head = r->head;
	struct sim_optics *o = r->o;
	s32 sensitivity, overload;
	int err;

	err = read_power(r, "laser_mdbm", head->laser_mdbm, &o->laser_mdbm) ?:
	      read_power(r, "dark_mdbm", head->dark_mdbm, &o->dark_mdbm) ?:
	      read_power(r, "sensitivity_mdbm", head->sensitivity_mdbm, &sensitivity) ?:
	      read_power(r, "overload_mdbm", head->overload_mdbm, &overload);
	if (err)
		return err;
	if (o->dark_mdbm > sensitivity || sensitivity > overload)
		return refuse(r,
			      "dark, sensitivity and overload powers are %d, %d, %d: must ascend",
			      o->dark_mdbm, sensitivity, overload);
	o->floor_mdbm = o->dark_mdbm - SIM_FLOOR_MDB;
	o->dark = sim_linear(o->dark_mdbm);
	o->sensitivity = sim_linear(sensitivity);
	o->overload = sim_linear(overload);
	return 0;
}

static int read_parameters(struct reader *r)
{
	const struct morph_profile_header *head = r->head;
	struct sim_optics *o = r->o;
	u64 deadline_ns;		/* enforced by the core */

	o->wavelengths = le32_to_cpu(head->wavelengths);
	o->planes = le32_to_cpu(head->planes);
	o->drift_mdb = le32_to_cpu(head->drift_mdb);
	if (!o->wavelengths || o->wavelengths > MORPH_MAX_WAVELENGTHS)
		return refuse(r, "wavelengths is %u, must be 1 to %u", o->wavelengths,
			      MORPH_MAX_WAVELENGTHS);
	if (!o->planes || o->planes > MORPH_MAX_PLANES)
		return refuse(r, "planes is %u, must be 1 to %u", o->planes, MORPH_MAX_PLANES);
	if (!head->lane_mbps || le64_to_cpu(head->lane_mbps) > MOST_MBPS)
		return refuse(r, "lane_mbps is %llu, must be 1 to %llu",
			      (unsigned long long)le64_to_cpu(head->lane_mbps), MOST_MBPS);
	if (!head->deadline_ns)
		return refuse(r, "deadline_ns is 0: each operation would be late");
	o->all_lanes = GENMASK_ULL(o->wavelengths - 1, 0);
	return read_powers(r) ?:
	       check_ratio(r, "margin_mdb", head->margin_mdb) ?:
	       check_ratio(r, "isolation_mdb", head->isolation_mdb) ?:
	       check_ratio(r, "window_mdb", head->window_mdb) ?:
	       check_ratio(r, "drift_mdb", head->drift_mdb) ?:
	       read_time(r, "deadline_ns", head->deadline_ns, &deadline_ns) ?:
	       read_time(r, "settle_ns", head->settle_ns, &o->settle_ns) ?:
	       read_time(r, "relock_ns", head->relock_ns, &o->relock_ns) ?:
	       read_time(r, "write_fixed_ns", head->write_fixed_ns, &o->write_fixed_ns) ?:
	       read_time(r, "write_each_ns", head->write_each_ns, &o->write_each_ns) ?:
	       read_time(r, "drift_period_ns", head->drift_period_ns, &o->drift_period_ns);
}

static int read_section(struct reader *r, const char *name,
			const struct morph_profile_section *section, u32 stride, u32 most,
			u64 *end, u32 *count)
{
	const u64 total = le64_to_cpu(r->head->total_bytes);
	u64 offset = le64_to_cpu(section->offset);
	u64 bytes;

	*count = le32_to_cpu(section->count);
	bytes = (u64)*count * stride;
	if (le32_to_cpu(section->stride) != stride)
		return refuse(r, "section %s: stride is %u, must be %u", name,
			      le32_to_cpu(section->stride), stride);
	if (offset > total || bytes > total - offset)
		return refuse(r, "section %s: %u records at %llu end beyond the file", name, *count,
			      (unsigned long long)offset);
	if (*count > most)
		return refuse(r, "section %s: %u records, the simulator supports %u", name, *count,
			      most);
	if (!*count)
		return 0;
	if (offset % 8)
		return refuse(r, "section %s: offset %llu is not a multiple of 8", name,
			      (unsigned long long)offset);
	if (offset < *end)
		return refuse(r, "section %s: offset %llu overlaps the preceding section", name,
			      (unsigned long long)offset);
	*end = offset + bytes;
	return 0;
}

static int read_sections(struct reader *r)
{
	const struct morph_profile_header *head = r->head;
	struct sim_optics *o = r->o;
	u64 end = sizeof(*head);
	int err;

	err = read_section(r, "kinds", &head->kinds, sizeof(struct morph_profile_kind),
			   U16_MAX, &end, &o->kinds_count) ?:
	      read_section(r, "states", &head->states, sizeof(struct morph_profile_state),
			   U16_MAX * MORPH_MAX_STATES, &end, &o->states_count) ?:
	      read_section(r, "elements", &head->elements, sizeof(struct morph_profile_element),
			   SIM_MAX_ELEMENTS, &end, &o->elements_count) ?:
	      read_section(r, "guides", &head->guides, sizeof(struct morph_profile_guide),
			   SIM_MAX_GUIDES, &end, &o->guides_count) ?:
	      read_section(r, "accelerators", &head->accelerators,
			   sizeof(struct morph_profile_accelerator), SIM_MAX_ACCELERATORS, &end,
			   &o->accelerators_count) ?:
	      read_section(r, "hosts", &head->hosts, sizeof(struct morph_profile_host),
			   SIM_MAX_ACCELERATORS, &end, &o->hosts_count) ?:
	      read_section(r, "edges", &head->edges, sizeof(struct morph_profile_edge),
			   SIM_MAX_GUIDES, &end, &o->edges_count);
	if (err)
		return err;
	if (!o->accelerators_count)
		return refuse(r, "the profile has no accelerator");
	o->ports_count = o->accelerators_count * o->planes;
	if (o->ports_count > SIM_MAX_LANE_STATES / o->wavelengths)
		return refuse(r,
			      "the profile has %u ports of %u lanes, the simulator supports %u lanes in total",
			      o->ports_count, o->wavelengths, SIM_MAX_LANE_STATES);
	return 0;
}

static int check_state(struct reader *r, u32 kind, u32 ports, u32 state, const u8 *joins)
{
	u32 port;

	for (port = 0; port < MORPH_MAX_PORTS; port++) {
		u8 other = joins[port];

		if (other == MORPH_PORT_NONE)
			continue;
		if (port >= ports || other >= ports)
			return refuse(r,
				      "kind %u, state %u: joins port %u to %u, the kind has %u ports",
				      kind, state, port, other, ports);
		if (other == port || joins[other] != port)
			return refuse(r,
				      "kind %u, state %u: joins port %u to %u, but not the reverse",
				      kind, state, port, other);
	}
	return 0;
}

static int read_kind(struct reader *r, u32 index, const struct morph_profile_kind *raw)
{
	struct sim_optics *o = r->o;
	struct sim_kind *kind = &o->kinds[index];
	u32 loss = le32_to_cpu(raw->loss_mdb), extinction = le32_to_cpu(raw->extinction_mdb);
	u32 state, port;
	int err;

	kind->ports = raw->ports;
	kind->park = raw->park;
	kind->states = le16_to_cpu(raw->states);
	kind->first_state = le32_to_cpu(raw->first_state);
	kind->loss_mdb = min_t(u32, loss, SIM_OPAQUE_MDB);
	kind->extinction_mdb = min_t(u32, extinction, SIM_OPAQUE_MDB);
	if (!text_ok(raw->name, sizeof(raw->name)))
		return refuse(r, "kind %u: the name is not text, or has no NUL", index);
	if (raw->flags || raw->reserved)
		return refuse(r, "kind %u: flags and reserved must be 0", index);
	if (!kind->ports || kind->ports > MORPH_MAX_PORTS)
		return refuse(r, "kind %u: %u ports, must be 1 to %u", index, kind->ports,
			      MORPH_MAX_PORTS);
	if (!kind->states || kind->states > MORPH_MAX_STATES)
		return refuse(r, "kind %u: %u states, must be 1 to %u", index, kind->states,
			      MORPH_MAX_STATES);
	if (kind->park >= kind->states)
		return refuse(r, "kind %u: parks in state %u of %u", index, kind->park,
			      kind->states);
	if (loss > extinction || extinction >= MOST_MDB)
		return refuse(r, "kind %u: loss and extinction are %u, %u: must ascend below %u",
			      index, loss, extinction, MOST_MDB);
	if (kind->first_state > o->states_count ||
	    kind->states > o->states_count - kind->first_state)
		return refuse(r, "kind %u: states begin at %u, the profile has %u", index,
			      kind->first_state, o->states_count);
	for (state = 0; state < kind->states; state++) {
		const u8 *joins = o->states[kind->first_state + state].joins;

		err = check_state(r, index, kind->ports, state, joins);
		if (err)
			return err;
		for (port = 0; port < kind->ports; port++)
			if (joins[port] != MORPH_PORT_NONE)
				kind->leaks[port] |= BIT(joins[port]);
	}
	return 0;
}

static int read_kinds(struct reader *r)
{
	const struct morph_profile_kind *raw = records(r, &r->head->kinds);
	struct sim_optics *o = r->o;
	u32 i;
	int err;

	memcpy(o->states, records(r, &r->head->states), o->states_count * sizeof(*o->states));
	for (i = 0; i < o->kinds_count; i++) {
		err = read_kind(r, i, &raw[i]);
		if (err)
			return err;
	}
	return 0;
}

static int read_elements(struct reader *r)
{
	const struct morph_profile_element *raw = records(r, &r->head->elements);
	struct sim_optics *o = r->o;
	u32 i;

	for (i = 0; i < o->elements_count; i++) {
		struct sim_element *e = &o->elements[i];
		u32 tile = le32_to_cpu(raw[i].tile);

		e->kind = le32_to_cpu(raw[i].kind);
		if (e->kind >= o->kinds_count)
			return refuse(r, "element %u: kind %u of %u", i, e->kind, o->kinds_count);
		if (tile != SIM_NONE && tile >= o->accelerators_count)
			return refuse(r, "element %u: on the tile of accelerator %u of %u", i, tile,
				      o->accelerators_count);
		e->first_port = o->element_ports_count;
		o->element_ports_count += o->kinds[e->kind].ports;
	}
	return 0;
}

static int check_places(struct reader *r)
{
	const struct morph_profile_accelerator *a = records(r, &r->head->accelerators);
	const struct morph_profile_host *hosts = records(r, &r->head->hosts);
	const struct morph_profile_edge *edges = records(r, &r->head->edges);
	u32 i;

	for (i = 0; i < r->o->accelerators_count; i++) {
		if (le32_to_cpu(a[i].host) >= r->o->hosts_count)
			return refuse(r, "accelerator %u: host %u of %u", i, le32_to_cpu(a[i].host),
				      r->o->hosts_count);
		if (le16_to_cpu(a[i].flags) & ~MORPH_ACCELERATOR_F_SPARE)
			return refuse(r, "accelerator %u: unknown flags 0x%x", i,
				      le16_to_cpu(a[i].flags));
	}
	for (i = 0; i < r->o->hosts_count; i++)
		if (!text_ok(hosts[i].name, sizeof(hosts[i].name)))
			return refuse(r, "host %u: the name is not text, or has no NUL", i);
	for (i = 0; i < r->o->edges_count; i++) {
		struct sim_edge *edge = &r->o->edges[i];
		s32 least = (s16)le16_to_cpu(edges[i].least_mdbm);
		s32 most = (s16)le16_to_cpu(edges[i].most_mdbm);

		if (!text_ok(edges[i].name, sizeof(edges[i].name)))
			return refuse(r, "edge %u: the name is not text, or has no NUL", i);
		if (least > most || most > r->o->laser_mdbm)
			return refuse(r, "edge %u: least, most, laser are %d, %d, %d: must ascend",
				      i, least, most, r->o->laser_mdbm);
		memcpy(edge->peer_uuid, edges[i].peer_uuid, sizeof(edge->peer_uuid));
		edge->peer_edge = le32_to_cpu(edges[i].peer_edge);
		edge->guide = SIM_NONE;
	}
	return 0;
}

/* The field of the attached object that holds the coded end of a guide, or NULL. */
static sim_coded *attachment(struct sim_optics *o, const struct sim_end *end)
{
	switch (end->type) {
	case MORPH_END_ELEMENT:
		if (end->index >= o->elements_count ||
		    end->port >= o->kinds[o->elements[end->index].kind].ports)
			return NULL;
		return &o->port_guide[o->elements[end->index].first_port + end->port];
	case MORPH_END_TX:
	case MORPH_END_RX:
		if (end->index >= o->accelerators_count || end->port >= o->planes)
			return NULL;
		if (end->type == MORPH_END_TX)
			return &o->transmitters[end->index * o->planes + end->port].guide;
		return &o->receivers[end->index * o->planes + end->port].guide;
	case MORPH_END_EDGE:
		if (end->index >= o->edges_count || end->port)
			return NULL;
		return &o->edges[end->index].guide;
	default:
		return NULL;
	}
}

static int read_guide(struct reader *r, u32 index, const struct morph_profile_guide *raw)
{
	struct sim_guide *guide = &r->o->guides[index];
	u32 end;

	guide->class = le16_to_cpu(raw->class);
	guide->loss_mdb = le16_to_cpu(raw->loss_mdb);
	guide->end[0].index = le32_to_cpu(raw->a_index);
	guide->end[0].port = raw->a_port;
	guide->end[0].type = raw->a_type;
	guide->end[1].index = le32_to_cpu(raw->b_index);
	guide->end[1].port = raw->b_port;
	guide->end[1].type = raw->b_type;
	if (guide->class > MORPH_GUIDE_EDGE)
		return refuse(r, "guide %u: class %u is unknown", index, guide->class);
	if (guide->end[0].type == guide->end[1].type && guide->end[0].type != MORPH_END_ELEMENT)
		return refuse(r, "guide %u: both ends are of type %u", index, guide->end[0].type);
	for (end = 0; end < 2; end++) {
		const struct sim_end *e = &guide->end[end];
		sim_coded *coded = attachment(r->o, e);

		if (!coded)
			return refuse(r,
				      "guide %u: end %u has type %u, index %u, port %u, which does not exist",
				      index, end, e->type, e->index, e->port);
		if (*coded != SIM_NONE)
			return refuse(r, "guide %u: end %u is also an end of guide %u",
				      index, end, *coded >> 1);
		*coded = index * 2 + end;
	}
	return 0;
}

static int read_guides(struct reader *r)
{
	const struct morph_profile_guide *raw = records(r, &r->head->guides);
	struct sim_optics *o = r->o;
	int err = 0;
	u32 i;

	for (i = 0; i < o->guides_count && !err; i++)
		err = read_guide(r, i, &raw[i]);
	for (i = 0; i < o->edges_count && !err; i++)
		if (o->edges[i].guide == SIM_NONE)
			err = refuse(r, "edge %u: no guide ends here", i);
	for (i = 0; i < o->ports_count && !err; i++)
		if (o->transmitters[i].guide == SIM_NONE || o->receivers[i].guide == SIM_NONE)
			err = refuse(r, "accelerator %u, plane %u: no guide ends at a port",
				     i / o->planes, i % o->planes);
	return err;
}

static int allocate(struct sim_optics *o)
{
	const u32 lanes = o->ports_count * o->wavelengths;
	u32 i;

	o->kinds = kvcalloc(o->kinds_count ?: 1, sizeof(*o->kinds), GFP_KERNEL);
	o->states = kvcalloc(o->states_count ?: 1, sizeof(*o->states), GFP_KERNEL);
	o->elements = kvcalloc(o->elements_count ?: 1, sizeof(*o->elements), GFP_KERNEL);
	o->guides = kvcalloc(o->guides_count ?: 1, sizeof(*o->guides), GFP_KERNEL);
	o->accelerators = kvcalloc(o->accelerators_count, sizeof(*o->accelerators), GFP_KERNEL);
	o->transmitters = kvcalloc(o->ports_count, sizeof(*o->transmitters), GFP_KERNEL);
	o->receivers = kvcalloc(o->ports_count, sizeof(*o->receivers), GFP_KERNEL);
	o->edges = kvcalloc(o->edges_count ?: 1, sizeof(*o->edges), GFP_KERNEL);
	o->lit_at = kvcalloc(lanes, sizeof(*o->lit_at), GFP_KERNEL);
	o->clear_at = kvcalloc(lanes, sizeof(*o->clear_at), GFP_KERNEL);
	o->light = kvzalloc(sizeof(*o->light), GFP_KERNEL);
	if (!o->kinds || !o->states || !o->elements || !o->guides || !o->accelerators ||
	    !o->transmitters || !o->receivers || !o->edges || !o->lit_at || !o->clear_at ||
	    !o->light)
		return -ENOMEM;
	for (i = 0; i < o->accelerators_count; i++)
		o->accelerators[i].alive = true;
	for (i = 0; i < o->ports_count; i++) {
		o->transmitters[i].guide = SIM_NONE;
		o->receivers[i].guide = SIM_NONE;
	}
	return 0;
}

static int allocate_port_guide(struct sim_optics *o)
{
	o->port_guide = kvmalloc_array(o->element_ports_count ?: 1, sizeof(*o->port_guide),
				       GFP_KERNEL);
	if (!o->port_guide)
		return -ENOMEM;
	memset32(o->port_guide, SIM_NONE, o->element_ports_count);
	return 0;
}

/**
 * sim_profile_read() - check a profile and build the fabric that it describes
 * @o: zeroed; free it with sim_profile_free(), also after an error
 * @blob: the profile, 8-byte aligned; not referred to after return
 * @bytes: its size
 * @why: filled where -EINVAL is returned
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int sim_profile_read(struct sim_optics *o, const void *blob, size_t bytes,
		     struct sim_refusal *why)
{
	struct reader reader = { .blob = blob, .head = blob, .o = o, .why = why };

	return read_head(&reader, bytes) ?:
	       read_parameters(&reader) ?:
	       read_sections(&reader) ?:
	       allocate(o) ?:
	       read_kinds(&reader) ?:
	       check_places(&reader) ?:
	       read_elements(&reader) ?:
	       allocate_port_guide(o) ?:
	       read_guides(&reader);
}

void sim_profile_free(struct sim_optics *o)
{
	kvfree(o->light);
	kvfree(o->clear_at);
	kvfree(o->lit_at);
	kvfree(o->edges);
	kvfree(o->receivers);
	kvfree(o->transmitters);
	kvfree(o->accelerators);
	kvfree(o->port_guide);
	kvfree(o->guides);
	kvfree(o->elements);
	kvfree(o->states);
	kvfree(o->kinds);
}

/**
 * sim_profile_set_times() - replace the times of a profile
 * @blob: profile that sim_profile_read() has accepted
 * @bytes: its size
 * @o: the fabric that was built from it, with the new times
 *
 * The result is a different profile with its own checksum.
 */
void sim_profile_set_times(void *blob, size_t bytes, const struct sim_optics *o)
{
	struct morph_profile_header *head = blob;

	head->settle_ns = cpu_to_le64(o->settle_ns);
	head->relock_ns = cpu_to_le64(o->relock_ns);
	head->write_fixed_ns = cpu_to_le64(o->write_fixed_ns);
	head->write_each_ns = cpu_to_le64(o->write_each_ns);
	head->checksum = cpu_to_le32(blob_checksum(blob, bytes));
}
