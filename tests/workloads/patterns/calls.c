/* calls.c - planted shapes of code that talks to the kernel too often. */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plants.h"

/* A file of this many bytes that has no name any more. */
static FILE *file_of(size_t size)
{
	FILE *file = tmpfile();

	for (size_t i = 0; i < size; i++)
		fputc('a' + (int)(i % 26), file);
	rewind(file);
	return file;
}

WHOLE static uint64_t read_letters(FILE *file)
{
	uint64_t sum = 0;
	int c;

	while ((c = fgetc(file)) != EOF)
		sum += (uint64_t)c;
	return sum;
}

static void getc_each(uint64_t rounds)
{
	FILE *file = file_of(100000);

	for (uint64_t i = 0; i < rounds; i++) {
		rewind(file);
		plant_sum += read_letters(file);
	}
}

WHOLE static void write_letters(FILE *file, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		fputc('a' + (int)(i % 26), file);
}

static void putc_each(uint64_t rounds)
{
	FILE *file = fopen("/dev/null", "w");

	write_letters(file, rounds);
	fclose(file);
}

WHOLE static uint64_t read_bytes(int fd)
{
	uint64_t sum = 0;
	char byte;

	while (read(fd, &byte, 1) == 1)
		sum += (unsigned char)byte;
	return sum;
}

static void small_reads(uint64_t rounds)
{
	FILE *file = file_of(100000);

	for (uint64_t i = 0; i < rounds; i++) {
		lseek(fileno(file), 0, SEEK_SET);
		plant_sum += read_bytes(fileno(file));
	}
}

WHOLE static void write_bytes(int fd, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		plant_sum += (uint64_t)write(fd, "x", 1);
}

static void small_writes(uint64_t rounds)
{
	write_bytes(open("/dev/null", O_WRONLY), rounds);
}

WHOLE static int is_newer(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_mtime > y.st_mtime;
}

static void stat_storm(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)is_newer("/etc/passwd", "/etc/hosts");
}

WHOLE static int has_config(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void open_storm(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)has_config("/etc/passwd");
}

WHOLE static uint64_t read_record(FILE *file, long at)
{
	char record[16];

	fseek(file, at, SEEK_SET);
	return fread(record, 1, sizeof(record), file);
}

static void seek_again(uint64_t rounds)
{
	FILE *file = file_of(1000000);

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += read_record(file, (long)(i * 7919 % 60000) * 16);
}

WHOLE static void log_line(FILE *file, uint64_t i)
{
	fputs(i % 2 ? "request served\n" : "request refused\n", file);
	fflush(file);
}

static void flush_each(uint64_t rounds)
{
	FILE *file = fopen("/dev/null", "w");

	for (uint64_t i = 0; i < rounds; i++)
		log_line(file, i);
}

WHOLE static void store_message(int fd, uint64_t i)
{
	char message[200] = {(char)i};

	plant_sum += (uint64_t)pwrite(fd, message, sizeof(message), (off_t)(i % 50 * 200));
	fdatasync(fd);
}

static void fsync_each(uint64_t rounds)
{
	FILE *file = tmpfile();

	for (uint64_t i = 0; i < rounds; i++)
		store_message(fileno(file), i);
}

WHOLE static int wait_for_input(int fd)
{
	struct pollfd asked = {.fd = fd, .events = POLLIN};

	return poll(&asked, 1, 0);
}

static void poll_busy(uint64_t rounds)
{
	int ends[2];

	if (pipe(ends) < 0)
		return;
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)wait_for_input(ends[0]);
}

WHOLE static void wait_for_turn(const volatile uint64_t *turn, uint64_t rounds)
{
	for (uint64_t i = 0; *turn != 1 && i < rounds; i++)
		sched_yield();
}

static void yield_busy(uint64_t rounds)
{
	static volatile uint64_t turn;

	wait_for_turn(&turn, rounds);
}

WHOLE static void wait_a_little(void)
{
	usleep(1);
}

static void short_sleeps(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		wait_a_little();
}

WHOLE static uint64_t stamp(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_nsec;
}

static void clock_again(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += stamp();
}

WHOLE static uint64_t owner(void)
{
	return (uint64_t)getpid() + (uint64_t)getuid();
}

static void identity_again(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += owner();
}

WHOLE static uint64_t random_number(void)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) < 0)
		return 0;
	return number;
}

static void random_calls(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += random_number();
}

WHOLE static int run_true(void)
{
	int status = 1;
	pid_t child = fork();

	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	return status;
}

static void processes_each(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)run_true();
}

static void *nothing(void *of)
{
	return of;
}

WHOLE static void do_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nothing, NULL) == 0)
		pthread_join(thread, NULL);
}

static void threads_each(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		do_in_thread();
}

WHOLE static uint64_t ask(int to, int from)
{
	char word[8] = "ping";

	return write(to, word, sizeof(word)) == sizeof(word) &&
	       read(from, word, sizeof(word)) == sizeof(word);
}

WHOLE static void reply(int from, int to)
{
	char word[8];

	while (read(from, word, sizeof(word)) == sizeof(word))
		if (write(to, word, sizeof(word)) != sizeof(word))
			return;
}

static void pipe_pingpong(uint64_t rounds)
{
	int to[2], back[2];

	if (pipe(to) < 0 || pipe(back) < 0)
		return;
	if (!fork()) {
		close(to[1]);
		reply(to[0], back[1]);
		_exit(0);
	}
	close(to[0]);
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += ask(to[1], back[0]);
	close(to[1]);
	wait(NULL);
}

WHOLE static void send_field(int to, const char *field)
{
	plant_sum += (uint64_t)send(to, field, strlen(field), 0);
}

static void small_sends(uint64_t rounds)
{
	char buffer[65536];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return;
	for (uint64_t i = 0; i < rounds; i++) {
		send_field(ends[0], "name: value\n");
		if (i % 100 == 99)
			plant_sum += (uint64_t)recv(ends[1], buffer, sizeof(buffer), 0);
	}
}

WHOLE static void *entry_of(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static void dlsym_again(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uintptr_t)entry_of(i % 2 ? "strtoul" : "no_such_function_anywhere");
}

int main(int argc, char **argv)
{
	static const struct plant plants[] = {
		{"getc_each", getc_each, 333},
		{"putc_each", putc_each, 50000000},
		{"small_reads", small_reads, 6},
		{"small_writes", small_writes, 1333333},
		{"stat_storm", stat_storm, 166666},
		{"open_storm", open_storm, 133333},
		{"seek_again", seek_again, 200000},
		{"flush_each", flush_each, 1000000},
		{"fsync_each", fsync_each, 1000},
		{"poll_busy", poll_busy, 1000000},
		{"yield_busy", yield_busy, 150000},
		{"short_sleeps", short_sleeps, 10000},
		{"clock_again", clock_again, 6666666},
		{"identity_again", identity_again, 1333333},
		{"random_calls", random_calls, 666666},
		{"processes_each", processes_each, 266},
		{"threads_each", threads_each, 6666},
		{"pipe_pingpong", pipe_pingpong, 16666},
		{"small_sends", small_sends, 500000},
		{"dlsym_again", dlsym_again, 1000000},
	};

	return plants_main(plants, sizeof(plants) / sizeof(*plants), argc, argv);
}
