/* store_test.c - what was flushed is there, whatever ends the writer; plain questions have answers.
 */
#include "store_fixture.h"

#include "analyze/profile_filter.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* ---- writing ---- */

static void a_loaded_run_equals_the_saved_one(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL, *empty = run_open(), *nothing = NULL;

	(void)state;
	run_put("run.assay", run);
	loaded = load("run.assay");
	assert_same_run(run, loaded);
	assert_false(is_there("run.assay-journal"));
	run_put("empty.assay", empty);
	nothing = load("empty.assay");
	assert_same_run(empty, nothing);
}

static void rows_flushed_in_pieces_make_the_same_run(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL;
	store_auto struct store *store = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(store_create("run.assay", &store, &err), 0);
	for (unsigned i = 0; i < 50; i++) {
		run_add_sample(run, &(struct sample_row){.time_ns = i, .event = 1, .stack = 1});
		run_add_note(run, "again", "the same text", "");
		assert_int_equal(store_flush(store, run, &err), 0);
	}
	run->events.at[0].status = EVENT_NOT_COUNTED; /* known only at the end */
	run->events.at[0].reason = run_intern(run, "never scheduled");
	run->fingerprint = run_intern(run, "f00d");
	run->partial = true; /* interrupted */
	assert_int_equal(store_finish(store, run, &err), 0);
	loaded = load("run.assay");
	assert_same_run(run, loaded);
}

static void a_store_that_was_not_finished_is_partial(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL;
	struct store *store = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(store_create("run.assay", &store, &err), 0);
	assert_int_equal(store_flush(store, run, &err), 0);
	run_add_sample(run, &(struct sample_row){.time_ns = 1});
	store_close(store);
	loaded = load("run.assay");
	assert_true(loaded->partial);
	assert_int_equal(loaded->samples.count, run->samples.count - 1);
	assert_int_equal(store_create("other.assay", &store, &err), 0);
	store_close(store); /* before its first flush: nothing to keep */
	assert_false(is_there("other.assay"));
	store_close(NULL);
}

static void an_old_run_stays_until_the_new_one_is_whole(void **state)
{
	run_auto struct run *old = make_run(), *new = make_run();
	run_auto struct run *before = NULL, *part = NULL, *after = NULL;
	store_auto struct store *store = NULL;
	struct err err = {0};

	(void)state;
	run_put("run.assay", old);
	write_file("run.assay-wal", "stale", 5);
	run_add_note(new, "new", "a new note", "");
	assert_int_equal(store_create("run.assay", &store, &err), 0);
	assert_int_equal(store_flush(store, new, &err), 0);
	unlink("run.assay-wal");
	before = load("run.assay");
	assert_same_run(old, before);
	part = load("run.assay.part");
	assert_true(part->partial);
	write_file("run.assay-journal", "stale", 5);
	assert_int_equal(store_finish(store, new, &err), 0);
	after = load("run.assay");
	assert_same_run(new, after);
	assert_false(is_there("run.assay.part"));
	assert_false(is_there("run.assay-journal"));
}

static void a_killed_replacement_is_cleared_by_the_next_one(void **state)
{
	run_auto struct run *run = make_run(), *after = NULL;
	struct store *store = NULL;
	struct err err = {0};

	(void)state;
	run_put("run.assay", run);
	assert_int_equal(store_create("run.assay", &store, &err), 0);
	assert_int_equal(store_flush(store, run, &err), 0);
	store_close(store);
	assert_true(is_there("run.assay.part"));
	run_put("run.assay", run);
	assert_false(is_there("run.assay.part"));
	after = load("run.assay");
	assert_same_run(run, after);
}

static void assert_not_overwritten(const char *path, const char *sentence)
{
	str_auto struct str before = {0}, after = {0};
	struct store *store = NULL;
	struct err err = {0};

	read_whole(path, &before);
	assert_true(store_create(path, &store, &err) < 0);
	assert_null(store);
	assert_int_equal(err.kind, ERR_OUTPUT);
	assert_string_equal(err.text, sentence);
	assert_string_equal(err.hint, "choose another file with -o");
	read_whole(path, &after);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.at, after.at, before.len);
}

static void a_file_that_is_not_a_run_is_never_overwritten(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL;
	struct store *store = NULL;
	struct err err = {0};
	sqlite3 *db;

	(void)state;
	write_file("notes.txt", "precious", 8);
	assert_not_overwritten("notes.txt", "would overwrite notes.txt, which is not an assay run");
	assert_int_equal(sqlite3_open("other.db", &db), SQLITE_OK);
	sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL);
	sqlite3_close(db);
	assert_not_overwritten("other.db", "would overwrite other.db, which is not an assay run");
	run_put("run.assay", run); /* a foreign file where the work would go */
	write_file("run.assay.part", "precious", 8);
	assert_int_equal(store_create("run.assay", &store, &err), -EEXIST);
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(store_create("folder", &store, &err), -EISDIR);
	assert_int_equal(store_create("/dev/null", &store, &err), -EEXIST);
	write_file("empty", "", 0);
	run_put("empty", run);
	loaded = load("empty");
	assert_same_run(run, loaded);
}

static void a_place_that_cannot_be_written_is_named_with_a_way_out(void **state)
{
	struct store *store = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(store_create("missing/run.assay", &store, &err), -ENOENT);
	assert_string_equal(err.text, "cannot write missing/run.assay: no such file or directory");
	assert_string_equal(err.hint, "choose another file with -o");
	assert_int_equal(err.kind, ERR_OUTPUT);
	assert_true(store_create("", &store, &err) < 0);
	assert_true(store_create("/proc/run.assay", &store, &err) < 0);
	assert_int_equal(err.kind, ERR_OUTPUT);
	assert_null(store);
}

static void a_name_that_sqlite_finds_special_is_a_file(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL;

	(void)state;
	run_put(":memory:", run);
	assert_true(is_there(":memory:"));
	loaded = load(":memory:");
	assert_same_run(run, loaded);
}

static void two_tools_never_write_the_same_file(void **state)
{
	run_auto struct run *run = make_run();
	store_auto struct store *first = NULL, *third = NULL;
	struct store *second = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(store_create("run.assay", &first, &err), 0);
	assert_int_equal(store_create("run.assay", &second, &err), -EBUSY);
	assert_non_null(strstr(err.text, "is being written by another assay"));
	assert_int_equal(store_flush(first, run, &err), 0);
	assert_int_equal(store_create("run.assay", &second, &err), -EBUSY);
	assert_int_equal(store_finish(first, run, &err), 0);
	store_close_pointer(&first);
	assert_int_equal(store_create("run.assay", &third, &err), 0); /* in run.assay.part */
	assert_int_equal(store_create("run.assay", &second, &err), -EBUSY);
	assert_null(second);
}

/* Another process that reads the file until `told` is closed; it is there when this returns. */
static pid_t start_reader(int told[2])
{
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		sqlite3 *db;

		close(told[1]);
		if (sqlite3_open("run.assay", &db) == SQLITE_OK &&
			sqlite3_exec(db, "BEGIN; SELECT * FROM sample", NULL, NULL, NULL) ==
				SQLITE_OK)
			(void)!write(ready[1], "x", 1);
		(void)!read(told[0], &byte, 1);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(told[0]);
	return child;
}

static void a_reader_in_the_way_only_delays_a_flush(void **state)
{
	run_auto struct run *run = make_run(), *before = NULL, *loaded = NULL;
	store_auto struct store *store = NULL;
	struct err err = {0};
	int told[2];
	pid_t reader;

	(void)state;
	assert_int_equal(store_create("run.assay", &store, &err), 0);
	assert_int_equal(store_flush(store, run, &err), 0);
	reader = start_reader(told);
	run_add_note(run, "late", "while someone reads", "");
	assert_int_equal(store_flush(store, run, &err), 0);
	before = load("run.assay");
	assert_int_equal(before->notes.count, run->notes.count - 1);
	close(told[1]);
	waitpid(reader, NULL, 0);
	assert_int_equal(store_finish(store, run, &err), 0);
	loaded = load("run.assay");
	assert_same_run(run, loaded);
}

/* ---- killed, full ---- */

enum { ROWS_IN_A_FLUSH = 700 };

static void write_until_killed(const char *path, int told)
{
	run_auto struct run *run = make_run();
	store_auto struct store *store = NULL;
	struct err err = {0};

	run->samples.count = 0;
	if (store_create(path, &store, &err) < 0 || store_flush(store, run, &err) < 0)
		_exit(1);
	for (uint64_t round = 1;; round++) {
		for (unsigned i = 0; i < ROWS_IN_A_FLUSH; i++)
			run_add_sample(run, &(struct sample_row){round, i, 1, 1, 1, 0, 0});
		run_add_count(run, &(struct count_row){1, 3, round, 1, 1, 1}); /* 3 never ends */
		if (store_flush(store, run, &err) < 0 ||
			write(told, &round, sizeof(round)) != sizeof(round))
			_exit(1);
	}
}

static void kill_a_writer(const char *path, unsigned wait_us)
{
	run_auto struct run *loaded = NULL;
	uint64_t round = 0, last;
	int told[2];
	pid_t child;

	assert_int_equal(pipe(told), 0);
	child = fork();
	if (child == 0)
		write_until_killed(path, told[1]);
	close(told[1]);
	assert_int_equal(read(told[0], &round, sizeof(round)), sizeof(round));
	nanosleep(&(struct timespec){.tv_nsec = wait_us * 1000}, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	while (read(told[0], &last, sizeof(last)) == sizeof(last))
		round = last; /* the last flush that is known to have ended */
	close(told[0]);
	loaded = load(path);
	assert_true(loaded->partial);
	assert_int_equal(loaded->samples.count % ROWS_IN_A_FLUSH, 0);
	assert_true(loaded->samples.count / ROWS_IN_A_FLUSH >= round);
	assert_true(loaded->samples.count / ROWS_IN_A_FLUSH <= round + 1);
	assert_int_equal(loaded->counts.count, loaded->samples.count / ROWS_IN_A_FLUSH + 3);
	assert_int_equal(loaded->counts.at[3].execution, 0); /* it had not ended */
}

static void a_killed_writer_leaves_every_flush_it_ended(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		str_auto struct str path = {0};

		str_addf(&path, "run%u.assay", i);
		kill_a_writer(path.at, (unsigned)rand_r(&seed) % 20000);
	}
}

static int mount_small(const char *folder, const char *options)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	return mkdir(folder, 0777) < 0 ? -1 : mount("tmpfs", folder, "tmpfs", 0, options);
}

/* Flush until it fails; the number of samples in the last flush that did not. */
static uint32_t fill(struct store *store, struct run *run, struct err *err)
{
	uint32_t flushed = 0;

	for (unsigned round = 0; round < 1000; round++) {
		for (unsigned i = 0; i < 1000; i++)
			run_add_sample(run, &(struct sample_row){.time_ns = i, .event = 1});
		if (store_flush(store, run, err) < 0)
			return flushed;
		flushed = run->samples.count;
	}
	fail_msg("the disk never filled");
	return 0;
}

static void a_full_disk_keeps_what_was_flushed_before(void **state)
{
	run_auto struct run *run = NULL, *loaded = NULL;
	struct store *store = NULL;
	struct err err = {0};
	uint32_t flushed;

	(void)state;
	if (mount_small("small", "size=400k") < 0) {
		print_message("# skip: mounting a small tmpfs needs root\n");
		skip();
	}
	run = make_run(); /* skip() jumps, and would leave it behind */
	assert_int_equal(store_create("small/run.assay", &store, &err), 0);
	flushed = fill(store, run, &err);
	assert_true(flushed > 1000);
	assert_int_equal(err.kind, ERR_OUTPUT);
	assert_non_null(strstr(err.text, "small/run.assay: no space left on the disk"));
	assert_non_null(strstr(err.hint, "free some space"));
	assert_non_null(strstr(err.hint, "what was stored before is in "));
	assert_int_equal(store_finish(store, run, &err), -ENOSPC);
	store_close(store);
	loaded = load("small/run.assay");
	assert_true(loaded->partial);
	assert_int_equal(loaded->samples.count, flushed);
	store = NULL;
	assert_int_equal(store_create("small/second.assay", &store, &err), -ENOSPC);
	assert_null(store);
	assert_false(is_there("small/second.assay"));
	assert_int_equal(umount("small"), 0);
}

static void a_file_size_limit_keeps_what_was_flushed_before(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL;
	struct rlimit old, small;
	struct store *store = NULL;
	struct err err = {0};
	uint32_t flushed;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){300 << 10, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(store_create("run.assay", &store, &err), 0);
	flushed = fill(store, run, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_true(flushed > 1000);
	assert_int_equal(err.kind, ERR_OUTPUT);
	store_close(store);
	loaded = load("run.assay");
	assert_true(loaded->partial);
	assert_int_equal(loaded->samples.count, flushed);
}

/* A copy of run.assay as a writer that was killed inside a transaction leaves it. */
static void leave_hot_journal(const char *copy, const char *copy_journal)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open("run.assay", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				 "PRAGMA cache_size = 1; BEGIN; DELETE FROM segment;"
				 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
				 "WHERE i < 9000) INSERT INTO sample SELECT i + 8,1,1,1,1,1,1,1 "
				 "FROM n",
				 NULL, NULL, NULL),
		SQLITE_OK);
	copy_file("run.assay", copy);
	copy_file("run.assay-journal", copy_journal);
	sqlite3_close(db);
}

static void a_transaction_cut_short_is_rolled_back_in_memory(void **state)
{
	run_auto struct run *run = make_run();
	str_auto struct str before = {0}, after = {0};

	(void)state;
	run_put("run.assay", run);
	leave_hot_journal("copy.assay", "copy.assay-journal");
	read_whole("copy.assay", &before);
	for (unsigned i = 0; i < 2; i++) { /* nothing was written, so it can be read again */
		run_auto struct run *loaded = load("copy.assay");

		assert_same_run(run, loaded);
	}
	read_whole("copy.assay", &after);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.at, after.at, before.len);
	assert_true(is_there("copy.assay-journal"));
}

static void a_journal_that_names_another_file_is_refused(void **state)
{
	/* As SQLite ends a journal of a transaction over several files: the name, its length, the
	 * sum of its bytes, the magic; rolling it back deletes the named file. */
	static const unsigned char magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	run_auto struct run *run = make_run();
	str_auto struct str journal = {0};
	struct run *loaded = NULL;
	struct err err = {0};

	(void)state;
	run_put("run.assay", run);
	leave_hot_journal("copy.assay", "copy.assay-journal");
	write_file("victim", "precious", 8);
	read_whole("copy.assay-journal", &journal);
	str_add_bytes(&journal, "\0\0\0\0victim\0\0\0\6\0\0\2\x8c", 18);
	str_add_bytes(&journal, (const char *)magic, sizeof(magic));
	write_file("copy.assay-journal", journal.at, journal.len);
	assert_int_equal(store_load("copy.assay", &loaded, &err), -EINVAL);
	assert_string_equal(
		err.text, "copy.assay is corrupt: the journal beside it is not from assay");
	assert_true(is_there("victim"));
}

static void a_folder_that_is_not_ours_is_named_with_a_way_out(void **state)
{
	enum { NOBODY = 65534 };
	run_auto struct run *run = make_run();
	struct store *store = NULL;
	struct err err = {0};
	uid_t user = geteuid();

	(void)state;
	if (user == 0) { /* who may write everywhere */
		assert_int_equal(chown(".", NOBODY, NOBODY), 0);
		assert_int_equal(seteuid(NOBODY), 0);
	}
	assert_int_equal(mkdir("theirs", 0555), 0);
	assert_int_equal(store_create("theirs/run.assay", &store, &err), -EACCES);
	assert_string_equal(err.text, "cannot write theirs/run.assay: permission denied");
	assert_int_equal(err.kind, ERR_OUTPUT);
	assert_int_equal(chmod("theirs", 0777), 0);
	run_put("run.assay", run);
	leave_hot_journal("theirs/copy.assay", "theirs/copy.assay-journal");
	assert_int_equal(chmod("theirs", 0555), 0);
	run_close(load("theirs/copy.assay")); /* reading writes nothing */
	assert_int_equal(chmod("theirs", 0777), 0);
	unlink("theirs/copy.assay");
	unlink("theirs/copy.assay-journal");
	assert_int_equal(seteuid(user), 0);
}

static void a_read_only_place_is_explained(void **state)
{
	run_auto struct run *run = NULL;
	struct store *store = NULL;
	struct err err = {0};

	(void)state;
	if (mount_small("small", "size=8m") < 0) {
		print_message("# skip: mounting a read-only tmpfs needs root\n");
		skip();
	}
	run = make_run(); /* skip() jumps, and would leave it behind */
	run_put("run.assay", run);
	leave_hot_journal("small/copy.assay", "small/copy.assay-journal");
	run_put("small/whole.assay", run);
	assert_int_equal(mount(NULL, "small", NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	run_close(load("small/copy.assay"));
	run_close(load("small/whole.assay"));
	assert_int_equal(store_create("small/new.assay", &store, &err), -EROFS);
	assert_string_equal(err.text, "cannot write small/new.assay: the file system is read-only");
	assert_int_equal(umount("small"), 0);
}

/* ---- the views ---- */

static void plain_questions_have_one_line_answers(void **state)
{
	static const struct {
		const char *sql, *answer;
	} cases[] = {
		/* twice stands two times in six of the eight stacks and counts once in each */
		{"SELECT function, module, file, self, self_share, total, total_share, event "
		 "FROM top_functions",
			"leaf|/bin/prog|prog.c|4|0.5|4|0.5|cycles\n"
			"twice|/bin/prog|prog.c|2|0.25|6|0.75|cycles\n"
			"main|/bin/prog|prog.c|1|0.125|7|0.875|cycles\n"
			"[no stack]|NULL|NULL|1|0.125|1|0.125|cycles\n"},
		{"SELECT file, line, function, self, total FROM top_lines",
			"prog.c|21|leaf|4|4\nprog.c|11|twice|2|6\nprog.c|1|main|1|7\n"
			"NULL|NULL|[no stack]|1|1\n"},
		{"SELECT module, self, total_share FROM top_modules",
			"/bin/prog|7|0.875\n[no stack]|1|0.125\n"},
		{"SELECT pid, tid, thread, samples, share FROM top_threads",
			"100|101|worker|8|1.0\n"},
		{"SELECT event, unit, execution, at_ns, value, raw, running_share, status, reason "
		 "FROM counts",
			"topdown|NULL|NULL|NULL|NULL|NULL|NULL|not supported|no such event\n"
			"cycles|NULL|1|NULL|12345678901234|12345678901234|1.0|counted|NULL\n"
			"energy|Joules|1|NULL|5.0|10|0.5|counted|NULL\n"
			"cycles|NULL|2|7|NULL|-1|0.0|counted|NULL\n"},
		{"SELECT execution, wall_ns, user_ns, exit_status, signal, interrupted, leftovers "
		 ", timed_out, steal_ns FROM executions",
			"1|3000|900|3|NULL|0|0|0|NULL\n2|2000|NULL|NULL|9|1|0|0|NULL\n"},
		{"SELECT command, warmup, pressure_ns, queue_ns, corrected_wall_ns FROM executions",
			"prog --fast|0|13000|1000|2000\nNULL|0|NULL|NULL|NULL\n"},
		{"SELECT * FROM fingerprint", "cpu|model|Ore \xff 9000\nos|lsm|denied\n"},
		{"SELECT * FROM capabilities", "pmu|no|a virtual machine|NULL\n"},
		{"SELECT * FROM warnings", "late|a text|NULL\n"},
		{"SELECT id, name, status FROM events WHERE \"group\" = 2", "2|energy|counted\n"},
		{"SELECT id, function, line, truncated, kernel FROM samples WHERE id IN (1, 8)",
			"1|main|1|1|1\n8|NULL|NULL|0|0\n"},
		{"SELECT id, parent, location FROM stack ORDER BY id",
			"1|NULL|1\n2|1|2\n3|2|2\n4|2|3\n"},
		{"SELECT stack, depth, location, frame, samples FROM chains WHERE stack = 4 "
		 "ORDER BY depth",
			"4|0|3|3|4\n4|1|3|2|4\n4|2|2|2|4\n4|3|1|1|4\n"},
		{"SELECT printf('%x', addr) FROM location WHERE id = 2", "ffffffff81000001\n"},
		{"SELECT key, value FROM meta WHERE key <> 'version'",
			"command|record\nfingerprint|\npartial|0\nschema|5\n"
			"started_ns|1700000000000000000\ntarget|prog --fast\n"},
		{"PRAGMA foreign_key_check", ""},
		{"PRAGMA integrity_check", "ok\n"},
	};
	run_auto struct run *run = make_run();
	sqlite3 *db;

	(void)state;
	run_put("run.assay", run);
	assert_int_equal(sqlite3_open("run.assay", &db), SQLITE_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		str_auto struct str answer = {0};

		assert_int_equal(sqlite3_exec(db, cases[i].sql, add_row, &answer, NULL), SQLITE_OK);
		assert_string_equal(str_text(&answer), cases[i].answer);
	}
	sqlite3_close(db);
}

/* As bench_run_uncorrected() says it of a run. */
static void a_run_that_cannot_be_corrected_has_no_corrected_wall_time_in_the_view(void **state)
{
	static const unsigned flags[] = {0, EXECUTION_NO_USAGE, EXECUTION_PARALLEL,
		EXECUTION_LEFTOVERS, EXECUTION_THROTTLED, EXECUTION_STEAL};
	run_auto struct run *run = run_open();
	str_auto struct str answer = {0};
	sqlite3 *db;

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		run_add_execution(run, &(struct execution_row){.wall_ns = 3000,
					       .queue_ns = 1000,
					       .flags = EXECUTION_QUEUE | flags[i]});
	run_add_execution(run, &(struct execution_row){.wall_ns = 3000, .queue_ns = 1000});
	run_add_execution(
		run, &(struct execution_row){
			     .wall_ns = 1000, .queue_ns = 1000, .flags = EXECUTION_QUEUE});
	run_put("run.assay", run);
	assert_int_equal(sqlite3_open("run.assay", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT corrected_wall_ns FROM executions", add_row,
				 &answer, NULL),
		SQLITE_OK);
	assert_string_equal(str_text(&answer), "2000\nNULL\nNULL\nNULL\nNULL\n2000\nNULL\nNULL\n");
	sqlite3_close(db);
}

/* Thread 1 has one row of three samples, thread 2 one of a period that nobody knew. */
static void a_merged_row_without_a_period_is_one_sample_in_every_view(void **state)
{
	static const char *const queries[] = {"SELECT samples, share FROM top_threads",
		"SELECT self, self_share FROM top_functions"};
	run_auto struct run *run = run_open();
	struct profile_samples sums = {0};
	struct err err = {0};
	sqlite3 *db;

	(void)state;
	run_add_event(run,
		&(struct event_row){
			.name = run_intern(run, "samples"), .scale = 1, .flags = EVENT_MERGED});
	for (unsigned i = 0; i < 2; i++) {
		row_id function = run_add_function(
			run, &(struct function_row){.name = run_intern(run, i ? "b" : "a")});
		row_id frame = run_add_frame(run, &(struct frame_row){.function = function});
		row_id location = run_add_location(run, &(struct location_row){.frame = frame});
		row_id thread = run_add_thread(run, &(struct thread_row){1, 1 + i, 0});

		run_add_sample(
			run, &(struct sample_row){.event = 1,
				     .thread = thread,
				     .stack = run_add_stack(run, &(struct stack_row){0, location}),
				     .period = i ? 0 : 3});
	}
	run_put("run.assay", run);
	assert_int_equal(profile_samples_take(run, &(struct profile_filter){0}, &sums, &err), 0);
	assert_int_equal(sums.by_thread[1].weight, 3); /* and so does assay report */
	assert_int_equal(sums.total.weight, 4);
	profile_samples_done(&sums);
	assert_int_equal(sqlite3_open("run.assay", &db), SQLITE_OK);
	for (unsigned i = 0; i < 2; i++) {
		str_auto struct str answer = {0};

		assert_int_equal(sqlite3_exec(db, queries[i], add_row, &answer, NULL), SQLITE_OK);
		assert_string_equal(str_text(&answer), "3|0.75\n1|0.25\n");
	}
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(a_loaded_run_equals_the_saved_one),
		in_folder(rows_flushed_in_pieces_make_the_same_run),
		in_folder(a_store_that_was_not_finished_is_partial),
		in_folder(an_old_run_stays_until_the_new_one_is_whole),
		in_folder(a_killed_replacement_is_cleared_by_the_next_one),
		in_folder(a_file_that_is_not_a_run_is_never_overwritten),
		in_folder(a_place_that_cannot_be_written_is_named_with_a_way_out),
		in_folder(a_folder_that_is_not_ours_is_named_with_a_way_out),
		in_folder(a_name_that_sqlite_finds_special_is_a_file),
		in_folder(two_tools_never_write_the_same_file),
		in_folder(a_reader_in_the_way_only_delays_a_flush),
		in_folder(a_killed_writer_leaves_every_flush_it_ended),
		in_folder(a_full_disk_keeps_what_was_flushed_before),
		in_folder(a_file_size_limit_keeps_what_was_flushed_before),
		in_folder(a_transaction_cut_short_is_rolled_back_in_memory),
		in_folder(a_journal_that_names_another_file_is_refused),
		in_folder(a_read_only_place_is_explained),
		in_folder(plain_questions_have_one_line_answers),
		in_folder(a_run_that_cannot_be_corrected_has_no_corrected_wall_time_in_the_view),
		in_folder(a_merged_row_without_a_period_is_one_sample_in_every_view),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
