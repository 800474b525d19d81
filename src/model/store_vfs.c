/* store_vfs.c - see store_vfs.h.
 *
 * SQLite asks for files by name; it is given the name "run", so it can ask for "run" and
 * "run-journal" only, and everything else does not exist.  A scratch file (SQLite may want one to
 * undo a statement) is memory.  One struct sqlite3_vfs for each open file, so that nothing is
 * global; the clock, chance and sleep are those of SQLite's own.
 *
 * The journal is looked for under the shared lock and not before: a writer that ended its
 * transaction meanwhile has deleted it, and rolling that back would undo what was committed. */
#include "store_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"

#define DATABASE "run"
#define JOURNAL "run-journal"

/* Of every SQLite on Unix. */
enum { PENDING_AT = 0x40000000, RESERVED_AT, SHARED_AT, SHARED_BYTES = 510 };

struct store_file {
	sqlite3_file base;
	struct store_vfs *vfs;
	int fd;
	int lock;	 /* SQLITE_LOCK_ */
	bool is_main;	 /* the database; else journal or scratch */
	bool is_written; /* for real */
};

/* ---- the journal ---- */

static void journal_name(struct str *ret_name, const char *name)
{
	str_addf(ret_name, "%s-journal", name);
}

int store_journal_open(int folder, const char *name)
{
	static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	str_auto struct str path = {0};
	unsigned char head[sizeof(magic)], tail[sizeof(magic)];
	io_auto int fd = -1;
	struct stat there;
	int ours;

	journal_name(&path, name);
	fd = io_open_regular(folder, path.at, O_NOFOLLOW, &there);
	if (fd < 0)
		return fd == IO_NOT_REGULAR || fd == -EISDIR || fd == -ELOOP ? -EINVAL : fd;
	if (there.st_size < (off_t)sizeof(magic))
		return -ENOENT;
	if (pread(fd, head, sizeof(head), 0) != sizeof(head) ||
		pread(fd, tail, sizeof(tail), there.st_size - (off_t)sizeof(tail)) != sizeof(tail))
		return -EIO;
	/* SQLite reads the name of a second file in front of a magic at the end. */
	if (there.st_size > (off_t)sizeof(magic) && memcmp(tail, magic, sizeof(magic)) == 0)
		return -EINVAL;
	if (memcmp(head, magic, sizeof(magic)) != 0)
		return -ENOENT;
	ours = fd;
	fd = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): what is closed here */
	return ours;
}

/* ---- bytes ---- */

static struct store_file *file_of(sqlite3_file *base)
{
	return (struct store_file *)base;
}

static uint64_t smallest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What was written in memory, over what was read: sectors of `bytes`, which are those at `at`. */
static void overlay_read(
	const struct store_vfs *vfs, unsigned char *bytes, uint64_t len, uint64_t at)
{
	while (len) {
		uint64_t sector = at / STORE_SECTOR_BYTES, inside = at % STORE_SECTOR_BYTES;
		uint64_t piece = smallest(len, STORE_SECTOR_BYTES - inside);
		uint32_t index;

		if (map_get(&vfs->sector_of, &sector, sizeof(sector), &index))
			memcpy(bytes, vfs->sectors.at[index - 1].bytes + inside, piece);
		bytes += piece;
		at += piece;
		len -= piece;
	}
}

static int overlay_write(
	struct store_vfs *vfs, const unsigned char *bytes, uint64_t len, uint64_t at)
{
	if (at % STORE_SECTOR_BYTES || len % STORE_SECTOR_BYTES)
		return SQLITE_IOERR_WRITE; /* a rollback writes whole pages */
	for (; len; len -= STORE_SECTOR_BYTES, at += STORE_SECTOR_BYTES) {
		uint64_t sector = at / STORE_SECTOR_BYTES;
		uint32_t index;

		if (!map_get(&vfs->sector_of, &sector, sizeof(sector), &index)) {
			vec_push(&vfs->sectors, (struct store_sector){{0}});
			index = vfs->sectors.count;
			map_put(&vfs->sector_of, &sector, sizeof(sector), index);
		}
		memcpy(vfs->sectors.at[index - 1].bytes, bytes, STORE_SECTOR_BYTES);
		bytes += STORE_SECTOR_BYTES;
	}
	return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
	const struct store_file *file = file_of(base);
	struct stat there;

	if (file->is_main && file->vfs->has_size) {
		*ret_size = (sqlite3_int64)file->vfs->size;
		return SQLITE_OK;
	}
	if (fstat(file->fd, &there) < 0)
		return SQLITE_IOERR_FSTAT;
	*ret_size = there.st_size;
	return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *bytes, int len, sqlite3_int64 at)
{
	const struct store_file *file = file_of(base);
	const struct store_vfs *vfs = file->vfs;
	size_t want = (size_t)len, have = 0;

	while (have < want) {
		ssize_t got =
			pread(file->fd, (char *)bytes + have, want - have, (off_t)at + (off_t)have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return SQLITE_IOERR_READ;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	memset((char *)bytes + have, 0, want - have);
	if (!file->is_main || !vfs->has_size)
		return have == want ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
	overlay_read(vfs, bytes, want, (uint64_t)at);
	if ((uint64_t)at + want <= vfs->size)
		return SQLITE_OK;
	have = (uint64_t)at < vfs->size ? (size_t)(vfs->size - (uint64_t)at) : 0;
	memset((char *)bytes + have, 0, want - have);
	return SQLITE_IOERR_SHORT_READ;
}

/* Forget what was rolled back in memory. */
static void overlay_drop(struct store_vfs *vfs)
{
	vfs->is_done_with = vfs->has_size = false;
	map_done(&vfs->sector_of);
	vec_done(&vfs->sectors);
	io_close_pointer(&vfs->journal);
}

/* From the first change on, what is in memory counts. */
static int overlay_begin(sqlite3_file *base)
{
	sqlite3_int64 size = 0;
	int rc = file_size(base, &size);

	if (rc == SQLITE_OK) {
		file_of(base)->vfs->size = (uint64_t)size;
		file_of(base)->vfs->has_size = true;
	}
	return rc;
}

static int file_write(sqlite3_file *base, const void *bytes, int len, sqlite3_int64 at)
{
	const struct store_file *file = file_of(base);
	size_t done = 0, want = (size_t)len;
	uint64_t end = (uint64_t)at + want;
	int rc;

	if (!file->is_written) {
		rc = file->is_main ? overlay_begin(base) : SQLITE_IOERR_WRITE;
		if (rc == SQLITE_OK)
			rc = overlay_write(file->vfs, bytes, want, (uint64_t)at);
		if (rc == SQLITE_OK && end > file->vfs->size)
			file->vfs->size = end;
		return rc;
	}
	while (done < want) {
		ssize_t put = pwrite(
			file->fd, (const char *)bytes + done, want - done, (off_t)at + (off_t)done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL
								  : SQLITE_IOERR_WRITE;
		done += (size_t)put;
	}
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	const struct store_file *file = file_of(base);
	int rc;

	if (file->is_written)
		return ftruncate(file->fd, (off_t)size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
	rc = file->is_main ? overlay_begin(base) : SQLITE_IOERR_TRUNCATE;
	if (rc == SQLITE_OK)
		file->vfs->size = (uint64_t)size;
	return rc;
}

static int file_sync(sqlite3_file *base, int flags)
{
	const struct store_file *file = file_of(base);

	(void)flags;
	return !file->is_written || fdatasync(file->fd) == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int file_close(sqlite3_file *base)
{
	struct store_file *file = file_of(base);

	if (!file->is_main && file->fd != file->vfs->journal)
		close(file->fd);
	return SQLITE_OK;
}

/* ---- locks ---- */

/* A file system without locks grants them all. */
static int lock_set(const struct store_file *file, short type, off_t at, off_t len)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = len};

	if (fcntl(file->fd, F_SETLK, &lock) == 0)
		return SQLITE_OK;
	return errno == EAGAIN || errno == EACCES ? SQLITE_BUSY : SQLITE_OK;
}

static int lock_shared(struct store_file *file)
{
	int rc = lock_set(file, F_RDLCK, PENDING_AT, 1); /* a writer that waits goes first */

	if (rc == SQLITE_OK) {
		rc = lock_set(file, F_RDLCK, SHARED_AT, SHARED_BYTES);
		lock_set(file, F_UNLCK, PENDING_AT, 1);
	}
	if (rc == SQLITE_OK)
		file->lock = SQLITE_LOCK_SHARED;
	return rc;
}

static int lock_exclusive(struct store_file *file)
{
	int rc = lock_set(file, F_WRLCK, PENDING_AT, 1);

	if (rc == SQLITE_OK) {
		file->lock = SQLITE_LOCK_PENDING;
		rc = lock_set(file, F_WRLCK, SHARED_AT, SHARED_BYTES);
	}
	if (rc == SQLITE_OK)
		file->lock = SQLITE_LOCK_EXCLUSIVE;
	return rc;
}

static int file_lock(sqlite3_file *base, int level)
{
	struct store_file *file = file_of(base);
	int rc = SQLITE_OK;

	if (!file->is_main || file->lock >= level)
		return SQLITE_OK;
	if (level == SQLITE_LOCK_SHARED)
		return lock_shared(file);
	if (!file->is_written) { /* a rollback in memory: the shared lock keeps writers out */
		file->lock = level;
		return SQLITE_OK;
	}
	if (level == SQLITE_LOCK_EXCLUSIVE)
		return lock_exclusive(file);
	rc = lock_set(file, F_WRLCK, RESERVED_AT, 1);
	if (rc == SQLITE_OK)
		file->lock = level;
	return rc;
}

static int file_unlock(sqlite3_file *base, int level)
{
	struct store_file *file = file_of(base);

	if (!file->is_main || file->lock <= level)
		return SQLITE_OK;
	if (level == SQLITE_LOCK_SHARED && file->is_written) {
		lock_set(file, F_RDLCK, SHARED_AT, SHARED_BYTES);
		lock_set(file, F_UNLCK, PENDING_AT, 2);
	} else if (level == SQLITE_LOCK_NONE) {
		overlay_drop(file->vfs); /* others may change the file from here on */
		lock_set(file, F_UNLCK, PENDING_AT, 2 + SHARED_BYTES);
	}
	file->lock = level;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *base, int *ret_reserved)
{
	const struct store_file *file = file_of(base);
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = RESERVED_AT, .l_len = 1};

	*ret_reserved = file->lock > SQLITE_LOCK_SHARED ||
			(fcntl(file->fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
	return SQLITE_OK;
}

/* ---- the rest of a file ---- */

/* SQLite asks before it writes whether the file still has its name: rows of a file that somebody
 * has removed would be lost without a word. */
static int file_control(sqlite3_file *base, int what, void *argument)
{
	const struct store_file *file = (const struct store_file *)base;
	struct stat ours, named;

	if (what != SQLITE_FCNTL_HAS_MOVED || !file->is_main || !file->is_written)
		return SQLITE_NOTFOUND;
	*(int *)argument =
		fstat(file->fd, &ours) < 0 ||
		fstatat(file->vfs->folder, file->vfs->name, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
		ours.st_ino != named.st_ino || ours.st_dev != named.st_dev;
	return SQLITE_OK;
}

static int file_sector_bytes(sqlite3_file *base)
{
	(void)base;
	return STORE_SECTOR_BYTES;
}

static int file_traits(sqlite3_file *base)
{
	(void)base;
	return 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector_bytes,
	.xDeviceCharacteristics = file_traits,
};

/* ---- names ---- */

static struct store_vfs *vfs_of(sqlite3_vfs *vfs)
{
	return vfs->pAppData;
}

/* The journal of a writer: made anew, in our folder. */
static int journal_make(const struct store_vfs *vfs)
{
	str_auto struct str name = {0};

	journal_name(&name, vfs->name);
	return openat(
		vfs->folder, name.at, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int names_open(
	sqlite3_vfs *base, const char *name, sqlite3_file *base_file, int flags, int *ret_flags)
{
	struct store_vfs *vfs = vfs_of(base);
	struct store_file *file = file_of(base_file);

	*file = (struct store_file){.vfs = vfs, .fd = -1, .is_written = vfs->writes};
	if (!name) {
		file->fd = memfd_create("assay-scratch", MFD_CLOEXEC);
		file->is_written = true;
	} else if (str_equal(name, DATABASE)) {
		file->fd = vfs->fd;
		file->is_main = true;
	} else if (str_equal(name, JOURNAL)) {
		file->fd = vfs->writes ? journal_make(vfs) : vfs->journal;
	}
	if (file->fd < 0)
		return SQLITE_CANTOPEN;
	file->base.pMethods = &methods;
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int names_delete(sqlite3_vfs *base, const char *name, int sync_folder)
{
	struct store_vfs *vfs = vfs_of(base);
	str_auto struct str journal = {0};

	(void)sync_folder;
	if (!str_equal(name, JOURNAL))
		return SQLITE_IOERR_DELETE;
	if (!vfs->writes) {
		vfs->is_done_with = true;
		return SQLITE_OK;
	}
	journal_name(&journal, vfs->name);
	if (unlinkat(vfs->folder, journal.at, 0) == 0)
		return SQLITE_OK;
	return errno == ENOENT ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
}

/* Whether there is something to roll back.  For a writer never: it alone writes, and its file was
 * empty when it began. */
static int names_access(sqlite3_vfs *base, const char *name, int flags, int *ret_there)
{
	struct store_vfs *vfs = vfs_of(base);

	(void)flags;
	*ret_there = 0;
	if (vfs->writes || vfs->is_done_with || !str_equal(name, JOURNAL))
		return SQLITE_OK;
	if (vfs->journal < 0)
		vfs->journal = store_journal_open(vfs->folder, vfs->name);
	*ret_there = vfs->journal >= 0;
	return vfs->journal >= 0 || vfs->journal == -ENOENT ? SQLITE_OK : SQLITE_IOERR_ACCESS;
}

static int names_full(sqlite3_vfs *base, const char *name, int capacity, char *ret_name)
{
	(void)base;
	sqlite3_snprintf(capacity, ret_name, "%s", name);
	return SQLITE_OK;
}

int store_vfs_open(struct store_vfs *vfs, sqlite3 **ret_db)
{
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
	int rc;

	vfs->journal = -1;
	if (!usual)
		return SQLITE_ERROR;
	snprintf(vfs->vfs_name, sizeof(vfs->vfs_name), "assay-%p", (void *)vfs);
	vfs->vfs = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = sizeof(struct store_file),
		.mxPathname = 64,
		.zName = vfs->vfs_name,
		.pAppData = vfs,
		.xOpen = names_open,
		.xDelete = names_delete,
		.xAccess = names_access,
		.xFullPathname = names_full,
		.xRandomness = usual->xRandomness,
		.xSleep = usual->xSleep,
		.xCurrentTime = usual->xCurrentTime,
		.xGetLastError = usual->xGetLastError,
	};
	rc = sqlite3_vfs_register(&vfs->vfs, 0);
	if (rc == SQLITE_OK)
		rc = sqlite3_open_v2(DATABASE, ret_db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			vfs->vfs_name);
	return rc;
}

int store_vfs_close(struct store_vfs *vfs, sqlite3 *db)
{
	int rc = sqlite3_close(db);

	if (vfs->vfs.zName) {
		sqlite3_vfs_unregister(&vfs->vfs);
		overlay_drop(vfs);
	}
	vfs->vfs = (sqlite3_vfs){0};
	return rc;
}
