// What the prelude and printed kernels take from the GPU itself. To run them on something else, define these names there.

// ---- Conversions of halves as single instructions. Both round to nearest, even.

__device__ __forceinline__ unsigned short half_of_float(float x) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

__device__ __forceinline__ float float_of_half(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}

// ---- Workgroup memory: all that a block has, as the launch says.
extern __shared__ uint4 wgsl_memory[];

// ---- Barriers. This one is for the first N threads of a block, a multiple of 32; the others do not wait.
template <int N> __device__ __forceinline__ void barrier_of_first() {
    asm volatile("barrier.sync 1, %0;" : : "n"(N) : "memory");
}

// Waits for all blocks of a cooperative launch, for the `turn`th time. `counter` is 0 when the launch begins.
__device__ __forceinline__ void barrier_of_grid(unsigned* counter, unsigned turn) {
    __syncthreads();
    if (threadIdx.x == 0) {
        // What this block wrote is visible before the counter grows, and what others wrote is read after it has.
        __threadfence();
        atomicAdd(counter, 1u);
        while (static_cast<int>(*static_cast<volatile unsigned*>(counter) - turn * gridDim.x) < 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

