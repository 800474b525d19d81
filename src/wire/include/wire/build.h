/* build.h - putting a record together in the caller's memory.
 *
 *     union { struct wire_note note; unsigned char bytes[1024]; } space;
 *     struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_NOTE, sizeof(space.note));
 *     wire_add_text(&b, &space.note.code, "late");
 *     const struct wire_record *record = wire_end(&b);
 *
 * A text that does not fit is cut at the end of the space, never refused. */
#pragma once

#include "wire/record.h"

struct wire_builder {
	struct wire_record *record;
	uint32_t capacity;
	uint32_t used;
};

/* Zero the fixed part and start.  `capacity` is at most WIRE_LARGEST, `space` aligned for 8. */
struct wire_builder wire_begin(void *space, uint32_t capacity, enum wire_type type, uint32_t fixed);

/* Put `text` (NULL or "": nothing) behind the record and point `field`, a member of it, at it. */
void wire_add_text(struct wire_builder *b, struct wire_text *field, const char *text);

/* Close the record. */
const struct wire_record *wire_end(struct wire_builder *b);
