/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/object.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_OBJECT_H
#define LM_INTERNAL_OBJECT_H

#include <morph/morph.h>

/**
 * morph_object_copy() - keep an object that belongs to a list, buffer or object
 * @object: the object
 * @out: the copy, freed by morph_object_free()
 *
 * Return: 0 or -ENOMEM.
 */
int morph_object_copy(const struct morph_object *object, struct morph_object **out);

/**
 * morph_object_type_name() - the name of a type of objects
 * @type: enum morph_object_type
 *
 * Return: the name in the specification, such as "accelerator"; NULL if there is
 * no such type.
 */
const char *morph_object_type_name(uint32_t type);

/**
 * morph_object_has() - does an object have an attribute
 * @object: the object
 * @name: name of the attribute
 *
 * Return: true or false. Never fails.
 */
bool morph_object_has(const struct morph_object *object, const char *name);

/**
 * morph_object_sint() - the first value of an attribute as a signed number
 * @object: the object
 * @name: name of the attribute
 *
 * Return: as morph_object_sint_at() with index 0.
 */
int64_t morph_object_sint(const struct morph_object *object, const char *name);

/**
 * morph_object_uint_at() - a value of an attribute as an unsigned number
 * @object: the object
 * @name: name of the attribute
 * @index: which value, below morph_object_values()
 *
 * Return: the number of UINT and ENUM, 1 for FLAG; 0 for other types and when the
 * value is absent.
 */
uint64_t morph_object_uint_at(const struct morph_object *object, const char *name, size_t index);

/**
 * morph_object_sint_at() - a value of an attribute as a signed number
 * @object: the object
 * @name: name of the attribute
 * @index: which value, below morph_object_values()
 *
 * Return: the number of SINT, UINT and ENUM; 0 for other types and when the value
 * is absent.
 */
int64_t morph_object_sint_at(const struct morph_object *object, const char *name, size_t index);

/**
 * morph_object_text_at() - a value of an attribute as text
 * @object: the object
 * @name: name of the attribute
 * @index: which value, below morph_object_values()
 *
 * Return: the text of STRING, the usual form of UUID, the word of ENUM (NULL when
 * the library does not know the number); NULL for other types and when the value is
 * absent. Lives as long as the object.
 */
const char *morph_object_text_at(const struct morph_object *object, const char *name, size_t index);

/**
 * morph_object_bytes() - the first value of an attribute as bytes
 * @object: the object
 * @name: name of the attribute
 *
 * Return: as morph_object_bytes_at() with index 0.
 */
const uint8_t *morph_object_bytes(const struct morph_object *object, const char *name);

/**
 * morph_object_bytes_at() - a value of an attribute as bytes
 * @object: the object
 * @name: name of the attribute
 * @index: which value, below morph_object_values()
 *
 * Return: the 16 bytes of UUID; NULL for other types and when the value is absent.
 * Lives as long as the object.
 */
const uint8_t *morph_object_bytes_at(const struct morph_object *object, const char *name,
				     size_t index);

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

#endif /* LM_INTERNAL_OBJECT_H */
