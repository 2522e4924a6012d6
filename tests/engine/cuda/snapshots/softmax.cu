namespace kernel {
struct alignas(4) Params {
    u32 rows;
    u32 columns;
};
static_assert(sizeof(Params) == 8, "Params is laid out as in WGSL");
struct SharedMemory {
    wgsl::array<f32, 128> partial;
};
static_assert(sizeof(SharedMemory) <= 512, "a launch provides as much");
WGSL_FN SharedMemory& shared_memory() { return *reinterpret_cast<SharedMemory*>(wgsl_memory); }
__device__ inline f32 finish(f32 x, f32 top, f32 total) {
    return (wgsl::exp((x - top)) / total);
}
__device__ inline wgsl::vec<u32, 4> coordinates(u32 index, wgsl::vec<u32, 4> dims) {
    const u32 inner_3 = wgsl::divide(index, dims.w);
    const u32 middle_5 = wgsl::divide(inner_3, dims.z);
    return wgsl::vec<u32, 4>{wgsl::divide(middle_5, dims.y), wgsl::modulo(middle_5, dims.y), wgsl::modulo(inner_3, dims.z), wgsl::modulo(index, dims.w)};
}
__device__ inline u32 offset(wgsl::vec<u32, 4> c, wgsl::vec<u32, 4> strides) {
    return ((((c.x * strides.x) + (c.y * strides.y)) + (c.z * strides.z)) + (c.w * strides.w));
}
__device__ inline u32 group_number(wgsl::vec<u32, 3> group, wgsl::vec<u32, 3> groups) {
    return ((group.y * groups.x) + group.x);
}
__device__ inline f32 exchanged(f32 value, u32 apart) {
    const f32 e_2 = wgsl::shuffle_xor(value, apart);
    return e_2;
}
__device__ inline u32 exchanged_word(u32 value, u32 apart) {
    const u32 e_2 = wgsl::shuffle_xor(value, apart);
    return e_2;
}
__device__ inline f32 tree_sum(u32 lane, f32 value) {
    f32 sum_v0{};
    u32 apart_v1 = 1u;
    u32 apart_v2 = 32u;
    if (true) {
        return value;
    }
    sum_v0 = value;
    for (;;) {
        const u32 e_6 = apart_v1;
        if ((e_6 < 32u)) {
        } else {
            break;
        }
        {
            const f32 e_9 = sum_v0;
            const f32 e_10 = sum_v0;
            const u32 e_11 = apart_v1;
            const f32 e_12 = exchanged(e_10, e_11);
            sum_v0 = (e_9 + e_12);
        }
        const u32 e_14 = apart_v1;
        apart_v1 = (e_14 * 2u);
    }
    __syncthreads();
    if ((wgsl::modulo(lane, 32u) == 0u)) {
        const f32 e_23 = sum_v0;
        shared_memory().partial[lane] = e_23;
    }
    for (;;) {
        const u32 e_26 = apart_v2;
        if ((e_26 < 0u)) {
        } else {
            break;
        }
        {
            __syncthreads();
            const u32 e_30 = apart_v2;
            if ((wgsl::modulo(lane, (2u * e_30)) == 0u)) {
                const f32 e_37 = shared_memory().partial[lane];
                const u32 e_39 = apart_v2;
                const f32 e_42 = shared_memory().partial[(lane + e_39)];
                shared_memory().partial[lane] = (e_37 + e_42);
            }
        }
        const u32 e_44 = apart_v2;
        apart_v2 = (e_44 * 2u);
    }
    __syncthreads();
    const f32 e_49 = shared_memory().partial[0u];
    const f32 e_52 = shared_memory().partial[0u];
    return (e_49 + e_52);
}
__device__ inline f32 tree_max(u32 lane, f32 value) {
    f32 top_v0{};
    u32 apart_v1 = 1u;
    u32 apart_v2 = 32u;
    if (true) {
        return value;
    }
    top_v0 = value;
    for (;;) {
        const u32 e_6 = apart_v1;
        if ((e_6 < 32u)) {
        } else {
            break;
        }
        {
            const f32 e_9 = top_v0;
            const f32 e_10 = top_v0;
            const u32 e_11 = apart_v1;
            const f32 e_12 = exchanged(e_10, e_11);
            top_v0 = wgsl::max(e_9, e_12);
        }
        const u32 e_14 = apart_v1;
        apart_v1 = (e_14 * 2u);
    }
    __syncthreads();
    if ((wgsl::modulo(lane, 32u) == 0u)) {
        const f32 e_23 = top_v0;
        shared_memory().partial[lane] = e_23;
    }
    for (;;) {
        const u32 e_26 = apart_v2;
        if ((e_26 < 0u)) {
        } else {
            break;
        }
        {
            __syncthreads();
            const u32 e_30 = apart_v2;
            if ((wgsl::modulo(lane, (2u * e_30)) == 0u)) {
                const f32 e_39 = shared_memory().partial[lane];
                const u32 e_41 = apart_v2;
                const f32 e_44 = shared_memory().partial[(lane + e_41)];
                shared_memory().partial[lane] = wgsl::max(e_39, e_44);
            }
        }
        const u32 e_46 = apart_v2;
        apart_v2 = (e_46 * 2u);
    }
    __syncthreads();
    const f32 e_51 = shared_memory().partial[0u];
    const f32 e_54 = shared_memory().partial[0u];
    return wgsl::max(e_51, e_54);
}
struct Bound {
const f32* a;
u32 a_bytes;
f32* out;
u32 out_bytes;
const Params& params;
WGSL_FN void run(wgsl::vec<u32, 3> wgsl_group, wgsl::vec<u32, 3> wgsl_groups) {
    const wgsl::vec<u32, 3> group = wgsl_group;
    const wgsl::vec<u32, 3> groups = wgsl_groups;
    const u32 lane = threadIdx.x;
    f32 top_v0 = -3.4028235e38f;
    u32 c_v1{};
    f32 total_v2 = 0.0f;
    u32 c_v3{};
    bool local_v4{};
    u32 c_v5{};
    const u32 e_3 = group_number(group, groups);
    const u32 row_8 = wgsl::divide(((e_3 * 128u) + lane), 1u);
    const u32 first_10 = wgsl::modulo(lane, 1u);
    const u32 e_13 = params.columns;
    const u32 base_14 = (row_8 * e_13);
    const u32 e_18 = params.columns;
    const u32 e_21 = params.rows;
    const u32 columns_23 = wgsl::select((row_8 < e_21), e_18, 0u);
    c_v1 = first_10;
    for (;;) {
        const u32 e_27 = c_v1;
        if ((e_27 < columns_23)) {
        } else {
            break;
        }
        {
            const f32 e_29 = top_v0;
            const u32 e_31 = c_v1;
            const f32 e_34 = a[(base_14 + e_31)];
            top_v0 = wgsl::max(e_29, e_34);
        }
        const u32 e_36 = c_v1;
        c_v1 = (e_36 + 1u);
    }
    const f32 e_39 = top_v0;
    const f32 e_40 = tree_max(lane, e_39);
    top_v0 = e_40;
    c_v3 = first_10;
    for (;;) {
        const u32 e_44 = c_v3;
        if ((e_44 < columns_23)) {
        } else {
            break;
        }
        {
            const f32 e_46 = total_v2;
            const u32 e_48 = c_v3;
            const f32 e_51 = a[(base_14 + e_48)];
            const f32 e_52 = top_v0;
            total_v2 = (e_46 + wgsl::exp((e_51 - e_52)));
        }
        const u32 e_56 = c_v3;
        c_v3 = (e_56 + 1u);
    }
    const f32 e_59 = total_v2;
    const f32 e_60 = tree_sum(lane, e_59);
    total_v2 = e_60;
    if (false) {
        if ((first_10 == 0u)) {
            local_v4 = (columns_23 > 0u);
        } else {
            local_v4 = false;
        }
        const bool e_69 = local_v4;
        if (e_69) {
            const f32 e_72 = top_v0;
            const f32 e_73 = top_v0;
            const f32 e_74 = total_v2;
            const f32 e_75 = finish(e_72, e_73, e_74);
            out[row_8] = e_75;
        }
        return;
    }
    c_v5 = first_10;
    for (;;) {
        const u32 e_77 = c_v5;
        if ((e_77 < columns_23)) {
        } else {
            break;
        }
        {
            const u32 e_80 = c_v5;
            const u32 e_84 = c_v5;
            const f32 e_87 = a[(base_14 + e_84)];
            const f32 e_88 = top_v0;
            const f32 e_89 = total_v2;
            const f32 e_90 = finish(e_87, e_88, e_89);
            out[(base_14 + e_80)] = e_90;
        }
        const u32 e_91 = c_v5;
        c_v5 = (e_91 + 1u);
    }
    return;
}
};
}  // namespace kernel

using namespace kernel;
extern "C" __global__ void __launch_bounds__(128) kernel_entry(const f32* __restrict__ a, u32 a_bytes, f32* __restrict__ out, u32 out_bytes, const __grid_constant__ kernel::Params params) {
    kernel::Bound bound{a, a_bytes, out, out_bytes, params};
    bound.run({blockIdx.x, blockIdx.y, blockIdx.z}, {gridDim.x, gridDim.y, gridDim.z});
}
