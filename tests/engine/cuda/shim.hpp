// Runs a printed CUDA kernel on the host: the threads of a block are fibres of one thread, and a barrier waits for all of them.
// What of CUDA the printed text and its prelude use is defined here, and nothing else, so that a kernel that uses more does not compile.

#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <type_traits>
#include <utility>

#define __device__
#define __global__
#define __constant__ static
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(threads)
#define __grid_constant__

struct Place {
    unsigned x, y, z;
};
static Place blockIdx, threadIdx, gridDim;

namespace host {

constexpr unsigned WARP = 32;
constexpr size_t STACK_BYTES = 256 << 10;

enum class State { Ready, AtBlockBarrier, AtFirstBarrier, AtWarpBarrier, Done };

// After its first start a fibre is resumed by a long jump, which needs no system call. It lives on for the next block.
struct Fibre {
    ucontext_t context;
    jmp_buf place;
    bool is_started;
    State state;
    // Values given in turn to two shuffles, so that the next one does not overwrite what another lane has yet to read.
    uint32_t given[2];
    unsigned shuffles;
};

static jmp_buf scheduler;
static Fibre* fibres;
static char* stacks;
static unsigned made, threads;
// How many threads the barrier is for that the first ones wait at.
static unsigned first_ones;
static void (*work)();

[[noreturn]] static void fail(const char* what) {
    fprintf(stderr, "shim: %s\n", what);
    abort();
}

static void wait_as(Fibre& self, State state) {
    self.state = state;
    if (_setjmp(self.place) == 0) _longjmp(scheduler, 1);
}

static void wait_at(State barrier) { wait_as(fibres[threadIdx.x], barrier); }

static void live() {
    Fibre& self = fibres[threadIdx.x];
    for (;;) {
        work();
        wait_as(self, State::Done);
    }
}

// Runs a fibre until it waits or is done.
static void resume(Fibre& fibre) {
    if (_setjmp(scheduler) != 0) return;
    if (fibre.is_started) _longjmp(fibre.place, 1);
    fibre.is_started = true;
    setcontext(&fibre.context);
}

// The other lane's value, once every lane of the warp has given its own.
static uint32_t shuffle(uint32_t value, unsigned mask) {
    unsigned lane = threadIdx.x;
    Fibre& self = fibres[lane];
    unsigned turn = self.shuffles++ % 2;
    self.given[turn] = value;
    wait_at(State::AtWarpBarrier);
    unsigned other = lane ^ mask;
    return other / WARP == lane / WARP && other < threads ? fibres[other].given[turn] : value;
}

// Lets threads that wait go on, if all of them that are not done wait at the same barrier.
static bool release(unsigned first, unsigned end, State barrier) {
    unsigned waiting = 0, done = 0;
    for (unsigned i = first; i < end; i++) {
        waiting += fibres[i].state == barrier;
        done += fibres[i].state == State::Done;
    }
    if (waiting == 0 || waiting + done < end - first) return false;
    if (done > 0) fail("only some of the threads reach a barrier");
    for (unsigned i = first; i < end; i++) fibres[i].state = State::Ready;
    return true;
}

static void run_block() {
    for (unsigned i = 0; i < threads; i++) {
        fibres[i].state = State::Ready;
        fibres[i].shuffles = 0;
    }
    for (;;) {
        for (unsigned i = 0; i < threads; i++) {
            if (fibres[i].state != State::Ready) continue;
            threadIdx = {i, 0, 0};
            resume(fibres[i]);
        }
        bool goes_on = false;
        for (unsigned first = 0; first < threads; first += WARP) {
            unsigned end = first + WARP < threads ? first + WARP : threads;
            goes_on |= release(first, end, State::AtWarpBarrier);
        }
        goes_on |= release(0, first_ones, State::AtFirstBarrier);
        if (goes_on || release(0, threads, State::AtBlockBarrier)) continue;
        for (unsigned i = 0; i < threads; i++) {
            if (fibres[i].state != State::Done) fail("threads wait at different barriers");
        }
        return;
    }
}

static void make_fibres(unsigned count) {
    free(fibres);
    if (stacks) munmap(stacks, made * STACK_BYTES);
    fibres = static_cast<Fibre*>(calloc(count, sizeof(Fibre)));
    const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    stacks = static_cast<char*>(mmap(nullptr, count * STACK_BYTES, PROT_READ | PROT_WRITE, kind, -1, 0));
    if (!fibres || stacks == MAP_FAILED) fail("no memory for the stacks of a block");
    for (unsigned i = 0; i < count; i++) {
        ucontext_t& context = fibres[i].context;
        getcontext(&context);
        context.uc_stack.ss_sp = stacks + i * STACK_BYTES;
        context.uc_stack.ss_size = STACK_BYTES;
        makecontext(&context, live, 0);
    }
    made = count;
}

static void run_grid(unsigned block, const unsigned* grid, void (*kernel)()) {
    if (made < block) make_fibres(block);
    threads = block;
    work = kernel;
    gridDim = {grid[0], grid[1], grid[2]};
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned x = 0; x < grid[0]; x++) {
                blockIdx = {x, y, z};
                run_block();
            }
}

struct Arguments {
    void** pointers;
    const unsigned* bytes;
    const void* const* uniforms;
};
static Arguments bound;

enum class Kind { Pointer, Bytes, Uniform };
template <class T> constexpr Kind kind =
    std::is_pointer_v<T> ? Kind::Pointer : std::is_same_v<std::remove_cv_t<T>, unsigned> ? Kind::Bytes : Kind::Uniform;

// Argument `at` of a kernel. Each kind has its own list.
template <size_t At, class T, class... A> static T argument() {
    constexpr Kind kinds[] = {kind<A>...};
    size_t before = 0;
    for (size_t i = 0; i < At; i++) before += kinds[i] == kind<T>;
    if constexpr (kind<T> == Kind::Pointer) return static_cast<T>(bound.pointers[before]);
    else if constexpr (kind<T> == Kind::Bytes) return bound.bytes[before];
    else return *static_cast<const std::remove_cv_t<T>*>(bound.uniforms[before]);
}

template <class... A, size_t... At> static void call(void (*kernel)(A...), std::index_sequence<At...>) {
    kernel(argument<At, A, A...>()...);
}
template <class... A> static void call(void (*kernel)(A...)) { call(kernel, std::index_sequence_for<A...>()); }

// An index outside an array: no kernel may have one.
[[noreturn]] static unsigned outside(unsigned index, unsigned count) {
    fprintf(stderr, "a kernel takes item %u of an array of %u\n", index, count);
    abort();
}

}  // namespace host

static void __syncthreads() { host::wait_at(host::State::AtBlockBarrier); }
static void __syncwarp() { host::wait_at(host::State::AtWarpBarrier); }
static void __threadfence_block() {}

// What intrinsics.cuh defines for a GPU. Kernels of a whole run in one block, whose threads are the whole grid.
alignas(16) static unsigned char wgsl_memory[256 << 10];
template <unsigned N> static void barrier_of_first() {
    host::first_ones = N;
    host::wait_at(host::State::AtFirstBarrier);
}
static void barrier_of_grid(unsigned*, unsigned) { __syncthreads(); }

template <class To, class From> static To same_bits(From from) {
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}
static unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
static int __float_as_int(float x) { return same_bits<int>(x); }
static float __uint_as_float(unsigned x) { return same_bits<float>(x); }
static float __int_as_float(int x) { return same_bits<float>(x); }
static int __float2int_rz(float x) {
    return x != x ? 0 : x >= 2147483648.0f ? INT32_MAX : x < -2147483648.0f ? INT32_MIN : static_cast<int>(x);
}
static unsigned __float2uint_rz(float x) {
    return !(x > 0.0f) ? 0u : x >= 4294967296.0f ? UINT32_MAX : static_cast<unsigned>(x);
}
static int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
static int __ffs(int x) { return __builtin_ffs(x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static unsigned __brev(unsigned x) {
    unsigned out = 0;
    for (int i = 0; i < 32; i++) out |= (x >> i & 1u) << (31 - i);
    return out;
}
static float rsqrtf(float x) { return 1.0f / sqrtf(x); }
template <class T> static T __shfl_xor_sync(unsigned, T x, int mask) {
    return same_bits<T>(host::shuffle(same_bits<uint32_t>(x), static_cast<unsigned>(mask)));
}

template <class T> static T atomicAdd(T* at, T x) { T before = *at; *at = before + x; return before; }
template <class T> static T atomicSub(T* at, T x) { T before = *at; *at = before - x; return before; }
template <class T> static T atomicMin(T* at, T x) { T before = *at; *at = x < before ? x : before; return before; }
template <class T> static T atomicMax(T* at, T x) { T before = *at; *at = x > before ? x : before; return before; }
template <class T> static T atomicAnd(T* at, T x) { T before = *at; *at = before & x; return before; }
template <class T> static T atomicOr(T* at, T x) { T before = *at; *at = before | x; return before; }
template <class T> static T atomicXor(T* at, T x) { T before = *at; *at = before ^ x; return before; }
template <class T> static T atomicExch(T* at, T x) { T before = *at; *at = x; return before; }

// Conversions of halves, to nearest, even.
static unsigned short half_of_float(float x) { return same_bits<unsigned short>(static_cast<_Float16>(x)); }
static float float_of_half(unsigned short bits) { return static_cast<float>(same_bits<_Float16>(bits)); }

