/* json_member.c - see json_member.h. */
#include "json_member.h"

#include <math.h>
#include <string.h>

const char *json_member_text(const json_t *object, const char *key, struct arena *arena)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? arena_copy(arena, text) : "";
}

double json_member_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

uint64_t json_member_count(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}
