# Programs with signals: timers, children that end, a runtime that preempts its threads by signals. Each is
# simulated to its end, and so is a trace of it.
. tests/e2e/lib.sh
# In order, where what-if is not asked for and takes no time.
in_order="--machine alpha21164"

# What bash says of its own now and then when traps come faster than it runs them.
bash_itself='^bash: warning: run_pending_traps: '

# whole NAME COMMAND...: the command keeps its output, and its simulation is no part of a run.
whole() {
    local name=$1 part=()
    shift
    [ "$1" != python3 ] || part=(--from Py_RunMain) # not how it starts, which is most of so short a run
    "$@" >"$scratch/$name.native" || return
    run sim ${part[@]+"${part[@]}"} --json --output "$scratch/$name.json" -- "$@" >"$scratch/$name.out" 2>"$scratch/err" ||
        { cat "$scratch/err"; return 1; }
    same_file "$scratch/$name.native" "$scratch/$name.out" || return
    ! without_progress "$scratch/err" | grep -v "$bash_itself" || return
    report=$scratch/$name.json told 'not r["partial"]' 'r["instructions"] > 1e6' \
        'sum(r["commit_states"].values()) == r["cycles"]'
}

# traced NAME COMMAND...: sim and explain read what trace wrote.
traced() {
    local file=$scratch/$1.ctrace
    shift
    run trace -o "$file" -- "$@" >/dev/null 2>"$scratch/err" || { cat "$scratch/err"; return 1; }
    run sim $in_order "$file" >"$scratch/report" && run explain $in_order "$file" >"$scratch/report"
}

# setitimer(2), every millisecond, by its number: the module for it would be most of the run.
timer='$SIG{ALRM} = sub { $n++ }; $every = pack("q4", 0, 1000, 0, 1000); $off = pack("q4");
    syscall(38, 0, $every, 0); 1 while $n < 8; syscall(38, 0, $off, 0); print "done"'
check "a timer in perl" whole perl perl -e "$timer"
check "... and a trace of it" traced perl perl -e "$timer"
told_of_timer() {
    tr -s ' \n' ' ' <"$scratch/report" | grep -q "the command set a timer: what it does until that expires depends on"
}
check "... says that the run depends on the timer" told_of_timer
no_timer() {
    # One that is only stopped is none.
    traced calm perl -e '$off = pack("q4"); syscall(38, 0, $off, 0); alarm(0)' && ! told_of_timer
}
check "... and does not where none was set" no_timer
# timerfd_create(2) and timer_create(2), by their numbers, too.
timer_of_file() {
    traced file perl -e '$once = pack("q4", 0, 0, 0, 1000); $timer = syscall(283, 1, 0);
        syscall(286, $timer, 0, $once, 0) == 0 or die' && told_of_timer
}
timer_of_posix() {
    traced posix perl -e '$once = pack("q4", 0, 0, 0, 1000); $event = pack("qll x48", 0, 14, 1); $id = pack("l", -1);
        syscall(222, 1, $event, $id) == 0 or die; syscall(223, unpack("l", $id), 0, $once, 0) == 0 or die' && told_of_timer
}
file_stopped() {
    traced still perl -e '$off = pack("q4"); $timer = syscall(283, 1, 0); syscall(286, $timer, 0, $off, 0)' && ! told_of_timer
}
check "a timer that is a file is told" timer_of_file
check "... and is not where it was only stopped" file_stopped
check "a timer of timer_create is told" timer_of_posix

storm='trap "n=\$((n + 1))" CHLD; for i in {1..20}; do (exit 0) & done; wait; echo done'
check "a shell whose children end" whole bash bash -c "$storm"
check "... with the children" run sim --follow --output /dev/null -- bash -c "$storm"

profiled='
import _signal as signal
n = 0
def handler(number, frame):
    global n
    n += 1
signal.signal(signal.SIGPROF, handler)
signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)
while n < 3:
    sum(range(1000))
signal.setitimer(signal.ITIMER_PROF, 0)
print("done")'
check "a profiler by timer in python" whole python python3 -S -c "$profiled"

cat >"$scratch/threads.go" <<'END'
package main

import "fmt"

func work(n int, done chan int) {
	squares := map[int]int{}
	for i := 0; i < n; i++ {
		squares[i%1000] += i * i
	}
	done <- len(squares)
}

func main() {
	done, sum := make(chan int), 0
	for i := 0; i < 4; i++ {
		go work(8000, done)
	}
	for i := 0; i < 4; i++ {
		sum += <-done
	}
	fmt.Println(sum)
}
END
go_programs() {
    GOCACHE=$scratch/go-cache GOFLAGS=-mod=mod GO111MODULE=off go build -o "$scratch/threads" "$scratch/threads.go" &&
        whole go "$scratch/threads" && report=$scratch/go.json told 'len(r["threads"]) > 1' \
        'r["instructions"] > 5e6'
}
skip_without go "a program in Go" || check "a program in Go" go_programs
skip_without go "... and a trace of it" || check "... and a trace of it" traced go "$scratch/threads"


finish
