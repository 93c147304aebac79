/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of every structure of the device ABI, with its size in the first published version.
 * The layout is the same for 32-bit and 64-bit programs. Later versions add fields only at the end,
 * so a line here never changes, although the structure may grow.
 *
 * The file that includes this header defines LAYOUT(type, bytes) and AT(type, field, offset). Each
 * structure is followed by all of its fields. The header may be included several times.
 */

LAYOUT(morph_head, 48);
AT(morph_head, size, 0);
AT(morph_head, flags, 4);
AT(morph_head, detail_ptr, 8);
AT(morph_head, detail_len, 16);
AT(morph_head, reason, 20);
AT(morph_head, part, 24);
AT(morph_head, index, 28);
AT(morph_head, have, 32);
AT(morph_head, need, 40);

LAYOUT(morph_refusal_cookie, 20);
AT(morph_refusal_cookie, reason, 0);
AT(morph_refusal_cookie, part, 4);
AT(morph_refusal_cookie, index, 8);
AT(morph_refusal_cookie, have, 12);
AT(morph_refusal_cookie, need, 16);

LAYOUT(morph_array, 16);
AT(morph_array, ptr, 0);
AT(morph_array, count, 8);
AT(morph_array, stride, 12);

LAYOUT(morph_times, 80);
AT(morph_times, phase_ns, 0);
AT(morph_times, provider_ns, 64);
AT(morph_times, modelled_ns, 72);

LAYOUT(morph_fabric_info, 224);
AT(morph_fabric_info, head, 0);
AT(morph_fabric_info, abi_version, 48);
AT(morph_fabric_info, fabric, 52);
AT(morph_fabric_info, uuid, 56);
AT(morph_fabric_info, name, 72);
AT(morph_fabric_info, profile, 104);
AT(morph_fabric_info, profile_checksum, 136);
AT(morph_fabric_info, features, 140);
AT(morph_fabric_info, state, 144);
AT(morph_fabric_info, accelerators, 148);
AT(morph_fabric_info, hosts, 152);
AT(morph_fabric_info, elements, 156);
AT(morph_fabric_info, guides, 160);
AT(morph_fabric_info, planes, 164);
AT(morph_fabric_info, wavelengths, 168);
AT(morph_fabric_info, edges, 172);
AT(morph_fabric_info, free, 176);
AT(morph_fabric_info, spares, 180);
AT(morph_fabric_info, slices, 184);
AT(morph_fabric_info, lent, 188);
AT(morph_fabric_info, lane_mbps, 192);
AT(morph_fabric_info, settle_ns, 200);
AT(morph_fabric_info, relock_ns, 208);
AT(morph_fabric_info, seq, 216);

LAYOUT(morph_accelerator_info, 64);
AT(morph_accelerator_info, accelerator, 0);
AT(morph_accelerator_info, host, 4);
AT(morph_accelerator_info, x, 8);
AT(morph_accelerator_info, y, 10);
AT(morph_accelerator_info, z, 12);
AT(morph_accelerator_info, use, 14);
AT(morph_accelerator_info, health, 15);
AT(morph_accelerator_info, cordoned, 16);
AT(morph_accelerator_info, reserved, 17);
AT(morph_accelerator_info, pci, 24);
AT(morph_accelerator_info, uuid, 40);
AT(morph_accelerator_info, last_verified_ns, 56);

LAYOUT(morph_guide_info, 32);
AT(morph_guide_info, guide, 0);
AT(morph_guide_info, type, 4);
AT(morph_guide_info, health, 6);
AT(morph_guide_info, cordoned, 7);
AT(morph_guide_info, lanes, 8);
AT(morph_guide_info, lanes_free, 16);
AT(morph_guide_info, loss_mdb, 24);
AT(morph_guide_info, reserved, 28);

LAYOUT(morph_element_info, 16);
AT(morph_element_info, element, 0);
AT(morph_element_info, tile, 4);
AT(morph_element_info, state, 8);
AT(morph_element_info, health, 10);
AT(morph_element_info, cordoned, 11);
AT(morph_element_info, pins, 12);

LAYOUT(morph_edge_info, 88);
AT(morph_edge_info, edge, 0);
AT(morph_edge_info, guide, 4);
AT(morph_edge_info, peer_uuid, 8);
AT(morph_edge_info, peer_edge, 24);
AT(morph_edge_info, least_mdbm, 28);
AT(morph_edge_info, most_mdbm, 32);
AT(morph_edge_info, reserved, 36);
AT(morph_edge_info, lanes_out, 40);
AT(morph_edge_info, lanes_in, 48);
AT(morph_edge_info, name, 56);

LAYOUT(morph_fabric_read, 80);
AT(morph_fabric_read, head, 0);
AT(morph_fabric_read, first, 48);
AT(morph_fabric_read, reserved, 52);
AT(morph_fabric_read, entries, 56);
AT(morph_fabric_read, seq, 72);

LAYOUT(morph_slice_create, 144);
AT(morph_slice_create, head, 0);
AT(morph_slice_create, accelerators, 48);
AT(morph_slice_create, spares, 64);
AT(morph_slice_create, failover, 80);
AT(morph_slice_create, transit, 84);
AT(morph_slice_create, spare_policy, 88);
AT(morph_slice_create, mode, 92);
AT(morph_slice_create, name, 96);
AT(morph_slice_create, out_fd, 128);
AT(morph_slice_create, out_slice, 132);
AT(morph_slice_create, out_generation, 136);
AT(morph_slice_create, ring_lanes, 144);
AT(morph_slice_create, reserved, 148);

LAYOUT(morph_slice_delete, 88);
AT(morph_slice_delete, head, 0);
AT(morph_slice_delete, slice, 48);
AT(morph_slice_delete, reserved, 52);
AT(morph_slice_delete, name, 56);

LAYOUT(morph_grant_create, 88);
AT(morph_grant_create, head, 0);
AT(morph_grant_create, accelerators, 48);
AT(morph_grant_create, circuits, 52);
AT(morph_grant_create, lanes, 56);
AT(morph_grant_create, prepared, 60);
AT(morph_grant_create, replacements, 64);
AT(morph_grant_create, reserved, 68);
AT(morph_grant_create, bytes, 72);
AT(morph_grant_create, out_fd, 80);
AT(morph_grant_create, out_grant, 84);

LAYOUT(morph_rank_info, 56);
AT(morph_rank_info, rank, 0);
AT(morph_rank_info, accelerator, 4);
AT(morph_rank_info, host, 8);
AT(morph_rank_info, health, 12);
AT(morph_rank_info, plan, 13);
AT(morph_rank_info, reserved, 14);
AT(morph_rank_info, spare, 16);
AT(morph_rank_info, replacements, 20);
AT(morph_rank_info, pci, 24);
AT(morph_rank_info, uuid, 40);

LAYOUT(morph_circuit_info, 72);
AT(morph_circuit_info, circuit, 0);
AT(morph_circuit_info, state, 4);
AT(morph_circuit_info, src_rank, 8);
AT(morph_circuit_info, dst_rank, 12);
AT(morph_circuit_info, src_plane, 16);
AT(morph_circuit_info, dst_plane, 18);
AT(morph_circuit_info, hops, 20);
AT(morph_circuit_info, lanes, 24);
AT(morph_circuit_info, bandwidth_mbps, 32);
AT(morph_circuit_info, loss_mdb, 40);
AT(morph_circuit_info, margin_mdb, 44);
AT(morph_circuit_info, power_mdbm, 48);
AT(morph_circuit_info, isolation_mdb, 52);
AT(morph_circuit_info, dark_ns, 56);
AT(morph_circuit_info, last_verified_ns, 64);

LAYOUT(morph_slice_info, 160);
AT(morph_slice_info, head, 0);
AT(morph_slice_info, slice, 48);
AT(morph_slice_info, state, 52);
AT(morph_slice_info, name, 56);
AT(morph_slice_info, failover, 88);
AT(morph_slice_info, transit, 92);
AT(morph_slice_info, spare_policy, 96);
AT(morph_slice_info, reserved, 100);
AT(morph_slice_info, generation, 104);
AT(morph_slice_info, seq, 112);
AT(morph_slice_info, events_lost, 120);
AT(morph_slice_info, ranks, 128);
AT(morph_slice_info, circuits, 144);
AT(morph_slice_info, owner, 160);
AT(morph_slice_info, mode, 164);
AT(morph_slice_info, files, 168);
AT(morph_slice_info, used_replacements, 172);
AT(morph_slice_info, bandwidth_mbps, 176);

LAYOUT(morph_circuit_path, 88);
AT(morph_circuit_path, head, 0);
AT(morph_circuit_path, circuit, 48);
AT(morph_circuit_path, reserved, 52);
AT(morph_circuit_path, guides, 56);
AT(morph_circuit_path, elements, 72);

LAYOUT(morph_path_element, 8);
AT(morph_path_element, element, 0);
AT(morph_path_element, state, 4);

LAYOUT(morph_change, 72);
AT(morph_change, op, 0);
AT(morph_change, circuit, 4);
AT(morph_change, src_rank, 8);
AT(morph_change, dst_rank, 12);
AT(morph_change, src_plane, 16);
AT(morph_change, dst_plane, 18);
AT(morph_change, lanes_count, 20);
AT(morph_change, lanes, 24);
AT(morph_change, guides, 32);
AT(morph_change, dark_ns, 48);
AT(morph_change, status, 56);
AT(morph_change, reason, 60);
AT(morph_change, part, 64);
AT(morph_change, index, 68);

LAYOUT(morph_txn_run, 200);
AT(morph_txn_run, head, 0);
AT(morph_txn_run, changes, 48);
AT(morph_txn_run, cookie, 64);
AT(morph_txn_run, generation, 72);
AT(morph_txn_run, lease_ns, 80);
AT(morph_txn_run, profile_checksum, 88);
AT(morph_txn_run, reserved, 92);
AT(morph_txn_run, out_txn, 96);
AT(morph_txn_run, out_outcome, 100);
AT(morph_txn_run, out_seq, 104);
AT(morph_txn_run, out_generation, 112);
AT(morph_txn_run, out_times, 120);

LAYOUT(morph_txn_step, 176);
AT(morph_txn_step, head, 0);
AT(morph_txn_step, txn, 48);
AT(morph_txn_step, verb, 52);
AT(morph_txn_step, lease_ns, 56);
AT(morph_txn_step, out_outcome, 64);
AT(morph_txn_step, reserved, 68);
AT(morph_txn_step, out_seq, 72);
AT(morph_txn_step, out_lease_ns, 80);
AT(morph_txn_step, out_times, 88);
AT(morph_txn_step, cookie, 168);

LAYOUT(morph_rank_act, 64);
AT(morph_rank_act, head, 0);
AT(morph_rank_act, rank, 48);
AT(morph_rank_act, spare, 52);
AT(morph_rank_act, out_state, 56);
AT(morph_rank_act, out_health, 60);

LAYOUT(morph_slice_policy, 56);
AT(morph_slice_policy, head, 0);
AT(morph_slice_policy, failover, 48);
AT(morph_slice_policy, reserved, 52);

LAYOUT(morph_schedule_circuit, 32);
AT(morph_schedule_circuit, src_rank, 0);
AT(morph_schedule_circuit, dst_rank, 4);
AT(morph_schedule_circuit, src_plane, 8);
AT(morph_schedule_circuit, dst_plane, 10);
AT(morph_schedule_circuit, lanes_count, 12);
AT(morph_schedule_circuit, lanes, 16);
AT(morph_schedule_circuit, first_guide, 24);
AT(morph_schedule_circuit, guides_count, 28);

LAYOUT(morph_schedule_step, 32);
AT(morph_schedule_step, first, 0);
AT(morph_schedule_step, count, 4);
AT(morph_schedule_step, advance, 8);
AT(morph_schedule_step, reserved, 12);
AT(morph_schedule_step, after_ns, 16);
AT(morph_schedule_step, deadline_ns, 24);

LAYOUT(morph_schedule_load, 144);
AT(morph_schedule_load, head, 0);
AT(morph_schedule_load, circuits, 48);
AT(morph_schedule_load, guides, 64);
AT(morph_schedule_load, held, 80);
AT(morph_schedule_load, steps, 96);
AT(morph_schedule_load, generation, 112);
AT(morph_schedule_load, profile_checksum, 120);
AT(morph_schedule_load, reserved, 124);
AT(morph_schedule_load, out_schedule, 128);
AT(morph_schedule_load, out_circuit, 132);
AT(morph_schedule_load, out_wrong_step, 136);
AT(morph_schedule_load, out_wrong_circuit, 140);

LAYOUT(morph_schedule_act, 176);
AT(morph_schedule_act, head, 0);
AT(morph_schedule_act, schedule, 48);
AT(morph_schedule_act, verb, 52);
AT(morph_schedule_act, step, 56);
AT(morph_schedule_act, rank, 60);
AT(morph_schedule_act, position, 64);
AT(morph_schedule_act, out_position, 72);
AT(morph_schedule_act, out_step, 80);
AT(morph_schedule_act, out_state, 84);
AT(morph_schedule_act, out_seq, 88);
AT(morph_schedule_act, out_times, 96);

LAYOUT(morph_schedule_step_info, 80);
AT(morph_schedule_step_info, circuits, 0);
AT(morph_schedule_step_info, changes, 4);
AT(morph_schedule_step_info, ahead, 8);
AT(morph_schedule_step_info, late, 12);
AT(morph_schedule_step_info, runs, 16);
AT(morph_schedule_step_info, wait_ns, 24);
AT(morph_schedule_step_info, program_ns, 32);
AT(morph_schedule_step_info, settle_ns, 40);
AT(morph_schedule_step_info, relock_ns, 48);
AT(morph_schedule_step_info, verify_ns, 56);
AT(morph_schedule_step_info, late_ns, 64);
AT(morph_schedule_step_info, longest_ns, 72);

LAYOUT(morph_schedule_info, 112);
AT(morph_schedule_info, head, 0);
AT(morph_schedule_info, schedule, 48);
AT(morph_schedule_info, state, 52);
AT(morph_schedule_info, flags, 56);
AT(morph_schedule_info, step, 60);
AT(morph_schedule_info, position, 64);
AT(morph_schedule_info, error, 72);
AT(morph_schedule_info, failed_step, 76);
AT(morph_schedule_info, circuits, 80);
AT(morph_schedule_info, lit, 84);
AT(morph_schedule_info, moved, 88);
AT(morph_schedule_info, first_circuit, 92);
AT(morph_schedule_info, steps, 96);

LAYOUT(morph_ring_entry, 16);
AT(morph_ring_entry, words, 0);

LAYOUT(morph_ring_page, 256);
AT(morph_ring_page, state, 0);
AT(morph_ring_page, asleep, 4);
AT(morph_ring_page, taken, 8);
AT(morph_ring_page, answered, 12);
AT(morph_ring_page, reserved, 16);
AT(morph_ring_page, seen, 128);
AT(morph_ring_page, reserved2, 132);

LAYOUT(morph_ring_setup, 80);
AT(morph_ring_setup, head, 0);
AT(morph_ring_setup, schedule, 48);
AT(morph_ring_setup, entries, 52);
AT(morph_ring_setup, idle_ns, 56);
AT(morph_ring_setup, rate, 60);
AT(morph_ring_setup, user_ptr, 64);
AT(morph_ring_setup, out_ring, 72);
AT(morph_ring_setup, reserved, 76);

LAYOUT(morph_ring_act, 80);
AT(morph_ring_act, head, 0);
AT(morph_ring_act, ring, 48);
AT(morph_ring_act, verb, 52);
AT(morph_ring_act, out_state, 56);
AT(morph_ring_act, out_error, 60);
AT(morph_ring_act, out_taken, 64);
AT(morph_ring_act, out_sleeps, 72);

LAYOUT(morph_state_pair, 16);
AT(morph_state_pair, generation, 0);
AT(morph_state_pair, hops, 4);
AT(morph_state_pair, mbps, 8);

LAYOUT(morph_state_page, 56);
AT(morph_state_page, version, 0);
AT(morph_state_page, ranks, 8);
AT(morph_state_page, schedule, 12);
AT(morph_state_page, generation, 16);
AT(morph_state_page, step, 24);
AT(morph_state_page, state, 28);
AT(morph_state_page, position, 32);
AT(morph_state_page, settle_ns, 40);
AT(morph_state_page, relock_ns, 48);

LAYOUT(morph_event, 248);
AT(morph_event, size, 0);
AT(morph_event, type, 4);
AT(morph_event, seq, 8);
AT(morph_event, generation, 16);
AT(morph_event, time_ns, 24);
AT(morph_event, slice, 32);
AT(morph_event, state, 36);
AT(morph_event, rank, 40);
AT(morph_event, circuit, 44);
AT(morph_event, txn, 48);
AT(morph_event, outcome, 52);
AT(morph_event, part, 56);
AT(morph_event, index, 60);
AT(morph_event, old_accelerator, 64);
AT(morph_event, new_accelerator, 68);
AT(morph_event, old_host, 72);
AT(morph_event, new_host, 76);
AT(morph_event, old_pci, 80);
AT(morph_event, new_pci, 96);
AT(morph_event, old_uuid, 112);
AT(morph_event, new_uuid, 128);
AT(morph_event, lost, 144);
AT(morph_event, bandwidth_mbps, 152);
AT(morph_event, dark_ns, 160);
AT(morph_event, times, 168);
