// Programs of one file for experiments/estimate-errors.py:    estimates NAME SIZE [SEED]
//
// What most of them do depends on their data: the same code takes longer or shorter as tables grow
// beyond a cache and branches become harder to foretell. Each prints one number.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../workloads/divide.h"

using number = uint64_t;

static number state = 88172645463325252;

/* Marsaglia's xorshift. */
static number next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Small numbers often: the larger of a few draws counts from the end. */
static number skewed(number below) {
    return std::min({next() % below, next() % below, next() % below, next() % below});
}

struct row {
    number key;
    uint32_t amount, kind;
};

/* Orders joined with customers, which are nodes of an allocator that other things come from too. */
static number hash_join(number size) {
    std::unordered_map<number, row> customers;
    std::vector<std::string> others;
    number sum = 0;
    for (number i = 0; i < size; i++) {
        number key = next() % (4 * size);
        customers[key] = row{key, (uint32_t)(next() % 1000), (uint32_t)(next() % 7)};
        if (next() % 3 == 0)
            others.emplace_back(next() % 80, 'x');
    }
    for (number i = 0; i < 12 * size; i++) {
        auto found = customers.find(next() % (4 * size));
        if (found == customers.end())
            continue;
        sum += found->second.amount > 500 ? found->second.amount : found->second.kind;
        if (next() % 2)
            sum ^= found->second.kind;
    }
    return sum;
}

/* Partitions first, then joins one after the other, each in a table of the cache's size. */
static number partitioned_join(number size) {
    enum { PARTS = 64 };
    std::vector<std::vector<row>> parts(PARTS);
    number sum = 0;
    for (number i = 0; i < size; i++) {
        number key = next() % size;
        parts[key * 2654435761 >> 8 & (PARTS - 1)].push_back(row{key, (uint32_t)i, 1});
    }
    for (auto &part : parts) {
        std::vector<uint32_t> heads(16384, UINT32_MAX), links(part.size());
        for (uint32_t i = 0; i < part.size(); i++) {
            uint32_t &head = heads[part[i].key * 0x9e3779b97f4a7c15 >> 50];
            links[i] = head;
            head = i;
        }
        for (auto &probe : part)
            for (uint32_t i = heads[probe.key * 0x9e3779b97f4a7c15 >> 50]; i != UINT32_MAX; i = links[i])
                if (part[i].key == probe.key)
                    sum += part[i].amount;
    }
    return sum;
}

static std::vector<std::vector<uint32_t>> graph(number nodes, number degree, bool skew) {
    std::vector<std::vector<uint32_t>> edges(nodes);
    for (number i = 0; i < nodes * degree / 2; i++) {
        uint32_t from = next() % nodes, to = skew ? skewed(nodes) : next() % nodes;
        edges[from].push_back(to);
        edges[to].push_back(from);
    }
    return edges;
}

static number breadth_first(number nodes, bool skew) {
    auto edges = graph(nodes, 8, skew);
    number sum = 0;
    for (uint32_t start = 0; start < 3; start++) {
        std::vector<uint32_t> level(nodes, UINT32_MAX), queue{start};
        level[start] = 0;
        for (size_t at = 0; at < queue.size(); at++)
            for (uint32_t to : edges[queue[at]])
                if (level[to] == UINT32_MAX) {
                    level[to] = level[queue[at]] + 1;
                    queue.push_back(to);
                }
        sum += level[queue.back()] + queue.size();
    }
    return sum;
}

static number shortest_paths(number nodes) {
    auto edges = graph(nodes, 6, false);
    std::vector<number> distance(nodes, UINT64_MAX);
    std::priority_queue<std::pair<number, uint32_t>, std::vector<std::pair<number, uint32_t>>,
                        std::greater<>> open;
    open.push({0, 0});
    distance[0] = 0;
    while (!open.empty()) {
        auto [far, node] = open.top();
        open.pop();
        if (far > distance[node])
            continue;
        for (uint32_t to : edges[node]) {
            number there = far + (node * 31 + to * 17) % 100 + 1;
            if (there < distance[to]) {
                distance[to] = there;
                open.push({there, to});
            }
        }
    }
    return std::accumulate(distance.begin(), distance.end(), number{0});
}

static number page_rank(number nodes) {
    auto edges = graph(nodes, 10, true);
    std::vector<double> rank(nodes, 1), passed(nodes);
    for (int pass = 0; pass < 6; pass++) {
        std::fill(passed.begin(), passed.end(), 0.15);
        for (number node = 0; node < nodes; node++)
            for (uint32_t to : edges[node])
                passed[to] += 0.85 * rank[node] / (double)edges[node].size();
        rank.swap(passed);
    }
    return (number)(1000 * *std::max_element(rank.begin(), rank.end()));
}

static number components(number nodes) {
    std::vector<uint32_t> parent(nodes);
    std::iota(parent.begin(), parent.end(), 0);
    std::function<uint32_t(uint32_t)> find = [&](uint32_t at) {
        while (parent[at] != at)
            at = parent[at] = parent[parent[at]];
        return at;
    };
    number sum = 0;
    for (number i = 0; i < 2 * nodes; i++) {
        uint32_t a = find(next() % nodes), b = find(next() % nodes);
        sum += a != b;
        parent[a] = b;
    }
    return sum;
}

/* Random, nearly sorted and of few values, one after the other. */
static number sorts(number size) {
    number sum = 0;
    for (int kind = 0; kind < 4; kind++) {
        std::vector<number> items(size);
        for (number i = 0; i < size; i++)
            items[i] = kind == 0 ? next() : kind == 1 ? i + next() % 8 : kind == 2 ? next() % 5 : size - i;
        std::sort(items.begin(), items.end());
        sum += items[size / 2];
    }
    return sum;
}

static number heap_sort(number size) {
    std::vector<number> items(size);
    for (auto &item : items)
        item = next();
    std::make_heap(items.begin(), items.end());
    std::sort_heap(items.begin(), items.end());
    return items[size / 3];
}

static number radix_sort(number size) {
    std::vector<uint32_t> items(size), other(size);
    for (auto &item : items)
        item = (uint32_t)next();
    for (int shift = 0; shift < 32; shift += 8) {
        std::array<uint32_t, 257> starts{};
        for (uint32_t item : items)
            starts[(item >> shift & 255) + 1]++;
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        for (uint32_t item : items)
            other[starts[item >> shift & 255]++] = item;
        items.swap(other);
    }
    return items[size / 3];
}

/* A tree that grows, and is asked more and more. */
static number tree(number size) {
    std::map<number, number> items;
    number sum = 0;
    for (number i = 0; i < size; i++) {
        DIVIDE_IF(i % 256 == 0);
        items[next() % (2 * size)] = i;
        auto found = items.lower_bound(next() % (2 * size));
        sum += found == items.end() ? 0 : found->second;
        if (i % 3 == 0 && found != items.end())
            items.erase(found);
    }
    return sum;
}

/* The cache of a server: least recently used goes. */
static number cache(number size) {
    std::list<number> order;
    std::unordered_map<number, std::list<number>::iterator> where;
    number hits = 0;
    for (number i = 0; i < 10 * size; i++) {
        DIVIDE_IF(i % 256 == 0);
        number key = skewed(8 * size);
        auto found = where.find(key);
        if (found != where.end()) {
            order.splice(order.begin(), order, found->second);
            hits++;
            continue;
        }
        order.push_front(key);
        where[key] = order.begin();
        if (order.size() > size) {
            where.erase(order.back());
            order.pop_back();
        }
    }
    return hits;
}

/* Bytecode of a random program, whose loops are of different lengths. */
static number interpreter(number steps) {
    std::vector<uint8_t> code(4000);
    for (auto &op : code)
        op = next() % 11;
    std::vector<number> memory(1 << 18);
    number a = 1, b = 2, at = 0;
    for (number i = 0; i < steps; i++) {
        switch (code[at]) {
        case 0: a += b; break;
        case 1: b ^= a << 1; break;
        case 2: a = a >> 3 | a << 61; break;
        case 3: memory[a & (memory.size() - 1)] = b; break;
        case 4: b += memory[b * 0x9e3779b97f4a7c15 >> 46]; break;
        case 5: a *= 3; break;
        case 6: if (a & 4) at = (at + b % 40) % code.size(); break;
        case 7: if (b & 1) at = (at + 1) % code.size(); break;
        case 8: std::swap(a, b); break;
        case 9: if ((a ^ b) % 17 == 0) at = a % code.size(); break;
        default: b -= i; break;
        }
        if (++at == code.size())
            at = 0;
    }
    return a ^ b;
}

static number queens(int count, int row, uint32_t columns, uint32_t left, uint32_t right) {
    if (row == count)
        return 1;
    number found = 0;
    for (uint32_t free = ~(columns | left | right) & ((1u << count) - 1); free; free &= free - 1) {
        uint32_t bit = free & -free;
        found += queens(count, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

static number mandelbrot(number size) {
    number sum = 0;
    for (number y = 0; y < size; y++)
        for (number x = 0; x < size; x++) {
            double cr = 3.0 * (double)x / (double)size - 2.2, ci = 2.4 * (double)y / (double)size - 1.2;
            double r = 0, i = 0;
            int steps = 0;
            for (; steps < 200 && r * r + i * i < 4; steps++) {
                double t = r * r - i * i + cr;
                i = 2 * r * i + ci;
                r = t;
            }
            sum += steps;
        }
    return sum;
}

static number edit_distance(number size) {
    std::string a, b;
    for (number i = 0; i < size; i++) {
        a += (char)('a' + next() % 4);
        b += (char)('a' + next() % 4);
    }
    std::vector<uint32_t> line(size + 1);
    std::iota(line.begin(), line.end(), 0);
    for (number i = 1; i <= size; i++) {
        uint32_t corner = line[0]++;
        for (number k = 1; k <= size; k++) {
            uint32_t above = line[k];
            line[k] = a[i - 1] == b[k - 1] ? corner : 1 + std::min({corner, above, line[k - 1]});
            corner = above;
        }
    }
    return line[size];
}

/* Conway's, from a random beginning that dies down. */
static number life(number size) {
    std::vector<uint8_t> now(size * size), then(size * size);
    for (auto &cell : now)
        cell = next() % 3 == 0;
    for (int generation = 0; generation < 40; generation++) {
        for (number y = 1; y + 1 < size; y++)
            for (number x = 1; x + 1 < size; x++) {
                number at = y * size + x, sum = 0;
                for (number line : {at - size, at, at + size})
                    sum += now[line - 1] + now[line] + now[line + 1];
                then[at] = sum == 3 || (sum == 4 && now[at]);
            }
        now.swap(then);
    }
    return std::accumulate(now.begin(), now.end(), number{0});
}

struct point {
    float x, y, z;
};
struct cell {
    int axis;
    point at;
    cell *less, *more;
};

static cell *build(point *first, point *last, int axis) {
    if (first == last)
        return nullptr;
    point *middle = first + (last - first) / 2;
    DIVIDE_IF(last - first >= 128 && last - first < 256);
    auto along = [axis](const point &p) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; };
    std::nth_element(first, middle, last,
                     [&](const point &a, const point &b) { return along(a) < along(b); });
    return new cell{axis, *middle, build(first, middle, (axis + 1) % 3),
                    build(middle + 1, last, (axis + 1) % 3)};
}

static void nearest(const cell *tree, const point &to, float &least) {
    if (!tree)
        return;
    float dx = tree->at.x - to.x, dy = tree->at.y - to.y, dz = tree->at.z - to.z;
    least = std::min(least, dx * dx + dy * dy + dz * dz);
    float across = tree->axis == 0 ? dx : tree->axis == 1 ? dy : dz;
    nearest(across > 0 ? tree->less : tree->more, to, least);
    if (across * across < least)
        nearest(across > 0 ? tree->more : tree->less, to, least);
}

static number neighbours(number size) {
    auto draw = [] { return (float)(next() % 1000000) / 1e6f; };
    std::vector<point> points(size);
    for (auto &p : points)
        p = {draw(), draw() * draw(), draw()};
    cell *tree = build(points.data(), points.data() + size, 0);
    double sum = 0;
    for (number i = 0; i < size; i++) {
        float least = 10;
        nearest(tree, {draw(), draw(), draw()}, least);
        sum += least;
        DIVIDE_IF(i % 64 == 0);
    }
    return (number)(1000 * sum);
}

/* Words of a text are counted in a trie. */
static number trie(number size) {
    struct node {
        std::array<uint32_t, 26> next{};
        uint32_t count = 0;
    };
    std::vector<node> nodes(1);
    for (number i = 0; i < size; i++) {
        DIVIDE_IF(i % 256 == 0);
        number word = skewed(size) * 0x9e3779b97f4a7c15;
        uint32_t at = 0;
        for (int length = 3 + (int)(word >> 60) / 2; length; length--, word /= 26) {
            uint32_t to = nodes[at].next[word % 26];
            if (!to) {
                to = (uint32_t)nodes.size();
                nodes[at].next[word % 26] = to;
                nodes.emplace_back();
            }
            at = to;
        }
        nodes[at].count++;
    }
    number most = 0;
    for (auto &each : nodes)
        most = std::max<number>(most, each.count);
    return most + nodes.size();
}

/* Events of a simulated queueing network. */
static number events(number size) {
    std::priority_queue<std::pair<number, uint32_t>, std::vector<std::pair<number, uint32_t>>,
                        std::greater<>> open;
    std::vector<std::deque<number>> queues(500);
    for (uint32_t i = 0; i < size / 20; i++)
        open.push({next() % 1000, (uint32_t)(next() % queues.size())});
    number served = 0, now = 0;
    for (number i = 0; i < size; i++) {
        auto [time, at] = open.top();
        open.pop();
        now = time;
        auto &queue = queues[at];
        queue.push_back(now);
        if (queue.size() > 3 + at % 9) {
            served += now - queue.front();
            queue.pop_front();
        }
        open.push({now + 1 + next() % (at % 100 + 1) * (at % 7 + 1), (uint32_t)skewed(queues.size())});
    }
    return served;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const std::string name = argv[1];
    const number size = strtoull(argv[2], nullptr, 10);
    for (number i = argc > 3 ? strtoull(argv[3], nullptr, 10) : 0; i; i--)
        next();
    const std::map<std::string, std::function<number(number)>> programs{
        {"hash_join", hash_join},
        {"partitioned_join", partitioned_join},
        {"breadth_first", [](number n) { return breadth_first(n, false); }},
        {"breadth_first_skewed", [](number n) { return breadth_first(n, true); }},
        {"shortest_paths", shortest_paths},
        {"page_rank", page_rank},
        {"components", components},
        {"sorts", sorts},
        {"heap_sort", heap_sort},
        {"radix_sort", radix_sort},
        {"tree", tree},
        {"cache", cache},
        {"interpreter", interpreter},
        {"queens", [](number n) { return queens((int)n, 0, 0, 0, 0); }},
        {"mandelbrot", mandelbrot},
        {"edit_distance", edit_distance},
        {"life", life},
        {"neighbours", neighbours},
        {"trie", trie},
        {"events", events},
    };
    auto found = programs.find(name);
    if (found == programs.end())
        return 2;
    printf("%llu\n", (unsigned long long)found->second(size));
    return 0;
}
