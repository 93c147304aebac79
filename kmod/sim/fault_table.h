/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The faults, one line each: name, type of target, own argument (NONE: only the
 * common ones), affected operations, meaning. Define SIM_FAULT before including it.
 */
SIM_FAULT(accelerator_dead, ACCELERATOR, NONE, "heartbeat, probe, transmit activity, lock",
	  "the chip stops: no heartbeat, no data; its lasers stay as they are")
SIM_FAULT(accelerator_flapping, ACCELERATOR, PERIOD, "the same the same as accelerator_dead",
	  "dies and comes back count times, half a period (ns) each")
SIM_FAULT(laser_dead, LASER, NONE, "light, laser monitor",
	  "the lanes' lasers emit nothing")
SIM_FAULT(laser_weak, LASER, MDB, "light, laser monitor",
	  "the lanes' lasers emit mdb less power power")
SIM_FAULT(element_stuck, ELEMENT, STATE, "element writes",
	  "stays in its current state, or in state; writes succeed without effect")
SIM_FAULT(element_slow, ELEMENT, NS, "settling of light",
	  "settles ns later than in the profile, after each write")
SIM_FAULT(guide_lossy, GUIDE, MDB, "light",
	  "its loss is mdb higher")
SIM_FAULT(guide_drifting, GUIDE, MDB, "the same the same as guide_lossy",
	  "its loss grows to mdb more within a period (ns)")
SIM_FAULT(fibre_cut, GUIDE, NONE, "light",
	  "passes no light; only guides between servers or to an edge")
SIM_FAULT(receiver_deaf, RECEIVER, NONE, "receiver power and lock",
	  "reads no power and does not lock")
SIM_FAULT(programming_error, DEVICE, EVERY, "set_elements, set_lasers",
	  "the next request, or each every-th, fails with EIO, after half or done settings")
SIM_FAULT(programming_timeout, DEVICE, EVERY, "set_elements, set_lasers",
	  "never answers; with late, applies all settings and answers late ns later")
SIM_FAULT(provider_removed, DEVICE, NONE, "the device itself",
	  "the device disappears without notice")
SIM_FAULT(reading_error, DEVICE, EVERY, "get_lasers, get_receivers",
	  "the next reading of light, or each every-th, fails with EIO")
SIM_FAULT(reading_timeout, DEVICE, EVERY, "get_lasers, get_receivers",
	  "the next reading of light, or each every-th, never answers")
SIM_FAULT(query_error, DEVICE, EVERY, "get_elements, probe",
	  "the next query, or each every-th, fails with EIO")
SIM_FAULT(query_timeout, DEVICE, EVERY, "get_elements, probe",
	  "the next query, or each every-th, never answers")
SIM_FAULT(waiting_error, DEVICE, EVERY, "wait",
	  "the next wait, or each every-th, fails at once with EIO")
