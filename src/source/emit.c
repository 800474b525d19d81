/* emit.c - records are built on the stack; 8 KiB holds any text we write ourselves, and a longer
 * one is cut by the builder. */
#include "source/emit.h"

#include "wire/build.h"

enum { EMIT_SIZE = 8192 };

int emit_note(const struct wire_sink *sink, const char *code, const char *text, const char *hint)
{
	union {
		struct wire_note note;
		unsigned char bytes[EMIT_SIZE];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_NOTE, sizeof(space.note));

	wire_add_text(&b, &space.note.code, code);
	wire_add_text(&b, &space.note.text, text);
	wire_add_text(&b, &space.note.hint, hint);
	return sink->take(sink->context, wire_end(&b));
}

int emit_field(const struct wire_sink *sink, const char *group, const char *name,
	enum wire_field_state state, const char *value)
{
	union {
		struct wire_field field;
		unsigned char bytes[EMIT_SIZE];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_FIELD, sizeof(space.field));

	space.field.state = state;
	wire_add_text(&b, &space.field.group, group);
	wire_add_text(&b, &space.field.name, name);
	if (state == WIRE_FIELD_VALUE)
		wire_add_text(&b, &space.field.value, value);
	return sink->take(sink->context, wire_end(&b));
}

int emit_capability(const struct wire_sink *sink, const char *name, enum wire_status status,
	const char *reason, const char *fix)
{
	union {
		struct wire_capability capability;
		unsigned char bytes[EMIT_SIZE];
	} space;
	struct wire_builder b =
		wire_begin(&space, sizeof(space), WIRE_CAPABILITY, sizeof(space.capability));

	space.capability.status = status;
	wire_add_text(&b, &space.capability.name, name);
	wire_add_text(&b, &space.capability.reason, reason);
	wire_add_text(&b, &space.capability.fix, fix);
	return sink->take(sink->context, wire_end(&b));
}

int emit_quality(const struct wire_sink *sink, const char *name, uint64_t value)
{
	union {
		struct wire_quality quality;
		unsigned char bytes[256];
	} space;
	struct wire_builder b =
		wire_begin(&space, sizeof(space), WIRE_QUALITY, sizeof(space.quality));

	space.quality.value = value;
	wire_add_text(&b, &space.quality.name, name);
	return sink->take(sink->context, wire_end(&b));
}

int emit_target(const struct wire_sink *sink, const struct emit_target *target)
{
	union {
		struct wire_target target;
		unsigned char bytes[EMIT_SIZE];
	} space;
	struct wire_builder b =
		wire_begin(&space, sizeof(space), WIRE_TARGET, sizeof(space.target));

	space.target.target = target->target;
	space.target.kind = target->kind;
	space.target.line = target->line;
	wire_add_text(&b, &space.target.name, target->name);
	wire_add_text(&b, &space.target.file, target->file);
	wire_add_text(&b, &space.target.function, target->function);
	return sink->take(sink->context, wire_end(&b));
}

int emit_fact(const struct wire_sink *sink, const struct emit_fact *fact)
{
	union {
		struct wire_fact fact;
		unsigned char bytes[EMIT_SIZE];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_FACT, sizeof(space.fact));

	space.fact.execution = fact->execution;
	space.fact.value = fact->value;
	wire_add_text(&b, &space.fact.name, fact->name);
	wire_add_text(&b, &space.fact.unit, fact->unit);
	wire_add_text(&b, &space.fact.witness, fact->witness);
	wire_add_text(&b, &space.fact.reason, fact->reason);
	return sink->take(sink->context, wire_end(&b));
}

int emit_place(const struct wire_sink *sink, const struct emit_place *place)
{
	union {
		struct wire_place place;
		unsigned char bytes[EMIT_SIZE];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_PLACE, sizeof(space.place));

	space.place.event = place->event;
	space.place.line = place->line;
	space.place.value = place->value;
	wire_add_text(&b, &space.place.function, place->function);
	wire_add_text(&b, &space.place.file, place->file);
	return sink->take(sink->context, wire_end(&b));
}
