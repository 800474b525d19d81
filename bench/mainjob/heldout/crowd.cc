/* crowd.cc - starved of CPU: a pool that was given 16 threads whatever the machine has.
 *
 *     crowd [JOBS]
 *
 * Planted: the threads take jobs from one counter and compute; nothing else.  All are ready all the
 * time, so on a machine of few CPUs most of their time is spent in the queue for one. Right:
 * cpu_starvation by the program's own threads.  The place is evaluate(), where the time is. */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace
{

constexpr unsigned crew = 16;
std::atomic<long> next_job;
std::atomic<std::uint64_t> total;

std::uint64_t evaluate(std::uint64_t job)
{
	std::uint64_t a = job, b = job + 1, c = job + 2, d = job + 3;

	for (int i = 0; i < 200000; i++) {
		a = a * 31 + 7;
		b = b * 33 + 11;
		c = (c ^ (c >> 3)) + 13;
		d = (d << 1) + (d >> 63) + 17;
	}
	return a ^ b ^ c ^ d;
}

void serve(long jobs)
{
	for (long job = next_job++; job < jobs; job = next_job++)
		total += evaluate(static_cast<std::uint64_t>(job));
}

} // namespace

int main(int argc, char **argv)
{
	long jobs = argc > 1 ? std::atol(argv[1]) : 30000;
	std::vector<std::thread> pool;

	for (unsigned i = 0; i < crew; i++)
		pool.emplace_back(serve, jobs);
	for (auto &thread : pool)
		thread.join();
	std::printf("%ld jobs, %016llx\n", jobs, static_cast<unsigned long long>(total));
}
