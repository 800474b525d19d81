/* bare_call.h - a system call without the C library, which may be absent here, or interposed.
 *
 * The result as the kernel gives it: a negative errno where it failed.  @asyncsignalsafe */
#pragma once

static inline long bare_call(long number, const long arguments[6])
{
#if defined(__x86_64__)
	/* cppcheck-suppress constStatement */
	register long fourth __asm__("r10") = arguments[3];
	/* cppcheck-suppress constStatement */
	register long fifth __asm__("r8") = arguments[4];
	/* cppcheck-suppress constStatement */
	register long sixth __asm__("r9") = arguments[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]),
			 "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long which __asm__("x8") = number;
	register long first __asm__("x0") = arguments[0];
	register long second __asm__("x1") = arguments[1];
	register long third __asm__("x2") = arguments[2];
	register long fourth __asm__("x3") = arguments[3];
	register long fifth __asm__("x4") = arguments[4];
	register long sixth __asm__("x5") = arguments[5];

	__asm__ volatile("svc #0"
			 : "+r"(first)
			 : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "memory");
	return first;
#endif
}
