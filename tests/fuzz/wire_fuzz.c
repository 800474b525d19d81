/* wire_fuzz.c - any bytes as records: what wire_check() accepts must be safe to ingest. */
#include <stdint.h>
#include <string.h>

#include "ingest/ingest.h"
#include "model/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_Alignas(8) unsigned char space[4096];
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	const struct wire_record *record = (const struct wire_record *)space;

	while (size >= sizeof(*record)) {
		size_t take = size < sizeof(space) ? size : sizeof(space);

		memcpy(space, data, take);
		if (!wire_check(record, take))
			break;
		sink.take(sink.context, record);
		data += record->size;
		size -= record->size;
	}
	ingest_end(&ingest);
	ingest_done(&ingest);
	return 0;
}
