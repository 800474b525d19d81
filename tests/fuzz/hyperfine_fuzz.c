/* hyperfine_fuzz.c - any bytes as hyperfine's JSON: see import_runs_fuzz.h. */
#include "import_runs_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return import_runs_fuzz(data, size);
}
