// Words in a std::map, numbers in a std::unordered_map: built, looked up, walked.
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
int main() {
    std::map<std::string, int> tree;
    std::unordered_map<long, long> table;
    std::vector<std::string> words;
    unsigned long r = 1;
    long sum = 0;
    for (int i = 0; i < 20000; i++) {
        r = r * 6364136223846793005UL + 1442695040888963407UL;
        words.push_back("word" + std::to_string((r >> 33) % 9000));
        tree[words.back()]++;
        table[(long)((r >> 33) % 30000)] += i;
    }
    for (auto &w : words) {
        auto at = tree.find(w);
        if (at != tree.end())
            sum += at->second;
    }
    for (auto &p : table)
        sum += p.second;
    printf("%ld\n", sum);
}
