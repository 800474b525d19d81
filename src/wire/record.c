/* record.c - what a well-formed record is, as one table: the fixed size of each type, where its
 * texts are and which of its words is an enumeration.  A record may come from a process that writes
 * into shared memory on purpose to break us, so nothing is believed. */
#include "wire/record.h"

#include <string.h>

enum { TEXTS = 4 };

struct shape {
	uint16_t fixed;
	uint16_t text[TEXTS]; /* offsets of the struct wire_text members, 0: none */
	uint16_t word;	      /* offset of an enumeration, 0: none */
	uint16_t words;	      /* its values are below this */
};

static const struct shape shapes[WIRE_TYPES] = {
	[WIRE_NOTE] = {sizeof(struct wire_note),
		{offsetof(struct wire_note, code), offsetof(struct wire_note, text),
			offsetof(struct wire_note, hint)},
		0, 0},
	[WIRE_FIELD] = {sizeof(struct wire_field),
		{offsetof(struct wire_field, group), offsetof(struct wire_field, name),
			offsetof(struct wire_field, value)},
		offsetof(struct wire_field, state), WIRE_FIELD_STATES},
	[WIRE_CAPABILITY] = {sizeof(struct wire_capability),
		{offsetof(struct wire_capability, name), offsetof(struct wire_capability, reason),
			offsetof(struct wire_capability, fix)},
		offsetof(struct wire_capability, status), WIRE_STATUSES},
	[WIRE_EVENT] = {sizeof(struct wire_event),
		{offsetof(struct wire_event, name), offsetof(struct wire_event, unit),
			offsetof(struct wire_event, core), offsetof(struct wire_event, reason)},
		offsetof(struct wire_event, status), WIRE_EVENT_STATUSES},
	[WIRE_MAP] = {sizeof(struct wire_map),
		{offsetof(struct wire_map, path), offsetof(struct wire_map, build_id)}, 0, 0},
	[WIRE_TASK] = {sizeof(struct wire_task), {offsetof(struct wire_task, name)},
		offsetof(struct wire_task, kind), WIRE_TASK_KINDS},
	[WIRE_LOST] = {sizeof(struct wire_lost), {0}, offsetof(struct wire_lost, kind),
		WIRE_LOST_KINDS},
	[WIRE_ROUND] = {sizeof(struct wire_round), {0}, 0, 0},
	[WIRE_QUALITY] = {sizeof(struct wire_quality), {offsetof(struct wire_quality, name)}, 0, 0},
	[WIRE_COMMAND] = {sizeof(struct wire_command), {offsetof(struct wire_command, argv)}, 0, 0},
	[WIRE_EXECUTION] = {sizeof(struct wire_execution), {0}, 0, 0},
	[WIRE_COUNT] = {sizeof(struct wire_count), {0}, 0, 0},
	[WIRE_TARGET] = {sizeof(struct wire_target),
		{offsetof(struct wire_target, name), offsetof(struct wire_target, file),
			offsetof(struct wire_target, function)},
		offsetof(struct wire_target, kind), WIRE_TARGET_KINDS},
	[WIRE_PROGRESS] = {sizeof(struct wire_progress), {offsetof(struct wire_progress, name)},
		offsetof(struct wire_progress, kind), WIRE_PROGRESS_KINDS},
	[WIRE_EXPERIMENT] = {sizeof(struct wire_experiment), {0}, 0, 0},
	[WIRE_VISIT] = {sizeof(struct wire_visit), {0}, 0, 0},
	[WIRE_PLACE] = {sizeof(struct wire_place),
		{offsetof(struct wire_place, function), offsetof(struct wire_place, file)}, 0, 0},
	[WIRE_FACT] = {sizeof(struct wire_fact),
		{offsetof(struct wire_fact, name), offsetof(struct wire_fact, unit),
			offsetof(struct wire_fact, witness), offsetof(struct wire_fact, reason)},
		0, 0},
	[WIRE_SPAN] = {sizeof(struct wire_span),
		{offsetof(struct wire_span, name), offsetof(struct wire_span, category),
			offsetof(struct wire_span, evidence)},
		0, 0},
	[WIRE_CLAIM] = {sizeof(struct wire_claim),
		{offsetof(struct wire_claim, name), offsetof(struct wire_claim, verdict),
			offsetof(struct wire_claim, evidence)},
		0, 0},
};

static bool wire_text_fits(const struct wire_record *record, uint16_t where, uint16_t fixed)
{
	struct wire_text text;

	memcpy(&text, (const char *)record + where, sizeof(text));
	if (!text.offset)
		return text.len == 0;
	return text.offset >= fixed && text.offset < record->size &&
	       text.len < record->size - text.offset &&
	       ((const char *)record)[text.offset + text.len] == '\0';
}

bool wire_check(const struct wire_record *record, size_t available)
{
	const struct shape *shape;
	uint32_t word;

	if (available < sizeof(*record) || record->size > available ||
		record->size > WIRE_LARGEST || record->size % 8)
		return false;
	if (record->type < WIRE_NOTE || record->type >= WIRE_TYPES)
		return false;
	shape = &shapes[record->type];
	if (record->size < shape->fixed)
		return false;
	for (unsigned i = 0; i < TEXTS && shape->text[i]; i++)
		if (!wire_text_fits(record, shape->text[i], shape->fixed))
			return false;
	if (!shape->word)
		return true;
	memcpy(&word, (const char *)record + shape->word, sizeof(word));
	return word < shape->words;
}

const char *wire_text(const struct wire_record *record, struct wire_text text)
{
	return text.offset ? (const char *)record + text.offset : "";
}
