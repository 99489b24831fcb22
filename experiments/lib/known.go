// As known.c, in Go: known_go CASE ROUNDS.
package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

const times = 10

//go:noinline
func chain(rounds int) uint64 {
	x := uint64(3)
	for i := 0; i < rounds; i++ {
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
		x *= x
	}
	return x
}

var sum uint64

// By turns, over channels without a buffer.
func turns(rounds int) {
	there, back := make(chan uint64), make(chan uint64)
	go func() {
		for range there {
			back <- chain(rounds / times)
		}
	}()
	for i := 0; i < times; i++ {
		there <- 0
		sum += <-back + chain(rounds/times)
	}
}

// Two workers take from one channel.
func workers(rounds int) {
	var group sync.WaitGroup
	work := make(chan int)
	for i := 0; i < 2; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			own := uint64(0)
			for part := range work {
				own += chain(part)
			}
			_ = own
		}()
	}
	for i := 0; i < 2*times; i++ {
		work <- rounds / times
	}
	close(work)
	group.Wait()
}

func waitGroup(rounds int) {
	var group sync.WaitGroup
	for i := 0; i < 2; i++ {
		group.Add(1)
		go func(part int) {
			defer group.Done()
			chain(part)
		}(rounds * i)
	}
	group.Wait()
	sum += chain(rounds)
}

func mutex(rounds int) {
	var group sync.WaitGroup
	var lock sync.Mutex
	for i := 0; i < 2; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < times; i++ {
				lock.Lock()
				sum += chain(rounds / times)
				lock.Unlock()
			}
		}()
	}
	group.Wait()
}

// As long as a chain takes at a clock of 3.7 GHz.
func sleep(rounds int) {
	time.Sleep(time.Duration(72 * float64(rounds) / 3.7))
	sum += chain(rounds)
}

func main() {
	cases := map[string]func(int){"go-turns": turns, "go-workers": workers, "go-wait-group": waitGroup,
		"go-mutex": mutex, "go-sleep": sleep}
	rounds, _ := strconv.Atoi(os.Args[2])
	cases[os.Args[1]](rounds)
	if sum == 2 {
		os.Exit(1)
	}
}
