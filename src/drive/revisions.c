/* revisions.c - see revisions.h.
 *
 * Everything goes through the `git` program: it knows every repository format, filter and
 * extension that a library would have to learn.  The folders of A and B differ in one letter, so
 * that the length of the path, which moves the stack, is the same.  A lock on a file in the scratch
 * folder tells a living tool from a dead one; process ids come again. */
#include "drive/revisions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/mem.h"

#define PREFIX "assay-ab-"
enum { ANSWER_MAX = 1 << 22, LOG_MAX = 1 << 26, LOG_LINES = 20, GIT_WORDS = 24 };

struct revisions {
	struct revisions_options options;
	struct arena arena;
	const char *top;     /* of the user's tree */
	const char *prefix;  /* where he stands below it: "" or "sub/" */
	const char *scratch; /* NULL: not made */
	int common;	     /* git's own folder: locked while worktrees come and go */
	bool cleaning;	     /* not to be interrupted any more */
	int lock;
	struct revision revision[REVISIONS];
	const char *worktree[REVISIONS]; /* NULL: not there */
};

static const char letters[REVISIONS] = {'a', 'b'};

/* Where a git command runs. */
struct git_folder {
	const char *folder;
	const char *setting; /* of its environment, or NULL */
};

#define AT_TOP(r) ((struct git_folder){.folder = (r)->top})

/* git and builds get none of these: a hook's GIT_INDEX_FILE would lead them into the user's index.
 */
static const char *const git_variables[] = {
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", NULL};

/* Run git with these words.  *answer: what it said, without the last newline.  Its exit status or a
 * negative errno. */
#define git(r, place, answer, err, ...)                                                            \
	git_run(r, place, (const char *const[]){__VA_ARGS__, NULL}, answer, err)

static int git_run(struct revisions *r, struct git_folder place, const char *const *words,
	struct str *answer, struct err *err)
{
	const char *argv[GIT_WORDS] = {"git", "-c", "core.hooksPath=/dev/null", "-c",
		"core.fsmonitor=false", "-c", "advice.detachedHead=false", "-c", "gc.auto=0"};
	unsigned count = 9;
	io_auto int out = memfd_create("git", MFD_CLOEXEC);
	const struct helper_options how = {
		.argv = argv,
		.folder = place.folder,
		.settings = (const char *const[]){place.setting, NULL},
		.output_fd = out,
		.error_fd = out,
		.without = git_variables,
		.interrupted = r->cleaning ? NULL : r->options.interrupted,
	};
	char path[32];
	int status;

	while (*words && count < GIT_WORDS - 1)
		argv[count++] = *words++;
	argv[count] = NULL;
	status = helper_run(&how, err);
	str_clear(answer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	if (status >= 0)
		(void)io_read_at(AT_FDCWD, path, ANSWER_MAX, answer);
	while (answer->len && answer->at[answer->len - 1] == '\n')
		answer->at[--answer->len] = '\0';
	return status;
}

/* The last line of what git said, without its "fatal: ". */
static const char *complaint(const struct str *answer)
{
	const char *text = str_text(answer), *line = strrchr(text, '\n');

	line = line ? line + 1 : text;
	return str_starts(line, "fatal: ") ? line + 7 : line;
}

static int git_refuses(const struct str *answer, int status, struct err *err)
{
	if (status < 0)
		return status;
	if (status == HELPER_NOT_STARTED && !answer->len) {
		err_set(err, ERR_UNAVAILABLE, ENOENT, "git is not installed");
		err_hint(err, "install git, or compare two builds: assay ab ./old -- ./new");
		return -ENOENT;
	}
	err_set(err, ERR_TARGET, EIO, "git says: %.300s", complaint(answer));
	err_hint(err, "--run compares two revisions of the repository in this directory");
	return -EIO;
}

static int repository_find(struct revisions *r, struct err *err)
{
	str_auto struct str answer = {0};
	const struct git_folder here = {0};
	int status = git(r, here, &answer, err, "rev-parse", "--show-toplevel");

	if (status < 0 || status == HELPER_NOT_STARTED)
		return git_refuses(&answer, status, err);
	if (status) {
		err_set(err, ERR_USAGE, ENOENT, "this directory is not in a git work tree");
		err_hint(err,
			"--run compares two revisions of the repository in this directory; omit it "
			"to compare two programs");
		return -ENOENT;
	}
	r->top = arena_text(&r->arena, str_text(&answer), answer.len);
	status = git(r, here, &answer, err, "rev-parse", "--show-prefix");
	if (status)
		return git_refuses(&answer, status, err);
	r->prefix = arena_text(&r->arena, str_text(&answer), answer.len);
	status = git(r, here, &answer, err, "rev-parse", "--git-common-dir");
	if (status)
		return git_refuses(&answer, status, err);
	r->common = open(str_text(&answer), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

/* Take the lock of a scratch folder; -1 when somebody holds it or there is none. */
static int lock_take(const char *scratch, bool create)
{
	str_auto struct str path = {0};
	int fd;

	str_addf(&path, "%s/lock", scratch);
	fd = open(str_text(&path), O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Remove the scratch folder and the few files that are ours in it. */
static void scratch_remove(const char *scratch)
{
	static const char *const files[] = {"index", "a.log", "b.log", "lock"};

	for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++) {
		str_auto struct str path = {0};

		str_addf(&path, "%s/%s", scratch, files[i]);
		unlink(str_text(&path));
	}
	rmdir(scratch);
}

/* git stumbles over a worktree that another git is just adding or removing ("failed to read
 * commondir", 1 of 36 with three at once), so those of ours take turns. */
static void worktrees_lock(struct revisions *r, bool lock)
{
	if (r->common >= 0)
		while (flock(r->common, lock ? LOCK_EX : LOCK_UN) < 0 && errno == EINTR)
			;
}

static void worktree_remove(struct revisions *r, const char *path)
{
	str_auto struct str answer = {0};
	struct err ignored;

	(void)git(
		r, AT_TOP(r), &answer, &ignored, "worktree", "remove", "--force", "--force", path);
}

/* One line "worktree PATH" of git's list: ours, and of a tool that is dead?  Then both of its
 * worktrees go, because the lock that proves it goes with the first. */
static void stale_check(struct revisions *r, char *path)
{
	char *slash = strrchr(path, '/'), *name;
	struct stat there;
	int lock = -1;

	if (!slash || slash[1] == '\0' || slash[2] != '\0')
		return;
	*slash = '\0';
	name = strrchr(path, '/');
	if (!name || !str_starts(name + 1, PREFIX))
		return;
	if (stat(path, &there) == 0) {
		lock = lock_take(path, false);
		/* Without a lock file its owner is just cleaning up, or half begun. */
		if (lock < 0)
			return;
	}
	for (unsigned i = 0; i < REVISIONS; i++)
		worktree_remove(r, arena_format(&r->arena, "%s/%c", path, letters[i]));
	if (lock >= 0) {
		scratch_remove(path);
		close(lock);
	}
}

/* Remove what killed tools left behind in this repository. */
static void stale_remove(struct revisions *r)
{
	str_auto struct str answer = {0};
	struct err ignored;
	char *rest, *line;

	if (git(r, AT_TOP(r), &answer, &ignored, "worktree", "list", "--porcelain"))
		return;
	for (line = answer.len ? strtok_r(answer.at, "\n", &rest) : NULL; line;
		line = strtok_r(NULL, "\n", &rest))
		if (str_starts(line, "worktree "))
			stale_check(r, line + strlen("worktree "));
}

static int scratch_make(struct revisions *r, struct err *err)
{
	const char *base = getenv("TMPDIR");
	char *path = arena_format(&r->arena, "%s/" PREFIX "%d-XXXXXX",
		base && *base == '/' ? base : "/tmp", (int)getpid());

	if (mkdtemp(path)) {
		r->scratch = path;
		r->lock = lock_take(path, true);
		if (r->lock >= 0)
			return 0;
	}
	err_set(err, ERR_OUTPUT, errno, "cannot create a directory for the revisions (%s): %s",
		path, err_words(errno));
	err_hint(err, "set TMPDIR to a directory with enough space");
	return -err->code;
}

/* The tree as it stands as a commit: its files go into an index of ours, which starts as a copy of
 * the user's so that unchanged files are not read. */
static int snapshot(struct revisions *r, struct revision *one, struct err *err)
{
	str_auto struct str answer = {0}, bytes = {0};
	const struct git_folder own = {
		r->top, arena_format(&r->arena, "GIT_INDEX_FILE=%s/index", r->scratch)};
	const struct git_folder here = {.folder = r->top};
	const char *tree, *parent;
	int status = git(r, here, &answer, err, "rev-parse", "--git-path", "index");

	if (status)
		return git_refuses(&answer, status, err);
	if (io_read_at(AT_FDCWD,
		    *answer.at == '/' ? answer.at
				      : arena_format(&r->arena, "%s/%s", r->top, answer.at),
		    SIZE_MAX / 2, &bytes) >= 0) {
		status = io_replace(own.setting + strlen("GIT_INDEX_FILE="), IO_PRIVATE, bytes.at,
			bytes.len, err);
		if (status < 0)
			return status;
	}
	status = git(r, own, &answer, err, "add", "--all");
	if (status == 0)
		status = git(r, own, &answer, err, "write-tree");
	if (status)
		return git_refuses(&answer, status, err);
	tree = arena_text(&r->arena, str_text(&answer), answer.len);
	status = git(r, here, &answer, err, "rev-parse", "--verify", "--quiet", "HEAD");
	if (status < 0)
		return status;
	parent = status == 0 ? arena_text(&r->arena, str_text(&answer), answer.len) : NULL;
	status = git(r, here, &answer, err, "-c", "user.name=assay", "-c", "user.email=assay",
		"commit-tree", "-m", "the working tree", tree, parent ? "-p" : NULL, parent);
	if (status)
		return git_refuses(&answer, status, err);
	snprintf(one->commit, sizeof(one->commit), "%s", str_text(&answer));
	return 0;
}

static int revision_resolve(struct revisions *r, struct revision *one, struct err *err)
{
	str_auto struct str answer = {0};
	str_auto struct str asked = {0};
	int status;

	one->as_it_stands = str_equal(one->name, ".") || str_equal(one->name, "WORKTREE");
	if (one->as_it_stands)
		return snapshot(r, one, err);
	str_addf(&asked, "%s^{commit}", one->name);
	status = git(r, AT_TOP(r), &answer, err, "rev-parse", "--verify", "--quiet",
		"--end-of-options", str_text(&asked));
	if (status < 0)
		return status;
	if (status == 0 && answer.len < sizeof(one->commit)) {
		snprintf(one->commit, sizeof(one->commit), "%s", str_text(&answer));
		return 0;
	}
	err_set(err, ERR_USAGE, ENOENT, "git has no revision '%s' here", one->name);
	err_hint(err, "`git log --oneline --all` lists commits; . is the working tree");
	return -ENOENT;
}

static int revision_check_out(struct revisions *r, unsigned index, struct err *err)
{
	struct revision *one = &r->revision[index];
	char *path = arena_format(&r->arena, "%s/%c", r->scratch, letters[index]);
	str_auto struct str answer = {0};
	struct stat there;
	int status;

	if (r->options.progress)
		r->options.progress(r->options.context, "checking out", one->name);
	worktrees_lock(r, true);
	status = git(r, AT_TOP(r), &answer, err, "worktree", "add", "--detach", "--quiet", path,
		one->commit);
	worktrees_lock(r, false);
	r->worktree[index] = path; /* git may have begun it, even when it failed */
	if (status)
		return git_refuses(&answer, status, err);
	one->has_submodules = stat(arena_format(&r->arena, "%s/.gitmodules", path), &there) == 0;
	one->folder = arena_format(&r->arena, "%s/%s", path, r->prefix);
	if (stat(one->folder, &there) == 0)
		return 0;
	err_set(err, ERR_USAGE, ENOENT, "the revision '%s' has no directory %s", one->name,
		r->prefix);
	err_hint(err, "start from a directory that both revisions have");
	return -ENOENT;
}

/* The last lines of a log. */
static void log_tail(const char *path, struct str *ret_log)
{
	str_auto struct str text = {0};
	size_t at, lines = 0;

	if (io_read_at(AT_FDCWD, path, LOG_MAX, &text) < 0 || !text.len)
		return;
	for (at = text.len - 1; at > 0 && lines < LOG_LINES; at--)
		lines += text.at[at - 1] == '\n';
	at += lines == LOG_LINES;
	str_add_bytes(ret_log, text.at + at, text.len - at);
}

static int build_failed(struct revisions *r, const struct revision *one, const char *log,
	int status, struct err *err)
{
	const char *kept = arena_format(&r->arena, "%s.log", r->scratch);

	if (status == HELPER_NOT_STARTED)
		err_set(err, ERR_TARGET, ECHILD,
			"the build of '%s' calls a command that does not exist (status 127)",
			one->name);
	else
		err_set(err, ERR_TARGET, ECHILD, "the build of '%s' (%.12s) %s %d", one->name,
			one->commit,
			status > HELPER_KILLED ? "was killed by signal" : "exited with status",
			status > HELPER_KILLED ? status - HELPER_KILLED : status);
	if (rename(log, kept) == 0)
		err_hint(err, "its full output is in %s", kept);
	return -ECHILD;
}

static int revision_build(struct revisions *r, unsigned index, struct str *ret_log, struct err *err)
{
	const struct revision *one = &r->revision[index];
	const char *log = arena_format(&r->arena, "%s/%c.log", r->scratch, letters[index]);
	const char *argv[] = {"/bin/sh", "-c", r->options.build, NULL};
	io_auto int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	const struct helper_options how = {
		.argv = argv,
		.folder = one->folder,
		.output_fd = out,
		.error_fd = out,
		.without = git_variables,
		.interrupted = r->options.interrupted,
	};
	int status;

	if (out < 0) {
		int code = errno;

		err_set(err, ERR_OUTPUT, code, "cannot write %s: %s", log, err_words(code));
		err_hint(err, "free some space, or make the directory writable");
		return -code;
	}
	if (r->options.progress)
		r->options.progress(r->options.context, "building", one->name);
	status = helper_run(&how, err);
	if (status <= 0)
		return status;
	log_tail(log, ret_log);
	return build_failed(r, one, log, status, err);
}

static int revisions_make(struct revisions *r, struct str *ret_log, struct err *err)
{
	int status = repository_find(r, err);

	if (status < 0)
		return status;
	worktrees_lock(r, true);
	stale_remove(r);
	worktrees_lock(r, false);
	status = scratch_make(r, err);
	for (unsigned i = 0; status >= 0 && i < REVISIONS; i++)
		status = revision_resolve(r, &r->revision[i], err);
	for (unsigned i = 0; status >= 0 && i < REVISIONS; i++)
		status = revision_check_out(r, i, err);
	for (unsigned i = 0; status >= 0 && r->options.build && i < REVISIONS; i++)
		status = revision_build(r, i, ret_log, err);
	return status;
}

int revisions_open(const struct revisions_options *options, struct revisions **ret_revisions,
	struct str *ret_log, struct err *err)
{
	struct revisions *r = mem_new(1, sizeof(*r));
	int status;

	*r = (struct revisions){.options = *options, .lock = -1, .common = -1};
	for (unsigned i = 0; i < REVISIONS; i++)
		r->revision[i].name = options->names[i];
	status = revisions_make(r, ret_log, err);
	if (status < 0) {
		revisions_close(r);
		return status;
	}
	*ret_revisions = r;
	return 0;
}

const struct revision *revisions_at(const struct revisions *revisions, unsigned index)
{
	return &revisions->revision[index];
}

void revisions_close(struct revisions *revisions)
{
	if (!revisions)
		return;
	revisions->cleaning = true;
	worktrees_lock(revisions, true);
	for (unsigned i = 0; i < REVISIONS; i++)
		if (revisions->worktree[i])
			worktree_remove(revisions, revisions->worktree[i]);
	worktrees_lock(revisions, false);
	io_close_pointer(&revisions->common);
	if (revisions->scratch)
		scratch_remove(revisions->scratch);
	io_close_pointer(&revisions->lock);
	arena_done(&revisions->arena);
	free(revisions);
}
