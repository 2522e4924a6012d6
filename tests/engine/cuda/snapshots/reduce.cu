struct Bound {
const f32* extra0;
u32 extra0_bytes;
f32* out;
u32 out_bytes;
const Params& params;
WGSL_FN f32 value(u32 index) {
    const f32 v0_3 = extra0[index];
    return v0_3;
}
WGSL_FN f32 word(u32 i) {
    const f32 e_1 = value(i);
    return e_1;
}
WGSL_FN f32 value_at(u32 o, u32 r, u32 i) {
    const u32 e_5 = params.extent;
    const u32 e_10 = params.inner;
    const f32 e_13 = value(((((o * e_5) + r) * e_10) + i));
    return e_13;
}
WGSL_FN Item reduce_from(u32 o, u32 i, u32 first, u32 last, u32 step) {
    Item item_v0{};
    u32 r_v1{};
    const f32 e_5 = start();
    item_v0 = Item{e_5, first};
    r_v1 = first;
    for (;;) {
        const u32 e_9 = r_v1;
        if (((e_9 + (3u * step)) < last)) {
        } else {
            break;
        }
        {
            const u32 e_14 = r_v1;
            const f32 a_15 = value_at(o, e_14, i);
            const u32 e_16 = r_v1;
            const f32 b_18 = value_at(o, (e_16 + step), i);
            const u32 e_19 = r_v1;
            const f32 c_23 = value_at(o, (e_19 + (2u * step)), i);
            const u32 e_24 = r_v1;
            const f32 d_28 = value_at(o, (e_24 + (3u * step)), i);
            const Item e_29 = item_v0;
            const u32 e_30 = r_v1;
            const Item e_32 = join(e_29, Item{a_15, e_30});
            const u32 e_33 = r_v1;
            const Item e_36 = join(e_32, Item{b_18, (e_33 + step)});
            const u32 e_37 = r_v1;
            const Item e_42 = join(e_36, Item{c_23, (e_37 + (2u * step))});
            const u32 e_43 = r_v1;
            const Item e_48 = join(e_42, Item{d_28, (e_43 + (3u * step))});
            item_v0 = e_48;
        }
        const u32 e_49 = r_v1;
        r_v1 = (e_49 + (4u * step));
    }
    for (;;) {
        const u32 e_53 = r_v1;
        if ((e_53 < last)) {
        } else {
            break;
        }
        {
            const Item e_55 = item_v0;
            const u32 e_56 = r_v1;
            const f32 e_57 = value_at(o, e_56, i);
            const u32 e_58 = r_v1;
            const Item e_60 = join(e_55, Item{e_57, e_58});
            item_v0 = e_60;
        }
        const u32 e_61 = r_v1;
        r_v1 = (e_61 + step);
    }
    const Item e_63 = item_v0;
    return e_63;
}
WGSL_FN void run(wgsl::vec<u32, 3> wgsl_group, wgsl::vec<u32, 3> wgsl_groups) {
    const wgsl::vec<u32, 3> group = wgsl_group;
    const wgsl::vec<u32, 3> groups = wgsl_groups;
    const u32 lane = threadIdx.x;
    Item item_v0{};
    u32 apart_v1 = 1u;
    u32 apart_v2 = 32u;
    bool local_v3{};
    const u32 e_5 = params.chunk;
    const u32 chunk_7 = wgsl::max(e_5, 1u);
    const u32 e_10 = params.extent;
    const u32 chunks_16 = wgsl::max(wgsl::divide(((e_10 + chunk_7) - 1u), chunk_7), 1u);
    const u32 e_17 = group_number(group, groups);
    const u32 at_22 = wgsl::divide(((e_17 * 128u) + lane), 1u);
    const u32 e_25 = params.outer;
    const u32 e_29 = params.inner;
    const bool is_inside_31 = (at_22 < ((e_25 * chunks_16) * e_29));
    const u32 e_34 = params.inner;
    const u32 i_35 = wgsl::modulo(at_22, e_34);
    const u32 e_38 = params.inner;
    const u32 c_40 = wgsl::modulo(wgsl::divide(at_22, e_38), chunks_16);
    const u32 e_43 = params.inner;
    const u32 o_45 = wgsl::divide(at_22, (e_43 * chunks_16));
    const u32 e_48 = params.chunk;
    const u32 first_49 = (c_40 * e_48);
    const u32 e_52 = params.chunk;
    const u32 e_56 = params.extent;
    const u32 last_58 = wgsl::select(is_inside_31, wgsl::min((first_49 + e_52), e_56), first_49);
    const Item e_63 = reduce_from(o_45, i_35, (first_49 + wgsl::modulo(lane, 1u)), last_58, 1u);
    item_v0 = e_63;
    if (false) {
        for (;;) {
            const u32 e_68 = apart_v1;
            if ((e_68 < 32u)) {
            } else {
                break;
            }
            {
                const Item e_71 = item_v0;
                const f32 e_73 = item_v0.value;
                const u32 e_74 = apart_v1;
                const f32 e_75 = exchanged(e_73, e_74);
                const u32 e_77 = item_v0.place;
                const u32 e_78 = apart_v1;
                const u32 e_79 = exchanged_word(e_77, e_78);
                const Item e_81 = join(e_71, Item{e_75, e_79});
                item_v0 = e_81;
            }
            const u32 e_82 = apart_v1;
            apart_v1 = (e_82 * 2u);
        }
        for (;;) {
            const u32 e_87 = apart_v2;
            if ((e_87 < 1u)) {
            } else {
                break;
            }
            {
                const u32 e_90 = apart_v2;
                if ((wgsl::modulo(lane, e_90) == 0u)) {
                    const f32 e_97 = item_v0.value;
                    shared_memory().best[lane] = e_97;
                    const u32 e_101 = item_v0.place;
                    shared_memory().place[lane] = e_101;
                }
                __syncthreads();
                const u32 e_103 = apart_v2;
                if ((wgsl::modulo(lane, (2u * e_103)) == 0u)) {
                    const Item e_108 = item_v0;
                    const u32 e_110 = apart_v2;
                    const f32 e_113 = shared_memory().best[(lane + e_110)];
                    const u32 e_115 = apart_v2;
                    const u32 e_118 = shared_memory().place[(lane + e_115)];
                    const Item e_120 = join(e_108, Item{e_113, e_118});
                    item_v0 = e_120;
                }
            }
            const u32 e_121 = apart_v2;
            apart_v2 = (e_121 * 2u);
        }
    }
    if (is_inside_31) {
        local_v3 = (wgsl::modulo(lane, 1u) == 0u);
    } else {
        local_v3 = false;
    }
    const bool e_131 = local_v3;
    if (e_131) {
        const Item e_134 = item_v0;
        const f32 e_137 = params.scale;
        const f32 e_138 = finish(e_134, e_137);
        out[at_22] = e_138;
        return;
    } else {
        return;
    }
}
};
}  // namespace kernel

using namespace kernel;
extern "C" __global__ void __launch_bounds__(128) kernel_entry(const f32* __restrict__ extra0, u32 extra0_bytes, f32* __restrict__ out, u32 out_bytes, const __grid_constant__ kernel::Params params) {
    kernel::Bound bound{extra0, extra0_bytes, out, out_bytes, params};
    bound.run({blockIdx.x, blockIdx.y, blockIdx.z}, {gridDim.x, gridDim.y, gridDim.z});
}
