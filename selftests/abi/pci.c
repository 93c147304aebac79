// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accelerators that are PCI devices: removal is failure, unbinding a driver is not,
 * and what comes back is tested. Any device that nothing depends on will do.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "fabric.h"
#include "kselftest_harness.h"

#define DEVICES "/sys/bus/pci/devices"

FIXTURE(pci)
{
	struct sim sim;
	int slice;
	char address[MORPH_PCI_BYTES];
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

/* A device without a driver, and no bridge. */
static bool find_idle_device(char *address)
{
	struct dirent *entry;
	char path[300], class[16];
	DIR *dir = opendir(DEVICES);
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		FILE *file;

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= MORPH_PCI_BYTES)
			continue;
		snprintf(path, sizeof(path), DEVICES "/%s/driver", entry->d_name);
		if (!access(path, F_OK))
			continue;
		snprintf(path, sizeof(path), DEVICES "/%s/class", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		found = fgets(class, sizeof(class), file) && strncmp(class, "0x06", 4);
		fclose(file);
		if (found)
			strcpy(address, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

FIXTURE_SETUP(pci)
{
	static const uint32_t wanted[] = { 0, 1 };
	char settings[64];

	if (!find_idle_device(self->address))
		SKIP(return, "no PCI device is idle");
	snprintf(settings, sizeof(settings), "pci=1=%s", self->address);
	sim_start(&self->sim, "server8", settings);
	self->slice = slice_create_at(self->sim.fd, wanted, 2);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, light_ring(self->slice, 2));
}

FIXTURE_TEARDOWN(pci)
{
	close(self->slice);
	sim_stop(&self->sim);
}

TEST_F(pci, removed_and_back)
{
	struct morph_event event;
	char path[128];

	EXPECT_STREQ(self->address, read_accelerator(&self->sim, 1).pci);
	snprintf(path, sizeof(path), DEVICES "/%s/remove", self->address);
	ASSERT_EQ(0, write_to(path, "1"));
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_FAILING, PATIENCE_MS, &event));
	EXPECT_EQ(1, event.rank);
	EXPECT_STREQ(self->address, event.old_pci);
	ASSERT_EQ(0, wait_event(self->slice, MORPH_EVENT_REPLACED, PATIENCE_MS, &event));
	EXPECT_EQ(1, event.old_accelerator);
	EXPECT_LE(8, event.new_accelerator);
	EXPECT_EQ(MORPH_HEALTH_FAILED, read_accelerator(&self->sim, 1).health);
	ASSERT_EQ(0, write_to("/sys/bus/pci/rescan", "1"));
	EXPECT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_OK));
	/* The one in its place was a spare; that is its part from now on. */
	EXPECT_EQ(MORPH_USE_SPARE, read_accelerator(&self->sim, 1).use);
}

/* A device that goes and is nobody's: nothing happens. */
TEST_F(pci, of_nobody)
{
	struct morph_slice_info info;
	struct pollfd pollfd = { .fd = self->slice, .events = POLLIN };
	struct sim other;
	char path[128];

	sim_start(&other, "server4", NULL);
	close(self->slice);
	self->slice = slice_create(other.fd, 4);
	ASSERT_LE(0, self->slice);
	snprintf(path, sizeof(path), DEVICES "/%s/remove", self->address);
	ASSERT_EQ(0, write_to(path, "1"));
	ASSERT_TRUE(wait_health(&self->sim, 1, MORPH_HEALTH_FAILED));
	pollfd.fd = self->slice;
	EXPECT_EQ(0, poll(&pollfd, 1, 100));
	ASSERT_EQ(0, slice_info(self->slice, &info));
	EXPECT_EQ(MORPH_SLICE_OK, info.state);
	ASSERT_EQ(0, write_to("/sys/bus/pci/rescan", "1"));
	sim_stop(&other);
}

TEST_HARNESS_MAIN
