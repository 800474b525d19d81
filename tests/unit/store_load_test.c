/* store_load_test.c - stacks and older files are read; what is foreign, newer, cut, damaged or
 * lying is refused, and nothing crashes. */
#include "store_fixture.h"

#include <errno.h>
#include <sqlite3.h>

/* ---- reading what is not a run ---- */

static void assert_refused(const char *path, const char *sentence)
{
	struct run *run = NULL;
	struct err err = {0};

	assert_true(store_load(path, &run, &err) < 0);
	assert_null(run);
	assert_int_equal(err.kind, ERR_USAGE);
	if (!strstr(err.text, sentence))
		print_message("# %s\n", err.text);
	assert_non_null(strstr(err.text, sentence));
}

static void edit(const char *path, const char *sql)
{
	char *message = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		print_message("# %s: %s\n", sql, message);
	assert_null(message);
	sqlite3_close(db);
}

static void a_foreign_file_is_refused_with_one_sentence(void **state)
{
	run_auto struct run *run = make_run();

	(void)state;
	assert_refused("none", "cannot read none: no such file or directory");
	assert_refused(".", "cannot read .: it is a directory");
	assert_refused("/dev/null", "is not a regular file");
	assert_int_equal(mkfifo("fifo", 0666), 0);
	assert_refused("fifo", "fifo is not a regular file");
	write_file("empty", "", 0);
	assert_refused("empty", "empty is empty");
	write_file("short", "SQLite format 3", 16);
	assert_refused("short", "short is not an assay run file");
	write_file("text", "just some text\n", 15);
	assert_refused("text", "text is not an assay run file");
	edit("other.db", "CREATE TABLE t(x)");
	assert_refused("other.db", "other.db is a SQLite database, but not an assay run");
	run_put("run.assay", run);
	copy_file("run.assay", "newer.assay");
	edit("newer.assay", "PRAGMA user_version = 7");
	assert_refused("newer.assay",
		"newer.assay was written by a newer assay (schema 7, this one reads up to 5)");
	copy_file("run.assay", "zero.assay");
	edit("zero.assay", "PRAGMA user_version = 0");
	assert_refused("zero.assay", "zero.assay is corrupt");
	edit("run.assay", "PRAGMA journal_mode = WAL");
	assert_refused("run.assay", "WAL mode");
}

/* Chains longer than a row of the file, branches anywhere, locations of one to four digits and
 * none at all, flushed at any moment. */
static void stacks_of_every_shape_come_back_as_they_were(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL;
	store_auto struct store *store = NULL;
	str_auto struct str answer = {0}, sums = {0};
	struct err err = {0};
	uint64_t chance = 7, parents = 0, locations = 0;
	sqlite3 *db;

	(void)state;
	for (unsigned i = 0; i < 1234; i++)
		run_add_location(run, &(struct location_row){.addr = i});
	assert_int_equal(store_create("run.assay", &store, &err), 0);
	for (unsigned i = 0; i < 5000; i++) {
		chance = chance * 6364136223846793005 + 1442695040888963407;
		run_add_stack(run,
			&(struct stack_row){(chance >> 40) % 100
						    ? run->stacks.count
						    : (row_id)(chance >> 44) % run->stacks.count,
				(row_id)(chance >> 50) % (i < 2000 ? 9 : 1235)});
		if ((chance >> 33) % 300 == 0)
			assert_int_equal(store_flush(store, run, &err), 0);
	}
	assert_int_equal(store_finish(store, run, &err), 0);
	loaded = load("run.assay");
	assert_same_run(run, loaded);
	for (row_id id = 1; id <= run->stacks.count; id++) {
		parents += (uint64_t)id * run->stacks.at[id - 1].parent;
		locations += (uint64_t)id * run->stacks.at[id - 1].location;
	}
	str_addf(&sums, "%u|%llu|%llu\n", run->stacks.count, (unsigned long long)parents,
		(unsigned long long)locations);
	assert_int_equal(sqlite3_open("run.assay", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				 "SELECT count(*), sum(id * ifnull(parent, 0)), "
				 "sum(id * ifnull(location, 0)) FROM stack",
				 add_row, &answer, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	assert_string_equal(str_text(&answer), sums.at);
}

/* The run as the assay of schema 4 wrote it: without the time in the run queue. */
static void save_schema_4(const char *path, const struct run *run)
{
	run_put(path, run);
	edit(path, "DROP VIEW executions; ALTER TABLE execution DROP COLUMN queue_ns; "
		   "PRAGMA user_version = 4");
}

static void a_file_of_schema_4_has_no_time_in_the_run_queue_and_is_read(void **state)
{
	run_auto struct run *run = make_run(), *back = NULL;
	struct execution_row then, now;

	(void)state;
	save_schema_4("old.assay", run);
	back = load("old.assay");
	then = run_execution(run, 1);
	now = run_execution(back, 1);
	assert_int_equal(now.queue_ns, 0);
	now.queue_ns = then.queue_ns;
	assert_memory_equal(&now, &then, sizeof(now));
	edit("old.assay", "PRAGMA user_version = 5");
	assert_refused("old.assay", "its table execution");
}

/* The run as the assay of schema 3 wrote it: a row for each stack. */
static void save_schema_3(const char *path, const struct run *run)
{
	save_schema_4(path, run);
	edit(path, "CREATE TABLE copy AS SELECT * FROM stack ORDER BY id; DROP VIEW stack; "
		   "CREATE TABLE stack(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES stack, "
		   "location INTEGER REFERENCES location); INSERT INTO stack SELECT * FROM copy; "
		   "DROP TABLE copy; DROP TABLE segment; PRAGMA writable_schema = ON; "
		   "UPDATE sqlite_master SET sql = replace(sql, 'stack INTEGER', "
		   "'stack INTEGER REFERENCES stack') WHERE name = 'sample'; "
		   "PRAGMA user_version = 3");
}

static void a_file_of_schema_3_has_a_row_for_each_stack_and_is_read(void **state)
{
	run_auto struct run *run = make_run(), *back = NULL;

	(void)state;
	save_schema_3("old.assay", run);
	back = load("old.assay");
	run->executions.at[0].queue_us = 0; /* schema 5 */
	assert_same_run(run, back);
	edit("old.assay", "UPDATE stack SET parent = 4 WHERE id = 2");
	assert_refused("old.assay", "parent of row 2 in table stack");
}

static void a_file_of_schema_1_has_no_experiments_and_no_facts_and_is_read(void **state)
{
	run_auto struct run *run = make_run(), *back = NULL;
	struct err err = {0};

	(void)state;
	save_schema_3("old.assay", run);
	edit("old.assay", "DROP VIEW places; DROP VIEW facts; DROP VIEW spans; DROP TABLE place; "
			  "DROP TABLE fact; DROP TABLE span; DROP TABLE claim; "
			  "DROP TABLE visit; DROP TABLE experiment; DROP TABLE progress_point; "
			  "DROP TABLE causal_target; PRAGMA user_version = 1");
	assert_int_equal(store_load("old.assay", &back, &err), 0);
	assert_int_equal(back->events.count, run->events.count);
	assert_int_equal(back->experiments.count, 0);
	assert_int_equal(back->facts.count, 0);
	edit("old.assay", "PRAGMA user_version = 2");
	assert_refused("old.assay", "its table causal_target is missing");
}

static void a_truncated_file_is_refused_at_every_length(void **state)
{
	run_auto struct run *run = make_run();
	str_auto struct str bytes = {0};

	(void)state;
	run_put("run.assay", run);
	read_whole("run.assay", &bytes);
	for (size_t len = 1024; len < bytes.len; len += 1024) {
		struct run *loaded = NULL;
		struct err err = {0};

		write_file("cut.assay", bytes.at, len);
		assert_refused("cut.assay", "cut.assay is truncated: ");
		assert_int_equal(store_load_bytes(bytes.at, len, "cut", &loaded, &err), -EINVAL);
	}
	run_add_sample(run, &(struct sample_row){0}); /* the test can fail: the whole one loads */
	run_close(load("run.assay"));
}

static void flipped_bytes_never_do_more_than_be_refused(void **state)
{
	run_auto struct run *run = make_run();
	str_auto struct str bytes = {0};
	unsigned refused = 0, tries = 0;

	(void)state;
	run_put("run.assay", run);
	read_whole("run.assay", &bytes);
	for (size_t at = 0; at < bytes.len; at += at < 100 ? 1 : 67) {
		run_auto struct run *loaded = NULL;
		struct err err = {0};

		bytes.at[at] = (char)~bytes.at[at];
		if (store_load_bytes(bytes.at, bytes.len, "flipped", &loaded, &err) < 0) {
			assert_int_equal(err.kind, ERR_USAGE);
			assert_true(err.text[0] != '\0');
			refused++;
		}
		tries++;
		bytes.at[at] = (char)~bytes.at[at];
	}
	assert_true(refused > tries / 20);
}

/* What somebody may have done to a run file, and what is said about it. */
static const struct {
	const char *sql, *sentence;
} lies[] = {
	{"DROP TABLE sample", "its table sample is missing"},
	{"DROP TABLE meta", "its table meta is missing"},
	{"DROP TABLE note; CREATE VIEW note AS SELECT 1 AS id", "its table note is missing"},
	{"ALTER TABLE sample ADD COLUMN x DEFAULT 1", "its table sample is another one"},
	{"DELETE FROM sample WHERE id = 2", "the id of row 3 in table sample"},
	{"UPDATE sample SET event = 9 WHERE id = 5", "event of row 5 in table sample"},
	{"UPDATE sample SET stack = -1", "stack of row 1 in table sample"},
	{"UPDATE sample SET stack = 0", "stack of row 1 in table sample"},
	{"UPDATE sample SET stack = 4294967297", "stack of row 1 in table sample"},
	{"UPDATE execution SET flags = 16777216 WHERE id = 2", "flags of row 2 in table execution"},
	{"WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 65536)"
	 "INSERT INTO command SELECT i, 1 FROM n; UPDATE execution SET command = 65536",
		"command of row 1 in table execution"},
	{"UPDATE sample SET cpu = 1 << 32", "cpu of row 1 in table sample"},
	{"UPDATE sample SET period = 'x'", "period of row 1 in table sample"},
	{"DROP TABLE segment", "its table segment is missing"},
	{"UPDATE segment SET parent = id", "parent of row 1 in table segment"},
	{"UPDATE segment SET parent = 4 WHERE id = 4", "parent of row 4 in table segment"},
	{"UPDATE segment SET parent = 0", "parent of row 1 in table segment"},
	{"UPDATE segment SET parent = 'x'", "parent of row 1 in table segment"},
	{"UPDATE segment SET id = 5 WHERE id = 4", "the id of row 5 in table segment"},
	{"UPDATE segment SET width = 0", "width of row 1 in table segment"},
	{"UPDATE segment SET width = 11", "width of row 1 in table segment"},
	{"UPDATE segment SET width = 2", "locations of row 1 in table segment"},
	{"UPDATE segment SET locations = ''", "locations of row 1 in table segment"},
	{"UPDATE segment SET locations = '142'", "locations of row 1 in table segment"},
	{"UPDATE segment SET locations = '1-2'", "locations of row 1 in table segment"},
	{"UPDATE segment SET locations = x'313232'", "locations of row 1 in table segment"},
	{"UPDATE segment SET width = 10, locations = '4294967297'",
		"locations of row 1 in table segment"},
	{"UPDATE event SET status = 5", "status of row 1 in table event"},
	{"UPDATE event SET scale = 'x'", "scale of row 1 in table event"},
	{"UPDATE frame SET outer = 3", "outer of row 1 in table frame"},
	{"UPDATE execution SET signal = 1 << 31", "signal of row 1 in table execution"},
	{"UPDATE execution SET command = 2", "command of row 1 in table execution"},
	{"UPDATE count SET execution = 3", "execution of row 1 in table count"},
	{"UPDATE note SET text = 1000", "text of row 1 in table note"},
	{"UPDATE text SET text = 'same'", "its texts are damaged"},
	{"UPDATE text SET text = '' WHERE id = 3", "its texts are damaged"},
	{"UPDATE text SET text = x'00' WHERE id = 3", "its texts are damaged"},
	{"UPDATE text SET text = CAST(x'610062' AS TEXT) WHERE id = 3", "its texts are damaged"},
	{"UPDATE meta SET value = 2 WHERE key = 'partial'", "whether it is complete"},
	{"DELETE FROM meta", "whether it is complete"},
	{"UPDATE meta SET value = 2 WHERE key = 'command'", "its table meta is damaged"},
	{"PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = "
	 "(SELECT rootpage FROM sqlite_master WHERE name = 'text') WHERE name = 'segment'",
		"is corrupt"},
	{"PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE x(' "
	 "WHERE name = 'segment'",
		"is corrupt"},
};

static void a_run_that_lies_is_refused(void **state)
{
	run_auto struct run *run = make_run();

	(void)state;
	run_put("run.assay", run);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		copy_file("run.assay", "lie.assay");
		edit("lie.assay", lies[i].sql);
		assert_refused("lie.assay", lies[i].sentence);
	}
}

static void values_too_large_for_a_run_are_loaded_as_the_largest_and_counted(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL;
	uint64_t saturated = 0;

	(void)state;
	run_put("run.assay", run);
	edit("run.assay",
		"UPDATE execution SET major_faults = 1 << 32, max_rss_bytes = 2048 + 600");
	loaded = load("run.assay");
	assert_int_equal(run_execution(loaded, 1).major_faults, UINT32_MAX);
	assert_int_equal(run_execution(loaded, 1).max_rss_bytes, 3072);
	assert_true(run_get_quality(loaded, "saturated_values", &saturated));
	assert_int_equal(saturated, loaded->executions.count);
}

static void what_a_user_added_to_a_run_does_no_harm(void **state)
{
	run_auto struct run *run = make_run(), *loaded = NULL;

	(void)state;
	run_put("run.assay", run);
	edit("run.assay", "CREATE TABLE mine(x); CREATE INDEX by_time ON sample(time_ns DESC);"
			  "CREATE TRIGGER t AFTER INSERT ON sample BEGIN DELETE FROM segment; END;"
			  "CREATE VIEW v AS SELECT * FROM v2; VACUUM");
	loaded = load("run.assay");
	assert_same_run(run, loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(a_foreign_file_is_refused_with_one_sentence),
		in_folder(stacks_of_every_shape_come_back_as_they_were),
		in_folder(a_file_of_schema_4_has_no_time_in_the_run_queue_and_is_read),
		in_folder(a_file_of_schema_3_has_a_row_for_each_stack_and_is_read),
		in_folder(a_file_of_schema_1_has_no_experiments_and_no_facts_and_is_read),
		in_folder(a_truncated_file_is_refused_at_every_length),
		in_folder(flipped_bytes_never_do_more_than_be_refused),
		in_folder(a_run_that_lies_is_refused),
		in_folder(values_too_large_for_a_run_are_loaded_as_the_largest_and_counted),
		in_folder(what_a_user_added_to_a_run_does_no_harm),
	};

	return cmocka_run_group_tests_name("store_load", tests, NULL, NULL);
}
