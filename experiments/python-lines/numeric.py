# A numeric loop: primes, a matrix product, Collatz chains.
def primes(n):
    sieve = [True] * n
    for i in range(2, n):
        if sieve[i]:
            for k in range(i * i, n, i):
                sieve[k] = False
    return sum(sieve) - 2


def product(a, b):
    size = len(a)
    result = [[0] * size for _ in range(size)]
    for i in range(size):
        for j in range(size):
            total = 0
            for k in range(size):
                total += a[i][k] * b[k][j]
            result[i][j] = total
    return result


def collatz(most):
    best = 0
    for start in range(1, most):
        n, steps = start, 0
        while n != 1:
            n = 3 * n + 1 if n & 1 else n // 2
            steps += 1
        best = max(best, steps)
    return best


matrix = [[(i * 7 + j * 3) % 11 for j in range(16)] for i in range(16)]
print(primes(4000), product(matrix, matrix)[3][4], collatz(300))
