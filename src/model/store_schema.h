/* store_schema.h - what the run file looks like: private to the store.
 *
 * One description of each table serves the CREATE statement, the writer and the checks of the
 * reader, so the three cannot disagree. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/run.h"

/* In the order in which they are written and read: a row refers only to tables above its own. */
enum store_table_id {
	STORE_NOTE,
	STORE_FIELD,
	STORE_CAPABILITY,
	STORE_EVENT,
	STORE_COMMAND,
	STORE_EXECUTION,
	STORE_COUNT,
	STORE_QUALITY,
	STORE_CAUSAL_TARGET,
	STORE_PROGRESS_POINT,
	STORE_EXPERIMENT,
	STORE_VISIT,
	STORE_THREAD,
	STORE_MODULE,
	STORE_FUNCTION,
	STORE_FRAME,
	STORE_LOCATION,
	STORE_STACK,
	STORE_SAMPLE,
	STORE_BRANCH,
	STORE_ACCESS,
	STORE_PLACE,
	STORE_FACT,
	STORE_SPAN,
	STORE_CLAIM,
	STORE_TABLES,
};

enum store_kind {
	STORE_U32,
	STORE_I32,
	STORE_U64,  /* kept as SQLite's signed 64 bits: from 2^63 on it looks negative */
	STORE_REAL, /* NaN is NULL */
	STORE_BOOL,
	STORE_ENUM, /* 0 .. limit - 1 */
	STORE_TEXT, /* id in the table text; none (0) is NULL */
	STORE_ROW,  /* id in the table `limit`; none (0) is NULL */
	STORE_LATE, /* the same, but the row may come later: in a partial run it may be missing */
	STORE_OLDER /* id of an earlier row of the same table; none (0) is NULL */
};

struct store_column {
	const char *name; /* as in SQL */
	uint16_t offset;  /* in the row */
	uint8_t kind;	  /* enum store_kind */
	uint8_t limit;
	uint8_t since; /* the first schema number that has it, 0: all.  Such columns come last. */
};

struct store_table {
	const char *name;
	size_t rows;	 /* offset of its vector in struct run */
	size_t row_size; /* of a row as the columns tell it */
	const struct store_column *columns;
	unsigned column_count;
	int since;   /* the first schema number that has it */
	int until;   /* the last one, 0: it is still there */
	bool packed; /* kept in another form than the columns tell: store_get_row, store_put_row */
};

extern const struct store_table store_tables[STORE_TABLES];

/* The tables whose rows are not those of the run, and the views: whole statements. */
extern const char store_create_text[];
extern const char store_create_meta[];
extern const char store_create_segment[];
extern const char store_create_views[];

/* What every vec_of() looks like, whatever its rows. */
struct store_rows {
	unsigned char *at;
	uint32_t count;
	uint32_t capacity;
};

struct store_rows store_rows_of(const struct run *run, const struct store_table *table);

/* The row `id` as its columns tell it: where it lies, or unpacked into `scratch`. */
const void *store_get_row(const struct run *run, const struct store_table *table, row_id id,
	struct execution_row *scratch);

/* Append a row of a packed table.  NULL, or the column whose value no run can hold.  Values that
 * are kept as the largest possible are added to `*saturated`. */
const char *store_put_packed(struct run *run, const struct execution_row *row, uint64_t *saturated);

/* The exact CREATE TABLE statement of a schema number, as it stands in sqlite_schema too. */
void store_create_sql(const struct store_table *table, int schema, struct str *sql);

/* A row of the table segment (since schema 4, in place of the table stack): a stack and those with
 * the next ids, each called by the one before. */
enum { STORE_SEGMENTS_SINCE = 4, STORE_SEGMENT_STACKS = 64, STORE_SEGMENT_WIDTH = 10 };

struct store_segment {
	row_id parent;	/* of its first stack */
	uint32_t count; /* of stacks */
	uint32_t width; /* of a location, in digits */
	char locations[STORE_SEGMENT_STACKS * STORE_SEGMENT_WIDTH];
};

void store_segment_pack(const struct run *run, row_id first, struct store_segment *ret_segment);

/* Append its stacks to the run.  NULL, or the column whose value cannot be. */
const char *store_segment_unpack(
	struct run *run, int64_t parent, int64_t width, const char *digits, size_t len);
