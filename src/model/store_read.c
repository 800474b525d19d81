/* store_read.c - a run file is someone else's bytes until each of them was checked.
 *
 * The header is read before SQLite is let near the file.  Then SQLite opens it for reading only,
 * with everything off that could run: views, triggers, functions in the schema, extensions.  A
 * table must have been made by exactly our CREATE statement, so it is a real table with real
 * columns; its rows must be numbered 1, 2, 3...; every id must point at a row and every
 * enumeration must be in range.  Rows cannot outnumber the cells in the file and texts cannot be
 * longer together than the file, so memory is bounded by the file's size.
 *
 * Nothing is written: a file whose writer was killed inside a transaction has a journal beside it,
 * which is rolled back in memory (store_vfs.h).  A journal may name a second file that SQLite would
 * delete; we never write such a name, so a journal with one is refused. */
#include "model/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/str.h"
#include "execution.h"
#include "store_header.h"
#include "store_schema.h"
#include "store_vfs.h"

enum {
	BUSY_WAIT_MS = 5000,	/* a writer in the middle of its commit */
	STEPS_AT_ONCE = 100000, /* of SQLite's machine between two looks at the budget */
};

struct reader {
	const char *name;
	sqlite3 *db;
	struct run *run;
	struct store_vfs vfs;
	char *real, *folder;  /* the file, links followed, and its directory */
	int schema;	      /* the file's number */
	uint64_t bytes;	      /* of the database */
	uint64_t looks_left;  /* the progress handler's budget */
	uint64_t texts_bytes; /* so far */
	uint64_t saturated;   /* values of executions that did not fit */
	struct interrupt (*interrupted)(void);
	struct err *err;
};

static void reader_done(struct reader *reader)
{
	store_vfs_close(&reader->vfs, reader->db);
	io_close_pointer(&reader->vfs.fd);
	io_close_pointer(&reader->vfs.folder);
	free(reader->real);
	free(reader->folder);
	run_close(reader->run);
}
#define reader_auto __attribute__((cleanup(reader_done)))

static void finalize_pointer(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}
#define statement_auto __attribute__((cleanup(finalize_pointer)))

/* ---- sentences ---- */

static int corrupt(struct reader *reader, const char *what)
{
	err_set(reader->err, ERR_USAGE, EINVAL, "%s is corrupt: %s", reader->name, what);
	err_hint(reader->err, "measure again; `sqlite3 %s .recover` may save some of its rows",
		reader->name);
	return -EINVAL;
}

static int corrupt_row(struct reader *reader, const char *table, int64_t id, const char *column)
{
	str_auto struct str what = {0};

	str_addf(&what, "%s of row %lld in table %s is invalid", column, (long long)id, table);
	return corrupt(reader, what.at);
}

static int unreadable(struct reader *reader, int code)
{
	err_set(reader->err, ERR_USAGE, code, "cannot read %s: %s", reader->name, err_words(code));
	if (code == EISDIR)
		return err_hint(reader->err, "name a run file in it: ls %s/*.assay", reader->name);
	return err_hint(reader->err, code == ENOENT ? "check the path" : "check its permissions");
}

/* SQLite's answer as a sentence. */
static int refuse(struct reader *reader, int rc)
{
	int system = reader->db ? sqlite3_system_errno(reader->db) : 0;

	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		err_set(reader->err, ERR_USAGE, EBUSY, "%s is locked by another program",
			reader->name);
		err_hint(reader->err, "try again when that program is done");
		return -EBUSY;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
	case SQLITE_PERM:
		return unreadable(reader, system ? system : EIO);
	case SQLITE_INTERRUPT:
		return corrupt(reader, "reading it does not end");
	default:
		return corrupt(reader, "its pages are inconsistent");
	}
}

/* ---- opening ---- */

static int look(void *context)
{
	struct reader *reader = context;

	return interrupt_now(reader->interrupted).count || reader->looks_left-- == 0;
}

/* Leave nothing on that a run file does not need. */
static void disarm(struct reader *reader)
{
	static const struct {
		int option, value;
	} settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1}, {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
		{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
		{SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0}};
	static const struct {
		int limit, value;
	} limits[] = {{SQLITE_LIMIT_ATTACHED, 0}, {SQLITE_LIMIT_EXPR_DEPTH, 200},
		{SQLITE_LIMIT_COMPOUND_SELECT, 50}, {SQLITE_LIMIT_VDBE_OP, 100000},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1}, {SQLITE_LIMIT_WORKER_THREADS, 0}};
	uint64_t longest = reader->bytes > 1 << 20 ? reader->bytes : 1 << 20;

	for (unsigned i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		sqlite3_db_config(reader->db, settings[i].option, settings[i].value, (int *)NULL);
	for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		sqlite3_limit(reader->db, limits[i].limit, limits[i].value);
	sqlite3_limit(reader->db, SQLITE_LIMIT_LENGTH, longest < INT_MAX ? (int)longest : INT_MAX);
	/* A row takes at least two bytes of the file and at most some thirty steps. */
	reader->looks_left = 100 + reader->bytes * 16 / STEPS_AT_ONCE;
	sqlite3_progress_handler(reader->db, STEPS_AT_ONCE, look, reader);
	sqlite3_busy_timeout(reader->db, BUSY_WAIT_MS);
}

/* 1 when a journal with something in it stands beside the file, 0 when not. */
static int find_journal(struct reader *reader)
{
	io_auto int fd = store_journal_open(reader->vfs.folder, reader->vfs.name);

	if (fd == -EINVAL)
		return corrupt(reader, "the journal beside it is not from assay");
	if (fd < 0 && fd != -ENOENT)
		return unreadable(reader, -fd);
	return fd >= 0;
}

static int check_file(struct reader *reader)
{
	unsigned char header[STORE_HEADER_BYTES] = {0};
	int journal = find_journal(reader);

	if (journal < 0)
		return journal;
	if (pread(reader->vfs.fd, header, sizeof(header), 0) < 0)
		return unreadable(reader, errno);
	return store_header_check(header, reader->bytes, journal, reader->name, reader->err);
}

/* The file and its directory, once and for all: what happens to the names later is no matter. */
static int open_place(struct reader *reader, const char *path)
{
	struct stat there;

	reader->real = realpath(path, NULL);
	if (!reader->real)
		return unreadable(reader, errno);
	reader->vfs.name = strrchr(reader->real, '/') + 1;
	reader->folder = mem_copy_text(reader->real, (size_t)(reader->vfs.name - reader->real));
	reader->vfs.folder = open(reader->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (reader->vfs.folder < 0)
		return unreadable(reader, errno);
	reader->vfs.fd = io_open_regular(reader->vfs.folder, reader->vfs.name, O_NOFOLLOW, &there);
	if (reader->vfs.fd == IO_NOT_REGULAR) {
		err_set(reader->err, ERR_USAGE, EINVAL, "%s is not a regular file", path);
		err_hint(reader->err, "assay reads run files in place: store it in a file first");
		return -EINVAL;
	}
	if (reader->vfs.fd < 0)
		return unreadable(reader, -reader->vfs.fd);
	reader->bytes = (uint64_t)there.st_size;
	return 0;
}

static int open_file(struct reader *reader, const char *path)
{
	int rc, r = open_place(reader, path);

	if (r == 0)
		r = check_file(reader);
	if (r < 0)
		return r;
	rc = store_vfs_open(&reader->vfs, &reader->db);
	return rc == SQLITE_OK ? 0 : refuse(reader, rc);
}

/* ---- reading ---- */

static int prepare(struct reader *reader, const char *sql, sqlite3_stmt **ret)
{
	int rc = sqlite3_prepare_v2(reader->db, sql, -1, ret, NULL);

	return rc == SQLITE_OK ? 0 : refuse(reader, rc);
}

/* The first answer of every connection: it rolls a journal back and reads the schema. */
static int settle(struct reader *reader)
{
	statement_auto sqlite3_stmt *pages = NULL;
	int rc, r;

	rc = sqlite3_exec(reader->db,
		"PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; BEGIN;",
		NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return refuse(reader, rc);
	r = prepare(reader,
		"SELECT page_count * page_size, user_version FROM pragma_page_count(), "
		"pragma_page_size(), pragma_user_version()",
		&pages);
	if (r < 0)
		return r;
	rc = sqlite3_step(pages);
	if (rc != SQLITE_ROW)
		return refuse(reader, rc);
	reader->bytes = (uint64_t)sqlite3_column_int64(pages, 0);
	reader->schema = sqlite3_column_int(pages, 1);
	if (reader->bytes == 0) /* killed while the tables were being made */
		return store_header_check(NULL, 0, false, reader->name, reader->err);
	return 0;
}

static int check_table(struct reader *reader, const char *name, const char *sql)
{
	statement_auto sqlite3_stmt *find = NULL;
	int rc, r = prepare(reader,
			"SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1", &find);
	const unsigned char *found;

	if (r < 0)
		return r;
	sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC);
	rc = sqlite3_step(find);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return refuse(reader, rc);
	found = rc == SQLITE_ROW ? sqlite3_column_text(find, 0) : NULL;
	if (!found || !str_equal((const char *)found, sql)) {
		str_auto struct str what = {0};

		str_addf(&what, "its table %s is %s", name, found ? "another one" : "missing");
		return corrupt(reader, what.at);
	}
	return 0;
}

static int read_text(struct reader *reader, sqlite3_stmt *select)
{
	int64_t id = sqlite3_column_int64(select, 0);
	const char *text = (const char *)sqlite3_column_text(select, 1);
	size_t len = (size_t)sqlite3_column_bytes(select, 1);

	if (id != (int64_t)run_text_count(reader->run) + 1 ||
		sqlite3_column_type(select, 1) != SQLITE_TEXT || !text || strlen(text) != len)
		return corrupt(reader, "its texts are damaged");
	reader->texts_bytes += len;
	if (reader->texts_bytes > reader->bytes ||
		(int64_t)run_intern(reader->run, text) != id) /* "" or there already */
		return corrupt(reader, "its texts are damaged");
	return 0;
}

static int read_texts(struct reader *reader)
{
	statement_auto sqlite3_stmt *select = NULL;
	int rc, r = check_table(reader, "text", store_create_text);

	if (r == 0)
		r = prepare(reader, "SELECT id, text FROM text NOT INDEXED ORDER BY id", &select);
	if (r < 0)
		return r;
	while ((rc = sqlite3_step(select)) == SQLITE_ROW) {
		r = read_text(reader, select);
		if (r < 0)
			return r;
	}
	return rc == SQLITE_DONE ? 0 : refuse(reader, rc);
}

/* The value of a key: SQLITE_NULL when it is not there. */
static int meta_find(struct reader *reader, sqlite3_stmt *select, const char *key)
{
	int rc;

	sqlite3_reset(select);
	sqlite3_bind_text(select, 1, key, -1, SQLITE_STATIC);
	rc = sqlite3_step(select);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return refuse(reader, rc);
	return rc == SQLITE_ROW ? sqlite3_column_type(select, 0) : SQLITE_NULL;
}

static int meta_text(struct reader *reader, sqlite3_stmt *select, const char *key, text_id *ret)
{
	int type = meta_find(reader, select, key);

	if (type < 0 || type == SQLITE_NULL)
		return type < 0 ? type : 0;
	if (type != SQLITE_TEXT)
		return corrupt(reader, "its table meta is damaged");
	*ret = run_intern(reader->run, (const char *)sqlite3_column_text(select, 0));
	return 0;
}

static int meta_number(
	struct reader *reader, sqlite3_stmt *select, const char *key, uint64_t *ret_number)
{
	int type = meta_find(reader, select, key);

	if (type < 0 || type == SQLITE_NULL)
		return type < 0 ? type : 0;
	if (type != SQLITE_INTEGER)
		return corrupt(reader, "its table meta is damaged");
	*ret_number = (uint64_t)sqlite3_column_int64(select, 0);
	return 0;
}

static int read_meta(struct reader *reader)
{
	statement_auto sqlite3_stmt *select = NULL;
	struct run *run = reader->run;
	uint64_t partial = UINT64_MAX;
	int r = check_table(reader, "meta", store_create_meta);

	if (r == 0)
		r = prepare(reader, "SELECT value FROM meta WHERE key = ?1", &select);
	if (r == 0)
		r = meta_text(reader, select, "command", &run->command);
	if (r == 0)
		r = meta_text(reader, select, "target", &run->target);
	if (r == 0)
		r = meta_text(reader, select, "fingerprint", &run->fingerprint);
	if (r == 0)
		r = meta_number(reader, select, "started_ns", &run->started_ns);
	if (r == 0)
		r = meta_number(reader, select, "partial", &partial);
	if (r == 0 && partial > 1)
		r = corrupt(reader, "it does not say whether it is complete");
	run->partial = partial == 1;
	return r;
}

/* Whether `id` may stand in `column` of row `own` (1-based).  A row that was still to come when
 * the writer was killed becomes "none". */
static bool check_id(
	const struct run *run, const struct store_column *column, int64_t own, int64_t *id)
{
	int64_t count = store_rows_of(run, &store_tables[column->limit]).count;

	if (column->kind == STORE_TEXT)
		count = run_text_count(run);
	else if (column->kind == STORE_OLDER)
		count = own - 1;
	if (column->kind == STORE_LATE && run->partial && *id > count && *id <= UINT32_MAX)
		*id = 0;
	else if (*id < 1 || *id > count)
		return false;
	return true;
}

static bool check_integer(const struct store_column *column, int64_t value)
{
	switch ((enum store_kind)column->kind) {
	case STORE_U32:
		return value >= 0 && value <= UINT32_MAX;
	case STORE_I32:
		return value >= INT32_MIN && value <= INT32_MAX;
	case STORE_BOOL:
		return value == 0 || value == 1;
	case STORE_ENUM:
		return value >= 0 && value < column->limit;
	case STORE_U64:
	case STORE_REAL:
	case STORE_TEXT:
	case STORE_ROW:
	case STORE_LATE:
	case STORE_OLDER:
		break;
	}
	return true;
}

static bool column_is_id(const struct store_column *column)
{
	return column->kind == STORE_TEXT || column->kind == STORE_ROW ||
	       column->kind == STORE_LATE || column->kind == STORE_OLDER;
}

/* One value into its member of `row`; false when it cannot be. */
static bool read_member(const struct run *run, const struct store_column *column,
	sqlite3_stmt *select, int index, unsigned char *row)
{
	int type = sqlite3_column_type(select, index);
	int64_t value = column->kind == STORE_REAL ? 0 : sqlite3_column_int64(select, index);
	uint32_t small = (uint32_t)value;

	row += column->offset;
	if (column->kind == STORE_REAL) {
		double real =
			type == SQLITE_NULL ? (double)NAN : sqlite3_column_double(select, index);

		memcpy(row, &real, sizeof(real));
		return type == SQLITE_FLOAT || type == SQLITE_NULL;
	}
	if (column_is_id(column) && type == SQLITE_NULL)
		return true;
	if (type != SQLITE_INTEGER || !check_integer(column, value))
		return false;
	if (column_is_id(column)) {
		if (!check_id(run, column, sqlite3_column_int64(select, 0), &value))
			return false;
		small = (uint32_t)value;
	}
	if (column->kind == STORE_U64)
		memcpy(row, &value, sizeof(value));
	else if (column->kind == STORE_BOOL)
		*row = (unsigned char)value;
	else
		memcpy(row, &small, sizeof(small));
	return true;
}

static unsigned char *row_append(
	struct run *run, const struct store_table *table, struct store_rows rows)
{
	unsigned char *row;

	if (rows.count == rows.capacity)
		rows.at = mem_grow(rows.at, &rows.capacity, table->row_size);
	row = memset(rows.at + (size_t)rows.count++ * table->row_size, 0, table->row_size);
	memcpy((unsigned char *)run + table->rows, &rows, sizeof(rows));
	return row;
}

static int read_row(struct reader *reader, const struct store_table *table, sqlite3_stmt *select)
{
	int64_t id = sqlite3_column_int64(select, 0);
	struct store_rows rows = store_rows_of(reader->run, table);
	struct execution_row unpacked = {0};
	unsigned char *row = (unsigned char *)&unpacked;
	const char *wrong = NULL;

	if (id != (int64_t)rows.count + 1)
		return corrupt_row(reader, table->name, id, "the id");
	if (!table->packed)
		row = row_append(reader->run, table, rows);
	for (unsigned c = 0; c < table->column_count; c++)
		if (table->columns[c].since <= reader->schema &&
			!read_member(reader->run, &table->columns[c], select, (int)c + 1, row))
			return corrupt_row(reader, table->name, id, table->columns[c].name);
	if (table->packed)
		wrong = store_put_packed(reader->run, &unpacked, &reader->saturated);
	return wrong ? corrupt_row(reader, table->name, id, wrong) : 0;
}

static int read_segment(struct reader *reader, sqlite3_stmt *select)
{
	int64_t id = sqlite3_column_int64(select, 0);
	const char *wrong = NULL;

	if (id != (int64_t)reader->run->stacks.count + 1)
		return corrupt_row(reader, "segment", id, "the id");
	if (sqlite3_column_type(select, 1) != SQLITE_NULL && !sqlite3_column_int64(select, 1))
		return corrupt_row(reader, "segment", id, "parent");
	if (sqlite3_column_type(select, 3) != SQLITE_TEXT)
		return corrupt_row(reader, "segment", id, "locations");
	wrong = store_segment_unpack(reader->run, sqlite3_column_int64(select, 1),
		sqlite3_column_int64(select, 2), (const char *)sqlite3_column_text(select, 3),
		(size_t)sqlite3_column_bytes(select, 3));
	return wrong ? corrupt_row(reader, "segment", id, wrong) : 0;
}

static int read_table(struct reader *reader, const struct store_table *table)
{
	statement_auto sqlite3_stmt *select = NULL;
	str_auto struct str sql = {0};
	bool segments = table->until && table->until < reader->schema;
	const char *name = segments ? "segment" : table->name;
	int rc, r;

	store_create_sql(table, reader->schema, &sql);
	r = check_table(reader, name, segments ? store_create_segment : sql.at);
	str_clear(&sql);
	str_addf(&sql, "SELECT * FROM %s NOT INDEXED ORDER BY id", name);
	if (r == 0)
		r = prepare(reader, sql.at, &select);
	if (r < 0)
		return r;
	while ((rc = sqlite3_step(select)) == SQLITE_ROW) {
		r = segments ? read_segment(reader, select) : read_row(reader, table, select);
		if (r < 0)
			return r;
	}
	return rc == SQLITE_DONE ? 0 : refuse(reader, rc);
}

static int read_all(struct reader *reader, struct run **ret_run)
{
	uint64_t saturated = 0;
	int r;

	disarm(reader);
	r = settle(reader);
	reader->run = run_open();
	if (r == 0)
		r = read_texts(reader);
	if (r == 0)
		r = read_meta(reader);
	for (unsigned t = 0; r == 0 && t < STORE_TABLES; t++)
		if (store_tables[t].since <= reader->schema) /* an older file has no rows of it */
			r = read_table(reader, &store_tables[t]);
	if (r < 0)
		return r;
	if (reader->saturated) {
		(void)run_get_quality(reader->run, EXECUTION_SATURATED, &saturated);
		run_set_quality(reader->run, EXECUTION_SATURATED, saturated + reader->saturated);
	}
	run_freeze(reader->run);
	*ret_run = reader->run;
	reader->run = NULL;
	return 0;
}

int store_load_until(const char *path, struct interrupt (*interrupted)(void), struct run **ret_run,
	struct err *err)
{
	reader_auto struct reader reader = {.name = path,
		.interrupted = interrupted,
		.err = err,
		.vfs = {.fd = -1, .folder = -1}};
	int r = open_file(&reader, path);

	return r < 0 ? r : read_all(&reader, ret_run);
}

int store_load_bytes(
	const void *bytes, size_t len, const char *name, struct run **ret_run, struct err *err)
{
	reader_auto struct reader reader = {
		.name = name, .err = err, .bytes = len, .vfs = {.fd = -1, .folder = -1}};
	unsigned char *copy;
	int rc, r = store_header_check(bytes, len, false, name, err);

	if (r < 0)
		return r;
	rc = sqlite3_open_v2(
		":memory:", &reader.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	copy = sqlite3_malloc64(len);
	if (rc != SQLITE_OK || !copy) {
		sqlite3_free(copy);
		return unreadable(&reader, ENOMEM);
	}
	memcpy(copy, bytes, len);
	rc = sqlite3_deserialize(reader.db, "main", copy, (sqlite3_int64)len, (sqlite3_int64)len,
		SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
	return rc == SQLITE_OK ? read_all(&reader, ret_run) : refuse(&reader, rc);
}
