/* build.c - see build.h. */
#include "wire/build.h"

#include <string.h>

struct wire_builder wire_begin(void *space, uint32_t capacity, enum wire_type type, uint32_t fixed)
{
	struct wire_builder b = {.record = space, .capacity = capacity & ~7u, .used = fixed};

	memset(space, 0, fixed);
	b.record->type = type;
	return b;
}

void wire_add_text(struct wire_builder *b, struct wire_text *field, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (!len || b->used + 1 >= b->capacity)
		return;
	if (len > b->capacity - b->used - 1)
		len = b->capacity - b->used - 1;
	field->offset = b->used;
	field->len = (uint32_t)len;
	memcpy((char *)b->record + b->used, text, len);
	((char *)b->record)[b->used + len] = '\0';
	b->used += (uint32_t)len + 1;
}

const struct wire_record *wire_end(struct wire_builder *b)
{
	uint32_t size = (b->used + 7) & ~7u;

	memset((char *)b->record + b->used, 0, size - b->used);
	b->record->size = size;
	return b->record;
}
