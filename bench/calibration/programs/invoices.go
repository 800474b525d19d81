// invoices.go - allocation in a loop: the lines of invoices, added up by customer.
//
// Planted: parseLine makes a map for each line, with a text for each field, and the line is
// forgotten as soon as it was added.  A record of four numbers needs no memory of its own.
// Right: parseLine, or the allocator and the collector below it.  Wrong: checkLine.
package main

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	distinct = 4000
	rounds   = 900
)

// Set by the linker (-X main.without=yes): each line is parsed once only.
var without string

var parsed = map[string]map[string]string{}

func makeLines() []string {
	lines := make([]string, distinct)
	for i := range lines {
		body := fmt.Sprintf("customer=%d;article=%d;count=%d;cents=%d", i*7919%311, i*31%977,
			i%12+1, 99+i*104729%20000)
		lines[i] = body + ";check=" + strconv.Itoa(int(checkOf(body)))
	}
	return lines
}

func checkOf(body string) uint32 {
	check := uint32(2166136261)
	for i := 0; i < len(body); i++ {
		check = (check ^ uint32(body[i])) * 16777619
	}
	return check >> 8
}

//go:noinline
func parseLine(line string) map[string]string {
	if fields, known := parsed[line]; known {
		return fields
	}
	fields := make(map[string]string)
	for _, word := range strings.Split(line, ";") {
		pair := strings.SplitN(word, "=", 2)
		fields[strings.ToLower(pair[0])] = pair[1]
	}
	if without != "" {
		parsed[line] = fields
	}
	return fields
}

//go:noinline
func checkLine(line string, want uint64) bool {
	return uint64(checkOf(line[:strings.LastIndexByte(line, ';')])) == want
}

func number(fields map[string]string, name string) uint64 {
	value, err := strconv.ParseUint(fields[name], 10, 64)
	if err != nil {
		panic(err)
	}
	return value
}

//go:noinline
func addLine(totals map[uint64]uint64, line string) bool {
	fields := parseLine(line)
	if !checkLine(line, number(fields, "check")) {
		return false
	}
	totals[number(fields, "customer")] += number(fields, "count") * number(fields, "cents")
	return true
}

func main() {
	totals := make(map[uint64]uint64)
	lines := makeLines()
	bad := 0
	for round := 0; round < rounds; round++ {
		for _, line := range lines {
			if !addLine(totals, line) {
				bad++
			}
		}
	}
	var sum uint64
	for _, total := range totals {
		sum += total
	}
	fmt.Println(rounds*distinct, "lines,", len(totals), "customers,", bad, "bad,", sum, "cents")
}
