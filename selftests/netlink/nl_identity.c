// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver tests hardware that comes back into use. It must be the known accelerator: by UUID, or
 * by serial number of the PCI device, whose removal is a failure.
 *
 * Use any two PCI devices that have a serial number, sit alone behind a port each, and have no
 * driver. The test exchanges them by exchanging the bus numbers of their ports.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define DEVICES "/sys/bus/pci/devices"
#define BUS_NUMBERS 0x18 /* bus numbers of a bridge: primary, secondary, subordinate */
#define EXTENDED 0x100 /* begin of extended capabilities */
#define SERIAL_NUMBER 3 /* id of the capability */

struct card {
	char address[MORPH_PCI_BYTES];
	char port[PATH_MAX]; /* directory of the port above */
	char serial[24]; /* as the kernel prints it */
};

/* The kernel's detail string about an accelerator or its test. */
static char said[200];

static void keep(struct nl *nl, uint16_t attribute)
{
	const struct nlattr *text = nl_find(nl_reply(nl), attribute);

	snprintf(said, sizeof(said), "%s", text ? nl_get_text(text) : "");
}

/* Test accelerator 1 as operator, and wait: 0 or the errno of the outcome. */
static int operator_tests(const struct sim *sim, bool accepts)
{
	struct nl nl;
	int error, outcome;

	error = nl_open(&nl);
	if (error)
		return error;
	nl_on_part(&nl, MORPH_CMD_HARDWARE_TEST, sim->number, MORPH_PART_ACCELERATOR, 1);
	if (accepts)
		nl_put(&nl, MORPH_A_HARDWARE_ACCEPT, NULL, 0);
	error = nl_do(&nl);
	if (!error) {
		outcome = nl_wait_outcome(&nl, sim->number, REPLY_U32(&nl, MORPH_A_HARDWARE_TXN));
		error = outcome < 0 ? -outcome : -(int)REPLY_U32(&nl, MORPH_A_TXN_STATUS);
	}
	keep(&nl, MORPH_A_TXN_TEXT);
	nl_close(&nl);
	return error;
}

/*
 * Read without privileges why accelerator 1 is out of use: enum morph_reason; 0: no further
 * reason.
 */
static unsigned int reported_reason(const struct sim *sim)
{
	unsigned int reason = MORPH_REASON_NONE;
	struct nl nl;

	if (nl_open(&nl))
		return MORPH_ANY;
	nl_on_part(&nl, MORPH_CMD_HARDWARE_GET, sim->number, MORPH_PART_ACCELERATOR, 1);
	if (nl_do(&nl))
		reason = MORPH_ANY;
	else if (nl_find(nl_reply(&nl), MORPH_A_HARDWARE_REASON))
		reason = REPLY_U32(&nl, MORPH_A_HARDWARE_REASON);
	keep(&nl, MORPH_A_HARDWARE_TEXT);
	nl_close(&nl);
	return reason;
}

/* -------------------------------------------------------------------------- UUID */

#define OTHER_UUID "0a0b0c0d-0000-8000-8000-000000000001"

FIXTURE(uuid)
{
	struct sim sim;
	char known[40];
};

FIXTURE_SETUP(uuid)
{
	struct morph_accelerator_info info;
	unsigned int i;
	char *text = self->known;

	sim_start(&self->sim, "server8", NULL);
	info = read_accelerator(&self->sim, 1);
	for (i = 0; i < sizeof(info.uuid); i++)
		text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				info.uuid[i]);
}

FIXTURE_TEARDOWN(uuid)
{
	sim_stop(&self->sim);
}

/* Accelerator 1 dies, and comes back with that UUID. */
static bool come_back_as(const struct sim *sim, const char *uuid)
{
	return !sim_control(sim, "fault", "accelerator_dead 1") &&
	       wait_health(sim, 1, MORPH_HEALTH_FAILED) &&
	       !sim_control(sim, "swap", "1 %s", uuid) && !sim_control(sim, "clear", "all");
}

/* The patrol tests it without a request and reports the result. */
TEST_F(uuid, stranger_stays_out)
{
	long long until = now_ms() + PATIENCE_MS;
	char wanted[120];

	ASSERT_TRUE(come_back_as(&self->sim, OTHER_UUID));
	while (reported_reason(&self->sim) != MORPH_REASON_IDENTITY && now_ms() < until)
		usleep(5000);
	snprintf(wanted, sizeof(wanted), "its UUID is %s, the known one is %s", OTHER_UUID,
		 self->known);
	EXPECT_STREQ(wanted, said);
	EXPECT_EQ(MORPH_HEALTH_QUARANTINED, read_accelerator(&self->sim, 1).health);
	EXPECT_EQ(ENXIO, operator_tests(&self->sim, false));
	EXPECT_STREQ(wanted, said);
	EXPECT_EQ(MORPH_HEALTH_QUARANTINED, read_accelerator(&self->sim, 1).health);
}

TEST_F(uuid, dead_one_does_not_pass_its_test)
{
	ASSERT_EQ(0, sim_control(&self->sim, "fault", "accelerator_dead 1"));
	ASSERT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_FAILED));
	EXPECT_EQ(EIO, operator_tests(&self->sim, false));
	EXPECT_STREQ("it did not pass the test", said);
	EXPECT_EQ(MORPH_HEALTH_FAILED, read_accelerator(&self->sim, 1).health);
	ASSERT_EQ(0, sim_control(&self->sim, "clear", "all"));
	EXPECT_EQ(0, operator_tests(&self->sim, false));
	EXPECT_EQ(MORPH_HEALTH_OK, read_accelerator(&self->sim, 1).health);
}

TEST_F(uuid, known_one_is_let_in)
{
	ASSERT_TRUE(come_back_as(&self->sim, self->known));
	EXPECT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_OK));
}

TEST_F(uuid, stranger_is_accepted)
{
	struct morph_accelerator_info info;

	ASSERT_TRUE(come_back_as(&self->sim, OTHER_UUID));
	ASSERT_EQ(0, operator_tests(&self->sim, true)) TH_LOG("%s", said);
	info = read_accelerator(&self->sim, 1);
	EXPECT_EQ(MORPH_HEALTH_OK, info.health);
	EXPECT_EQ(0x0a, info.uuid[0]);
	EXPECT_EQ(MORPH_REASON_NONE, reported_reason(&self->sim));
	/* The new UUID is the known one now. */
	ASSERT_TRUE(come_back_as(&self->sim, OTHER_UUID));
	EXPECT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_OK));
}

/* The test of an accelerator in use finds an unknown device, which must not stay behind a rank. */
TEST_F(uuid, stranger_in_use)
{
	static const uint32_t wanted[] = { 0, 1 };
	struct morph_event event;
	int slice = slice_create_at(self->sim.fd, wanted, 2);

	ASSERT_LE(0, slice);
	ASSERT_EQ(0, sim_control(&self->sim, "swap", "1 " OTHER_UUID));
	EXPECT_EQ(ENXIO, operator_tests(&self->sim, false));
	ASSERT_EQ(0, wait_event(slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(1, event.old_accelerator);
	close(slice);
}

TEST_F(uuid, only_accelerators_have_one)
{
	struct nl nl;

	ASSERT_EQ(0, nl_open(&nl));
	nl_on_part(&nl, MORPH_CMD_HARDWARE_TEST, self->sim.number, MORPH_PART_GUIDE, 1);
	nl_put(&nl, MORPH_A_HARDWARE_ACCEPT, NULL, 0);
	EXPECT_EQ(EOPNOTSUPP, nl_do(&nl));
	nl_close(&nl);
}

/* --------------------------------------------------------------------------- PCI */

FIXTURE(pci)
{
	struct sim sim;
	int slice;
	struct card card[2];
};

static int write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t done;

	if (fd < 0)
		return -1;
	done = write(fd, text, strlen(text));
	close(fd);
	return done < 0 ? -1 : 0;
}

/* Read or write the configuration space of a device. */
static bool configuration(const char *directory, unsigned int at, void *bytes, size_t count,
			  bool writes)
{
	char path[PATH_MAX + 16];
	ssize_t done;
	int fd;

	snprintf(path, sizeof(path), "%s/config", directory);
	fd = open(path, writes ? O_WRONLY : O_RDONLY);
	if (fd < 0)
		return false;
	done = writes ? pwrite(fd, bytes, count, at) : pread(fd, bytes, count, at);
	close(fd);
	return done == (ssize_t)count;
}

static bool read_serial(const char *directory, char *text, size_t room)
{
	unsigned int at = EXTENDED;
	uint32_t head, low, high;

	while (at >= EXTENDED && configuration(directory, at, &head, sizeof(head), false) && head) {
		if ((head & 0xffff) != SERIAL_NUMBER) {
			at = head >> 20;
			continue;
		}
		if (!configuration(directory, at + 4, &low, sizeof(low), false) ||
		    !configuration(directory, at + 8, &high, sizeof(high), false))
			return false;
		snprintf(text, room, "%02x-%02x-%02x-%02x-%02x-%02x-%02x-%02x", high >> 24,
			 high >> 16 & 0xff, high >> 8 & 0xff, high & 0xff, low >> 24,
			 low >> 16 & 0xff, low >> 8 & 0xff, low & 0xff);
		return true;
	}
	return false;
}

static bool is_card(const char *address, struct card *card)
{
	char path[300], real[PATH_MAX];

	if (strlen(address) >= MORPH_PCI_BYTES)
		return false;
	snprintf(path, sizeof(path), DEVICES "/%s/driver", address);
	if (!access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), DEVICES "/%s", address);
	if (!realpath(path, real) || !read_serial(real, card->serial, sizeof(card->serial)))
		return false;
	strcpy(card->address, address);
	strcpy(card->port, dirname(real));
	return true;
}

static bool find_cards(struct card *cards)
{
	struct dirent *entry;
	DIR *dir = opendir(DEVICES);
	unsigned int found = 0;

	while (dir && found < 2 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && is_card(entry->d_name, &cards[found]) &&
		    (!found || strcmp(cards[0].port, cards[1].port)))
			found++;
	if (dir)
		closedir(dir);
	return found == 2;
}

static int take_out(const struct card *card)
{
	char path[300];

	snprintf(path, sizeof(path), DEVICES "/%s/remove", card->address);
	return write_to(path, "1");
}

static int put_in(void)
{
	return write_to("/sys/bus/pci/rescan", "1");
}

/* Exchange the two cards. */
static bool change_places(const struct card *cards)
{
	unsigned char first[3], second[3];

	take_out(&cards[0]);
	take_out(&cards[1]);
	return configuration(cards[0].port, BUS_NUMBERS, first, sizeof(first), false) &&
	       configuration(cards[1].port, BUS_NUMBERS, second, sizeof(second), false) &&
	       configuration(cards[0].port, BUS_NUMBERS, second, sizeof(second), true) &&
	       configuration(cards[1].port, BUS_NUMBERS, first, sizeof(first), true) && !put_in();
}

FIXTURE_SETUP(pci)
{
	static const uint32_t wanted[] = { 0, 1 };
	char settings[64];

	self->slice = -1;
	if (!find_cards(self->card))
		SKIP(return, "there are no two idle PCI devices with serial numbers");
	snprintf(settings, sizeof(settings), "pci=1=%.15s", self->card[0].address);
	sim_start(&self->sim, "server8", settings);
	self->slice = slice_create_at(self->sim.fd, wanted, 2);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, light_ring(self->slice, 2));
}

FIXTURE_TEARDOWN(pci)
{
	if (self->slice < 0)
		return;
	close(self->slice);
	sim_stop(&self->sim);
	put_in();
}

TEST_F(pci, removed_and_back)
{
	struct morph_event event;

	EXPECT_STREQ(self->card[0].address, read_accelerator(&self->sim, 1).pci);
	ASSERT_EQ(0, take_out(&self->card[0]));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_FAILING, PATIENCE_MS, &event));
	EXPECT_EQ(1, event.rank);
	EXPECT_STREQ(self->card[0].address, event.old_pci);
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(1, event.old_accelerator);
	EXPECT_LE(8, event.new_accelerator);
	EXPECT_EQ(MORPH_HEALTH_FAILED, read_accelerator(&self->sim, 1).health);
	ASSERT_EQ(0, put_in());
	EXPECT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_OK));
	/* The accelerator that was replaced takes the role of the spare from now on. */
	EXPECT_EQ(MORPH_USE_SPARE, read_accelerator(&self->sim, 1).use);
}

/* A device of an unassigned accelerator disappears: nothing happens. */
TEST_F(pci, accelerator_without_a_holder)
{
	struct morph_slice_info info;
	struct pollfd pollfd = { .fd = self->slice, .events = POLLIN };
	struct sim other;

	sim_start(&other, "server4", NULL);
	close(self->slice);
	self->slice = slice_create(other.fd, 4);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, take_out(&self->card[0]));
	ASSERT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_FAILED));
	pollfd.fd = self->slice;
	EXPECT_EQ(0, poll(&pollfd, 1, 100));
	ASSERT_EQ(0, slice_info(self->slice, &info));
	EXPECT_EQ(MORPH_SLICE_OK, info.state);
	sim_stop(&other);
}

/*
 * The address was in the list before its device appeared: that is correct, and the first device
 * becomes the known one.
 */
TEST_F(pci, listed_before_it_comes)
{
	char settings[64], wanted[120];
	struct sim early;

	ASSERT_EQ(0, take_out(&self->card[0]));
	snprintf(settings, sizeof(settings), "pci=1=%.15s", self->card[0].address);
	sim_start(&early, "server4", settings);
	ASSERT_EQ(0, put_in());
	EXPECT_EQ(MORPH_HEALTH_OK, read_accelerator(&early, 1).health);
	ASSERT_TRUE(change_places(self->card));
	snprintf(wanted, sizeof(wanted), "has serial number %s, the known one is %s",
		 self->card[1].serial, self->card[0].serial);
	EXPECT_EQ(ENXIO, operator_tests(&early, false));
	EXPECT_NE(NULL, strstr(said, wanted)) TH_LOG("%s", said);
	sim_stop(&early);
}

/*
 * While its device is away, no test brings an accelerator back, although the provider reaches it.
 */
TEST_F(pci, away_is_no_passing)
{
	ASSERT_EQ(0, take_out(&self->card[0]));
	ASSERT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_FAILED));
	EXPECT_EQ(ENXIO, operator_tests(&self->sim, false));
	EXPECT_NE(NULL, strstr(said, "was removed and is not back")) TH_LOG("%s", said);
	EXPECT_EQ(MORPH_HEALTH_FAILED, read_accelerator(&self->sim, 1).health);
}

/* Another device at the address stays out of use until the operator accepts it. */
TEST_F(pci, stranger_at_the_address)
{
	char wanted[120];

	ASSERT_TRUE(change_places(self->card));
	snprintf(wanted, sizeof(wanted), "has serial number %s, the known one is %s",
		 self->card[1].serial, self->card[0].serial);
	EXPECT_EQ(ENXIO, operator_tests(&self->sim, false));
	EXPECT_NE(NULL, strstr(said, wanted)) TH_LOG("%s", said);
	EXPECT_EQ(MORPH_HEALTH_QUARANTINED, read_accelerator(&self->sim, 1).health);
	EXPECT_EQ(0, operator_tests(&self->sim, true)) TH_LOG("%s", said);
	EXPECT_EQ(MORPH_HEALTH_OK, read_accelerator(&self->sim, 1).health);
	/* The new device is the known one now, and the first one would be unknown. */
	ASSERT_TRUE(change_places(self->card));
	EXPECT_EQ(ENXIO, operator_tests(&self->sim, false));
	EXPECT_EQ(MORPH_HEALTH_QUARANTINED, read_accelerator(&self->sim, 1).health);
}

/* The known device replaces the unknown one: its test brings it back into use. */
TEST_F(pci, stranger_and_back)
{
	ASSERT_TRUE(change_places(self->card));
	EXPECT_EQ(ENXIO, operator_tests(&self->sim, false));
	ASSERT_TRUE(change_places(self->card));
	EXPECT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_OK));
}

TEST_HARNESS_MAIN
