/* binary_fuzz.c - any bytes as a program: facts or a refusal, and what is shown of the facts. */
#include <stdint.h>

#include "analyze/target.h"
#include "code/binary.h"
#include "ingest/build.h"
#include "model/run.h"
#include "render/machine_json.h"
#include "render/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena_auto struct arena arena = {0};
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text};
	struct paper paper = {.out = &text};
	struct binary_facts facts = {0};
	struct target_view view;
	struct err err = {0};

	if (binary_inspect_bytes(data, size, "fuzz", &arena, &facts, &err) == 0) {
		run_auto struct run *run = run_open();

		target_view_make(&facts, &arena, &view);
		target_json(&w, &view);
		target_text(&paper, &view);
		target_agent(&paper, &view);
		ingest_build_fields(run, &facts);
	}
	return 0;
}
