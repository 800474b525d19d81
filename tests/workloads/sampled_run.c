/* sampled_run.c - a run with samples at addresses of one's choice: `sampled-run PROGRAM RUN <LIST`.
 *
 * Each line of the list is one sample: EVENT PERIOD ADDR [CALLER...], in hex as in the ELF file,
 * innermost first.  Symbols, lines and inlined functions are the program's, read with libdw: a
 * second opinion beside our own tables. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/str.h"
#include "model/run.h"
#include "model/store.h"

struct maker {
	struct run *run;
	Dwfl *dwfl;
	Dwfl_Module *module;
	row_id module_row;
	struct map functions, locations, stacks;
};

static row_id function_of(struct maker *maker, const char *name, const char *file, uint32_t line,
	uint64_t addr, uint64_t size)
{
	char key[512];
	row_id id;

	snprintf(key, sizeof(key), "%s %llx", name, (unsigned long long)addr);
	if (map_get(&maker->functions, key, strlen(key), &id))
		return id;
	id = run_add_function(
		maker->run, &(struct function_row){.name = run_intern(maker->run, name),
				    .file = run_intern(maker->run, file),
				    .module = maker->module_row,
				    .line = line,
				    .addr = addr,
				    .size_bytes = size});
	map_put(&maker->functions, key, strlen(key), id);
	return id;
}

/* A path in debug information may be relative to the folder of its compilation. */
static const char *path_of(struct maker *maker, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attr;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	char whole[4096];

	if (!path || *path == '/' || !dir)
		return path ? path : "";
	snprintf(whole, sizeof(whole), "%s/%s", dir, path);
	return run_text(maker->run, run_intern(maker->run, whole));
}

/* The call that a scope was inlined at. */
static row_id call_frame(
	struct maker *maker, Dwarf_Die *unit, Dwarf_Die *scope, row_id function, row_id outer)
{
	Dwarf_Word line = 0, index = 0;
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	const char *path = NULL;
	size_t count;

	dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attr), &line);
	dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attr), &index);
	if (dwarf_getsrcfiles(unit, &files, &count) == 0 && index < count)
		path = dwarf_filesrc(files, index, NULL, NULL);
	return run_add_frame(maker->run,
		&(struct frame_row){function, outer,
			run_intern(maker->run, path_of(maker, unit, path)), (uint32_t)line});
}

/* From the function that stands there to the innermost inlined one. */
static row_id frames_of(struct maker *maker, uint64_t addr)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(maker->module, addr, &bias), *scopes = NULL;
	Dwfl_Line *source = dwfl_module_getsrc(maker->module, addr);
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(maker->module, addr, &offset, &symbol, NULL, NULL, NULL);
	int line = 0, count = unit ? dwarf_getscopes(unit, addr - bias, &scopes) : 0;
	const char *file = source ? dwfl_lineinfo(source, NULL, &line, NULL, NULL, NULL) : NULL;
	row_id frame = 0, function;

	if (!name)
		return 0;
	file = unit ? path_of(maker, unit, file) : "";
	function = function_of(maker, name, file, 0, symbol.st_value, symbol.st_size);
	for (int i = count - 1; i >= 0; i--)
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) {
			frame = call_frame(maker, unit, &scopes[i], function, frame);
			function = function_of(maker, dwarf_diename(&scopes[i]), file, 0, 0, 0);
		}
	free(scopes);
	return run_add_frame(maker->run,
		&(struct frame_row){function, frame, run_intern(maker->run, file), (uint32_t)line});
}

static row_id location_of(struct maker *maker, uint64_t addr, uint32_t flags)
{
	const uint64_t key[] = {addr, flags};
	row_id id;

	if (map_get(&maker->locations, key, sizeof(key), &id))
		return id;
	id = run_add_location(maker->run,
		&(struct location_row){maker->module_row, addr, frames_of(maker, addr), flags});
	map_put(&maker->locations, key, sizeof(key), id);
	return id;
}

static row_id event_of(struct maker *maker, const char *name)
{
	for (row_id id = 1; id <= maker->run->events.count; id++)
		if (str_equal(run_text(maker->run, maker->run->events.at[id - 1].name), name))
			return id;
	return run_add_event(
		maker->run, &(struct event_row){.name = run_intern(maker->run, name), .scale = 1});
}

enum { DEPTH = 64 };

static void sample_add(struct maker *maker, char *line)
{
	char *save = NULL, *event = strtok_r(line, " \n", &save);
	char *period = strtok_r(NULL, " \n", &save), *word;
	uint64_t addrs[DEPTH];
	unsigned count = 0;
	row_id stack = 0;

	while (count < DEPTH && (word = strtok_r(NULL, " \n", &save)))
		addrs[count++] = strtoull(word, NULL, 16);
	while (count--) {
		row_id location = location_of(maker, addrs[count], count ? LOCATION_CALLER : 0);
		const row_id key[] = {stack, location};

		if (!map_get(&maker->stacks, key, sizeof(key), &stack)) {
			stack = run_add_stack(maker->run, &(struct stack_row){key[0], location});
			map_put(&maker->stacks, key, sizeof(key), stack);
		}
	}
	if (period)
		run_add_sample(
			maker->run, &(struct sample_row){.time_ns = maker->run->samples.count,
					    .period = strtoull(period, NULL, 10),
					    .event = event_of(maker, event),
					    .thread = 1,
					    .stack = stack});
}

static int module_open(struct maker *maker, char *path)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	const unsigned char *id;
	str_auto struct str hex = {0};
	GElf_Addr at;
	int len;

	maker->dwfl = dwfl_begin(&callbacks);
	maker->module = dwfl_report_elf(maker->dwfl, path, path, -1, 0, true);
	dwfl_report_end(maker->dwfl, NULL, NULL);
	if (!maker->module)
		return -1;
	len = dwfl_module_build_id(maker->module, &id, &at);
	for (int i = 0; i < len; i++)
		str_addf(&hex, "%02x", id[i]);
	maker->module_row =
		run_add_module(maker->run, &(struct module_row){run_intern(maker->run, path),
						   run_intern(maker->run, str_text(&hex)), 0});
	run_add_thread(maker->run, &(struct thread_row){1, 1, run_intern(maker->run, "main")});
	return 0;
}

int main(int argc, char **argv)
{
	run_auto struct run *run = run_open();
	store_auto struct store *store = NULL;
	struct maker maker = {.run = run};
	struct err err = {0};
	char line[4096];

	if (argc != 3 || module_open(&maker, argv[1]) < 0)
		return 2;
	run->command = run_intern(run, "record");
	run->target = run_intern(run, argv[1]);
	run->started_ns = (uint64_t)time(NULL) * 1000000000;
	while (fgets(line, sizeof(line), stdin))
		sample_add(&maker, line);
	if (store_create(argv[2], &store, &err) < 0 || store_finish(store, run, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	dwfl_end(maker.dwfl);
	map_done(&maker.functions);
	map_done(&maker.locations);
	map_done(&maker.stacks);
	return 0;
}
