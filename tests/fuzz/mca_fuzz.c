/* mca_fuzz.c - any bytes as the answer of llvm-mca: a result has a round that takes time. */
#include <stdint.h>
#include <stdlib.h>

#include "drive/mca.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mca_result result;

	if (mca_parse((const char *)data, size, &result) == 0 && !(result.cycles > 0))
		abort();
	return 0;
}
