/* emit.h - the short way from a fact to a wire record, for everything in this room. */
#pragma once

#include "wire/record.h"

int emit_note(const struct wire_sink *sink, const char *code, const char *text, const char *hint);

int emit_field(const struct wire_sink *sink, const char *group, const char *name,
	enum wire_field_state state, const char *value);

int emit_capability(const struct wire_sink *sink, const char *name, enum wire_status status,
	const char *reason, const char *fix);

int emit_quality(const struct wire_sink *sink, const char *name, uint64_t value);

/* Code that experiments are made on; texts may be NULL, line 0: not one line. */
struct emit_target {
	uint32_t target; /* as its experiments name it */
	enum wire_target_kind kind;
	const char *name, *file, *function;
	uint32_t line;
};
int emit_target(const struct wire_sink *sink, const struct emit_target *target);

/* One number about the whole target; `reason` not NULL: it is not known. */
struct emit_fact {
	const char *name, *unit, *witness, *reason;
	uint32_t execution; /* 0: not of one execution */
	double value;
};
int emit_fact(const struct wire_sink *sink, const struct emit_fact *fact);

/* An event counted at one line by a simulator; texts may be NULL, line 0: not known. */
struct emit_place {
	uint32_t event; /* its id */
	uint32_t line;
	uint64_t value;
	const char *function, *file;
};
int emit_place(const struct wire_sink *sink, const struct emit_place *place);
