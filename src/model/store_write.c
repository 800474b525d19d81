/* store_write.c - rows into the run file, one transaction for each flush.
 *
 * The journal is SQLite's rollback journal without fsync: rows are only appended, so a transaction
 * saves the few pages it changes and the file alone is whole between flushes; SIGKILL loses at most
 * the rows since the last flush.  A power cut in the middle may lose the run, never the one it was
 * to replace; store_finish() syncs.  The figures are in docs/decisions/002-run-file.md.
 *
 * Two tools must not write one file: a lock on one byte far behind the file's end (SQLite locks
 * bytes of its own from 2^30 on) is held until the store is closed.  It is a lock of the open file,
 * not of the process, so SQLite closing its own descriptors does not drop it. */
#include "model/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/io_place.h"
#include "base/mem.h"
#include "base/str.h"
#include "store_header.h"
#include "store_schema.h"
#include "store_vfs.h"

enum {
	FINISH_WAIT_MS = 30000, /* for someone who reads the file with sqlite3 */
	STEPS_AT_ONCE = 100000,
};
#define STORE_LOCK_BYTE ((off_t)1 << 60)

struct store {
	char *path; /* where the run goes, as the user calls it */
	char *work; /* where it is written: the same, or PATH.part */
	struct io_place place;
	char name[NAME_MAX + 1]; /* that of `work` in the place */
	int fd;			 /* holds the lock, syncs the file */
	bool created;		 /* `work` is ours to remove while nothing was flushed */
	bool flushed;
	struct store_vfs vfs;
	sqlite3 *db; /* NULL once finished */
	sqlite3_stmt *insert[STORE_TABLES];
	sqlite3_stmt *insert_text, *insert_meta;
	uint32_t written[STORE_TABLES];
	uint32_t written_texts;
	struct interrupt (*interrupted)(void);
};

static int store_fail(const struct store *store, int code, struct err *err)
{
	bool full = code == ENOSPC || code == EDQUOT;

	if (code == EINTR)
		return err_set(err, ERR_INTERRUPTED, EINTR,
			"interrupted while writing %s; nothing was stored", store->path);
	err_set(err, ERR_OUTPUT, code, "cannot write %s: %s", store->work, err_words(code));
	err_hint(err, "%schoose another file with -o%s%s", full ? "free some space, or " : "",
		store->flushed ? "; what was stored before is in " : "",
		store->flushed ? store->work : "");
	return -code;
}

/* SQLite's answer as an errno. */
static int store_errno(const struct store *store, int rc)
{
	int system = store->db ? sqlite3_system_errno(store->db) : 0;

	switch (rc & 0xff) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_READONLY:
		return EROFS;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_TOOBIG:
		return EFBIG;
	case SQLITE_INTERRUPT:
		return EINTR;
	default:
		return system ? system : EIO;
	}
}

static int store_sql(struct store *store, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : store_fail(store, store_errno(store, rc), err);
}

/* ---- the place ---- */

/* 1: an assay run stands at `name`, 0: nothing, or an empty file; else refused. */
static int name_check(const struct store *store, const char *name, struct err *err)
{
	struct stat there;
	io_auto int fd = io_open_regular(store->place.folder, name, O_NOFOLLOW, &there);
	unsigned char header[STORE_HEADER_BYTES] = {0};

	if (fd == -ENOENT || (fd >= 0 && there.st_size == 0))
		return 0;
	if (fd < 0 && fd != IO_NOT_REGULAR)
		return store_fail(store, -fd, err);
	if (fd >= 0 && read(fd, header, sizeof(header)) == sizeof(header) &&
		store_header_is_run(header))
		return 1;
	err_set(err, ERR_OUTPUT, EEXIST, "would overwrite %s, which is not an assay run",
		store->work);
	err_hint(err, "choose another file with -o");
	return -EEXIST;
}

/* 0 when nobody else writes the file behind `fd`.  A file system without locks gives 0 too. */
static int place_lock(int fd)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = STORE_LOCK_BYTE, .l_len = 1};

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EBUSY : 0;
}

static int place_busy(const char *path, struct err *err)
{
	err_set(err, ERR_OUTPUT, EBUSY, "%s is being written by another assay", path);
	err_hint(err, "wait for it, or choose another file with -o");
	return -EBUSY;
}

/* What SQLite would read with a file of this name.  0 or the errno of what cannot be removed:
 * another user may have put it there. */
static int remove_beside(const struct store *store, const char *name)
{
	static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
	int code = 0;

	for (unsigned i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		str_auto struct str beside = {0};

		str_addf(&beside, "%s%s", name, suffixes[i]);
		if (unlinkat(store->place.folder, beside.at, 0) < 0 && errno != ENOENT)
			code = errno;
	}
	return code;
}

static int cannot_remove_beside(const struct store *store, int code, struct err *err)
{
	err_set(err, ERR_OUTPUT, code, "cannot remove the old journal of %s (%s-journal): %s",
		store->work, store->work, err_words(code));
	err_hint(err, "remove it, or choose another file with -o");
	return -code;
}

/* Open `store->work`, empty and ours alone.  A PATH.part that nobody writes is what a killed tool
 * left of an earlier try, and goes. */
static int work_open(struct store *store, struct err *err)
{
	bool missing = faccessat(store->place.folder, store->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
	struct io_place work = store->place;
	int code;

	work.path = store->work;
	memcpy(work.name, store->name, sizeof(work.name));
	store->fd = io_place_open_file(&work, O_RDWR | O_CREAT, IO_PRIVATE, err);
	if (store->fd < 0)
		return store->fd == -EPERM ? -EPERM : store_fail(store, -store->fd, err);
	if (place_lock(store->fd) < 0)
		return place_busy(store->work, err);
	store->created = missing || !str_equal(store->name, store->place.name);
	if (ftruncate(store->fd, 0) < 0)
		return store_fail(store, errno, err);
	(void)fchmod(store->fd, IO_PRIVATE); /* it may have been there, empty */
	code = remove_beside(store, store->name);
	return code ? cannot_remove_beside(store, code, err) : 0;
}

static int place_choose(struct store *store, const char *path, struct err *err)
{
	int r;

	store->path = mem_copy_text(path, strlen(path));
	store->work = mem_copy_text(path, strlen(path));
	r = io_place_open(&store->place, store->path, err);
	if (r < 0)
		return r == -EPERM ? r : err_hint(err, "choose another file with -o");
	memcpy(store->name, store->place.name, sizeof(store->name));
	r = name_check(store, store->name, err);
	if (r > 0) {
		io_auto int fd = io_place_open_file(&store->place, O_RDWR, 0, err);
		str_auto struct str part = {0};

		if (fd < 0)
			return fd;
		if (place_lock(fd) < 0)
			return place_busy(store->path, err);
		str_addf(&part, "%s.part", store->path);
		free(store->work);
		store->work = mem_copy_text(part.at, part.len);
		if (strlen(store->place.name) > NAME_MAX - strlen(".part"))
			return store_fail(store, ENAMETOOLONG, err);
		strcat(store->name, ".part");
		r = name_check(store, store->name, err);
	}
	return r < 0 ? r : work_open(store, err);
}

/* ---- the tables ---- */

static int store_prepare(struct store *store, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	int rc = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

	return rc == SQLITE_OK ? 0 : store_fail(store, store_errno(store, rc), err);
}

static int store_prepare_table(struct store *store, unsigned t, struct err *err)
{
	str_auto struct str sql = {0};

	if (t == STORE_STACK)
		return store_prepare(
			store, "INSERT INTO segment VALUES(?,?,?,?)", &store->insert[t], err);
	str_addf(&sql, "INSERT OR REPLACE INTO %s VALUES(?", store_tables[t].name);
	for (unsigned i = 0; i < store_tables[t].column_count; i++)
		str_add(&sql, ",?");
	str_add_char(&sql, ')');
	return store_prepare(store, sql.at, &store->insert[t], err);
}

static int store_create_tables(struct store *store, struct err *err)
{
	str_auto struct str sql = {0};

	str_addf(&sql,
		"PRAGMA page_size = 1024; PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF;"
		"PRAGMA cache_size = -256;" /* KiB: rows are appended, a page is hardly needed twice
					     */
		"BEGIN IMMEDIATE;"
		"PRAGMA application_id = %d; PRAGMA user_version = %d; %s; %s;",
		STORE_APPLICATION_ID, STORE_VERSION, store_create_meta, store_create_text);
	for (unsigned t = 0; t < STORE_TABLES; t++) {
		if (store_tables[t].until)
			str_add(&sql, store_create_segment);
		else
			store_create_sql(&store_tables[t], STORE_VERSION, &sql);
		str_add_char(&sql, ';');
	}
	str_add(&sql, store_create_views);
	str_addf(&sql,
		"INSERT INTO meta VALUES('schema', %d), ('version', '%s'), ('partial', 1);"
		"COMMIT;",
		STORE_VERSION, ASSAY_VERSION);
	return store_sql(store, sql.at, err);
}

static int store_open_database(struct store *store, struct err *err)
{
	int r, rc;

	store->vfs = (struct store_vfs){.folder = store->place.folder,
		.fd = store->fd,
		.name = store->name,
		.writes = true};
	rc = store_vfs_open(&store->vfs, &store->db);
	if (rc != SQLITE_OK)
		return store_fail(store, store_errno(store, rc), err);
	r = store_create_tables(store, err);
	for (unsigned t = 0; r == 0 && t < STORE_TABLES; t++)
		r = store_prepare_table(store, t, err);
	if (r == 0)
		r = store_prepare(store, "INSERT INTO text VALUES(?,?)", &store->insert_text, err);
	if (r == 0)
		r = store_prepare(
			store, "INSERT OR REPLACE INTO meta VALUES(?,?)", &store->insert_meta, err);
	return r;
}

int store_create(const char *path, struct store **ret_store, struct err *err)
{
	store_auto struct store *store = mem_new(1, sizeof(*store));
	int r;

	store->fd = store->place.folder = -1;
	r = place_choose(store, path, err);
	if (r == 0)
		r = store_open_database(store, err);
	if (r < 0)
		return r;
	*ret_store = store;
	store = NULL;
	return 0;
}

/* Asked every STEPS_AT_ONCE steps of SQLite's machine: some thousand rows. */
static int store_is_interrupted(void *context)
{
	return interrupt_now(((const struct store *)context)->interrupted).count != 0;
}

void store_watch(struct store *store, struct interrupt (*interrupted)(void))
{
	store->interrupted = interrupted;
	sqlite3_progress_handler(store->db, STEPS_AT_ONCE, store_is_interrupted, store);
}

/* ---- the rows ---- */

static uint32_t member_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int64_t member_i64(const unsigned char *at)
{
	int64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static double member_double(const unsigned char *at)
{
	double value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int bind_id(sqlite3_stmt *insert, int index, uint32_t id)
{
	return id ? sqlite3_bind_int64(insert, index, id) : sqlite3_bind_null(insert, index);
}

static int bind_member(sqlite3_stmt *insert, int index, const struct store_column *column,
	const unsigned char *row)
{
	const unsigned char *at = row + column->offset;

	switch ((enum store_kind)column->kind) {
	case STORE_U64:
		return sqlite3_bind_int64(insert, index, member_i64(at));
	case STORE_REAL:
		return sqlite3_bind_double(insert, index, member_double(at));
	case STORE_I32:
		return sqlite3_bind_int64(insert, index, (int32_t)member_u32(at));
	case STORE_BOOL:
		return sqlite3_bind_int64(insert, index, *at);
	case STORE_U32:
	case STORE_ENUM:
		return sqlite3_bind_int64(insert, index, member_u32(at));
	case STORE_TEXT:
	case STORE_ROW:
	case STORE_LATE:
	case STORE_OLDER:
		break;
	}
	return bind_id(insert, index, member_u32(at));
}

static int step_once(sqlite3_stmt *insert)
{
	int rc = sqlite3_step(insert);
	int again = sqlite3_reset(insert);

	return rc == SQLITE_DONE ? again : rc;
}

static int write_rows(struct store *store, const struct run *run, unsigned t)
{
	const struct store_table *table = &store_tables[t];
	struct store_rows rows = store_rows_of(run, table);
	sqlite3_stmt *insert = store->insert[t];
	int rc = SQLITE_OK;

	for (uint32_t i = store->written[t]; rc == SQLITE_OK && i < rows.count; i++) {
		struct execution_row scratch;
		const void *row = store_get_row(run, table, i + 1, &scratch);

		rc = sqlite3_bind_int64(insert, 1, (int64_t)i + 1);
		for (unsigned c = 0; rc == SQLITE_OK && c < table->column_count; c++)
			rc = bind_member(insert, (int)c + 2, &table->columns[c], row);
		if (rc == SQLITE_OK)
			rc = step_once(insert);
	}
	return rc;
}

static int write_segments(struct store *store, const struct run *run)
{
	sqlite3_stmt *insert = store->insert[STORE_STACK];
	struct store_segment segment;
	int rc = SQLITE_OK;

	for (row_id id = store->written[STORE_STACK] + 1;
		rc == SQLITE_OK && id <= run->stacks.count; id += segment.count) {
		store_segment_pack(run, id, &segment);
		rc = sqlite3_bind_int64(insert, 1, id);
		if (rc == SQLITE_OK)
			rc = bind_id(insert, 2, segment.parent);
		if (rc == SQLITE_OK)
			rc = sqlite3_bind_int64(insert, 3, segment.width);
		if (rc == SQLITE_OK)
			rc = sqlite3_bind_text(insert, 4, segment.locations,
				(int)(segment.count * segment.width), SQLITE_STATIC);
		if (rc == SQLITE_OK)
			rc = step_once(insert);
	}
	return rc;
}

static int write_texts(struct store *store, const struct run *run)
{
	sqlite3_stmt *insert = store->insert_text;
	int rc = SQLITE_OK;

	for (uint32_t id = store->written_texts + 1; rc == SQLITE_OK && id <= run_text_count(run);
		id++) {
		rc = sqlite3_bind_int64(insert, 1, id);
		if (rc == SQLITE_OK)
			rc = sqlite3_bind_text(insert, 2, run_text(run, id), -1, SQLITE_STATIC);
		if (rc == SQLITE_OK)
			rc = step_once(insert);
	}
	return rc;
}

/* A text, or the number when `text` is NULL. */
static int write_meta(struct store *store, const char *key, const char *text, uint64_t number)
{
	int rc = sqlite3_bind_text(store->insert_meta, 1, key, -1, SQLITE_STATIC);

	if (rc == SQLITE_OK && text)
		rc = sqlite3_bind_text(store->insert_meta, 2, text, -1, SQLITE_STATIC);
	else if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(store->insert_meta, 2, (int64_t)number);
	return rc == SQLITE_OK ? step_once(store->insert_meta) : rc;
}

static int write_all(struct store *store, const struct run *run, bool partial)
{
	int rc = write_texts(store, run);

	if (rc == SQLITE_OK)
		rc = write_meta(store, "command", run_text(run, run->command), 0);
	if (rc == SQLITE_OK)
		rc = write_meta(store, "target", run_text(run, run->target), 0);
	if (rc == SQLITE_OK)
		rc = write_meta(store, "fingerprint", run_text(run, run->fingerprint), 0);
	if (rc == SQLITE_OK)
		rc = write_meta(store, "started_ns", NULL, run->started_ns);
	if (rc == SQLITE_OK)
		rc = write_meta(store, "partial", NULL, partial);
	for (unsigned t = 0; rc == SQLITE_OK && t < STORE_TABLES; t++)
		rc = t == STORE_STACK ? write_segments(store, run) : write_rows(store, run, t);
	return rc;
}

/* One transaction: everything new, or nothing.  A SQLite code. */
static int store_write(struct store *store, const struct run *run, bool partial)
{
	int rc = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (rc != SQLITE_OK)
		return rc;
	rc = write_all(store, run, partial);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	if (rc != SQLITE_OK) {
		if (!sqlite3_get_autocommit(store->db))
			sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
		return rc;
	}
	for (unsigned t = 0; t < STORE_TABLES; t++)
		store->written[t] = store_rows_of(run, &store_tables[t]).count;
	store->written_texts = run_text_count(run);
	store->flushed = true;
	return SQLITE_OK;
}

int store_flush(struct store *store, const struct run *run, struct err *err)
{
	int rc = store_write(store, run, true);

	if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY)
		return 0; /* someone reads it just now: the rows go with the next flush */
	return store_fail(store, store_errno(store, rc), err);
}

static int store_close_database(struct store *store)
{
	for (unsigned t = 0; t < STORE_TABLES; t++) {
		sqlite3_finalize(store->insert[t]);
		store->insert[t] = NULL;
	}
	sqlite3_finalize(store->insert_text);
	sqlite3_finalize(store->insert_meta);
	store->insert_text = store->insert_meta = NULL;
	return store_vfs_close(&store->vfs, store->db);
}

int store_finish(struct store *store, const struct run *run, struct err *err)
{
	int rc;

	sqlite3_busy_timeout(store->db, FINISH_WAIT_MS);
	/* Written again: what is final only now (a status, a quality, the name of a place). */
	store->written[STORE_EVENT] = store->written[STORE_QUALITY] =
		store->written[STORE_LOCATION] = 0;
	rc = store_write(store, run, run->partial);
	if (rc != SQLITE_OK)
		return store_fail(store, store_errno(store, rc), err);
	store_close_database(store);
	store->db = NULL;
	if (fsync(store->fd) < 0)
		return store_fail(store, errno, err);
	if (!str_equal(store->name, store->place.name)) {
		int folder = store->place.folder;

		/* A journal left beside the old file would be played back into the new one. */
		rc = remove_beside(store, store->place.name);
		if (rc)
			return cannot_remove_beside(store, rc, err);
		if (renameat(folder, store->name, folder, store->place.name) < 0)
			return store_fail(store, errno, err);
	}
	io_place_sync(&store->place);
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->db)
		store_close_database(store);
	if (store->created && !store->flushed) {
		unlinkat(store->place.folder, store->name, 0);
		(void)remove_beside(store, store->name);
	}
	io_close_pointer(&store->fd);
	io_place_done(&store->place);
	free(store->path);
	free(store->work);
	free(store);
}

void store_close_pointer(struct store **store)
{
	store_close(*store);
	*store = NULL;
}
