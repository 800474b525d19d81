/* event_fuzz.c - any text as a list of events is understood or refused with a sentence. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "source/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	mem_auto char *text = mem_copy_text((const char *)data, size);
	event_list_auto struct event_list list = {0};
	struct err err = {0};

	if (event_list_parse(&list, text, &err) < 0 && (!err.text[0] || !err.hint[0]))
		abort();
	return 0;
}
