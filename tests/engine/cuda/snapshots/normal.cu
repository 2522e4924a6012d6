struct Bound {
const f32* data;
u32 data_bytes;
const f32* scalars;
u32 scalars_bytes;
f32* partials;
u32 partials_bytes;
u32* bad;
u32 bad_bytes;
const Params& params;
f32 s0{};
f32 s1{};
WGSL_FN Row row_at(u32 at) {
    u32 largest_v0{};
    const f32 v0_3 = scalars[0u];
    const u32 e_8 = params.stride;
    const f32 x1_12 = data[((0u * e_8) + at)];
    const u32 e_17 = params.stride;
    const f32 x2_21 = data[((1u * e_17) + at)];
    const u32 e_27 = params.stride;
    const f32 e_31 = data[((2u * e_27) + at)];
    const f32 r_32 = (v0_3 - e_31);
    const u32 e_33 = exponent(r_32);
    largest_v0 = e_33;
    const u32 e_35 = largest_v0;
    if ((e_35 == 2139095040u)) {
        count_bad(at);
        return Row{};
    }
    return Row{(r_32 * r_32), ((0.5f * r_32) * r_32), r_32};
}
WGSL_FN void add(Row row) {
    const f32 e_2 = s0;
    s0 = (e_2 + row.squares);
    const f32 e_6 = s1;
    s1 = (e_6 + row.cost);
    return;
}
WGSL_FN void write_slice(u32 count, u32 place, u32 lane) {
    f32 sum_v0 = 0.0f;
    u32 i_v1 = 0u;
    f32 total_v2 = 0.0f;
    u32 i_v3 = 0u;
    __syncthreads();
    const u32 k_4 = (lane / 16u);
    if ((k_4 < count)) {
        for (;;) {
            const u32 e_10 = i_v1;
            if ((e_10 < 16u)) {
            } else {
                break;
            }
            {
                const f32 e_13 = sum_v0;
                const u32 e_18 = i_v1;
                const f32 e_25 = shared_memory().slice[(((256u * k_4) + (16u * e_18)) + (lane % 16u))];
                sum_v0 = (e_13 + e_25);
            }
            const u32 e_28 = i_v1;
            i_v1 = (e_28 + 1u);
        }
    }
    __syncthreads();
    const f32 e_32 = sum_v0;
    shared_memory().slice[lane] = e_32;
    __syncthreads();
    if ((lane < count)) {
        for (;;) {
            const u32 e_38 = i_v3;
            if ((e_38 < 16u)) {
            } else {
                break;
            }
            {
                const f32 e_41 = total_v2;
                const u32 e_45 = i_v3;
                const f32 e_48 = shared_memory().slice[((16u * lane) + e_45)];
                total_v2 = (e_41 + e_48);
            }
            const u32 e_51 = i_v3;
            i_v3 = (e_51 + 1u);
        }
        const f32 e_56 = total_v2;
        partials[(place + lane)] = e_56;
    }
    __syncthreads();
    return;
}
WGSL_FN void write_sums(u32 place, u32 lane) {
    const f32 e_7 = s0;
    shared_memory().slice[(0u + lane)] = e_7;
    const f32 e_13 = s1;
    shared_memory().slice[(256u + lane)] = e_13;
    write_slice(2u, (place + 0u), lane);
    return;
}
WGSL_FN void sum_rows(u32 first, u32 last, u32 lane) {
    u32 at_v0{};
    at_v0 = (first + lane);
    for (;;) {
        const u32 e_5 = at_v0;
        if ((e_5 < last)) {
        } else {
            break;
        }
        {
            const u32 e_7 = at_v0;
            const Row e_8 = row_at(e_7);
            add(e_8);
        }
        const u32 e_9 = at_v0;
        at_v0 = (e_9 + 256u);
    }
    return;
}
WGSL_FN void run(wgsl::vec<u32, 3> wgsl_group, wgsl::vec<u32, 3> wgsl_groups) {
    const wgsl::vec<u32, 3> group = wgsl_group;
    const u32 lane = threadIdx.x;
    if ((lane == 0u)) {
        shared_memory().bad_rows = 0u;
        shared_memory().first_bad = 4294967295u;
    }
    __syncthreads();
    const u32 e_11 = params.per_group;
    const u32 e_15 = params.rows;
    const u32 first_16 = wgsl::min((group.x * e_11), e_15);
    const u32 e_19 = params.per_group;
    const u32 e_23 = params.rows;
    const u32 last_24 = wgsl::min((first_16 + e_19), e_23);
    const u32 e_27 = params.first;
    const u32 e_31 = params.first;
    sum_rows((e_27 + first_16), (e_31 + last_24), lane);
    __syncthreads();
    if ((lane == 0u)) {
        const u32 e_41 = shared_memory().bad_rows;
        bad[(2u * group.x)] = e_41;
        const u32 e_50 = shared_memory().first_bad;
        bad[((2u * group.x) + 1u)] = e_50;
    }
    write_sums((group.x * 2u), lane);
    return;
}
};
}  // namespace kernel

using namespace kernel;
extern "C" __global__ void __launch_bounds__(256) kernel_entry(const f32* __restrict__ data, u32 data_bytes, const f32* __restrict__ scalars, u32 scalars_bytes, f32* __restrict__ partials, u32 partials_bytes, u32* __restrict__ bad, u32 bad_bytes, const __grid_constant__ kernel::Params params) {
    kernel::Bound bound{data, data_bytes, scalars, scalars_bytes, partials, partials_bytes, bad, bad_bytes, params};
    bound.run({blockIdx.x, blockIdx.y, blockIdx.z}, {gridDim.x, gridDim.y, gridDim.z});
}
