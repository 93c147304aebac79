/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that people write. */
#ifndef MORPHCTL_DOCUMENT_H
#define MORPHCTL_DOCUMENT_H

#include "morphctl.h"

/* Read a YAML or JSON file, or standard input for "-"; *document is the caller's. */
enum exit_code document_read(const char *path, json_t **document);

#endif
