// Goroutines that take numbers from a channel, hash them many times, and add what comes out to a
// table under a lock.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"sync"
)

func main() {
	jobs, _ := strconv.Atoi(os.Args[1])
	work := make(chan uint64, 8)
	table := map[byte]uint64{}
	var lock sync.Mutex
	var done sync.WaitGroup
	for worker := 0; worker < 3; worker++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for number := range work {
				sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, number))
				for round := uint64(0); round < 40+number%60; round++ {
					sum = sha256.Sum256(sum[:])
				}
				lock.Lock()
				table[sum[0]] += number
				lock.Unlock()
			}
		}()
	}
	for number := 0; number < jobs; number++ {
		work <- uint64(number)
	}
	close(work)
	done.Wait()
	fmt.Println(len(table))
}
