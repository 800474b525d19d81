/* tune_test.c - settings are changed in order, remembered first, and brought back whole. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/knob.h"
#include "base/io.h"
#include "drive/tune.h"

/* A tree of plain files in place of /sys and /proc. */
struct tree {
	char root[64];
};

static void tree_put(const struct tree *tree, const char *path, const char *value)
{
	char full[512];
	struct err err = {0};

	snprintf(full, sizeof(full), "%s%s", tree->root, path);
	for (char *slash = strchr(full + strlen(tree->root) + 1, '/'); slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	if (io_replace(full, value, strlen(value), &err) < 0)
		fail_msg("%s", err.text);
}

/* The first line, as a reader of a setting sees it. */
static void tree_expect(const struct tree *tree, const char *path, const char *value)
{
	char full[512], text[256] = "";

	snprintf(full, sizeof(full), "%s%s", tree->root, path);
	assert_true(io_read_line(full, text, sizeof(text)) >= 0);
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, value);
}

static const struct tune_knob knobs[] = {
	{"governor", "/sys/policy*/governor", "performance", "offered"},
	{"min", "/sys/policy*/min", "@max", NULL},
	{"pages", "/sys/pages", "madvise|never", NULL},
	{"swappiness", "/proc/swappiness", "<=1", NULL},
	{"missing", "/sys/missing", "1", NULL},
};

static int tree_setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	strcpy(tree->root, "/tmp/assay-tune.XXXXXX");
	assert_non_null(mkdtemp(tree->root));
	tree_put(tree, "/proc/sys/kernel/random/boot_id", "aa-01\n");
	for (int i = 0; i < 12; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/policy%d/governor", i);
		tree_put(tree, path, "powersave\n");
		snprintf(path, sizeof(path), "/sys/policy%d/offered", i);
		tree_put(tree, path, i == 11 ? "powersave\n" : "performance powersave\n");
	}
	tree_put(tree, "/sys/policy0/min", "800000\n");
	tree_put(tree, "/sys/policy0/max", "3000000\n");
	tree_put(tree, "/sys/pages", "[always] madvise never\n");
	tree_put(tree, "/proc/swappiness", "60\n");
	*state = tree;
	return 0;
}

static int tree_teardown(void **state)
{
	struct tree *tree = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", tree->root);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): our own folder */
	free(tree);
	return 0;
}

static void tune_begin(const struct tree *tree, struct tune *tune)
{
	struct err err = {0};
	struct tune_options options = {tree->root, knobs, sizeof(knobs) / sizeof(knobs[0])};

	if (tune_open(tune, &options, &err) < 0 || tune_lock(tune, &err) < 0)
		fail_msg("%s", err.text);
}

static void apply_all(struct tune *tune)
{
	struct err err = {0};

	tune_look(tune);
	vec_foreach (struct tune_item, item, &tune->items)
		item->chosen = item->state == TUNE_CHANGE;
	if (tune_apply(tune, &err) < 0)
		fail_msg("%s", err.text);
}

static const struct tune_item *item_at(const struct tune *tune, const char *path)
{
	vec_foreach (const struct tune_item, item, &tune->items)
		if (str_equal(item->path, path))
			return item;
	fail_msg("no item %s", path);
	return NULL;
}

static void looking_tells_what_would_change_and_what_cannot(void **state)
{
	tune_auto struct tune tune;

	tune_begin(*state, &tune);
	tune_look(&tune);
	assert_int_equal(item_at(&tune, "/sys/policy2/governor")->state, TUNE_CHANGE);
	assert_int_equal(item_at(&tune, "/sys/policy11/governor")->state, TUNE_UNSUPPORTED);
	assert_string_equal(item_at(&tune, "/sys/policy0/min")->want, "3000000");
	assert_string_equal(item_at(&tune, "/sys/pages")->now, "always");
	assert_string_equal(item_at(&tune, "/sys/pages")->want, "madvise");
	assert_int_equal(item_at(&tune, "/proc/swappiness")->state, TUNE_CHANGE);
	assert_int_equal(item_at(&tune, "/sys/missing")->state, TUNE_ABSENT);
	/* policy2 before policy10 */
	assert_string_equal(tune.items.at[2].path, "/sys/policy2/governor");
	tree_expect(*state, "/sys/policy2/governor", "powersave");
}

static void a_bound_or_an_alternative_that_holds_is_left_as_it_is(void **state)
{
	tune_auto struct tune tune;

	tree_put(*state, "/sys/pages", "always madvise [never]\n");
	tree_put(*state, "/proc/swappiness", "0\n");
	tune_begin(*state, &tune);
	tune_look(&tune);
	assert_int_equal(item_at(&tune, "/sys/pages")->state, TUNE_SET);
	assert_int_equal(item_at(&tune, "/proc/swappiness")->state, TUNE_SET);
}

static void after_two_applies_revert_brings_the_first_values_back(void **state)
{
	struct err err = {0};

	for (int i = 0; i < 2; i++) {
		tune_auto struct tune tune;

		tune_begin(*state, &tune);
		apply_all(&tune);
		tree_expect(*state, "/sys/policy10/governor", "performance");
	}
	tune_auto struct tune tune;

	tune_begin(*state, &tune);
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	assert_int_equal(tune.items.count, 14);
	/* the last change first */
	assert_string_equal(tune.items.at[0].path, "/proc/swappiness");
	tree_expect(*state, "/sys/policy10/governor", "powersave");
	tree_expect(*state, "/sys/policy0/min", "800000");
	tree_expect(*state, "/sys/pages", "always");
	tree_expect(*state, "/proc/swappiness", "60");
	assert_int_equal(access(tune.journal_path, F_OK), -1);
}

/* Two processors of one frequency domain: writing one writes the other. */
static void files_that_share_a_value_get_their_first_one_back(void **state)
{
	const struct tree *tree = *state;
	char first[128], second[128];
	tune_auto struct tune tune;
	struct err err = {0};

	snprintf(first, sizeof(first), "%s/sys/policy0/governor", tree->root);
	snprintf(second, sizeof(second), "%s/sys/policy1/governor", tree->root);
	assert_int_equal(unlink(second), 0);
	assert_int_equal(link(first, second), 0);
	tune_begin(tree, &tune);
	apply_all(&tune);
	assert_string_equal(item_at(&tune, "/sys/policy1/governor")->old, "powersave");
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	assert_int_equal(item_at(&tune, "/sys/policy0/governor")->state, TUNE_REVERTED);
	assert_int_equal(item_at(&tune, "/sys/policy1/governor")->state, TUNE_REVERTED);
	tree_expect(tree, "/sys/policy1/governor", "powersave");
}

static void what_somebody_else_changed_is_left_alone(void **state)
{
	tune_auto struct tune tune;
	struct err err = {0};

	tune_begin(*state, &tune);
	apply_all(&tune);
	tree_put(*state, "/proc/swappiness", "30\n");
	assert_int_equal(tune_status(&tune, &err), 0);
	assert_int_equal(item_at(&tune, "/proc/swappiness")->state, TUNE_LEFT);
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	assert_int_equal(item_at(&tune, "/proc/swappiness")->state, TUNE_LEFT);
	tree_expect(*state, "/proc/swappiness", "30");
	tree_expect(*state, "/sys/policy0/governor", "powersave");
}

static void a_session_reverts_only_its_own_changes(void **state)
{
	struct err err = {0};
	tune_auto struct tune second;

	{
		tune_auto struct tune first;

		tune_begin(*state, &first);
		tune_look(&first);
		for (uint32_t i = 0; i < first.items.count; i++)
			first.items.at[i].chosen =
				str_equal(first.items.at[i].path, "/proc/swappiness");
		assert_int_equal(tune_apply(&first, &err), 0);
	}
	tune_begin(*state, &second);
	apply_all(&second);
	assert_int_equal(tune_revert(&second, true, &err), 0);
	tree_expect(*state, "/sys/policy0/governor", "powersave");
	tree_expect(*state, "/proc/swappiness", "1");
	assert_int_equal(tune_journal_count(&second.journal), 1);
}

static void an_intent_without_its_write_and_a_write_without_its_end_both_revert(void **state)
{
	static const char text[] =
		"{\"event\":\"intent\",\"knob\":\"governor\",\"path\":\"/sys/policy0/governor\","
		"\"old\":\"powersave\",\"new\":\"performance\"}\n"
		"{\"event\":\"intent\",\"knob\":\"swappiness\",\"path\":\"/proc/swappiness\","
		"\"old\":\"60\",\"new\":\"1\"}\n{\"event\":\"do";
	tune_auto struct tune tune;
	struct err err = {0};

	tree_put(*state, "/var/lib/assay/tune/aa-01.ndjson", text);
	tree_put(*state, "/proc/swappiness", "1\n");
	tune_begin(*state, &tune);
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	assert_int_equal(item_at(&tune, "/sys/policy0/governor")->state, TUNE_REVERTED);
	tree_expect(*state, "/sys/policy0/governor", "powersave");
	tree_expect(*state, "/proc/swappiness", "60");
}

static void a_journal_cannot_make_us_write_other_files(void **state)
{
	static const char text[] =
		"{\"event\":\"intent\",\"knob\":\"governor\",\"path\":\"/etc/passwd\","
		"\"old\":\"evil\",\"new\":\"root\"}\n"
		"{\"event\":\"intent\",\"knob\":\"pages\",\"path\":\"/sys/policy0/../pages\","
		"\"old\":\"evil\",\"new\":\"always\"}\n";
	tune_auto struct tune tune;
	struct err err = {0};

	tree_put(*state, "/etc/passwd", "root\n");
	tree_put(*state, "/var/lib/assay/tune/aa-01.ndjson", text);
	tune_begin(*state, &tune);
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	assert_int_equal(tune.items.at[0].state, TUNE_STUCK);
	assert_int_equal(tune.items.at[1].state, TUNE_STUCK);
	tree_expect(*state, "/etc/passwd", "root");
	tree_expect(*state, "/sys/pages", "[always] madvise never");
}

static void changes_of_an_earlier_boot_are_void(void **state)
{
	struct err err = {0};

	{
		tune_auto struct tune tune;

		tune_begin(*state, &tune);
		apply_all(&tune);
	}
	tree_put(*state, "/proc/sys/kernel/random/boot_id", "bb-02\n");
	tune_auto struct tune tune;

	tune_begin(*state, &tune);
	assert_int_equal(tune.void_changes, 14);
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	assert_int_equal(tune.items.count, 0);
	tree_expect(*state, "/proc/swappiness", "1");
}

static void a_second_holder_is_refused(void **state)
{
	tune_auto struct tune first, second;
	struct err err = {0};
	struct tune_options options = {((struct tree *)*state)->root, knobs, 1};

	tune_begin(*state, &first);
	assert_int_equal(tune_open(&second, &options, &err), 0);
	assert_int_equal(tune_lock(&second, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another assay tune"));
	assert_true(err.hint[0]);
}

static void without_a_journal_nothing_is_written(void **state)
{
	tune_auto struct tune tune;
	struct err err = {0};

	tune_begin(*state, &tune);
	close(tune.file);
	tune.file = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (tune.file < 0) {
		print_message("# skip: there is no /dev/full here\n");
		skip();
	}
	tune_look(&tune);
	vec_foreach (struct tune_item, item, &tune.items)
		item->chosen = item->state == TUNE_CHANGE;
	assert_true(tune_apply(&tune, &err) < 0);
	assert_int_equal(err.kind, ERR_OUTPUT);
	tree_expect(*state, "/sys/policy0/governor", "powersave");
}

static void lines_that_are_not_ours_are_counted_and_passed_over(void **state)
{
	static const char text[] = "hello\n[]\n{\"event\":\"intent\",\"path\":\"/p\"}\n\n"
				   "{\"event\":\"intent\",\"knob\":\"k\",\"path\":\"/p\","
				   "\"old\":\"a\\nb\",\"new\":\"b\"}\n"
				   "{\"event\":\"intent\",\"knob\":\"k\",\"path\":\"/p\","
				   "\"old\":\"a\",\"new\":\"b\"}\n{\"event\"";
	struct tune_journal journal = {0};

	(void)state;
	tune_journal_read(&journal, text, sizeof(text) - 1);
	assert_int_equal(journal.skipped, 4);
	assert_true(journal.torn);
	assert_int_equal(tune_journal_count(&journal), 1);
	assert_string_equal(tune_journal_find(&journal, "/p")->old, "a");
	tune_journal_done(&journal);
}

static void a_nested_intent_keeps_the_first_value_and_both_writes_are_ours(void **state)
{
	static const char text[] = "{\"event\":\"intent\",\"knob\":\"k\",\"path\":\"/p\","
				   "\"old\":\"1\",\"new\":\"2\"}\n"
				   "{\"event\":\"done\",\"path\":\"/p\",\"new\":\"2\"}\n"
				   "{\"event\":\"intent\",\"knob\":\"k\",\"path\":\"/p\","
				   "\"old\":\"2\",\"new\":\"3\"}\n";
	struct tune_journal journal = {0};
	const struct tune_entry *entry;

	(void)state;
	tune_journal_read(&journal, text, sizeof(text) - 1);
	entry = tune_journal_find(&journal, "/p");
	assert_string_equal(entry->old, "1");
	assert_true(tune_entry_is_ours(entry, "2"));
	assert_true(tune_entry_is_ours(entry, "3"));
	assert_false(tune_entry_is_ours(entry, "4"));
	tune_journal_done(&journal);
}

static void every_knob_of_the_table_is_complete_and_governor_comes_before_turbo(void **state)
{
	knob_book_auto struct knob_book book = {0};
	const struct knob *governor = NULL;

	(void)state;
	knob_book_load(&book);
	assert_true(book.knobs.count >= 14);
	vec_foreach (const struct knob, knob, &book.knobs) {
		if (!knob->group || !knob->path || !knob->want || !knob->why || !knob->risk)
			fail_msg("knob %s lacks a line", knob->name);
		assert_true(
			str_starts(knob->path, "/sys/") || str_starts(knob->path, "/proc/sys/"));
		if (str_equal(knob->name, "governor"))
			governor = knob;
		if (str_equal(knob->name, "no_turbo"))
			assert_non_null(governor);
	}
	assert_true(book.knobs.at[0].only); /* smt: only when asked */
}

#define tree_test(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(looking_tells_what_would_change_and_what_cannot),
		tree_test(a_bound_or_an_alternative_that_holds_is_left_as_it_is),
		tree_test(after_two_applies_revert_brings_the_first_values_back),
		tree_test(files_that_share_a_value_get_their_first_one_back),
		tree_test(what_somebody_else_changed_is_left_alone),
		tree_test(a_session_reverts_only_its_own_changes),
		tree_test(an_intent_without_its_write_and_a_write_without_its_end_both_revert),
		tree_test(a_journal_cannot_make_us_write_other_files),
		tree_test(changes_of_an_earlier_boot_are_void),
		tree_test(a_second_holder_is_refused),
		tree_test(without_a_journal_nothing_is_written),
		cmocka_unit_test(lines_that_are_not_ours_are_counted_and_passed_over),
		cmocka_unit_test(a_nested_intent_keeps_the_first_value_and_both_writes_are_ours),
		cmocka_unit_test(
			every_knob_of_the_table_is_complete_and_governor_comes_before_turbo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
