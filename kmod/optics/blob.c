// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Check the head of a profile as hostile input, so that no reader leaves the blob. */
#include "internal.h"

#define MAX_MDB		100000		/* 100 dB, beyond any optics */
#define MAX_MDBM	200000		/* either sign */
#define MAX_NS		3600000000000ull	/* one hour */
#define MAX_MBPS	1000000000000ull	/* an exabit per second */

/* CRC-32 of IEEE 802.3, reflected, four bits at a time. */
static const u32 crc_table[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
	0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
	0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

static u32 crc_add(u32 crc, const u8 *data, u64 bytes)
{
	while (bytes--) {
		crc ^= *data++;
		crc = crc >> 4 ^ crc_table[crc & 15];
		crc = crc >> 4 ^ crc_table[crc & 15];
	}
	return crc;
}

/* The checksum of the whole blob, with a checksum field of zero. */
static u32 blob_checksum(const void *blob, u64 bytes)
{
	const u32 field = offsetof(struct morph_profile_header, checksum);
	const u32 after = field + sizeof(__le32);
	static const u8 zeros[sizeof(__le32)];
	u32 crc = ~0u;

	crc = crc_add(crc, blob, field);
	crc = crc_add(crc, zeros, sizeof(zeros));
	crc = crc_add(crc, (const u8 *)blob + after, bytes - after);
	return ~crc;
}

static bool strict_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool optics_name_ok(const char *name, u32 bytes, bool strict)
{
	u32 length = 0, i;

	while (length < bytes && name[length])
		length++;
	if (length == bytes || (strict && !length))
		return false;
	for (i = 0; i < length; i++)
		if (strict ? !strict_char(name[i]) : name[i] < ' ' || name[i] > '~')
			return false;
	for (i = length; i < bytes; i++)
		if (name[i])
			return false;
	return true;
}

/* Sections are in order, aligned, and inside the blob; their records have the right size. */
static int check_sections(const struct morph_profile_header *header, u64 bytes,
			  struct optics_refusal *refusal)
{
	static const u32 strides[] = {
		sizeof(struct morph_profile_kind), sizeof(struct morph_profile_state),
		sizeof(struct morph_profile_element), sizeof(struct morph_profile_guide),
		sizeof(struct morph_profile_accelerator), sizeof(struct morph_profile_host),
		sizeof(struct morph_profile_edge),
	};
	const u8 *first = (const u8 *)header + offsetof(struct morph_profile_header, kinds);
	const struct morph_profile_section *section = (const void *)first;
	u64 floor = sizeof(*header);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(strides); i++, section++) {
		u64 offset = le64_to_cpu(section->offset);
		u64 size = (u64)le32_to_cpu(section->count) * strides[i];

		if (le32_to_cpu(section->stride) != strides[i])
			return optics_bad_profile(refusal, optics_offset(header, &section->stride));
		if (offset > bytes)
			return optics_bad_profile(refusal, optics_offset(header, &section->offset));
		if (!size)
			continue;
		if (offset & 7 || offset < floor)
			return optics_bad_profile(refusal, optics_offset(header, &section->offset));
		if (size > bytes - offset)
			return optics_bad_profile(refusal, optics_offset(header, &section->count));
		floor = offset + size;
	}
	return 0;
}

static bool level_ok(__le32 field, s32 least, s32 most)
{
	s32 value = (s32)le32_to_cpu(field);

	return value >= least && value <= most;
}

static const void *check_levels(const struct morph_profile_header *header)
{
	if (!level_ok(header->laser_mdbm, -MAX_MDBM, MAX_MDBM))
		return &header->laser_mdbm;
	if (!level_ok(header->sensitivity_mdbm, -MAX_MDBM, MAX_MDBM))
		return &header->sensitivity_mdbm;
	if (!level_ok(header->overload_mdbm, (s32)le32_to_cpu(header->sensitivity_mdbm), MAX_MDBM))
		return &header->overload_mdbm;
	if (!level_ok(header->margin_mdb, 0, MAX_MDB))
		return &header->margin_mdb;
	if (!level_ok(header->isolation_mdb, 0, MAX_MDB))
		return &header->isolation_mdb;
	if (!level_ok(header->dark_mdbm, -MAX_MDBM, (s32)le32_to_cpu(header->sensitivity_mdbm)))
		return &header->dark_mdbm;
	if (!level_ok(header->window_mdb, 0, MAX_MDB))
		return &header->window_mdb;
	if (!level_ok(header->drift_mdb, 0, MAX_MDB))
		return &header->drift_mdb;
	return NULL;
}

static const void *check_times(const struct morph_profile_header *header)
{
	if (le64_to_cpu(header->settle_ns) > MAX_NS)
		return &header->settle_ns;
	if (le64_to_cpu(header->relock_ns) > MAX_NS)
		return &header->relock_ns;
	if (le64_to_cpu(header->write_fixed_ns) > MAX_NS)
		return &header->write_fixed_ns;
	if (le64_to_cpu(header->write_each_ns) > MAX_NS)
		return &header->write_each_ns;
	if (!header->deadline_ns || le64_to_cpu(header->deadline_ns) > MAX_NS)
		return &header->deadline_ns;
	if (le64_to_cpu(header->drift_period_ns) > MAX_NS)
		return &header->drift_period_ns;
	return NULL;
}

/* The first field of the header with an illegal value, or NULL. */
static const void *check_numbers(const struct morph_profile_header *header)
{
	const void *field;

	if (header->reserved0)
		return &header->reserved0;
	if (!optics_name_ok(header->name, sizeof(header->name), true))
		return &header->name;
	if (!level_ok(header->wavelengths, 1, MORPH_MAX_WAVELENGTHS))
		return &header->wavelengths;
	if (!level_ok(header->planes, 1, MORPH_MAX_PLANES))
		return &header->planes;
	if (!header->lane_mbps || le64_to_cpu(header->lane_mbps) > MAX_MBPS)
		return &header->lane_mbps;
	field = check_levels(header);
	if (!field)
		field = check_times(header);
	if (field)
		return field;
	if (header->flags)
		return &header->flags;
	if (header->reserved1)
		return &header->reserved1;
	if (!header->accelerators.count)
		return &header->accelerators.count;
	/* Each transmit and each receive port is the end of a guide: this bounds the ports. */
	if ((u64)le32_to_cpu(header->accelerators.count) * le32_to_cpu(header->planes) >
	    le32_to_cpu(header->guides.count))
		return &header->guides.count;
	return NULL;
}

int optics_blob_check(const void *blob, u64 bytes, struct optics_refusal *refusal)
{
	const struct morph_profile_header *header = blob;
	const void *field;
	int error;

	if (bytes < sizeof(*header) || bytes > MORPH_PROFILE_MAX_BYTES)
		return optics_bad_profile(refusal, 0);
	if (le64_to_cpu(header->magic) != MORPH_PROFILE_MAGIC)
		return optics_bad_profile(refusal, optics_offset(blob, &header->magic));
	if (le32_to_cpu(header->version) != MORPH_PROFILE_VERSION)
		return optics_bad_profile(refusal, optics_offset(blob, &header->version));
	if (le32_to_cpu(header->header_bytes) != sizeof(*header))
		return optics_bad_profile(refusal, optics_offset(blob, &header->header_bytes));
	if (le64_to_cpu(header->total_bytes) != bytes)
		return optics_bad_profile(refusal, optics_offset(blob, &header->total_bytes));
	error = check_sections(header, bytes, refusal);
	if (error)
		return error;
	field = check_numbers(header);
	if (field)
		return optics_bad_profile(refusal, optics_offset(blob, field));
	if (le32_to_cpu(header->checksum) != blob_checksum(blob, bytes))
		return optics_bad_profile(refusal, optics_offset(blob, &header->checksum));
	return 0;
}
