/* pprof_fuzz.c - any bytes as a pprof profile: see import_fuzz.h. */
#include "import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return import_fuzz(data, size);
}
