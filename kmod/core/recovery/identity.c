// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identity of accelerators: an accelerator that comes back into use must be the known one.
 *
 * The known identity is the UUID from the provider and the serial number of the PCI device at the
 * accelerator's address, as far as they exist. Each test of the accelerator reads them again. If
 * another accelerator is in its place, that one stays quarantined until the known one returns or
 * the operator accepts it.
 */
#include <linux/pci.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/recovery/recovery.h"

u64 morph_identity_serial(const char *address)
{
	unsigned int domain, bus, slot, function;
	struct pci_dev *pdev;
	u64 serial;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return 0;
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!pdev)
		return 0;
	serial = pci_get_dsn(pdev);
	pci_dev_put(pdev);
	return serial;
}

/* Read the identity of the accelerator that is in place now. No lock held. */
static void look(struct morph_fabric *fabric, u32 accelerator, struct morph_marks *now)
{
	struct morph_identity identity;
	char pci[MORPH_PCI_BYTES];

	mutex_lock(&fabric->lock);
	memcpy(pci, ledger_of(fabric)->chips[accelerator].identity.pci, sizeof(pci));
	mutex_unlock(&fabric->lock);
	morph_hw_identify(fabric, accelerator, &identity);
	memcpy(now->uuid, identity.uuid, sizeof(now->uuid));
	now->serial = morph_identity_serial(pci);
}

static bool uuid_differs(const struct morph_chip *chip)
{
	const u8 *known = chip->identity.uuid, *found = chip->found.uuid;

	return memchr_inv(known, 0, MORPH_UUID_BYTES) && memchr_inv(found, 0, MORPH_UUID_BYTES) &&
	       memcmp(known, found, MORPH_UUID_BYTES);
}

static bool serial_differs(const struct morph_chip *chip)
{
	return chip->serial && chip->found.serial && chip->serial != chip->found.serial;
}

/* Record the identity that was read as the known one: all of it, or only the missing parts. */
static void remember(struct morph_chip *chip, bool all)
{
	if (all || !memchr_inv(chip->identity.uuid, 0, MORPH_UUID_BYTES))
		memcpy(chip->identity.uuid, chip->found.uuid, MORPH_UUID_BYTES);
	if (all || !chip->serial)
		chip->serial = chip->found.serial;
}

/* Record the serial numbers that are present at the registration of the fabric. */
void morph_identity_learn(struct morph_fabric *fabric)
{
	u32 i;

	for (i = 0; i < fabric->graph->accelerators_count; i++)
		ledger_of(fabric)->chips[i].serial =
			morph_identity_serial(ledger_of(fabric)->chips[i].identity.pci);
}

int morph_identity_check(struct morph_fabric *fabric, u32 accelerator, bool accept)
{
	const struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR, accelerator };
	struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];
	struct morph_marks now;
	int ret = 0;

	look(fabric, accelerator, &now);
	mutex_lock(&fabric->lock);
	chip->found = now;
	if (chip->removed) {
		ret = -ENXIO;
	} else if (!accept && (uuid_differs(chip) || serial_differs(chip))) {
		chip->stranger = true;
		morph_health_set(fabric, &culprit, MORPH_HEALTH_QUARANTINED, 0);
		ret = -ENXIO;
	} else {
		chip->stranger = false;
		remember(chip, accept);
	}
	mutex_unlock(&fabric->lock);
	return ret;
}

int morph_identity_refuse(struct morph_fabric *fabric, u32 accelerator,
			  struct morph_refusal *refusal)
{
	const struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];
	__be64 known = cpu_to_be64(chip->serial), found = cpu_to_be64(chip->found.serial);

	lockdep_assert_held(&fabric->lock);
	if (chip->removed)
		return morph_refuse(refusal, -ENXIO, MORPH_REASON_IDENTITY, MORPH_PART_ACCELERATOR,
				    accelerator, "PCI device %s was removed and is not back",
				    chip->identity.pci);
	if (!chip->stranger)
		return 0;
	if (uuid_differs(chip))
		return morph_refuse(refusal, -ENXIO, MORPH_REASON_IDENTITY, MORPH_PART_ACCELERATOR,
				    accelerator, "its UUID is %pUb, the known one is %pUb",
				    chip->found.uuid, chip->identity.uuid);
	return morph_refuse(refusal, -ENXIO, MORPH_REASON_IDENTITY, MORPH_PART_ACCELERATOR,
			    accelerator,
			    "PCI device %s has serial number %8phD, the known one is %8phD",
			    chip->identity.pci, &found, &known);
}
