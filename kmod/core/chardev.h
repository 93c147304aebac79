/* SPDX-License-Identifier: GPL-2.0-only */
/* The nodes of fabrics and slices. */
#ifndef MORPH_CORE_CHARDEV_H
#define MORPH_CORE_CHARDEV_H

#include "core.h"

int morph_chardev_init(void);
void morph_chardev_exit(void);
int morph_chardev_add_fabric(struct morph_fabric *fabric);
void morph_chardev_del_fabric(struct morph_fabric *fabric);
/* /dev/morph/sliceN; del waits for nothing: open files stay and answer ENODEV. */
int morph_chardev_set_slice(struct morph_slice *slice, kuid_t uid, umode_t mode);
void morph_chardev_del_slice(struct morph_slice *slice);
/* A new file for a slice; installs nothing. *file gets the struct file, fd is returned. */
int morph_chardev_slice_fd(struct morph_slice *slice, struct file **file,
			   struct morph_refusal *refusal);
/* The same for a fabric: slices that are created by it are charged to the grant. */
int morph_chardev_grant_fd(struct morph_fabric *fabric, struct morph_user *grant,
			   struct file **file, struct morph_refusal *refusal);

#endif /* MORPH_CORE_CHARDEV_H */
