namespace kernel {
struct alignas(4) Item {
    f32 value;
    u32 place;
};
static_assert(sizeof(Item) == 8, "Item is laid out as in WGSL");
struct alignas(4) Turn {
    i32 quarters;
    f32 rest;
};
static_assert(sizeof(Turn) == 8, "Turn is laid out as in WGSL");
struct alignas(4) Wide {
    u32 high;
    u32 low;
};
static_assert(sizeof(Wide) == 8, "Wide is laid out as in WGSL");
struct alignas(16) Params {
    wgsl::vec<u32, 4> dims;
    wgsl::array<wgsl::vec<u32, 4>, 7> strides;
    u32 outer;
    u32 extent;
    u32 inner;
    u32 chunk;
    f32 scale;
};
static_assert(sizeof(Params) == 160, "Params is laid out as in WGSL");
__shared__ wgsl::array<f32, 128> best;
__shared__ wgsl::array<u32, 128> place;
__device__ inline f32 start() {
    return 0.0f;
}
__device__ inline Item join(Item a, Item b) {
    return Item{(a.value + b.value), a.place};
}
__device__ inline f32 finish(Item item, f32 scale) {
    return (item.value * scale);
}
__device__ inline u32 stored(u32 count) {
    return count;
}
__device__ inline f32 safe_tanh(f32 x) {
    const f32 s_1 = (x * x);
    const f32 near_15 = (x * (1.0f + (s_1 * (-0.33333334f + (s_1 * (0.13333333f + (s_1 * (-0.053968254f + (s_1 * 0.021869488f)))))))));
    const f32 e_25 = wgsl::exp((2.0f * wgsl::select(((wgsl::as_u32(x) - 1092616192u) <= 1046478848u), 10.0f, x)));
    return wgsl::select((wgsl::abs(x) < 0.25f), near_15, (1.0f - (2.0f / (e_25 + 1.0f))));
}
__device__ inline f32 logistic(f32 x) {
    const f32 e_3 = safe_tanh((0.5f * x));
    return (0.5f + (0.5f * e_3));
}
__device__ inline f32 expm1(f32 x) {
    const f32 near_17 = (x * (1.0f + (x * (0.5f + (x * (0.16666667f + (x * (0.041666668f + (x * (0.008333333f + (x * 0.0013888889f)))))))))));
    return wgsl::select((wgsl::abs(x) < 0.35f), near_17, (wgsl::exp(x) - 1.0f));
}
__device__ inline f32 twice_atanh(f32 s) {
    const f32 q_1 = (s * s);
    return (s * (2.0f + (q_1 * (0.6666641f + (q_1 * (0.400217f + (q_1 * (0.27999142f + (q_1 * 0.2802446f)))))))));
}
__device__ inline f32 log1p(f32 x) {
    bool local_v0{};
    const f32 e_7 = twice_atanh((x / (2.0f + x)));
    if ((x > -0.5f)) {
        local_v0 = (x < 1.0f);
    } else {
        local_v0 = false;
    }
    const bool e_15 = local_v0;
    return wgsl::select(e_15, e_7, wgsl::log((1.0f + x)));
}
__device__ inline f32 precise_log(f32 a) {
    bool local_v0{};
    const f32 e_7 = twice_atanh(((a - 1.0f) / (a + 1.0f)));
    if ((a > 0.5f)) {
        local_v0 = (a < 2.0f);
    } else {
        local_v0 = false;
    }
    const bool e_15 = local_v0;
    return wgsl::select(e_15, e_7, wgsl::log(a));
}
__device__ inline f32 precise_log2(f32 a) {
    bool local_v0{};
    const f32 e_7 = twice_atanh(((a - 1.0f) / (a + 1.0f)));
    if ((a > 0.5f)) {
        local_v0 = (a < 2.0f);
    } else {
        local_v0 = false;
    }
    const bool e_17 = local_v0;
    return wgsl::select(e_17, (1.442695f * e_7), wgsl::log2(a));
}
__device__ inline bool is_nan(f32 x) {
    return ((wgsl::as_u32(x) & 2147483647u) > 2139095040u);
}
__device__ inline f32 smaller(f32 a, f32 b) {
    bool local_v0{};
    if (!((b < a))) {
        const bool e_6 = is_nan(b);
        local_v0 = e_6;
    } else {
        local_v0 = true;
    }
    const bool e_8 = local_v0;
    const bool e_10 = is_nan(a);
    return wgsl::select(e_10, a, wgsl::select(e_8, b, a));
}
__device__ inline f32 larger(f32 a, f32 b) {
    bool local_v0{};
    if (!((b > a))) {
        const bool e_6 = is_nan(b);
        local_v0 = e_6;
    } else {
        local_v0 = true;
    }
    const bool e_8 = local_v0;
    const bool e_10 = is_nan(a);
    return wgsl::select(e_10, a, wgsl::select(e_8, b, a));
}
__device__ inline f32 power(f32 a, f32 b) {
    bool local_v0{};
    bool local_v1{};
    const f32 e_3 = precise_log2(wgsl::abs(a));
    if ((a == 0.0f)) {
        local_v0 = (b > 0.0f);
    } else {
        local_v0 = false;
    }
    const bool e_13 = local_v0;
    const f32 size_15 = wgsl::select(e_13, 0.0f, wgsl::exp2((b * e_3)));
    const bool is_odd_21 = (wgsl::fract((0.5f * wgsl::abs(b))) != 0.0f);
    if ((a < 0.0f)) {
        local_v1 = is_odd_21;
    } else {
        local_v1 = false;
    }
    const bool e_32 = local_v1;
    return wgsl::select(e_32, wgsl::negate(size_15), wgsl::select((b == 0.0f), 1.0f, size_15));
}
__device__ inline f32 hypotenuse(f32 a, f32 b) {
    const f32 large_4 = wgsl::max(wgsl::abs(a), wgsl::abs(b));
    const f32 ratio_12 = wgsl::select((large_4 == 0.0f), 0.0f, (wgsl::min(wgsl::abs(a), wgsl::abs(b)) / large_4));
    return (large_4 * wgsl::sqrt((1.0f + (ratio_12 * ratio_12))));
}
__device__ inline f32 angle(f32 a, f32 b) {
    const f32 large_4 = wgsl::max(wgsl::abs(a), wgsl::abs(b));
    const f32 narrow_13 = wgsl::atan(wgsl::select((large_4 == 0.0f), 0.0f, (wgsl::min(wgsl::abs(a), wgsl::abs(b)) / large_4)));
    const f32 upper_19 = wgsl::select((wgsl::abs(a) > wgsl::abs(b)), (1.5707964f - narrow_13), narrow_13);
    const f32 turned_25 = wgsl::select((wgsl::as_u32(b) >= 2147483648u), (3.1415927f - upper_19), upper_19);
    return wgsl::select((wgsl::as_u32(a) >= 2147483648u), wgsl::negate(turned_25), turned_25);
}
__device__ inline f32 hyperbolic(f32 x, f32 sign) {
    const f32 e_7 = (0.70710677f * wgsl::exp((0.5f * wgsl::abs(x))));
    const f32 inverse_9 = (0.5f / e_7);
    return ((e_7 * e_7) + ((sign * inverse_9) * inverse_9));
}
__device__ inline f32 quarter_turns(f32 x) {
    return wgsl::round((x * 0.63661975f));
}
__device__ inline f32 reduced(f32 x, f32 k) {
    return (((x - (k * 1.5703125f)) - (k * 0.0004837513f)) - (k * 7.54979e-8f));
}
__device__ inline f32 sine_polynomial(f32 r) {
    const f32 s_1 = (r * r);
    return (r + ((r * s_1) * (-0.16666667f + (s_1 * (0.008333333f + (s_1 * (-0.0001984127f + (s_1 * 2.7557319e-6f))))))));
}
__device__ inline f32 cosine_polynomial(f32 r) {
    const f32 s_1 = (r * r);
    return (1.0f + (s_1 * (-0.5f + (s_1 * (0.041666668f + (s_1 * (-0.0013888889f + (s_1 * (2.4801588e-5f - (s_1 * 2.755732e-7f))))))))));
}
__device__ inline f32 quadrant(f32 r, i32 q) {
    const f32 e_2 = sine_polynomial(r);
    const f32 e_3 = cosine_polynomial(r);
    const f32 value_8 = wgsl::select(((q & 1) == 1), e_3, e_2);
    return wgsl::select(((q & 2) == 2), wgsl::negate(value_8), value_8);
}
__device__ inline Wide wide_product(u32 a, u32 b) {
    const u32 low_6 = ((a & 65535u) * (b & 65535u));
    const u32 first_14 = (((a >> 16u) * (b & 65535u)) + (low_6 >> 16u));
    const u32 second_22 = (((a & 65535u) * (b >> 16u)) + (first_14 & 65535u));
    return Wide{((((a >> 16u) * (b >> 16u)) + (first_14 >> 16u)) + (second_22 >> 16u)), ((second_22 << 16u) | (low_6 & 65535u))};
}
__device__ inline u32 two_over_pi(u32 word) {
    switch (word) {
    case 1u: {
        return 2734261102u;
        break;
    }
    case 2u: {
        return 1313084713u;
        break;
    }
    case 3u: {
        return 4230436817u;
        break;
    }
    case 4u: {
        return 4113882560u;
        break;
    }
    case 5u: {
        return 3680671129u;
        break;
    }
    case 6u: {
        return 1011060801u;
        break;
    }
    case 7u: {
        return 4266746795u;
        break;
    }
    default: {
        return 0u;
        break;
    }
    }
}
__device__ inline u32 two_over_pi_from(u32 bit) {
    const u32 e_3 = two_over_pi((bit / 32u));
    const u32 first_6 = wgsl::shift_left(e_3, (bit % 32u));
    const u32 e_11 = two_over_pi(((bit / 32u) + 1u));
    return wgsl::select(((bit % 32u) == 0u), first_6, (first_6 | wgsl::shift_right(e_11, (32u - wgsl::max((bit % 32u), 1u)))));
}
__device__ inline Turn far_turn(f32 x) {
    u32 high_v0{};
    u32 rest_v1{};
    const u32 word_1 = wgsl::as_u32(x);
    const u32 mantissa_5 = ((word_1 & 8388607u) | 8388608u);
    const u32 bit_11 = (((word_1 >> 23u) & 255u) - 120u);
    const u32 e_14 = two_over_pi_from((bit_11 + 64u));
    const Wide low_15 = wide_product(mantissa_5, e_14);
    const u32 e_18 = two_over_pi_from((bit_11 + 32u));
    const Wide middle_19 = wide_product(mantissa_5, e_18);
    const u32 second_22 = (middle_19.low + low_15.high);
    const u32 e_23 = two_over_pi_from(bit_11);
    const u32 first_32 = (((mantissa_5 * e_23) + middle_19.high) + wgsl::select((second_22 < low_15.high), 1u, 0u));
    high_v0 = ((first_32 << 2u) | (second_22 >> 30u));
    rest_v1 = (second_22 << 2u);
    const u32 e_42 = high_v0;
    const bool is_up_44 = (e_42 >= 2147483648u);
    if (is_up_44) {
        const u32 e_45 = high_v0;
        high_v0 = ~(e_45);
        const u32 e_47 = rest_v1;
        rest_v1 = ~(e_47);
    }
    const u32 e_49 = high_v0;
    const u32 e_53 = rest_v1;
    const f32 size_59 = (((wgsl::to_f32(e_49) * 2.3283064e-10f) + (wgsl::to_f32(e_53) * 5.421011e-20f)) * 1.5707964f);
    const i32 quarters_66 = wgsl::add(wgsl::to_i32((first_32 >> 30u)), wgsl::select(is_up_44, 1, 0));
    const bool is_negative_68 = (word_1 >= 2147483648u);
    return Turn{wgsl::select(is_negative_68, wgsl::negate(quarters_66), quarters_66), wgsl::select((is_up_44 != is_negative_68), wgsl::negate(size_59), size_59)};
}
__device__ inline f32 sine(f32 x) {
    if ((wgsl::abs(x) > 8192.0f)) {
        const Turn turn_4 = far_turn(x);
        const f32 e_7 = quadrant(turn_4.rest, turn_4.quarters);
        return e_7;
    }
    const f32 k_8 = quarter_turns(x);
    const f32 e_9 = reduced(x, k_8);
    const f32 e_11 = quadrant(e_9, wgsl::to_i32(k_8));
    return wgsl::select((wgsl::abs(x) < 0.0001f), x, e_11);
}
__device__ inline f32 cosine(f32 x) {
    if ((wgsl::abs(x) > 8192.0f)) {
        const Turn turn_4 = far_turn(x);
        const f32 e_9 = quadrant(turn_4.rest, wgsl::add(turn_4.quarters, 1));
        return e_9;
    }
    const f32 k_10 = quarter_turns(x);
    const f32 e_11 = reduced(x, k_10);
    const f32 e_15 = quadrant(e_11, wgsl::add(wgsl::to_i32(k_10), 1));
    return e_15;
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
WGSL_FN Item reduce_from(u32 o, u32 i, u32 first, u32 last, u32 step) {
    Item item_v0{};
    u32 r_v1{};
    const f32 e_5 = start();
    item_v0 = Item{e_5, first};
    r_v1 = first;
    for (;;) {
        const u32 e_9 = r_v1;
        if ((e_9 < last)) {
        } else {
            break;
        }
        {
            const Item e_11 = item_v0;
            const u32 e_14 = params.extent;
            const u32 e_16 = r_v1;
            const u32 e_20 = params.inner;
            const f32 e_23 = value(((((o * e_14) + e_16) * e_20) + i));
            const u32 e_24 = r_v1;
            const Item e_26 = join(e_11, Item{e_23, e_24});
            item_v0 = e_26;
        }
        const u32 e_27 = r_v1;
        r_v1 = (e_27 + step);
    }
    const Item e_29 = item_v0;
    return e_29;
}
WGSL_FN void run() {
    const wgsl::vec<u32, 3> group = {blockIdx.x, blockIdx.y, blockIdx.z};
    const wgsl::vec<u32, 3> groups = {gridDim.x, gridDim.y, gridDim.z};
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
                    best[lane] = e_97;
                    const u32 e_101 = item_v0.place;
                    place[lane] = e_101;
                }
                __syncthreads();
                const u32 e_103 = apart_v2;
                if ((wgsl::modulo(lane, (2u * e_103)) == 0u)) {
                    const Item e_108 = item_v0;
                    const u32 e_110 = apart_v2;
                    const f32 e_113 = best[(lane + e_110)];
                    const u32 e_115 = apart_v2;
                    const u32 e_118 = place[(lane + e_115)];
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
extern "C" __global__ void __launch_bounds__(128) kernel_entry(const f32* __restrict__ extra0, u32 extra0_bytes, f32* __restrict__ out, u32 out_bytes, const __grid_constant__ Params params) {
    kernel::Bound bound{extra0, extra0_bytes, out, out_bytes, params};
    bound.run();
}
