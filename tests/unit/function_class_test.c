/* function_class_test.c - well-known functions have a class, own code has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/function_class.h"

static void functions_of_libc_and_of_the_kernel_have_their_class(void **state)
{
	struct function_book *book = function_book_open();

	(void)state;
	assert_int_equal(function_class_of(book, "malloc", false), FUNCTION_ALLOCATOR);
	assert_int_equal(function_class_of(book, "_int_free_chunk", false), FUNCTION_ALLOCATOR);
	assert_int_equal(
		function_class_of(book, "operator new(unsigned long)", false), FUNCTION_ALLOCATOR);
	assert_int_equal(
		function_class_of(book, "runtime.(*mcache).nextFree", false), FUNCTION_ALLOCATOR);
	assert_int_equal(
		function_class_of(book, "__memmove_avx_unaligned_erms", false), FUNCTION_COPY);
	assert_int_equal(function_class_of(book, "memcpy@GLIBC_2.14", false), FUNCTION_COPY);
	assert_int_equal(function_class_of(book, "pthread_mutex_lock", false), FUNCTION_LOCK);
	assert_int_equal(function_class_of(book,
				 "<std::sys::sync::mutex::futex::Mutex>::lock_contended", false),
		FUNCTION_LOCK);
	assert_int_equal(function_class_of(book, "std::sync::poison::mutex::Mutex<T>::lock", false),
		FUNCTION_LOCK);
	assert_int_equal(function_class_of(book, "sync.(*RWMutex).Lock", false), FUNCTION_LOCK);
	assert_int_equal(
		function_class_of(book, "leveldb::port::Mutex::Lock()", false), FUNCTION_WRAPPER);
	assert_int_equal(function_class_of(book, "clear_page_erms", true), FUNCTION_FAULT);
	assert_int_equal(function_class_of(book, "__x64_sys_futex", true), FUNCTION_FUTEX);
	assert_int_equal(function_class_of(book, "do_syscall_64", true), FUNCTION_ENTRY);
	function_book_close(book);
}

static void own_code_has_none_and_the_side_counts(void **state)
{
	struct function_book *book = function_book_open();

	(void)state;
	assert_int_equal(function_class_of(book, "main", false), FUNCTION_NO_CLASS);
	assert_int_equal(function_class_of(book, "mallocator(int)", false), FUNCTION_NO_CLASS);
	assert_int_equal(function_class_of(book, "malloc", true), FUNCTION_NO_CLASS);
	assert_int_equal(function_class_of(book, "clear_page_erms", false), FUNCTION_NO_CLASS);
	assert_int_equal(function_class_of(book, "", false), FUNCTION_NO_CLASS);
	function_book_close(book);
}

static void a_text_that_is_not_understood_is_refused_with_its_line(void **state)
{
	struct function_book *book = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(function_book_parse("t", "# fine\nallocator user a b*\n", &book, &err), 0);
	assert_int_equal(function_class_of(book, "bcd", false), FUNCTION_ALLOCATOR);
	function_book_close(book);
	assert_true(
		function_book_parse("t", "allocator user a\nnonsense user b\n", &book, &err) < 0);
	assert_non_null(strstr(err.text, "t:2: unknown class 'nonsense'"));
	assert_true(function_book_parse("t", "lock both b\n", &book, &err) < 0);
	assert_true(function_book_parse("t", "lock\n", &book, &err) < 0);
}

static void the_text_that_is_compiled_in_is_understood(void **state)
{
	struct function_book *book = function_book_open();

	(void)state;
	assert_int_equal(function_class_of(book, "write_null", true), FUNCTION_IO);
	function_book_close(book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_libc_and_of_the_kernel_have_their_class),
		cmocka_unit_test(own_code_has_none_and_the_side_counts),
		cmocka_unit_test(a_text_that_is_not_understood_is_refused_with_its_line),
		cmocka_unit_test(the_text_that_is_compiled_in_is_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
