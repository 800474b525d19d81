/* emit.h - the short way from a fact to a wire record, for everything in this room. */
#pragma once

#include "wire/record.h"

int emit_note(const struct wire_sink *sink, const char *code, const char *text, const char *hint);

int emit_field(const struct wire_sink *sink, const char *group, const char *name,
	enum wire_field_state state, const char *value);

int emit_capability(const struct wire_sink *sink, const char *name, enum wire_status status,
	const char *reason, const char *fix);

int emit_quality(const struct wire_sink *sink, const char *name, uint64_t value);
