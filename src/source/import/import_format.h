/* import_format.h - what a format brings to import.c: how to know it, how to read it.
 *
 * A new format is one file with its functions and one row in the table of import.c. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "source/import.h"

struct import_text {
	const char *at;
	size_t len;
};

enum { IMPORT_BYTES_STEP = 32 }; /* bytes that are looked at in a step */

/* May a text of JSON be parsed?  What its values will take is charged. */
bool import_json_fits(struct quota *quota, struct import_text text);

/* The next line of `rest` without its line end into `line`; false at the end and when the quota is
 * spent.  `*ret_whole` is
 * false for a last line that no line end follows. */
bool import_line_next(
	struct quota *quota, struct import_text *rest, struct import_text *line, bool *ret_whole);

/* True for a line that holds nothing: empty, or a comment. */
bool import_line_is_empty(struct import_text line);

struct import_format {
	const char *kind;
	enum import_holds holds;
	bool (*detect)(struct import_text text, struct quota *quota);
	/* Emit everything usable, count the rest, tell a damage; stop when report->quota is spent.
	 * 0, or what the sink returned. */
	int (*read)(struct import_text text, const struct wire_sink *sink,
		struct import_report *report);
};

extern const struct import_format import_callgrind;
extern const struct import_format import_coz;
extern const struct import_format import_coz_json;
extern const struct import_format import_events;
extern const struct import_format import_folded;
extern const struct import_format import_gbench;
extern const struct import_format import_hyperfine;
extern const struct import_format import_perf_data;
extern const struct import_format import_perf_script;
extern const struct import_format import_perf_stat_csv;
extern const struct import_format import_perf_stat_json;
extern const struct import_format import_pprof;

/* From here on nothing can be read; the first damage is the one that is told. */
void import_damage(struct import_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "cpu_core/cycles/u" is cycles:u on cpu_core; terms ("cpu_core/event=0x3c/") stay as they are. */
void import_core_split(struct arena *arena, const char **name, const char **core);
