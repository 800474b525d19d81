/* json_member.h - members of a JSON object that was read from a file: private to model.
 *
 * What is missing or of another kind is "", NAN or 0: the caller says what it cannot do without. */
#pragma once

#include <stdint.h>

#include <jansson.h>

#include "base/arena.h"

/* Copied into `arena`. */
const char *json_member_text(const json_t *object, const char *key, struct arena *arena);
double json_member_number(const json_t *object, const char *key);
uint64_t json_member_count(const json_t *object, const char *key);
