/* task_line_fuzz.c - any text as /proc/PID/stat and as a list of processors: names come out
 * printable, and a list that is taken reads the same after it was written. */
#include <stdlib.h>
#include <string.h>

#include "drive/cpu_list.h"
#include "drive/tune_noise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const char *text)
{
	str_auto struct str written = {0};
	cpu_set_t cpus, again;

	if (cpu_list_parse(text, &cpus) < 0)
		return;
	cpu_list_print(&cpus, &written);
	if (cpu_list_parse(str_text(&written), &again) < 0 || !CPU_EQUAL(&cpus, &again))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str_auto struct str text = {0};
	struct task_line line;

	str_add_bytes(&text, (const char *)data, size);
	check_list(str_text(&text));
	if (!task_line_parse(str_text(&text), &line))
		return 0;
	for (const char *c = line.name; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			abort();
	return 0;
}
