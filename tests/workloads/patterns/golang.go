// golang.go - planted shapes of Go: PROGRAM CASE [COUNT], as plants.h has it.
package main

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"
	"strconv"
	"sync"
)

var sum int

//go:noinline
func collect(n int) []int {
	var found []int
	for i := 0; i < n; i++ {
		found = append(found, i)
	}
	return found
}

func goGrowslice(rounds int) {
	debug.SetGCPercent(1000)
	for i := 0; i < rounds; i++ {
		sum += len(collect(200))
	}
}

//go:noinline
func seenOf(keys []int, most int) int {
	seen := make([]int32, most)
	count := 0
	for _, key := range keys {
		if seen[key] == 0 {
			count++
		}
		seen[key]++
	}
	return count
}

func goMakeslice(rounds int) {
	debug.SetGCPercent(1000)
	keys := make([]int, 50)
	for i := range keys {
		keys[i] = i * i
	}
	for i := 0; i < rounds; i++ {
		sum += seenOf(keys, 16384)
	}
}

//go:noinline
func join(words []string) string {
	out := ""
	for _, word := range words {
		out += word
	}
	return out
}

func goConcat(rounds int) {
	debug.SetGCPercent(2000)
	words := make([]string, 500)
	for i := range words {
		words[i] = "word "
	}
	for i := 0; i < rounds; i++ {
		sum += len(join(words))
	}
}

//go:noinline
func visitsOf(visits map[int]int, key int) int {
	return visits[key]
}

func goMap(rounds int) {
	visits := map[int]int{}
	for i := 0; i < 100000; i++ {
		visits[i*7] = i
	}
	for i := 0; i < rounds; i++ {
		sum += visitsOf(visits, i%700000)
	}
}

var sink interface{}

//go:noinline
func box(value int) {
	sink = value
}

func goBoxing(rounds int) {
	for i := 0; i < rounds; i++ {
		box(i + 1000)
	}
}

type item struct{ A, B, C int }

//go:noinline
func total(of interface{}) int {
	v := reflect.ValueOf(of)
	total := 0
	for i := 0; i < v.NumField(); i++ {
		total += int(v.Field(i).Int())
	}
	return total
}

func goReflect(rounds int) {
	var one interface{} = item{1, 2, 3}
	for i := 0; i < rounds; i++ {
		sum += total(one)
	}
}

type tree struct{ left, right *tree }

//go:noinline
func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

func goCollector(rounds int) {
	kept := grow(16)
	for i := 0; i < rounds; i++ {
		if grow(14).left == nil {
			sum++
		}
	}
	if kept.left == nil {
		sum++
	}
}

//go:noinline
func describe(i int) string {
	return fmt.Sprintf("item %d of %d", i, i*17)
}

func goFormat(rounds int) {
	for i := 0; i < rounds; i++ {
		sum += len(describe(i))
	}
}

//go:noinline
func isNumber(text string) bool {
	return regexp.MustCompile("^[-+]?[0-9]+$").MatchString(text)
}

func goRegexp(rounds int) {
	for i := 0; i < rounds; i++ {
		if isNumber("12") {
			sum++
		}
	}
}

//go:noinline
func addAll(n int) {
	for i := 0; i < n; i++ {
		defer func() { sum++ }()
	}
}

func goDefer(rounds int) {
	for i := 0; i < rounds; i++ {
		addAll(100)
	}
}

type counter struct {
	mutex sync.Mutex
	value int
}

//go:noinline
func (c *counter) add(n int) {
	c.mutex.Lock()
	c.value += n
	c.mutex.Unlock()
}

func goLock(rounds int) {
	c := counter{}
	for i := 0; i < rounds; i++ {
		c.add(i)
	}
	sum += c.value
}

//go:noinline
func dropFirst(queue []int) []int {
	copy(queue, queue[1:])
	return queue[:len(queue)-1]
}

func goCopy(rounds int) {
	queue := make([]int, rounds)
	for len(queue) > 0 {
		sum += queue[0]
		queue = dropFirst(queue)
	}
}

//go:noinline
func writeRow(out *os.File) {
	out.WriteString("a row of a table\n")
}

func goUnbuffered(rounds int) {
	for i := 0; i < rounds; i++ {
		writeRow(os.Stdout)
	}
}

func main() {
	cases := []struct {
		name   string
		run    func(int)
		rounds int
	}{
		{"go_growslice", goGrowslice, 50000},
		{"go_makeslice", goMakeslice, 200000},
		{"go_concat", goConcat, 300},
		{"go_map", goMap, 4000000},
		{"go_boxing", goBoxing, 8333333},
		{"go_reflect", goReflect, 10000000},
		{"go_collector", goCollector, 133},
		{"go_unbuffered", goUnbuffered, 800000},
		{"go_format", goFormat, 1666666},
		{"go_regexp", goRegexp, 66666},
		{"go_defer", goDefer, 100000},
		{"go_lock", goLock, 20000000},
		{"go_copy", goCopy, 40000},
	}
	for _, c := range cases {
		if len(os.Args) == 1 {
			fmt.Println(c.name)
		} else if os.Args[1] == c.name {
			if len(os.Args) > 2 {
				c.rounds, _ = strconv.Atoi(os.Args[2])
			}
			c.run(c.rounds)
			fmt.Fprintln(os.Stderr, c.name+": done")
		}
	}
}
