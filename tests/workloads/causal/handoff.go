package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

var rounds uint64
var a, b uint64

//go:noinline
func workA(units int) uint64 {
	x := uint64(units)
	for i := 0; i < units*60000; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}


//go:noinline
func workB(units int) uint64 {
	x := uint64(units)
	for i := 0; i < units*60000; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}


//go:noinline
func progress() { rounds++ }


func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	to, from := make(chan int), make(chan int)
	go func() {
		for {
			<-to
			a += workA(10)
			from <- 1
		}
	}()
	go func() {
		for {
			to <- 1
			<-from
			b += workB(20)
			progress()
		}
	}()
	time.Sleep(time.Duration(seconds) * time.Second)
	fmt.Println(rounds, "rounds")
}
