// SPDX-License-Identifier: GPL-2.0-only
#include "simprofile.h"

#include "sim/physics.h"

bool simprofile_accepts(const void *blob, size_t bytes, char why[SIMPROFILE_WHY])
{
	struct sim_refusal refusal = {};
	struct sim_optics optics = {};
	int err = sim_profile_read(&optics, blob, bytes, &refusal);

	snprintf(why, SIMPROFILE_WHY, "%s", refusal.text);
	sim_profile_free(&optics);
	return !err;
}
