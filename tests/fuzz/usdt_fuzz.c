/* usdt_fuzz.c - any bytes as the section .note.stapsdt: every text of every probe ends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "code/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	usdt_probe_vec probes = {0};

	usdt_parse((struct image_bytes){data, size, 0}, size, &probes);
	vec_foreach (const struct usdt_probe, probe, &probes)
		if (strlen(probe->provider) + strlen(probe->name) + 26 > size)
			abort();
	vec_done(&probes);
	return 0;
}
