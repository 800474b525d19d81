/* io_place.c - see io_place.h.
 *
 * The walk holds the directory that it has reached as a descriptor, and the rest of the path as
 * text; a link puts its target in front of that rest.  A link of /proc is no path but the kernel's
 * own pointer, so the kernel follows it. */
#include "base/io_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"

enum { LINKS_MOST = 40 };

/* ---- who is trusted ---- */

bool io_place_is_ours(uid_t owner)
{
	const char *caller = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
	char *end = NULL;
	unsigned long id;

	if (owner == 0 || owner == geteuid())
		return true;
	if (!caller || *caller < '0' || *caller > '9')
		return false;
	id = strtoul(caller, &end, 10);
	return !*end && id == owner;
}

/* Whether something that `owner` put into this directory may be followed or changed. */
static bool owner_is_trusted(const struct stat *folder, uid_t owner)
{
	bool is_open_to_all = (folder->st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);

	return io_place_is_ours(owner) || (geteuid() != 0 && !is_open_to_all);
}

static int not_ours(const char *path, const char *what, uid_t owner, struct err *err)
{
	err_set(err, ERR_OUTPUT, EPERM, "cannot write %s: %s belongs to user %u", path, what,
		(unsigned)owner);
	if (geteuid() == 0)
		return err_hint(err,
			"choose a place of your own (-o), run assay as that user, or trust that "
			"user: SUDO_UID=%u",
			(unsigned)owner);
	return err_hint(err, "choose a place of your own with -o");
}

static int cannot_write(const char *path, int code, struct err *err)
{
	err_set(err, ERR_OUTPUT, code, "cannot write %s: %s", path, err_words(code));
	if (code == ENOSPC || code == EDQUOT)
		return err_hint(err, "free some space, or choose another place");
	return err_hint(err, code == ENOENT ? "create its directory first, or choose another place"
					    : "choose another place");
}

/* ---- the walk ---- */

struct walk {
	struct io_place *place;
	struct str rest;
	unsigned links;
	bool is_folder; /* what is looked for */
	struct err *err;
};

static int walk_fail(const struct walk *walk, int code)
{
	return cannot_write(walk->place->path, code, walk->err);
}

static int walk_enter(struct walk *walk, int folder)
{
	if (folder < 0)
		return walk_fail(walk, errno);
	io_close_pointer(&walk->place->folder);
	walk->place->folder = folder;
	return 0;
}

/* Take the next part of the path into the place's name; false at the end. */
static bool walk_next(struct walk *walk)
{
	const char *at = str_text(&walk->rest);
	size_t skip = strspn(at, "/"), len = strcspn(at + skip, "/");
	str_auto struct str rest = {0};

	if (!len || len > NAME_MAX)
		return false;
	memcpy(walk->place->name, at + skip, len);
	walk->place->name[len] = '\0';
	str_add(&rest, at + skip + len);
	str_clear(&walk->rest);
	str_add_bytes(&walk->rest, str_text(&rest), rest.len);
	return true;
}

static int walk_link(struct walk *walk, int link, uid_t owner)
{
	struct io_place *place = walk->place;
	str_auto struct str rest = {0};
	char target[PATH_MAX];
	struct statfs system;
	struct stat folder;
	ssize_t len;

	if (fstatfs(place->folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC)
		return walk_enter(
			walk, openat(place->folder, place->name, O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (fstat(place->folder, &folder) < 0)
		return walk_fail(walk, errno);
	if (!owner_is_trusted(&folder, owner))
		return not_ours(place->path, "a link on the way", owner, walk->err);
	len = readlinkat(link, "", target, sizeof(target) - 1);
	if (len <= 0 || ++walk->links > LINKS_MOST)
		return walk_fail(walk, len < 0 ? errno : ELOOP);
	target[len] = '\0';
	str_addf(&rest, "%s%s", target, str_text(&walk->rest));
	str_clear(&walk->rest);
	str_add_bytes(&walk->rest, str_text(&rest), rest.len);
	return *target == '/' ? walk_enter(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 0;
}

/* One part of the path.  1: it is the file, 0: go on. */
static int walk_step(struct walk *walk)
{
	struct io_place *place = walk->place;
	io_auto int part = openat(place->folder, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool is_last = !str_text(&walk->rest)[strspn(str_text(&walk->rest), "/")];
	struct stat there;
	int folder;

	if (part < 0 && errno == ENOENT && is_last && (walk->is_folder || !walk->rest.len))
		return 1;
	if (part < 0 || fstat(part, &there) < 0)
		return walk_fail(walk, errno);
	if (S_ISLNK(there.st_mode))
		return walk_link(walk, part, there.st_uid);
	if (is_last && S_ISDIR(there.st_mode) != walk->is_folder)
		return walk_fail(walk, walk->is_folder ? EEXIST : EISDIR);
	if (is_last)
		return walk->rest.len && !walk->is_folder ? walk_fail(walk, ENOTDIR) : 1;
	folder = part;
	part = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): what is closed here */
	return walk_enter(walk, folder);
}

/* To the directory of `path`, which root must own. */
static int walk_all(struct walk *walk, const char *path)
{
	struct io_place *place = walk->place;
	struct stat folder;
	int r;

	*place = (struct io_place){.path = path, .folder = -1};
	str_add(&walk->rest, path);
	r = walk_enter(walk, open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	while (r == 0)
		r = walk_next(walk) ? walk_step(walk) : walk_fail(walk, *path ? EISDIR : ENOENT);
	str_done(&walk->rest);
	if (r > 0 && fstat(place->folder, &folder) < 0)
		r = walk_fail(walk, errno);
	if (r > 0 && geteuid() == 0 && !io_place_is_ours(folder.st_uid))
		r = not_ours(path, "its directory", folder.st_uid, walk->err);
	if (r < 0)
		io_place_done(place);
	return r < 0 ? r : 0;
}

int io_place_open(struct io_place *place, const char *path, struct err *err)
{
	struct walk walk = {.place = place, .err = err};

	return walk_all(&walk, path);
}

void io_place_done(struct io_place *place)
{
	io_close_pointer(&place->folder);
}

/* ---- what is there ---- */

static int status_check(const struct io_place *place, const struct stat *there, struct err *err)
{
	struct stat folder;

	if (S_ISDIR(there->st_mode))
		return cannot_write(place->path, EISDIR, err);
	if (!S_ISREG(there->st_mode))
		return cannot_write(place->path, -IO_NOT_REGULAR, err);
	if (fstat(place->folder, &folder) < 0)
		return cannot_write(place->path, errno, err);
	return owner_is_trusted(&folder, there->st_uid)
		       ? 0
		       : not_ours(place->path, "the file", there->st_uid, err);
}

int io_place_check(const struct io_place *place, struct err *err)
{
	struct stat there;

	if (fstatat(place->folder, place->name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : cannot_write(place->path, errno, err);
	return status_check(place, &there, err);
}

int io_place_open_file(const struct io_place *place, int flags, unsigned mode, struct err *err)
{
	int fd, r = io_place_check(place, err);
	struct stat there;

	if (r < 0)
		return r;
	fd = openat(place->folder, place->name,
		flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, (mode_t)mode);
	if (fd < 0)
		return cannot_write(place->path, errno, err);
	r = fstat(fd, &there) < 0 ? -errno : status_check(place, &there, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

static int cannot_make(const char *path, int code, struct err *err)
{
	err_set(err, ERR_OUTPUT, code, "cannot create the directory %s: %s", path, err_words(code));
	return err_hint(err, "choose another place with -o");
}

int io_place_make_folder(const char *path, unsigned mode, struct err *err)
{
	io_place_auto struct io_place place = {.folder = -1};
	struct walk walk = {.place = &place, .err = err, .is_folder = true};
	io_auto int folder = -1;
	struct stat there;
	bool made;
	int r = walk_all(&walk, path);

	if (r < 0)
		return r;
	made = mkdirat(place.folder, place.name, (mode_t)mode) == 0;
	if (!made && errno != EEXIST)
		return cannot_make(path, errno, err);
	folder = openat(place.folder, place.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || fstat(folder, &there) < 0)
		return cannot_make(path, errno, err);
	if (geteuid() == 0 && !io_place_is_ours(there.st_uid))
		return not_ours(path, "the directory", there.st_uid, err);
	return made;
}

int io_place_sync(const struct io_place *place)
{
	io_auto int fd = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && fsync(fd) == 0 ? 0 : -errno;
}
