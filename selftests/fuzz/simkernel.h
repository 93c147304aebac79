/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel definitions for kmod/sim/sim.h and faulttext.c beyond selftests/sim/kernel.h. */
#ifndef FUZZ_SIMKERNEL_H
#define FUZZ_SIMKERNEL_H

#include <ctype.h>

#include "../sim/kernel.h"

#define NSEC_PER_SEC 1000000000L
#define U32_MAX UINT32_MAX
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define DECLARE_FLEX_ARRAY(type, name) \
	struct {                       \
		struct {               \
		} empty_##name;        \
		type name[];           \
	}
#define lockdep_assert_held(lock) ((void)(lock))

/* Members of structures that the targets do not use. */
struct list_head {
	struct list_head *next, *prev;
};
struct timerqueue_node {
	u64 expires;
};
struct timerqueue_head {
	void *root;
};
struct hrtimer {
	u64 expires;
};
struct device {
	void *parent;
};
struct work_struct {
	void *function;
};
struct mutex {
	int locked;
};
typedef struct {
	int locked;
} spinlock_t;
typedef struct {
	u8 b[16];
} uuid_t;
struct dentry;
struct file_operations;
struct seq_file;

static inline int kstrtou64(const char *text, unsigned int base, u64 *value)
{
	char *end;

	text += *text == '+';
	if (!isxdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, (int)base);
	if (errno)
		return -ERANGE;
	return end == text || end[*end == '\n'] ? -EINVAL : 0;
}

static inline int kstrtou32(const char *text, unsigned int base, u32 *value)
{
	u64 wide;
	int err = kstrtou64(text, base, &wide);

	if (err || wide > U32_MAX)
		return err ? err : -ERANGE;
	*value = (u32)wide;
	return 0;
}

static inline int match_string(const char *const *words, size_t count, const char *word)
{
	for (size_t at = 0; at < count; at++)
		if (words[at] && !strcmp(words[at], word))
			return (int)at;
	return -EINVAL;
}

__printf(3, 4) static inline int scnprintf(char *text, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, size, format, arguments);
	va_end(arguments);
	return length < (int)size ? length : (int)size - (size != 0);
}

static inline int uuid_parse(const char *text, uuid_t *uuid)
{
	for (int at = 0; at < 36; at++)
		if (at == 8 || at == 13 || at == 18 || at == 23 ?
			    text[at] != '-' :
			    !isxdigit((unsigned char)text[at]))
			return -EINVAL;
	memset(uuid, 0, sizeof(*uuid));
	return 0;
}

__printf(2, 3) static inline void seq_printf(struct seq_file *file, const char *format, ...)
{
	(void)file;
	(void)format;
}

#endif /* FUZZ_SIMKERNEL_H */
