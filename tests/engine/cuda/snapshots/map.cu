struct Bound {
const f32* extra0;
u32 extra0_bytes;
const f32* extra1;
u32 extra1_bytes;
f32* out;
u32 out_bytes;
const Params& params;
WGSL_FN f32 value(u32 index) {
    const f32 v0_3 = extra0[index];
    const f32 v1_6 = extra1[index];
    const f32 v2_7 = op_add(v0_3, v1_6);
    return v2_7;
}
WGSL_FN f32 word(u32 i) {
    const f32 e_1 = value(i);
    return e_1;
}
WGSL_FN void run(wgsl::vec<u32, 3> wgsl_group, wgsl::vec<u32, 3> wgsl_groups) {
    const wgsl::vec<u32, 3> group = wgsl_group;
    const wgsl::vec<u32, 3> groups = wgsl_groups;
    const u32 lane = threadIdx.x;
    const u32 e_3 = group_number(group, groups);
    const u32 i_6 = ((e_3 * 256u) + lane);
    const u32 e_9 = params.count;
    const u32 e_10 = stored(e_9);
    if ((i_6 < e_10)) {
        const f32 e_14 = word(i_6);
        out[i_6] = e_14;
        return;
    } else {
        return;
    }
}
};
}  // namespace kernel

using namespace kernel;
extern "C" __global__ void __launch_bounds__(256) kernel_entry(const f32* __restrict__ extra0, u32 extra0_bytes, const f32* __restrict__ extra1, u32 extra1_bytes, f32* __restrict__ out, u32 out_bytes, const __grid_constant__ kernel::Params params) {
    kernel::Bound bound{extra0, extra0_bytes, extra1, extra1_bytes, out, out_bytes, params};
    bound.run({blockIdx.x, blockIdx.y, blockIdx.z}, {gridDim.x, gridDim.y, gridDim.z});
}
