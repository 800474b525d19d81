/* wire_test.c - a record survives building and checking; a broken one is never believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/build.h"

union space {
	struct wire_note note;
	struct wire_field field;
	unsigned char bytes[256];
};

static const struct wire_record *make_note(union space *space)
{
	struct wire_builder b = wire_begin(space, sizeof(*space), WIRE_NOTE, sizeof(space->note));

	wire_add_text(&b, &space->note.code, "code");
	wire_add_text(&b, &space->note.text, "a text");
	return wire_end(&b);
}

static void a_built_record_is_well_formed_and_keeps_its_texts(void **state)
{
	union space space;
	const struct wire_record *record = make_note(&space);

	(void)state;
	assert_true(wire_check(record, sizeof(space)));
	assert_int_equal(record->size % 8, 0);
	assert_string_equal(wire_text(record, space.note.code), "code");
	assert_string_equal(wire_text(record, space.note.text), "a text");
	assert_string_equal(wire_text(record, space.note.hint), "");
}

static void a_text_that_does_not_fit_is_cut(void **state)
{
	union space space;
	struct wire_builder b = wire_begin(&space, 64, WIRE_NOTE, sizeof(space.note));
	char longer[200];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	wire_add_text(&b, &space.note.text, longer);
	assert_true(wire_check(wire_end(&b), 64));
	assert_int_equal(space.note.head.size, 64);
	assert_true(strlen(wire_text(&space.note.head, space.note.text)) < 64);
}

static void a_broken_record_is_refused(void **state)
{
	union space space;
	const struct wire_record *record = make_note(&space);
	uint32_t size = record->size;

	(void)state;
	assert_false(wire_check(record, size - 8));
	space.note.text.len = size;
	assert_false(wire_check(record, size));
	make_note(&space);
	space.note.text.offset = 8; /* inside the fixed part */
	assert_false(wire_check(record, size));
	make_note(&space);
	space.note.head.type = WIRE_TYPES;
	assert_false(wire_check(record, size));
	make_note(&space);
	space.note.head.size = 8;
	assert_false(wire_check(record, size));
}

static void an_enumeration_out_of_range_is_refused(void **state)
{
	union space space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_FIELD, sizeof(space.field));
	const struct wire_record *record = wire_end(&b);

	(void)state;
	assert_true(wire_check(record, sizeof(space)));
	space.field.state = WIRE_FIELD_STATES;
	assert_false(wire_check(record, sizeof(space)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_built_record_is_well_formed_and_keeps_its_texts),
		cmocka_unit_test(a_text_that_does_not_fit_is_cut),
		cmocka_unit_test(a_broken_record_is_refused),
		cmocka_unit_test(an_enumeration_out_of_range_is_refused),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
