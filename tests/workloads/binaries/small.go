// small.go - only looked at, never run.
package main

import "fmt"

func main() { fmt.Println("small") }
