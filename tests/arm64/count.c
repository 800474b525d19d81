/* count.c - a program of 4,000,008 instructions, with an argument of 200,000,010.
 *
 * No C library, so that neither the loader nor the environment adds any: 5 instructions before the
 * loop (with an argument 7), 4 in each step, 3 behind it. */
__asm__(".globl _start\n"
	"_start:\n"
	"	movz	x1, #0x4240\n"
	"	movk	x1, #0xf, lsl #16\n" /* 1,000,000 */
	"	ldr	x2, [sp]\n"	     /* argc */
	"	cmp	x2, #1\n"
	"	b.eq	1f\n"
	"	mov	x3, #50\n"
	"	mul	x1, x1, x3\n"
	"1:	nop\n"
	"	nop\n"
	"	subs	x1, x1, #1\n"
	"	b.ne	1b\n"
	"	mov	x0, #0\n"
	"	mov	x8, #93\n" /* exit */
	"	svc	#0\n");
