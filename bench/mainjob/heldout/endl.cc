/* endl.cc - syscall overhead: a table written with std::endl after each cell.
 *
 *     endl [CELLS]
 *
 * Planted: std::endl empties the buffer, so each cell of a few bytes is a write() of its own.  '\n'
 * in its place makes one of some thousand. Right: syscall_overhead, at write_table() or below it at
 * write(). */
#include <cstdlib>
#include <fstream>
#include <iostream>

static unsigned long write_table(std::ostream &out, long cells)
{
	unsigned long sum = 0;

	for (long i = 0; i < cells; i++) {
		unsigned cell = static_cast<unsigned>(i) % 1000;
		out << cell << std::endl;
		sum += cell;
	}
	return sum;
}

int main(int argc, char **argv)
{
	long cells = argc > 1 ? std::atol(argv[1]) : 14000000;
	std::ofstream out("/dev/null");

	std::cout << cells << " cells, sum " << write_table(out, cells) << "\n";
}
