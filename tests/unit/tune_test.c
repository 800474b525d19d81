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
#include "drive/cpu_list.h"
#include "drive/tune.h"
#include "drive/tune_noise.h"
#include "drive/tune_snapshot.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/fingerprint.h"

/* Lines of a journal as assay would have written them: each one gets its check. */
static void journal_put(struct str *out, const char *lines)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		tune_journal_seal(lines, len, out);
		lines += len + (lines[len] == '\n');
	}
}

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
	if (io_replace(full, IO_SHARED, value, strlen(value), &err) < 0)
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
	{.name = "governor",
		.pattern = "/sys/policy*/governor",
		.want = "performance",
		.offered = "offered"},
	{.name = "turbo", .pattern = "/sys/turbo", .want = "1", .held = "governor"},
	{.name = "min", .pattern = "/sys/policy*/min", .want = "@max"},
	{.name = "pages", .pattern = "/sys/pages", .want = "madvise|never"},
	{.name = "swappiness", .pattern = "/proc/swappiness", .want = "<=1"},
	{.name = "dirty", .pattern = "/proc/dirty", .want = ">=40", .unless = "0 bytes rule"},
	{.name = "irq", .pattern = "/proc/irq/*/list", .want = "!cpus"},
	{.name = "missing", .pattern = "/sys/missing", .want = "1", .absent = "it was left out"},
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
	struct tune_options options = {.root = tree->root,
		.knobs = knobs,
		.knob_count = sizeof(knobs) / sizeof(knobs[0]),
		.cpus = "1",
		.by = "a test"};

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
		"\"old\":\"60\",\"new\":\"1\"}\n";
	str_auto struct str sealed = {0};
	tune_auto struct tune tune;
	struct err err = {0};

	journal_put(&sealed, text);
	str_add(&sealed, "{\"event\":\"do");
	tree_put(*state, "/var/lib/assay/tune/aa-01.ndjson", sealed.at);
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
	str_auto struct str sealed = {0};
	tune_auto struct tune tune;
	struct err err = {0};

	journal_put(&sealed, text);
	tree_put(*state, "/etc/passwd", "root\n");
	tree_put(*state, "/var/lib/assay/tune/aa-01.ndjson", sealed.at);
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
	struct tune_options options = {
		.root = ((struct tree *)*state)->root, .knobs = knobs, .knob_count = 1};

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
	static const char text[] = "{\"event\":\"intent\",\"path\":\"/p\"}\n"
				   "{\"event\":\"intent\",\"knob\":\"k\",\"path\":\"/p\","
				   "\"old\":\"a\\nb\",\"new\":\"b\"}\n"
				   "{\"event\":\"intent\",\"knob\":\"k\",\"path\":\"/p\","
				   "\"old\":\"a\",\"new\":\"b\"}\n";
	static const char unchecked[] = "{\"event\":\"closed\",\"path\":\"/p\"}\n";
	str_auto struct str sealed = {0};
	struct tune_journal journal = {0};

	(void)state;
	str_add(&sealed, "hello\n[]\n\n");
	journal_put(&sealed, text);
	str_add(&sealed, unchecked);
	str_add(&sealed, "{\"event\"");
	tune_journal_read(&journal, sealed.at, sealed.len);
	assert_int_equal(journal.skipped, 5);
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
	str_auto struct str sealed = {0};
	struct tune_journal journal = {0};
	const struct tune_entry *entry;

	(void)state;
	journal_put(&sealed, text);
	tune_journal_read(&journal, sealed.at, sealed.len);
	entry = tune_journal_find(&journal, "/p");
	assert_string_equal(entry->old, "1");
	assert_true(tune_entry_is_ours(entry, "2"));
	assert_true(tune_entry_is_ours(entry, "3"));
	assert_false(tune_entry_is_ours(entry, "4"));
	tune_journal_done(&journal);
}

static const struct knob *knob_at(const struct knob_book *book, const char *name)
{
	vec_foreach (const struct knob, knob, &book->knobs)
		if (str_equal(knob->name, name))
			return knob;
	return NULL;
}

static void every_knob_of_the_table_is_complete_and_governor_comes_before_turbo(void **state)
{
	knob_book_auto struct knob_book book = {0};
	const struct knob *governor = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(knob_book_load(&book, &err), 0);
	assert_true(book.knobs.count >= 14);
	vec_foreach (const struct knob, knob, &book.knobs) {
		assert_true(str_starts(knob->path, "/sys/") ||
			    str_starts(knob->path, "/proc/sys/") ||
			    str_starts(knob->path, "/proc/irq/"));
		if (knob->held)
			assert_non_null(knob_at(&book, knob->held));
		/* consent is asked once for a group: its knobs stand together */
		for (const struct knob *later = knob + 1; later < book.knobs.at + book.knobs.count;
			later++)
			if (str_equal(later->group, knob->group))
				assert_string_equal((later - 1)->group, knob->group);
		if (str_equal(knob->group, "smt") || str_equal(knob->group, "cpuset") ||
			str_equal(knob->group, "ptrace") || str_equal(knob->group, "irq"))
			assert_true(knob->only);
		if (str_equal(knob->name, "governor"))
			governor = knob;
		if (str_equal(knob->name, "no_turbo"))
			assert_non_null(governor);
	}
	assert_true(book.knobs.at[0].only); /* smt: only when asked */
}

static void choose(struct tune *tune, const char *knob)
{
	tune_look(tune);
	vec_foreach (struct tune_item, item, &tune->items)
		item->chosen =
			str_equal(knobs[item->knob].name, knob) && item->state == TUNE_CHANGE;
}

static void a_knob_out_of_use_is_left_alone_with_the_reason(void **state)
{
	tune_auto struct tune tune;

	tree_put(*state, "/proc/dirty", "0\n");
	tune_begin(*state, &tune);
	tune_look(&tune);
	assert_int_equal(item_at(&tune, "/proc/dirty")->state, TUNE_UNSUPPORTED);
	assert_string_equal(item_at(&tune, "/proc/dirty")->reason, "bytes rule");
	assert_string_equal(item_at(&tune, "/sys/missing")->reason, "it was left out");
}

static void interrupts_are_kept_off_the_named_processors(void **state)
{
	tune_auto struct tune tune;
	struct err err = {0};

	tree_put(*state, "/sys/devices/system/cpu/online", "0-3\n");
	tree_put(*state, "/proc/irq/9/list", "0-3\n");
	tree_put(*state, "/proc/irq/10/list", "2\n");
	tune_begin(*state, &tune);
	choose(&tune, "irq");
	assert_int_equal(item_at(&tune, "/proc/irq/10/list")->state, TUNE_SET);
	assert_string_equal(item_at(&tune, "/proc/irq/9/list")->want, "0,2-3");
	assert_int_equal(tune_apply(&tune, &err), 0);
	tree_expect(*state, "/proc/irq/9/list", "0,2-3");
	tree_expect(*state, "/proc/irq/10/list", "2");
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	tree_expect(*state, "/proc/irq/9/list", "0-3");
}

static void without_other_processors_interrupts_stay(void **state)
{
	tune_auto struct tune tune;

	tree_put(*state, "/sys/devices/system/cpu/online", "1\n");
	tree_put(*state, "/proc/irq/9/list", "1\n");
	tune_begin(*state, &tune);
	tune_look(&tune);
	assert_int_equal(item_at(&tune, "/proc/irq/9/list")->state, TUNE_UNSUPPORTED);
}

static void a_knob_that_another_resets_is_held_with_it_only(void **state)
{
	tune_auto struct tune tune;
	struct err err = {0};

	tree_put(*state, "/sys/turbo", "1\n");
	tune_begin(*state, &tune);
	choose(&tune, "swappiness");
	assert_int_equal(tune_apply(&tune, &err), 0);
	assert_int_equal(tune_status(&tune, &err), 0);
	assert_int_equal(tune.items.count, 1);
	choose(&tune, "governor");
	assert_int_equal(tune_apply(&tune, &err), 0);
	assert_int_equal(tune_status(&tune, &err), 0);
	assert_int_equal(tune.items.count, 1 + 11 + 1);
	assert_int_equal(item_at(&tune, "/sys/turbo")->state, TUNE_SET);
	assert_string_equal(item_at(&tune, "/sys/policy3/governor")->by, "a test");
	/* somebody else's hand is still seen */
	tree_put(*state, "/sys/turbo", "0\n");
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	assert_int_equal(item_at(&tune, "/sys/turbo")->state, TUNE_LEFT);
	tree_expect(*state, "/sys/turbo", "0");
}

/* Another tune had set it when this one planned, and reverted before this one had the lock. */
static void a_held_knob_that_was_reverted_meanwhile_is_not_held(void **state)
{
	tune_auto struct tune tune;
	struct err err = {0};

	tree_put(*state, "/sys/turbo", "1\n");
	tune_begin(*state, &tune);
	choose(&tune, "governor");
	tree_put(*state, "/sys/turbo", "0\n");
	assert_int_equal(tune_apply(&tune, &err), 0);
	tree_expect(*state, "/sys/policy3/governor", "performance");
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	tree_expect(*state, "/sys/turbo", "0");
	tree_expect(*state, "/sys/policy3/governor", "powersave");
}

static void what_somebody_else_wrote_between_two_applies_is_what_comes_back(void **state)
{
	tune_auto struct tune tune;
	struct err err = {0};

	tune_begin(*state, &tune);
	choose(&tune, "swappiness");
	assert_int_equal(tune_apply(&tune, &err), 0);
	tree_put(*state, "/proc/swappiness", "30\n");
	choose(&tune, "swappiness");
	assert_int_equal(tune_apply(&tune, &err), 0);
	tree_expect(*state, "/proc/swappiness", "1");
	assert_int_equal(tune_revert(&tune, false, &err), 0);
	tree_expect(*state, "/proc/swappiness", "30");
}

/* An apply, and over it a run that wants another value: that one goes back to the apply's. */
static void a_session_inside_another_goes_back_to_the_outer_value(void **state)
{
	struct err err = {0};

	tree_put(*state, "/sys/devices/system/cpu/online", "0-3\n");
	tree_put(*state, "/proc/irq/9/list", "0-3\n");
	{
		tune_auto struct tune outer;

		tune_begin(*state, &outer);
		choose(&outer, "irq");
		assert_int_equal(tune_apply(&outer, &err), 0);
	}
	{
		tune_auto struct tune inner;

		tune_begin(*state, &inner);
		inner.options.cpus = "2";
		choose(&inner, "irq");
		assert_int_equal(tune_apply(&inner, &err), 0);
		tree_expect(*state, "/proc/irq/9/list", "0-1,3");
		assert_int_equal(tune_revert(&inner, true, &err), 0);
		tree_expect(*state, "/proc/irq/9/list", "0,2-3");
	}
	tune_auto struct tune last;

	tune_begin(*state, &last);
	assert_int_equal(tune_revert(&last, false, &err), 0);
	tree_expect(*state, "/proc/irq/9/list", "0-3");
}

static void a_snapshot_that_differs_is_told_file_by_file(void **state)
{
	static const char text[] =
		"{\"schema\":\"assay.tune/1\",\"data\":{\"snapshot\":["
		"{\"knob\":\"swappiness\",\"path\":\"/proc/swappiness\",\"value\":\"60\"},"
		"{\"knob\":\"pages\",\"path\":\"/sys/pages\",\"value\":\"never\"},"
		"{\"knob\":\"missing\",\"path\":\"/sys/missing\",\"value\":null},"
		"{\"knob\":\"irq\",\"path\":\"/proc/irq/*/list\",\"value\":null},"
		"{\"knob\":\"governor\",\"path\":\"/sys/policy*/governor\",\"value\":null},"
		"{\"knob\":\"pages\",\"path\":\"/etc/passwd\",\"value\":\"x\"}]}}";
	static const enum tune_state states[] = {
		TUNE_SET, TUNE_DIFFERS, TUNE_SET, TUNE_SET, TUNE_DIFFERS, TUNE_DIFFERS};
	tune_snapshot_auto struct tune_snapshot snapshot;
	tune_auto struct tune tune;
	struct err err = {0};

	tree_put(*state, "/etc/passwd", "x\n");
	tune_begin(*state, &tune);
	assert_int_equal(tune_snapshot_read(&snapshot, text, sizeof(text) - 1, "a.json", &err), 0);
	tune_expect(&tune, &snapshot);
	assert_int_equal(tune.items.count, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(tune.items.at[i].state, states[i]);
	assert_null(tune.items.at[5].now); /* it was not even read */
}

static void what_is_no_snapshot_is_refused_with_the_way_out(void **state)
{
	static const char *const texts[] = {"", "{", "[]", "{\"schema\":\"assay.env/1\"}",
		"{\"schema\":\"assay.tune/1\",\"data\":{}}",
		"{\"schema\":\"assay.tune/2\",\"data\":{\"snapshot\":[]}}",
		"{\"schema\":\"assay.tune/1\",\"data\":{\"snapshot\":[{\"knob\":1}]}}"};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		tune_snapshot_auto struct tune_snapshot snapshot;
		struct err err = {0};

		assert_true(tune_snapshot_read(
				    &snapshot, texts[i], strlen(texts[i]), "a.json", &err) < 0);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.hint, "--snapshot"));
	}
}

static void lists_of_processors_are_read_strictly_and_written_short(void **state)
{
	static const char *const wrong[] = {
		"", "a", "1,", ",1", "2-1", "1-", "-1", "1 2", "1024", "0-99999999999999999999"};
	static const struct {
		const char *in, *out;
	} right[] = {{"0", "0"}, {"3,1,2", "1-3"}, {"0-1,1-2,8", "0-2,8"}, {"1023", "1023"}};
	cpu_set_t cpus;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (cpu_list_parse(wrong[i], &cpus) >= 0)
			fail_msg("'%s' was taken", wrong[i]);
	for (unsigned i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		str_auto struct str text = {0};

		assert_int_equal(cpu_list_parse(right[i].in, &cpus), 0);
		cpu_list_print(&cpus, &text);
		assert_string_equal(text.at, right[i].out);
	}
}

static void a_process_may_have_any_name(void **state)
{
	static const char fields[] = " S 1 1 1 0 -1 4194560 1 2 3 4 30 12 0 0 20 0 1 0 5";
	struct task_line line;
	char text[256];

	(void)state;
	snprintf(text, sizeof(text), "7 (a) R (b\n\x1b[1m)%s", fields);
	assert_true(task_line_parse(text, &line));
	assert_string_equal(line.name, "a) R (b??[1m");
	assert_int_equal(line.ticks, 42);
	assert_false(task_line_parse("7 (a) S 1 2", &line));
	assert_false(task_line_parse(")(", &line));
	assert_false(task_line_parse("", &line));
}

static void processes_and_irqbalance_are_found_and_the_idle_are_not_busy(void **state)
{
	struct tune_noise noise;
	struct err err = {0};

	tree_put(*state, "/proc/stat", "cpu 1 2 3 4 5 6 7 8 0 0\n");
	for (int i = 0; i < 5; i++) {
		char path[64], text[128];

		snprintf(path, sizeof(path), "/proc/%d/stat", 100 + i);
		snprintf(text, sizeof(text), "%d (%s) S 1 1 1 0 -1 0 1 2 3 4 %d 0 0 0 20 0 1 0 5",
			100 + i, i == 2 ? "irqbalance" : "p", i + 1);
		tree_put(*state, path, text);
	}
	assert_int_equal(tune_noise_look(((struct tree *)*state)->root, &noise, &err), 0);
	assert_int_equal(noise.busy_count, 0); /* nothing ran between the looks */
	assert_int_equal(noise.irqbalance, 102);
	assert_true(noise.steal_share < 0); /* no time passed there either */
}

/* A field of the fingerprint of the tree, NULL: absent. */
static const char *fingerprint_field(const struct tree *tree, struct run *run, const char *name)
{
	const struct fingerprint_options options = {.root = tree->root};
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct err err = {0};
	const char *value = NULL;

	assert_int_equal(fingerprint_take(&options, &sink, &err), 0);
	vec_foreach (const struct field_row, row, &run->fields)
		if (str_equal(run_text(run, row->group), "tuning") &&
			str_equal(run_text(run, row->name), name) && row->state == FIELD_VALUE)
			value = run_text(run, row->value);
	return value;
}

static void a_fingerprint_tells_what_is_tuned_and_still_so(void **state)
{
	run_auto struct run *before = run_open(), *tuned = run_open(), *id = run_open();
	tune_auto struct tune tune;
	struct err err = {0};

	assert_string_equal(fingerprint_field(*state, before, "active"), "none");
	tune_begin(*state, &tune);
	apply_all(&tune);
	tree_put(*state, "/sys/pages", "always madvise [never]\n"); /* somebody else */
	assert_string_equal(fingerprint_field(*state, tuned, "active"),
		"governor powersave -> performance (11 files), min 800000 -> 3000000, "
		"swappiness 60 -> 1");
	assert_int_equal(tune_status(&tune, &err), 0);
	assert_string_equal(fingerprint_field(*state, id, "journal"), tune_journal_id(&tune));
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
		tree_test(a_knob_out_of_use_is_left_alone_with_the_reason),
		tree_test(interrupts_are_kept_off_the_named_processors),
		tree_test(without_other_processors_interrupts_stay),
		tree_test(a_knob_that_another_resets_is_held_with_it_only),
		tree_test(a_held_knob_that_was_reverted_meanwhile_is_not_held),
		tree_test(what_somebody_else_wrote_between_two_applies_is_what_comes_back),
		tree_test(a_session_inside_another_goes_back_to_the_outer_value),
		tree_test(a_fingerprint_tells_what_is_tuned_and_still_so),
		tree_test(a_snapshot_that_differs_is_told_file_by_file),
		cmocka_unit_test(what_is_no_snapshot_is_refused_with_the_way_out),
		cmocka_unit_test(lists_of_processors_are_read_strictly_and_written_short),
		cmocka_unit_test(a_process_may_have_any_name),
		tree_test(processes_and_irqbalance_are_found_and_the_idle_are_not_busy),
		cmocka_unit_test(lines_that_are_not_ours_are_counted_and_passed_over),
		cmocka_unit_test(a_nested_intent_keeps_the_first_value_and_both_writes_are_ours),
		cmocka_unit_test(
			every_knob_of_the_table_is_complete_and_governor_comes_before_turbo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
