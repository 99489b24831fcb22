// Threads that count the words of their parts of a text, each in a table of its own, and merge these
// under a lock; again and again, with a wait for all after each round.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static std::mutex lock;
static std::condition_variable all_here;
static std::unordered_map<std::string, long> total;
static unsigned here, rounds_over;

static void meet(unsigned threads) {
    std::unique_lock<std::mutex> held(lock);
    const unsigned round = rounds_over;
    if (++here == threads) {
        here = 0;
        rounds_over++;
        all_here.notify_all();
    } else {
        all_here.wait(held, [round] { return rounds_over != round; });
    }
}

static void count(unsigned thread, unsigned threads, unsigned rounds) {
    unsigned long seed = thread + 1;
    for (unsigned round = 0; round < rounds; round++) {
        std::unordered_map<std::string, long> own;
        for (unsigned i = 0; i < 4000 + 2000 * thread; i++) {
            std::string word;
            do {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                word += static_cast<char>('a' + (seed >> 60));
            } while (seed >> 40 & 3);
            own[word]++;
        }
        {
            const std::lock_guard<std::mutex> held(lock);
            for (const auto &entry : own)
                total[entry.first] += entry.second;
        }
        meet(threads);
    }
}

int main(int argc, char **argv) {
    const unsigned threads = argc > 1 ? std::atoi(argv[1]) : 2, rounds = argc > 2 ? std::atoi(argv[2]) : 10;
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; i++)
        workers.emplace_back(count, i, threads, rounds);
    for (auto &worker : workers)
        worker.join();
    std::printf("%zu\n", total.size());
}
