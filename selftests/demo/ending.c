// SPDX-License-Identifier: GPL-2.0-only
/* Checks after the demo: all hardware is free, nothing has leaked, and the rack was busy. */
#include "demo.h"

static bool all_back(const void *unused)
{
	(void)unused;
	sim_refresh(&demo.sim);
	return demo.sim.info.free == demo.capacity && !demo.sim.info.slices;
}

static void check_fabric(void)
{
	uint32_t spares = demo.sim.info.accelerators - demo.capacity;

	if (!pump(all_over, NULL, 60000))
		violation("some jobs have not ended");
	mend();
	pump(all_back, NULL, PATIENCE_MS);
	demo.final_free = demo.sim.info.free;
	demo.final_spares = demo.sim.info.spares;
	demo.final_slices = demo.sim.info.slices;
	if (demo.final_free != demo.capacity || demo.final_spares != spares || demo.final_slices)
		violation(
			"at the end %lld of %u accelerators are free, %lld of %u spares, and %lld slices exist",
			demo.final_free, demo.capacity, demo.final_spares, spares,
			demo.final_slices);
	if (!sim_all_dark(&demo.sim))
		violation("at the end a receiver still sees light");
}

static void check_ledger(void)
{
	static const char *const kinds[] = {
		"guide lanes held",
		"transmit lanes held",
		"transmit lanes on",
		"receive lanes held",
	};
	long long value;
	size_t i;

	demo.ledger_pins = core_counter(&demo.sim, "ledger", "pins");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		value = core_counter(&demo.sim, "ledger", kinds[i]);
		if (value)
			violation("leaked: %s: %lld", kinds[i], value);
		demo.ledger_held += value;
	}
	if (demo.ledger_pins)
		violation("leaked: %lld pins of elements", demo.ledger_pins);
}

static void check_occupancy(void)
{
	long long span = (demo.measured_until_ms ? demo.measured_until_ms : now_ms()) -
			 demo.measured_from_ms;
	double share = demo.measured_from_ms && span ? demo.held_ms / span / demo.capacity : 0;

	if (share < 0.70 || share > 0.95)
		violation("occupancy was %.0f %%, not 70 to 95", 100 * share);
}

void check_ending(void)
{
	if (failures_left())
		violation("%u of %u planned failures found no victim", failures_left(),
			  demo.planned);
	check_fabric();
	check_ledger();
	check_occupancy();
}
