/* proc_text_fuzz.c - any bytes as each of the files of /proc: no parser reads past their end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "source/proc_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_all(const char *text)
{
	struct proc_schedstat schedstat;
	struct proc_status status;
	struct proc_stat stat;
	struct proc_io io;
	struct proc_rollup rollup;
	struct proc_pressure pressure;
	struct proc_cpu cpu;
	struct proc_throttle throttle;
	struct proc_disk disk;
	enum proc_wait wait;
	uint64_t address;
	unsigned disks = 0;

	(void)proc_schedstat_parse(text, &schedstat);
	if (proc_status_parse(text, &status) && !status.cpus_allowed)
		abort();
	(void)proc_stat_parse(text, &stat);
	(void)proc_io_parse(text, &io);
	(void)proc_rollup_parse(text, &rollup);
	(void)proc_pressure_parse(text, &pressure);
	(void)proc_cpu_parse(text, &cpu);
	(void)proc_throttle_parse(text, &throttle);
	if (proc_wait_parse(text, &wait, &address) && wait >= PROC_WAITS)
		abort();
	(void)proc_list_count(text);
	while (proc_disk_next(&text, &disk))
		if (!*disk.name || ++disks > 1 << 20)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try_all(text);
	free(text);
	return 0;
}
