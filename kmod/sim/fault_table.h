/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The faults, one line each: name, type of target, argument of its own (NONE: only
 * those that all have), where it is hooked, meaning. Included with SIM_FAULT defined.
 */
SIM_FAULT(accelerator_dead, ACCELERATOR, NONE, "heartbeat, probe, transmit activity, lock",
	  "the chip stops: no heartbeat, no data; its lasers stay as they are")
SIM_FAULT(accelerator_flapping, ACCELERATOR, PERIOD, "as accelerator_dead",
	  "dead and back count times, each for half a period (ns)")
SIM_FAULT(laser_dead, LASER, NONE, "light, laser monitor",
	  "the lanes' lasers emit nothing")
SIM_FAULT(laser_weak, LASER, MDB, "light, laser monitor",
	  "the lanes' lasers emit mdb less")
SIM_FAULT(element_stuck, ELEMENT, STATE, "element writes",
	  "stays in the state that it has, or in state; writes are taken and do nothing")
SIM_FAULT(element_slow, ELEMENT, NS, "settling of light",
	  "settles ns later than the profile says, after each write")
SIM_FAULT(guide_lossy, GUIDE, MDB, "light",
	  "loses mdb more")
SIM_FAULT(fibre_cut, GUIDE, NONE, "light",
	  "passes no light; only guides between servers or to an edge")
SIM_FAULT(receiver_deaf, RECEIVER, NONE, "receiver power and lock",
	  "reads no power and does not lock")
SIM_FAULT(programming_error, DEVICE, EVERY, "set_elements, set_lasers",
	  "the next request, or each every-th, fails half done with EIO")
SIM_FAULT(programming_timeout, DEVICE, EVERY, "set_elements, set_lasers",
	  "the next request, or each every-th, never answers, half done; or late by late ns")
SIM_FAULT(provider_removed, DEVICE, NONE, "the device itself",
	  "the device is gone without notice")
