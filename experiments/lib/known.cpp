// As known.c, with what C++20 has: known_cpp CASE ROUNDS.
#include <barrier>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

static constexpr int TIMES = 10;

[[gnu::noinline]] static void chain(long times) {
    unsigned long x = 3;
    for (long i = 0; i < times; i++)
        __asm__ volatile(".rept 24\n imul %0, %0\n .endr" : "+r"(x));
}

static void latch(long rounds) {
    std::latch latch(2);
    std::jthread slow([&] { chain(rounds), latch.count_down(); });
    std::jthread quick([&] { chain(0), latch.count_down(); });
    latch.wait();
    chain(rounds);
}

static void barrier(long rounds) {
    std::barrier barrier(2);
    auto work = [&](int number) {
        for (int i = 0; i < TIMES; i++) {
            chain(i % 2 == number ? rounds / TIMES : 0);
            barrier.arrive_and_wait();
        }
    };
    std::jthread other(work, 1);
    work(0);
}

static void semaphore(long rounds) {
    std::binary_semaphore here(1), there(0);
    auto work = [&](std::binary_semaphore &from, std::binary_semaphore &to) {
        for (int i = 0; i < TIMES; i++) {
            from.acquire();
            chain(rounds / TIMES);
            to.release();
        }
    };
    std::jthread other([&] { work(there, here); });
    work(here, there);
}

static void future(long rounds) {
    auto result = std::async(std::launch::async, [=] { chain(rounds); });
    chain(rounds / 2);
    result.get();
    chain(rounds);
}

static void two_locks(long rounds) {
    std::mutex a, b;
    auto work = [&] {
        for (int i = 0; i < TIMES; i++) {
            std::scoped_lock both(a, b);
            chain(rounds / TIMES);
        }
    };
    std::jthread other(work);
    work();
}

int main(int argc, char **argv) {
    const std::string name = argc == 3 ? argv[1] : "";
    const long rounds = argc == 3 ? std::atol(argv[2]) : 0;
    if (name == "c++-latch")
        latch(rounds);
    else if (name == "c++-barrier")
        barrier(rounds);
    else if (name == "c++-semaphore")
        semaphore(rounds);
    else if (name == "c++-future")
        future(rounds);
    else if (name == "c++-two-locks")
        two_locks(rounds);
    else
        return 2;
}
