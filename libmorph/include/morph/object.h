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
 * @MORPH_ATTR_ENUM: a number with a word, see morph_object_attr_text()
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
 * morph_object_copy() - keep an object that belongs to a list, buffer or object
 * @object: the object
 * @out: the copy, freed by morph_object_free()
 *
 * Return: 0 or -ENOMEM.
 */
int morph_object_copy(const struct morph_object *object, struct morph_object **out);

/**
 * morph_object_type() - what an object describes
 * @object: the object
 *
 * Return: enum morph_object_type, see morph_object_type_name().
 */
uint32_t morph_object_type(const struct morph_object *object);

/**
 * morph_object_type_name() - the name of a type of objects
 * @type: enum morph_object_type
 *
 * Return: the name in the specification, such as "accelerator"; NULL if there is
 * no such type.
 */
const char *morph_object_type_name(uint32_t type);

/**
 * morph_object_command() - the message that brought an object
 * @object: the object
 *
 * Return: the name in the specification, such as "slice-ntf"; "" when it came
 * over a device.
 */
const char *morph_object_command(const struct morph_object *object);

/**
 * morph_object_attr_count() - how many attributes an object has
 * @object: the object
 *
 * An attribute with several values counts once.
 *
 * Return: the number. Never fails.
 */
size_t morph_object_attr_count(const struct morph_object *object);

/**
 * morph_object_attr_name() - name of an attribute
 * @object: the object
 * @attr: position, below morph_object_attr_count()
 *
 * Return: the specification's name, such as "last-verified-ns"; a static string,
 * NULL when there is no such position.
 */
const char *morph_object_attr_name(const struct morph_object *object, size_t attr);

/**
 * morph_object_attr_type() - type of an attribute
 * @object: the object
 * @attr: position
 *
 * Return: enum morph_attr_type, 0 when there is no such position.
 */
uint32_t morph_object_attr_type(const struct morph_object *object, size_t attr);

/**
 * morph_object_attr_is_list() - may the attribute have several values
 * @object: the object
 * @attr: position
 *
 * Return: true when the specification says so, even when it has one value now.
 */
bool morph_object_attr_is_list(const struct morph_object *object, size_t attr);

/**
 * morph_object_attr_values() - how many values an attribute has
 * @object: the object
 * @attr: position
 *
 * Return: the number, at least 1; 0 when there is no such position.
 */
size_t morph_object_attr_values(const struct morph_object *object, size_t attr);

/**
 * morph_object_attr_uint() - a value as an unsigned number
 * @object: the object
 * @attr: position
 * @value: which value, below morph_object_attr_values()
 *
 * Return: the number of UINT and ENUM, 1 for FLAG, 0 for anything else.
 */
uint64_t morph_object_attr_uint(const struct morph_object *object, size_t attr, size_t value);

/**
 * morph_object_attr_sint() - a value as a signed number
 * @object: the object
 * @attr: position
 * @value: which value
 *
 * Return: the number of SINT, UINT and ENUM, 0 for anything else.
 */
int64_t morph_object_attr_sint(const struct morph_object *object, size_t attr, size_t value);

/**
 * morph_object_attr_text() - a value as text
 * @object: the object
 * @attr: position
 * @value: which value
 *
 * Return: the text of STRING, the usual form of UUID, the word of ENUM (NULL when
 * the library does not know the number); NULL for anything else. Lives as long as
 * the object.
 */
const char *morph_object_attr_text(const struct morph_object *object, size_t attr, size_t value);

/**
 * morph_object_attr_bytes() - a value as bytes
 * @object: the object
 * @attr: position
 * @value: which value
 *
 * Return: the 16 bytes of UUID, NULL for anything else. Lives as long as the object.
 */
const uint8_t *morph_object_attr_bytes(const struct morph_object *object, size_t attr,
				       size_t value);

/**
 * morph_object_attr_object() - a value as an object
 * @object: the object
 * @attr: position
 * @value: which value
 *
 * Return: the object inside, which belongs to the outer one; NULL for other types.
 */
const struct morph_object *morph_object_attr_object(const struct morph_object *object, size_t attr,
						    size_t value);

/**
 * morph_object_find() - position of an attribute by its name
 * @object: the object
 * @name: its name
 *
 * Return: the position, or -ENOENT when the object does not have it.
 */
ssize_t morph_object_find(const struct morph_object *object, const char *name);

/**
 * morph_object_has() - does an object have an attribute
 * @object: the object
 * @name: its name
 *
 * Return: true or false. Never fails.
 */
bool morph_object_has(const struct morph_object *object, const char *name);

/**
 * morph_object_values() - how many values an attribute has, by its name
 * @object: the object
 * @name: its name
 *
 * Return: the number, 0 when the object does not have it.
 */
size_t morph_object_values(const struct morph_object *object, const char *name);

/**
 * morph_object_uint() - an attribute as an unsigned number, by its name
 * @object: the object
 * @name: its name
 *
 * Return: as morph_object_attr_uint() of its first value; 0 when it is absent.
 */
uint64_t morph_object_uint(const struct morph_object *object, const char *name);

/**
 * morph_object_sint() - an attribute as a signed number, by its name
 * @object: the object
 * @name: its name
 *
 * Return: as morph_object_attr_sint() of its first value; 0 when it is absent.
 */
int64_t morph_object_sint(const struct morph_object *object, const char *name);

/**
 * morph_object_text() - an attribute as text, by its name
 * @object: the object
 * @name: its name
 *
 * Return: as morph_object_attr_text() of its first value; NULL when it is absent.
 */
const char *morph_object_text(const struct morph_object *object, const char *name);

/**
 * morph_object_bytes() - an attribute as bytes, by its name
 * @object: the object
 * @name: its name
 *
 * Return: as morph_object_attr_bytes() of its first value; NULL when it is absent.
 */
const uint8_t *morph_object_bytes(const struct morph_object *object, const char *name);

/**
 * morph_object_value_uint() - one of several values as a number, by its name
 * @object: the object
 * @name: its name
 * @value: which value, below morph_object_values()
 *
 * Return: as morph_object_attr_uint(); 0 when it is absent.
 */
uint64_t morph_object_value_uint(const struct morph_object *object, const char *name, size_t value);

/**
 * morph_object_value_object() - one of several objects inside, by its name
 * @object: the object
 * @name: its name
 * @value: which value, below morph_object_values()
 *
 * Return: as morph_object_attr_object(); NULL when it is absent.
 */
const struct morph_object *morph_object_value_object(const struct morph_object *object,
						     const char *name, size_t value);

/**
 * morph_schema_attr_count() - how many attributes a type of objects can have
 * @type: enum morph_object_type
 *
 * Return: the number, 0 when there is no such type.
 */
size_t morph_schema_attr_count(uint32_t type);

/**
 * morph_schema_attr_name() - name of an attribute that a type can have
 * @type: enum morph_object_type
 * @attr: position, below morph_schema_attr_count()
 *
 * Return: the name, NULL when there is no such position.
 */
const char *morph_schema_attr_name(uint32_t type, size_t attr);

/**
 * morph_schema_attr_type() - type of an attribute that a type can have
 * @type: enum morph_object_type
 * @attr: position
 *
 * Return: enum morph_attr_type, 0 when there is no such position.
 */
uint32_t morph_schema_attr_type(uint32_t type, size_t attr);

/**
 * morph_schema_attr_is_list() - may an attribute have several values
 * @type: enum morph_object_type
 * @attr: position
 *
 * Return: true when the specification says so.
 */
bool morph_schema_attr_is_list(uint32_t type, size_t attr);

/**
 * morph_schema_attr_doc() - what an attribute means
 * @type: enum morph_object_type
 * @attr: position
 *
 * Return: the specification's sentence, NULL when there is no such position.
 */
const char *morph_schema_attr_doc(uint32_t type, size_t attr);

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

/**
 * morph_list_find() - the object of a list whose attribute has a value
 * @list: the list
 * @name: name of a number among its attributes, such as "id"
 * @value: the value
 *
 * Return: the first such object, NULL when there is none.
 */
const struct morph_object *morph_list_find(const struct morph_list *list, const char *name,
					   uint64_t value);

/**
 * morph_list_seq() - the fabric's seq at which a list was true
 * @list: the list
 *
 * Return: the seq, 0 when the list spans fabrics or has none.
 */
uint64_t morph_list_seq(const struct morph_list *list);

/* -------------------------------------------------------------------- words */

/**
 * morph_enum_name() - the word for a value of an enumeration
 * @enumeration: enum morph_enum
 * @value: the value
 *
 * Return: the specification's word, such as "rolled-back"; NULL when the library
 * does not know the value. <morph/names.h> has a call for each enumeration.
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
 * morph_enum_count() - how many values an enumeration has
 * @enumeration: enum morph_enum
 *
 * Return: the number, 0 when there is no such enumeration.
 */
size_t morph_enum_count(uint32_t enumeration);

/**
 * morph_enum_word() - the words of an enumeration, one by one
 * @enumeration: enum morph_enum
 * @position: position, below morph_enum_count()
 *
 * Return: the word, NULL when there is no such position.
 */
const char *morph_enum_word(uint32_t enumeration, size_t position);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_OBJECT_H */
