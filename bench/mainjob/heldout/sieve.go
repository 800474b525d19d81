// sieve.go - clean: prime numbers in pieces that stay in the first cache, by two goroutines.
//
//	sieve [PIECES]
//
// Nothing is planted: strike does all the work, each piece is its own, and the pieces are of one size.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

const piece = 1 << 15

func smallPrimes(limit int) []int {
	composite := make([]bool, limit)
	var primes []int
	for i := 3; i < limit; i += 2 {
		if !composite[i] {
			primes = append(primes, i)
			for j := i * i; j < limit; j += i {
				composite[j] = true
			}
		}
	}
	return primes
}

func strike(marks []byte, primes []int, from int) int {
	for i := range marks {
		marks[i] = 1
	}
	for _, p := range primes {
		start := (from + p - 1) / p * p
		for j := start - from; j < len(marks); j += p {
			marks[j] = 0
		}
	}
	left := 0
	for _, mark := range marks {
		left += int(mark)
	}
	return left
}

func main() {
	pieces := 70000
	if len(os.Args) > 1 {
		pieces, _ = strconv.Atoi(os.Args[1])
	}
	primes := smallPrimes(4000)
	var group sync.WaitGroup
	var left [2]int
	for half := 0; half < 2; half++ {
		group.Add(1)
		go func(half int) {
			defer group.Done()
			marks := make([]byte, piece)
			for i := half; i < pieces; i += 2 {
				left[half] += strike(marks, primes, (i+1)*piece)
			}
		}(half)
	}
	group.Wait()
	fmt.Println(pieces, "pieces,", left[0]+left[1], "left")
}
