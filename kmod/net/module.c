// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module readings for ethtool -m. An accelerator has no pluggable module, so the driver shows the
 * provider's readings in the memory map of one, by the Common Management Interface Specification
 * (CMIS 5.0, OIF). Lane N of the module is plane N - 1 of the accelerator. Fields without a reading
 * are zero, and page 01h does not advertise them.
 */
#include <linux/rtnetlink.h>

#include "net.h"

#define HALF_BYTES	128u	/* ethtool reads the lower or the upper half of a page */
#define BANK_LANES	8u
#define MOST_LANES	32u	/* 4 banks */
#define I2C_ADDRESS	0x50	/* of a module with CMIS */

/* ethtool accepts only identifiers of pluggable modules. This one is QSFP-DD, with 8 lanes. */
#define IDENTIFIER	0x18
#define REVISION	0x50	/* CMIS 5.0 */

/* Lower memory. */
#define LOW_STATE	3
#define STATE_READY	0x07	/* ModuleReady, no interrupt */
#define LOW_TEMPERATURE	14	/* signed, 1/256 degree Celsius */

/* Upper memory, from byte 128 of a page on: page 00h, the identity. */
#define ID_VENDOR	(129 - HALF_BYTES)
#define ID_PART		(148 - HALF_BYTES)
#define ID_REVISION	(164 - HALF_BYTES)	/* 2 characters */
#define ID_SERIAL	(166 - HALF_BYTES)
#define ID_DATE		(182 - HALF_BYTES)	/* and another code, until ID_TEXT_END */
#define ID_TEXT_END	(200 - HALF_BYTES)
#define ID_CONNECTOR	(203 - HALF_BYTES)
#define CONNECTOR_NONE	0x23	/* no separable connector */
#define ID_TECHNOLOGY	(212 - HALF_BYTES)
#define TECHNOLOGY_OTHER 0x10
#define ID_CHECKSUM	(222 - HALF_BYTES)
#define ID_TEXT_BYTES	16u

/* Page 01h: what the module supports. */
#define HAS_BANKS	(142 - HALF_BYTES)
#define HAS_POWER_TYPE	(151 - HALF_BYTES)
#define HAS_MEAN_POWER	BIT(4)	/* received power is an average, not an amplitude */
#define HAS_TX_FLAGS	(157 - HALF_BYTES)
#define HAS_TX_FAULT	BIT(0)
#define HAS_RX_FLAGS	(158 - HALF_BYTES)
#define HAS_RX_LOS	BIT(1)
#define HAS_RX_LOCK	BIT(2)
#define HAS_MONITORS	(159 - HALF_BYTES)
#define HAS_TEMPERATURE	BIT(0)
#define HAS_LANE_MONITORS (160 - HALF_BYTES)
#define HAS_RX_POWER	BIT(2)
#define PAGE_CHECKSUM	(255 - HALF_BYTES)

/* Page 11h: the lanes of a bank. A flag has a bit for each lane. */
#define LANE_STATES	0	/* 4 bits for each lane */
#define STATE_DARK	1u	/* DPDeactivated */
#define STATE_ACTIVE	4u	/* DPActivated */
#define LANE_TX_FAULT	(135 - HALF_BYTES)
#define LANE_RX_LOS	(147 - HALF_BYTES)
#define LANE_RX_NO_LOCK	(148 - HALF_BYTES)
#define LANE_RX_LOW	(150 - HALF_BYTES)	/* alarm: power is low */
#define LANE_RX_POWER	(186 - HALF_BYTES)	/* 0.1 microwatts, 2 bytes for each lane */

static void put_be16(u8 *to, u16 value)
{
	to[0] = value >> 8;
	to[1] = value;
}

/* CMIS pads texts with blanks. */
static void put_text(u8 *to, const char *text)
{
	memset(to, ' ', ID_TEXT_BYTES);
	memcpy(to, text, min_t(size_t, strlen(text), ID_TEXT_BYTES));
}

static u8 sum_of(const u8 *bytes, u32 first, u32 end)
{
	u8 sum = 0;

	while (first < end)
		sum += bytes[first++];
	return sum;
}

static void fill_lower(u8 *bytes, const struct morph_consumer_rank *found)
{
	bytes[0] = IDENTIFIER;
	bytes[1] = REVISION;
	bytes[LOW_STATE] = STATE_READY;
	put_be16(&bytes[LOW_TEMPERATURE], found->temperature * 32 / 125);
}

static void fill_identity(u8 *bytes, const struct morph_consumer_rank *found, bool simulated)
{
	char serial[ID_TEXT_BYTES + 1];

	bytes[0] = IDENTIFIER;
	put_text(&bytes[ID_VENDOR], "morph");
	put_text(&bytes[ID_PART], simulated ? "simulated fabric" : "photonic fabric");
	snprintf(serial, sizeof(serial), "accel %u", found->accelerator);
	put_text(&bytes[ID_SERIAL], serial);
	memset(&bytes[ID_REVISION], ' ', ID_SERIAL - ID_REVISION);
	memset(&bytes[ID_DATE], ' ', ID_TEXT_END - ID_DATE);
	bytes[ID_CONNECTOR] = CONNECTOR_NONE;
	bytes[ID_TECHNOLOGY] = TECHNOLOGY_OTHER;
	bytes[ID_CHECKSUM] = sum_of(bytes, 0, ID_CHECKSUM);
}

static void fill_supported(u8 *bytes, const struct morph_consumer_rank *found)
{
	/* 0: 1 bank; 1: 2 banks; 2: 4 banks. */
	bytes[HAS_BANKS] = (found->planes_count > BANK_LANES) +
			   (found->planes_count > 2 * BANK_LANES);
	bytes[HAS_POWER_TYPE] = HAS_MEAN_POWER;
	bytes[HAS_TX_FLAGS] = HAS_TX_FAULT;
	bytes[HAS_RX_FLAGS] = HAS_RX_LOS | HAS_RX_LOCK;
	bytes[HAS_MONITORS] = HAS_TEMPERATURE;
	bytes[HAS_LANE_MONITORS] = HAS_RX_POWER;
	bytes[PAGE_CHECKSUM] = sum_of(bytes, 130 - HALF_BYTES, PAGE_CHECKSUM);
}

static void fill_lane(u8 *bytes, u32 lane, const struct morph_consumer_port *port)
{
	u8 state = port->sends || port->lit ? STATE_ACTIVE : STATE_DARK;

	bytes[LANE_STATES + lane / 2] |= state << lane % 2 * 4;
	if (port->tx_fault)
		bytes[LANE_TX_FAULT] |= BIT(lane);
	if (!port->lit) {
		bytes[LANE_RX_LOS] |= BIT(lane);
		bytes[LANE_RX_LOW] |= BIT(lane);
	}
	if (!port->locked)
		bytes[LANE_RX_NO_LOCK] |= BIT(lane);
	if (port->receives)
		put_be16(&bytes[LANE_RX_POWER + 2 * lane], min(port->power_nw / 100, U16_MAX));
}

/* Fill the page of a rank. Caller holds RTNL. */
static int fill_page(struct net_port *port, const struct ethtool_module_eeprom *page, u8 *bytes)
{
	struct morph_consumer_port lanes[MOST_LANES];
	struct net_slice *slice = port->slice;
	struct morph_consumer_rank found;
	u32 first = page->bank * BANK_LANES, i;
	int ret;

	if (page->bank >= MOST_LANES / BANK_LANES)
		return -EINVAL;
	ret = morph_consumer_read(slice->consumer, port->rank, &found, lanes,
				  page->page == 0x11 ? MOST_LANES : 0);
	if (ret)
		return ret;
	switch (page->page) {
	case 0x00:
		if (page->offset < HALF_BYTES)
			fill_lower(bytes, &found);
		else
			fill_identity(bytes, &found, slice->simulated);
		return 0;
	case 0x01:
		fill_supported(bytes, &found);
		return 0;
	case 0x02:
		return 0;	/* no thresholds; the checksum of zeros is 0 */
	case 0x11:
		for (i = 0; i < BANK_LANES && first + i < found.planes_count; i++)
			fill_lane(bytes, i, &lanes[first + i]);
		return 0;
	}
	return -EINVAL;
}

int net_get_module_eeprom(struct net_device *dev, const struct ethtool_module_eeprom *page,
			  struct netlink_ext_ack *extack)
{
	u32 offset = page->offset % HALF_BYTES;
	u8 bytes[HALF_BYTES] = {};
	int ret;

	ASSERT_RTNL();
	if (page->i2c_address != I2C_ADDRESS || page->length > HALF_BYTES - offset)
		ret = -EINVAL;
	else
		ret = fill_page(netdev_priv(dev), page, bytes);
	if (ret == -EINVAL)
		NL_SET_ERR_MSG(extack, "the module has no such page");
	else if (ret)
		NL_SET_ERR_MSG(extack, "the fabric did not answer");
	if (ret)
		return ret;
	memcpy(page->data, bytes + offset, page->length);
	return page->length;
}
