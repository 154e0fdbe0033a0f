/* Litmus tests on the machine underneath: $tests tests, threads pinned to cores, each test run again and again.
 *
 * A round is a block of instances of one test, each on cache lines of its own, so that the threads meet somewhere in it
 * without a barrier per instance. Accesses are relaxed atomics with a compiler barrier after each: the order of the source
 * is the order of the machine code, the rest is up to the CPU. Prints a line per test and outcome: test, times, values.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 512, LOCATIONS = $locations, THREADS = $threads, LOADS = $loads, TESTS = $tests, LINE = 64 };
typedef struct { _Atomic uint32_t word; char rest[LINE - sizeof(uint32_t)]; } Location;
static Location memory[BLOCK][LOCATIONS] __attribute__((aligned(64)));
static uint32_t seen[BLOCK][THREADS][LOADS + 1];
static _Atomic unsigned arrived[THREADS + 1], round_number[THREADS + 1];
static unsigned long rounds;

#define KEEP() atomic_signal_fence(memory_order_seq_cst)
#define STORE(x, v) do { atomic_store_explicit(&memory[i][x].word, v, memory_order_relaxed); KEEP(); } while (0)
#define LOAD(k, x) do { out[k] = atomic_load_explicit(&memory[i][x].word, memory_order_relaxed); KEEP(); } while (0)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#define BODY(name, code) \
    static void name(void) { for (unsigned j = 0; j < BLOCK; j++) { unsigned i = (j * 37 + 11) % BLOCK; \
        uint32_t out[LOADS + 1] = {0}; code for (int k = 0; k < LOADS; k++) seen[i][SELF][k] = out[k]; } }

$bodies
typedef void (*Body)(void);
static const Body bodies[TESTS][THREADS] = {
$table
};
static const int running[TESTS] = {$running}, loads[TESTS][THREADS] = {
$counts
};

/* Tests of different numbers of threads meet at different places: who has nothing to do waits at the next one, asleep. */
static void meet(int count) {
    unsigned now = atomic_load(&round_number[count]);
    if (atomic_fetch_add(&arrived[count], 1) + 1 == (unsigned)count) {
        atomic_store(&arrived[count], 0);
        atomic_store(&round_number[count], now + 1);
    } else {
        unsigned spins = 0;
        while (atomic_load(&round_number[count]) == now)
            if (++spins > 20000)
                usleep(200);
            else if (spins > 1000)
                sched_yield();
    }
}

/* Outcomes as numbers in base 16; there are few, so they are searched one by one. */
static uint64_t known[4096];
static unsigned long times[4096];
static int outcomes;

static void count_block(int test) {
    for (int i = 0; i < BLOCK; i++) {
        uint64_t outcome = 1;
        for (int t = 0; t < running[test]; t++)
            for (int k = 0; k < loads[test][t]; k++)
                outcome = outcome * 16 + seen[i][t][k];
        int at = 0;
        while (at < outcomes && known[at] != outcome)
            at++;
        if (at == outcomes && outcomes < 4096)
            known[outcomes] = outcome, times[outcomes++] = 0;
        if (at < 4096)
            times[at]++;
    }
}

static void print_test(int test) {
    for (int at = 0; at < outcomes; at++) {
        printf("%d %lu", test, times[at]);
        int digits = 0;
        while (known[at] >> 4 * (digits + 1))
            digits++;
        while (digits--)
            printf(" %u", (unsigned)(known[at] >> 4 * digits & 15));
        printf("\n");
    }
    fflush(stdout);
    outcomes = 0;
}

static void *core(void *argument) {
    int self = (int)(intptr_t)argument;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)self % (size_t)sysconf(_SC_NPROCESSORS_ONLN), &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    for (int test = 0; test < TESTS; test++)
        for (unsigned long n = 0; self < running[test] && n < rounds; n++) {
            if (self == 0)
                for (int i = 0; i < BLOCK; i++)
                    for (int x = 0; x < LOCATIONS; x++)
                        atomic_store(&memory[i][x].word, 0);
            meet(running[test]);
            bodies[test][self]();
            meet(running[test]);
            if (self == 0) {
                count_block(test);
                if (n + 1 == rounds)
                    print_test(test);
            }
        }
    return NULL;
}

int main(int count, char **arguments) {
    rounds = count > 1 ? (strtoul(arguments[1], NULL, 10) + BLOCK - 1) / BLOCK : 1;
    pthread_t ids[THREADS];
    for (int t = 0; t < THREADS; t++)
        pthread_create(&ids[t], NULL, core, (void *)(intptr_t)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
