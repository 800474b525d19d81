/* small.c - a few functions that call each other, built in many ways; only looked at, never run. */
#include <stdio.h>
#include <stdlib.h>

#ifdef WITH_THREADS
#include <pthread.h>
#endif
#ifdef WITH_COZ
#include <dlfcn.h>
#endif

#define APART __attribute__((noinline))

APART long mix(long a, long b, long c)
{
	printf("%ld %ld %ld\n", a, b, c);
	return a * 31 + b * 7 + c;
}

APART long fold(const long *values, int count)
{
	long sum = 0;

	for (int i = 0; i < count; i++)
		sum += mix(values[i], i, sum);
	puts("folded");
	return sum;
}

APART long *make(int count)
{
	long *values = malloc(sizeof(*values) * (unsigned)count);

	for (int i = 0; values && i < count; i++)
		values[i] = mix(i, count, 3);
	return values;
}

APART void show(const char *name, long value)
{
	printf("%s = ", name);
	printf("%ld\n", value);
}

APART int leaf(int a, int b)
{
	return a * b + (a ^ b) - (a << 3);
}

#ifdef WITH_THREADS
static void *body(void *argument)
{
	return argument;
}
#endif

#ifdef WITH_PROBE
/* What <sys/sdt.h> would write, without needing it. */
__asm__(".pushsection .note.stapsdt,\"\",@note\n.balign 4\n.4byte 8, 2f - 1f, 3\n"
	".asciz \"stapsdt\"\n1: .8byte main, 0, 0\n.asciz \"small\"\n.asciz \"begins\"\n.asciz \"\"\n"
	"2: .balign 4\n.popsection\n");
#endif

int main(int argc, char **argv)
{
	long *values = make(argc);

#ifdef WITH_THREADS
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) == 0)
		pthread_join(thread, NULL);
#endif
#ifdef WITH_COZ
	if (dlsym(RTLD_DEFAULT, "_coz_get_counter"))
		puts("coz");
#endif
	show(argv[0], fold(values, argc) + leaf(argc, 2));
	free(values);
	return 0;
}
