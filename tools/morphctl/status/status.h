/* SPDX-License-Identifier: GPL-2.0-or-later */
/* morphctl status and morphctl watch: the state of the fabrics on one page. */
#ifndef MORPHCTL_STATUS_H
#define MORPHCTL_STATUS_H

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

/*
 * gather.c: read the state of a fabric, or of all fabrics with MORPH_ANY, as the object
 * status-report of tools/schema/reports.yaml. The caller frees @report. No fabric is an error.
 */
enum exit_code status_gather(struct run *run, uint32_t fabric, json_t **report);

/* page.c: print a report for people. */
void status_print(struct run *run, json_t *report);

#endif
