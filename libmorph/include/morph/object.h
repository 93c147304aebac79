/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: snapshots. Included by <morph/morph.h>. */
#ifndef MORPH_OBJECT_H
#define MORPH_OBJECT_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ objects */

/**
 * enum morph_attr_type - types of attributes
 * @MORPH_ATTR_UINT: unsigned number
 * @MORPH_ATTR_SINT: signed number
 * @MORPH_ATTR_ENUM: a number with a word, see morph_object_text()
 * @MORPH_ATTR_FLAG: present, or not
 * @MORPH_ATTR_STRING: text
 * @MORPH_ATTR_UUID: 16 bytes, and text in the usual form
 * @MORPH_ATTR_OBJECT: an object of its own
 */
enum morph_attr_type {
	MORPH_ATTR_UINT = 1,
	MORPH_ATTR_SINT = 2,
	MORPH_ATTR_ENUM = 3,
	MORPH_ATTR_FLAG = 4,
	MORPH_ATTR_STRING = 5,
	MORPH_ATTR_UUID = 6,
	MORPH_ATTR_OBJECT = 7,
};

/**
 * morph_object_free() - free a snapshot
 * @object: one that a call gave to the caller, or NULL; objects inside lists and
 *          inside other objects belong to those
 */
void morph_object_free(struct morph_object *object);

/**
 * morph_object_type() - what an object describes
 * @object: the object
 *
 * Return: enum morph_object_type.
 */
uint32_t morph_object_type(const struct morph_object *object);

/**
 * morph_object_command() - the message that brought an object
 * @object: the object
 *
 * Return: the name in the specification, such as "slice-ntf"; "" when it came
 * over a device.
 */
const char *morph_object_command(const struct morph_object *object);

/**
 * struct morph_attr - one attribute
 * @sz: sizeof(struct morph_attr), set by the caller
 * @name: the specification's name, such as "last-verified-ns"; a static string
 * @doc: the specification's sentence about it; a static string
 * @type: enum morph_attr_type
 * @enumeration: enum morph_enum when @type is MORPH_ATTR_ENUM, else 0
 * @values: how many values the object has; 0 in the answer of morph_schema_attr()
 * @is_list: the attribute can have several values, even when it has one now
 */
struct morph_attr {
	size_t sz;
	const char *name;
	const char *doc;
	uint32_t type;
	uint32_t enumeration;
	size_t values;
	bool is_list;
};

/**
 * morph_object_attr() - describe the attribute at a position of an object
 * @object: the object
 * @position: 0 for its first attribute
 * @out: the answer, with @sz set
 *
 * An attribute with several values has one position. To read all attributes, count
 * @position up until the answer is false.
 *
 * Return: false when the object has no such position.
 */
bool morph_object_attr(const struct morph_object *object, size_t position, struct morph_attr *out);

/**
 * morph_schema_attr() - describe an attribute that a type of objects can have
 * @type: enum morph_object_type
 * @position: 0 for the first attribute of the type
 * @out: the answer, with @sz set
 *
 * Return: false when there is no such type or position.
 */
bool morph_schema_attr(uint32_t type, size_t position, struct morph_attr *out);

/**
 * morph_object_values() - how many values an attribute has
 * @object: the object
 * @name: name of the attribute
 *
 * Return: the number, at least 1; 0 when the object does not have the attribute.
 */
size_t morph_object_values(const struct morph_object *object, const char *name);

/**
 * morph_object_uint() - the first value of an attribute as an unsigned number
 * @object: the object
 * @name: name of the attribute
 *
 * Return: @uint of the value, see morph_object_value().
 */
uint64_t morph_object_uint(const struct morph_object *object, const char *name);

/**
 * morph_object_text() - the first value of an attribute as text
 * @object: the object
 * @name: name of the attribute
 *
 * Return: @text of the value, see morph_object_value().
 */
const char *morph_object_text(const struct morph_object *object, const char *name);

/**
 * struct morph_value - a value of an attribute
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @uint: the number of UINT and ENUM, 1 for FLAG; else 0
 * @sint: the number of SINT, UINT and ENUM; else 0
 * @text: the text of STRING, the usual form of UUID, the word of ENUM (NULL when the library does
 *	not know the number); else NULL. Lives as long as the object
 * @object: the object inside of OBJECT, which belongs to the outer one; else NULL
 */
struct morph_value {
	size_t sz;
	uint64_t uint;
	int64_t sint;
	const char *text;
	const struct morph_object *object;
};

/**
 * morph_object_value() - read a value of an attribute
 * @object: the object
 * @name: name of the attribute
 * @index: which value, below morph_object_values()
 * @out: where to put it, with @sz set; 0 and NULL where there is no such value
 *
 * Return: whether the object has the value.
 */
bool morph_object_value(const struct morph_object *object, const char *name, size_t index,
			struct morph_value *out);

/**
 * morph_object_nested_at() - a value of an attribute as an object
 * @object: the object
 * @name: name of the attribute
 * @index: which value, below morph_object_values()
 *
 * Return: @object of the value, see morph_object_value().
 */
const struct morph_object *morph_object_nested_at(const struct morph_object *object,
						  const char *name, size_t index);

/**
 * morph_object_new() - begin an object, for libraries that describe what they found
 * @type: enum morph_object_type
 *
 * Return: an object without attributes; NULL when out of memory or without such a type.
 */
struct morph_object *morph_object_new(uint32_t type);

/**
 * morph_object_put() - add a value to an attribute
 * @object: the object
 * @name: name of the attribute; one that is no list keeps the last value only
 * @value: the value, with the one member that the type of the attribute has: @uint of UINT, ENUM
 *	and FLAG, @text of STRING, which is copied, or @object of OBJECT. This one belongs to
 *	@object afterwards, and is freed on failure; NULL is -ENOMEM
 *
 * Return: 0, -ENOMEM, -EINVAL (objects of this type have no such attribute, or it has no such
 * values), or -E2BIG (unknown members of @value).
 */
int morph_object_put(struct morph_object *object, const char *name,
		     const struct morph_value *value);

/**
 * morph_list_free() - free a list and the objects in it
 * @list: the list, or NULL
 */
void morph_list_free(struct morph_list *list);

/**
 * morph_list_count() - how many objects a list has
 * @list: the list; NULL has none
 *
 * Return: the number. Never fails.
 */
size_t morph_list_count(const struct morph_list *list);

/**
 * morph_list_get() - an object of a list
 * @list: the list
 * @index: position, below morph_list_count()
 *
 * Return: the object, which belongs to the list; NULL when there is no such
 * position.
 */
const struct morph_object *morph_list_get(const struct morph_list *list, size_t index);

/* -------------------------------------------------------------------- words */

/**
 * morph_enum_name() - the word for a value of an enumeration
 * @enumeration: enum morph_enum
 * @value: the value
 *
 * Return: the specification's word, such as "rolled-back"; NULL when the library
 * does not know the value.
 */
const char *morph_enum_name(uint32_t enumeration, uint32_t value);

/**
 * morph_enum_value() - the value that a word stands for
 * @enumeration: enum morph_enum
 * @word: the word; case and '_' for '-' do not matter
 *
 * Return: the value, or -EINVAL when there is no such word.
 */
int64_t morph_enum_value(uint32_t enumeration, const char *word);

/**
 * morph_enum_word() - the words of an enumeration, one by one
 * @enumeration: enum morph_enum
 * @position: 0 for its first word
 *
 * Return: the word, NULL when there is no such enumeration or position.
 */
const char *morph_enum_word(uint32_t enumeration, size_t position);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_OBJECT_H */
