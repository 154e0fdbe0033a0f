/* Random clients on the machine underneath: threads pinned to cores, a history per round, as CSV.
 *
 *     host THREADS OPERATIONS LOCATIONS HISTORIES SEED > histories.csv
 *
 * OPERATIONS are those of one thread. Every store of a history writes a value of its own. The race is not
 * disturbed: a thread runs its operations from a private table and keeps what it reads in a private one;
 * all printing is done between two rounds. Memory accesses are relaxed atomics with a compiler barrier
 * after each, so the order of the source is the order of the machine code and the rest is up to the CPU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READ, WRITE, RMW, FENCE };

#define LINE 64
#define COMPILER_BARRIER() atomic_signal_fence(memory_order_seq_cst)

typedef struct { uint32_t kind, location, value; } Operation;
typedef struct { _Atomic uint32_t word; char rest[LINE - sizeof(uint32_t)]; } Location;

static Location *memory;
static Operation **program;
static uint32_t **seen;
static unsigned threads, operations, locations, histories, hot;
static uint64_t state;
static _Atomic unsigned arrived, round_number;

static uint32_t chance(void) { /* xorshift64* */
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (uint32_t)((state * 0x2545F4914F6CDD1Dull) >> 32);
}

static void write_client(void) {
    uint32_t value = 0;
    hot = 1 + chance() % locations; /* from all accesses on one line to all lines alike */
    for (unsigned t = 0; t < threads; t++)
        for (unsigned i = 0; i < operations; i++) {
            uint32_t share = chance() % 100;
            Operation *o = &program[t][i];
            o->kind = share < 45 ? WRITE : share < 47 ? RMW : share < 49 ? FENCE : READ;
            o->location = chance() % hot;
            o->value = o->kind == WRITE || o->kind == RMW ? ++value : 0;
        }
    for (unsigned x = 0; x < locations; x++)
        atomic_store(&memory[x].word, 0);
}

static void run_client(const Operation *o, uint32_t *result) {
    for (unsigned i = 0; i < operations; i++, o++) {
        _Atomic uint32_t *at = &memory[o->location].word;
        switch (o->kind) {
        case READ: result[i] = atomic_load_explicit(at, memory_order_relaxed); break;
        case WRITE: atomic_store_explicit(at, o->value, memory_order_relaxed); break;
        case RMW: result[i] = atomic_exchange(at, o->value); break;
        default: atomic_thread_fence(memory_order_seq_cst);
        }
        COMPILER_BARRIER();
    }
}

static void print_history(unsigned number) {
    static const char *const names[] = {"R", "W", "RMW", "F"};
    for (unsigned t = 0; t < threads; t++)
        for (unsigned i = 0; i < operations; i++) {
            const Operation *o = &program[t][i];
            if (o->kind == FENCE)
                printf("%u,F,,,,%u\n", t, number);
            else if (o->kind == RMW)
                printf("%u,RMW,%u,%u,%u,%u\n", t, o->location, o->value, seen[t][i], number);
            else
                printf("%u,%s,%u,%u,,%u\n", t, names[o->kind], o->location,
                       o->kind == WRITE ? o->value : seen[t][i], number);
        }
}

/* Everybody waits for everybody. The last one writes the next client before it lets them go. */
static void meet(unsigned number) {
    unsigned now = atomic_load(&round_number);
    if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
        if (number > 0)
            print_history(number - 1);
        if (number < histories)
            write_client();
        atomic_store(&arrived, 0);
        atomic_store(&round_number, now + 1);
    } else {
        unsigned spins = 0;
        while (atomic_load(&round_number) == now)
            if (++spins > 1000)
                sched_yield();
    }
}

static void *core(void *argument) {
    unsigned self = (unsigned)(uintptr_t)argument;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(self % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    for (unsigned number = 0; number < histories; number++) {
        meet(number);
        run_client(program[self], seen[self]);
    }
    meet(histories);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "usage: host THREADS OPERATIONS LOCATIONS HISTORIES SEED\n");
        return 2;
    }
    threads = (unsigned)atoi(arguments[1]), operations = (unsigned)atoi(arguments[2]);
    locations = (unsigned)atoi(arguments[3]), histories = (unsigned)atoi(arguments[4]);
    state = strtoull(arguments[5], NULL, 10) * 2 + 1;
    if (!threads || !operations || !locations) {
        fprintf(stderr, "host: threads, operations and locations are at least 1\n");
        return 2;
    }
    memory = aligned_alloc(LINE, locations * sizeof *memory);
    program = calloc(threads, sizeof *program);
    seen = calloc(threads, sizeof *seen);
    for (unsigned t = 0; t < threads; t++) {
        program[t] = calloc(operations, sizeof **program);
        seen[t] = calloc(operations, sizeof **seen);
    }
    printf("thread,op,address,value,read,history\n");
    pthread_t *ids = calloc(threads, sizeof *ids);
    for (unsigned t = 0; t < threads; t++)
        pthread_create(&ids[t], NULL, core, (void *)(uintptr_t)t);
    for (unsigned t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    return 0;
}
