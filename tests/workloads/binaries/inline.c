/* inline.c - functions inlined into each other at marked lines; only looked at, never run. */
int puts(const char *text); /* no headers: there are none of another machine */

#define INTO static inline __attribute__((always_inline))

volatile int sink;

INTO void third(int x)
{
	sink = x * 7; /* in third */
}

INTO void second(int x)
{
	third(x + 1); /* calls third */
	sink = x;
}

__attribute__((noinline)) void outer(int x)
{
	sink = 1;  /* in outer */
	second(x); /* calls second */
	sink = 2;
}

static __attribute__((noinline)) int hidden(int x)
{
	return sink + x; /* in hidden */
}

int main(int argc, char **argv)
{
	outer(argc);
	puts(argv[0]);
	return hidden(argc);
}
