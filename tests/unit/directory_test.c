/* directory_test.c - the evidence directory: made once, hashed, verified; its manifest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/job.h"
#include "base/io.h"
#include "model/directory.h"
#include "render/job.h"

struct fixture {
	char folder[64];
	struct directory directory;
	struct manifest manifest;
	struct err err;
};

static void put(struct fixture *f, const char *name, const char *text)
{
	assert_int_equal(io_replace(directory_path(&f->directory, name), IO_SHARED, text,
				 strlen(text), &f->err),
		0);
}

static void keep(struct fixture *f, enum manifest_state state)
{
	f->manifest.state = state;
	assert_int_equal(directory_hash(&f->directory, &f->manifest, &f->err), 0);
	assert_int_equal(directory_keep(&f->directory, &f->manifest, &f->err), 0);
}

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->folder, sizeof(f->folder), "/tmp/assay-directory.XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	assert_int_equal(chdir(f->folder), 0);
	assert_int_equal(directory_create(&f->directory, NULL, 1800000000000000000, &f->err), 0);
	manifest_init(&f->manifest);
	f->manifest.run_id = f->directory.id;
	f->manifest.target = "./prog 'a b'";
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", f->folder);
	directory_done(&f->directory);
	manifest_done(&f->manifest);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a folder of ours */
	free(f);
	return 0;
}

static void a_file_is_hashed_once(void **state)
{
	struct fixture *f = *state;
	char before[SHA256_TEXT];

	put(f, "b", "first");
	assert_int_equal(directory_hash(&f->directory, &f->manifest, &f->err), 0);
	assert_int_equal(f->manifest.files.count, 1);
	strcpy(before, f->manifest.files.at[0].sha256);
	put(f, "b", "other bytes, which nobody reads again");
	put(f, "a", "second");
	assert_int_equal(directory_hash(&f->directory, &f->manifest, &f->err), 0);
	assert_int_equal(f->manifest.files.count, 2);
	assert_string_equal(f->manifest.files.at[0].path, "a");
	assert_int_equal(f->manifest.files.at[0].bytes, 6);
	assert_string_equal(f->manifest.files.at[1].sha256, before);
}

static void a_file_that_cannot_be_hashed_leaves_no_row_without_a_hash(void **state)
{
	enum { NOBODY = 65534 };
	struct fixture *f = *state;
	uid_t user = geteuid();
	int r;

	put(f, "a", "first");
	put(f, "b", "second");
	put(f, "c", "third");
	assert_int_equal(chmod(directory_path(&f->directory, "b"), 0), 0);
	assert_int_equal(chmod(f->folder, 0755) | chmod(f->directory.root, 0755) |
				 chmod(f->directory.path, 0755),
		0);
	if (user == 0) /* who may read everything */
		assert_int_equal(seteuid(NOBODY), 0);
	r = directory_hash(&f->directory, &f->manifest, &f->err);
	assert_int_equal(seteuid(user), 0);
	assert_int_equal(r, -EACCES);
	assert_non_null(strstr(f->err.text, "/b back: permission denied"));
	assert_int_equal(f->manifest.files.count, 0);
}

static void two_runs_of_the_same_second_have_two_directories(void **state)
{
	struct fixture *f = *state;
	struct directory again;

	assert_int_equal(directory_create(&again, NULL, 1800000000000000000, &f->err), 0);
	assert_string_not_equal(again.path, f->directory.path);
	directory_done(&again);
}

static void a_directory_with_something_in_it_is_never_written_to(void **state)
{
	struct fixture *f = *state;
	struct directory named;

	assert_int_equal(mkdir("mine", 0777), 0);
	assert_int_equal(directory_create(&named, "mine/", 1, &f->err), 0); /* empty: taken */
	assert_string_equal(named.path, "mine");
	assert_string_equal(named.id, "mine");
	assert_null(named.root);
	directory_done(&named);
	assert_int_equal(io_replace("mine/note", IO_SHARED, "x", 1, &f->err), 0);
	assert_int_equal(directory_create(&named, "mine", 1, &f->err), -EEXIST);
	assert_int_equal(f->err.kind, ERR_USAGE);
	directory_done(&named);
}

static void latest_follows_and_resolves(void **state)
{
	struct fixture *f = *state;
	arena_auto struct arena arena = {0};
	struct directory second;
	const char *path;

	assert_true(directory_resolve("latest", &arena, &path, &f->err) < 0);
	assert_int_equal(directory_set_latest(&f->directory, &f->err), 0);
	assert_int_equal(directory_create(&second, NULL, 1900000000000000000, &f->err), 0);
	assert_int_equal(directory_set_latest(&second, &f->err), 0);
	assert_int_equal(directory_resolve("latest", &arena, &path, &f->err), 0);
	assert_non_null(strstr(path, second.id));
	put(f, "file", "x");
	errno = EIO; /* left over from something else */
	assert_int_equal(
		directory_resolve(directory_path(&f->directory, "file"), &arena, &path, &f->err),
		-ENOTDIR);
	directory_done(&second);
}

static void a_whole_directory_verifies(void **state)
{
	struct fixture *f = *state;
	directory_check_auto struct directory_check check;

	put(f, "report.md", "# report\n");
	assert_int_equal(directory_add_folder(&f->directory, "golden", &f->err), 0);
	put(f, "golden/stdout", "42\n");
	keep(f, MANIFEST_COMPLETE);
	assert_int_equal(directory_check(f->directory.path, &check, &f->err), 0);
	assert_int_equal(check.faults, 0);
	assert_int_equal(check.files, 2);
	assert_int_equal(check.findings.count, 0);
}

static void a_changed_byte_a_lost_file_and_a_new_one_are_found(void **state)
{
	struct fixture *f = *state;
	directory_check_auto struct directory_check check;

	put(f, "a", "one\n");
	put(f, "b", "two\n");
	keep(f, MANIFEST_COMPLETE);
	put(f, "a", "onE\n");
	put(f, "c", "three\n");
	assert_int_equal(unlink(directory_path(&f->directory, "b")), 0);
	assert_int_equal(directory_check(f->directory.path, &check, &f->err), 0);
	assert_int_equal(check.findings.count, 3);
	assert_int_equal(check.findings.at[0].fault, DIRECTORY_CHANGED);
	assert_int_equal(check.findings.at[1].fault, DIRECTORY_MISSING);
	assert_int_equal(check.findings.at[2].fault, DIRECTORY_ADDED);
	assert_int_equal(check.faults, 2); /* a file more is no fault */
}

static void a_run_file_that_does_not_load_is_told(void **state)
{
	struct fixture *f = *state;
	directory_check_auto struct directory_check check;

	put(f, "profile.assay", "this is no database");
	keep(f, MANIFEST_COMPLETE);
	assert_int_equal(directory_check(f->directory.path, &check, &f->err), 0);
	assert_int_equal(check.faults, 1);
	assert_int_equal(check.findings.at[0].fault, DIRECTORY_UNREADABLE);
}

static void a_pipe_in_place_of_a_file_is_told_and_not_waited_for(void **state)
{
	struct fixture *f = *state;
	directory_check_auto struct directory_check check;

	put(f, "a", "one\n");
	put(f, "b", "two\n");
	keep(f, MANIFEST_COMPLETE);
	assert_int_equal(unlink(directory_path(&f->directory, "a")), 0);
	assert_int_equal(unlink(directory_path(&f->directory, "b")), 0);
	assert_int_equal(mkfifo(directory_path(&f->directory, "a"), 0666), 0);
	assert_int_equal(symlink("/etc/passwd", directory_path(&f->directory, "b")), 0);
	assert_int_equal(directory_check(f->directory.path, &check, &f->err), 0);
	assert_int_equal(check.faults, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(check.findings.at[i].fault, DIRECTORY_UNREADABLE);
		assert_string_equal(check.findings.at[i].detail, "it is not a regular file");
	}
}

static void a_directory_whose_maker_was_killed_is_partial(void **state)
{
	struct fixture *f = *state;
	directory_check_auto struct directory_check check;
	arena_auto struct arena arena = {0};
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};
	struct job_check_view view;

	f->manifest.pid = 4711;
	assert_int_equal(directory_keep(&f->directory, &f->manifest, &f->err), 0);
	assert_int_equal(directory_check(f->directory.path, &check, &f->err), 0);
	job_check_view_make(&check, "d", &arena, &view);
	assert_int_equal(view.result, JOB_CHECK_PARTIAL);
	job_check_text(&paper, &view);
	assert_non_null(strstr(text.at, "4711"));
}

static void a_manifest_comes_back_as_it_was_written(void **state)
{
	struct fixture *f = *state;
	manifest_auto struct manifest again;
	str_auto struct str text = {0}, second = {0};

	put(f, "a", "one\n");
	vec_push(&f->manifest.phases, (struct manifest_phase){
					      .name = "profile",
					      .command = "assay record -- ./prog 'a b'",
					      .file = "profile.assay",
					      .reason = "it \"failed\"\n",
					      .fix = "",
					      .outcome = PHASE_WATCHED,
					      .status = 130,
					      .planned_s = 2.5,
					      .seconds = (double)NAN,
				      });
	f->manifest.promise.gain = 0.25;
	f->manifest.round = 3;
	keep(f, MANIFEST_COMPLETE);
	manifest_write(&f->manifest, &text);
	assert_int_equal(manifest_read(text.at, text.len, "x", &again, &f->err), 0);
	manifest_write(&again, &second);
	assert_string_equal(text.at, second.at);
	assert_int_equal(again.phases.at[0].outcome, PHASE_WATCHED);
	assert_true(isnan(again.phases.at[0].seconds));
}

static void a_manifest_that_leads_out_of_its_directory_is_refused(void **state)
{
	static const char *const paths[] = {"/etc/passwd", "../x", "a/../../x", "..", "a/..", ""};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		manifest_auto struct manifest again;
		str_auto struct str text = {0};

		f->manifest.files.count = 0;
		vec_push(&f->manifest.files,
			(struct manifest_file){.path = paths[i],
				.sha256 = "0123456789012345678901234567890123456789012345678901234"
					  "567890123"});
		manifest_write(&f->manifest, &text);
		assert_int_equal(manifest_read(text.at, text.len, "x", &again, &f->err), -EINVAL);
		assert_int_equal(again.files.count, 0);
	}
}

static void what_is_no_manifest_is_refused_with_a_way_out(void **state)
{
	static const char *const texts[] = {"", "{}", "[]", "null",
		"{\"schema\":\"assay.manifest/2\",\"state\":\"complete\",\"phases\":[],\"files\":[]}",
		"{\"schema\":\"assay.manifest/1\",\"state\":\"fine\",\"phases\":[],\"files\":[]}",
		"{\"schema\":\"assay.manifest/1\",\"state\":\"complete\",\"files\":[]}"};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		manifest_auto struct manifest manifest;

		f->err = (struct err){0};
		assert_int_equal(manifest_read(texts[i], strlen(texts[i]), "x", &manifest, &f->err),
			-EINVAL);
		assert_int_equal(f->err.kind, ERR_USAGE);
		assert_true(*f->err.hint);
	}
	assert_true(directory_load(f->directory.path, &f->manifest, &f->err) < 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_hashed_once),
		TEST(a_file_that_cannot_be_hashed_leaves_no_row_without_a_hash),
		TEST(two_runs_of_the_same_second_have_two_directories),
		TEST(a_directory_with_something_in_it_is_never_written_to),
		TEST(latest_follows_and_resolves),
		TEST(a_whole_directory_verifies),
		TEST(a_changed_byte_a_lost_file_and_a_new_one_are_found),
		TEST(a_run_file_that_does_not_load_is_told),
		TEST(a_pipe_in_place_of_a_file_is_told_and_not_waited_for),
		TEST(a_directory_whose_maker_was_killed_is_partial),
		TEST(a_manifest_comes_back_as_it_was_written),
		TEST(a_manifest_that_leads_out_of_its_directory_is_refused),
		TEST(what_is_no_manifest_is_refused_with_a_way_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
