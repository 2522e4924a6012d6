// What printed kernels call: WGSL's types and built-in functions in CUDA C++. No header is needed, so no CUDA toolkit is.

using f32 = float;
using i32 = int;
using u32 = unsigned int;

#define WGSL_FN __device__ __forceinline__

namespace wgsl {

// ---- Types, laid out as WGSL lays them out: a vec3 takes 12 bytes, and the printer pads the structs around it.

template <class T, int N> struct vec;

template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
    T x, y;
    WGSL_FN T& operator[](u32 i) { return (&x)[i]; }
    WGSL_FN const T& operator[](u32 i) const { return (&x)[i]; }
};

template <class T> struct vec<T, 3> {
    T x, y, z;
    WGSL_FN T& operator[](u32 i) { return (&x)[i]; }
    WGSL_FN const T& operator[](u32 i) const { return (&x)[i]; }
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
    T x, y, z, w;
    WGSL_FN T& operator[](u32 i) { return (&x)[i]; }
    WGSL_FN const T& operator[](u32 i) const { return (&x)[i]; }
};

// C columns of R numbers.
template <class T, int C, int R> struct mat {
    vec<T, R> columns[C];
    WGSL_FN vec<T, R>& operator[](u32 i) { return columns[i]; }
    WGSL_FN const vec<T, R>& operator[](u32 i) const { return columns[i]; }
};

// Quads of words are aligned as vectors are, so that they are written at once.
template <class T, int N> struct alignas(N * sizeof(T) == 16 ? 16 : alignof(T)) array {
    T items[N];
    WGSL_FN T& operator[](u32 i) { return items[i]; }
    WGSL_FN const T& operator[](u32 i) const { return items[i]; }
};

// A 16-bit float as its bits. Arithmetic on it is that of f32, rounded, which for one operation is the same.
struct half {
    unsigned short bits;
};

// ---- Making and taking apart.

// A component at a place known only at run time, without an array in local memory.
template <class T> WGSL_FN T pick(vec<T, 2> v, u32 i) { return i == 0 ? v.x : v.y; }
template <class T> WGSL_FN T pick(vec<T, 3> v, u32 i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }
template <class T> WGSL_FN T pick(vec<T, 4> v, u32 i) { return i < 2 ? (i == 0 ? v.x : v.y) : (i == 2 ? v.z : v.w); }

template <class T> WGSL_FN void put_all(T*) {}
template <class T, class... Rest> WGSL_FN void put_all(T* to, T first, Rest... rest);
template <class T, int N, class... Rest> WGSL_FN void put_all(T* to, vec<T, N> first, Rest... rest) {
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = first[i];
    put_all(to + N, rest...);
}
template <class T, class... Rest> WGSL_FN void put_all(T* to, T first, Rest... rest) {
    *to = first;
    put_all(to + 1, rest...);
}

// A vector of numbers and smaller vectors.
template <class T, int N, class... Parts> WGSL_FN vec<T, N> join(Parts... parts) {
    vec<T, N> made;
    put_all(&made.x, parts...);
    return made;
}

template <int N, class T> WGSL_FN vec<T, N> splat(T value) {
    vec<T, N> made;
#pragma unroll
    for (int i = 0; i < N; i++) made[i] = value;
    return made;
}

template <int A, int B, class T, int N> WGSL_FN vec<T, 2> swizzle(vec<T, N> v) { return {v[A], v[B]}; }
template <int A, int B, int C, class T, int N> WGSL_FN vec<T, 3> swizzle(vec<T, N> v) { return {v[A], v[B], v[C]}; }
template <int A, int B, int C, int D, class T, int N> WGSL_FN vec<T, 4> swizzle(vec<T, N> v) {
    return {v[A], v[B], v[C], v[D]};
}

// ---- Conversions. Float to integer saturates, and NaN becomes 0.

WGSL_FN f32 to_f32(f32 x) { return x; }
WGSL_FN f32 to_f32(i32 x) { return static_cast<f32>(x); }
WGSL_FN f32 to_f32(u32 x) { return static_cast<f32>(x); }
WGSL_FN f32 to_f32(bool x) { return x ? 1.0f : 0.0f; }
WGSL_FN f32 to_f32(half x) { return float_of_half(x.bits); }
WGSL_FN i32 to_i32(f32 x) { return __float2int_rz(x); }
WGSL_FN i32 to_i32(i32 x) { return x; }
WGSL_FN i32 to_i32(u32 x) { return static_cast<i32>(x); }
WGSL_FN i32 to_i32(bool x) { return x ? 1 : 0; }
WGSL_FN u32 to_u32(f32 x) { return __float2uint_rz(x); }
WGSL_FN u32 to_u32(i32 x) { return static_cast<u32>(x); }
WGSL_FN u32 to_u32(u32 x) { return x; }
WGSL_FN u32 to_u32(bool x) { return x ? 1u : 0u; }
template <class T> WGSL_FN bool to_bool(T x) { return x != T{}; }
template <class T> WGSL_FN half to_half(T x) { return {half_of_float(to_f32(x))}; }

WGSL_FN u32 as_u32(f32 x) { return __float_as_uint(x); }
WGSL_FN u32 as_u32(i32 x) { return static_cast<u32>(x); }
WGSL_FN u32 as_u32(u32 x) { return x; }
WGSL_FN i32 as_i32(f32 x) { return __float_as_int(x); }
WGSL_FN i32 as_i32(u32 x) { return static_cast<i32>(x); }
WGSL_FN i32 as_i32(i32 x) { return x; }
WGSL_FN f32 as_f32(u32 x) { return __uint_as_float(x); }
WGSL_FN f32 as_f32(i32 x) { return __int_as_float(x); }
WGSL_FN f32 as_f32(f32 x) { return x; }

#define WGSL_CONVERT_EACH(To, name)                                              \
    template <class T, int N> WGSL_FN vec<To, N> name(vec<T, N> v) {             \
        vec<To, N> made;                                                         \
        _Pragma("unroll") for (int i = 0; i < N; i++) made[i] = name(v[i]);      \
        return made;                                                             \
    }
WGSL_CONVERT_EACH(f32, to_f32)
WGSL_CONVERT_EACH(i32, to_i32)
WGSL_CONVERT_EACH(u32, to_u32)
WGSL_CONVERT_EACH(bool, to_bool)
WGSL_CONVERT_EACH(half, to_half)
WGSL_CONVERT_EACH(u32, as_u32)
WGSL_CONVERT_EACH(i32, as_i32)
WGSL_CONVERT_EACH(f32, as_f32)

// ---- Arithmetic. Integers wrap around, and shifts use the low five bits.

WGSL_FN f32 add(f32 a, f32 b) { return a + b; }
WGSL_FN u32 add(u32 a, u32 b) { return a + b; }
WGSL_FN i32 add(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b)); }
WGSL_FN f32 subtract(f32 a, f32 b) { return a - b; }
WGSL_FN u32 subtract(u32 a, u32 b) { return a - b; }
WGSL_FN i32 subtract(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) - static_cast<u32>(b)); }
WGSL_FN f32 multiply(f32 a, f32 b) { return a * b; }
WGSL_FN u32 multiply(u32 a, u32 b) { return a * b; }
WGSL_FN i32 multiply(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) * static_cast<u32>(b)); }
WGSL_FN f32 negate(f32 a) { return -a; }
WGSL_FN i32 negate(i32 a) { return static_cast<i32>(0u - static_cast<u32>(a)); }
WGSL_FN f32 divide(f32 a, f32 b) { return a / b; }
WGSL_FN f32 modulo(f32 a, f32 b) { return fmodf(a, b); }

// As WGSL defines them: x / 0 is x, and x % 0 is 0. So is the quotient that does not fit.
WGSL_FN u32 divide(u32 a, u32 b) { return a / (b == 0u ? 1u : b); }
WGSL_FN u32 modulo(u32 a, u32 b) { return a % (b == 0u ? 1u : b); }
WGSL_FN i32 divisor(i32 a, i32 b) { return b == 0 || (b == -1 && as_u32(a) == 0x80000000u) ? 1 : b; }
WGSL_FN i32 divide(i32 a, i32 b) { return a / divisor(a, b); }
WGSL_FN i32 modulo(i32 a, i32 b) { return a % divisor(a, b); }

WGSL_FN u32 shift_left(u32 a, u32 b) { return a << (b & 31u); }
WGSL_FN i32 shift_left(i32 a, u32 b) { return static_cast<i32>(static_cast<u32>(a) << (b & 31u)); }
WGSL_FN u32 shift_right(u32 a, u32 b) { return a >> (b & 31u); }
WGSL_FN i32 shift_right(i32 a, u32 b) { return a >> (b & 31u); }

// An index inside an array of so many items: what a guarded kernel reads and writes. No block of memory is empty, so 0 is inside.
WGSL_FN u32 inside(u32 i, u32 count) { return i < count ? i : count - (count != 0u); }

WGSL_FN half add(half a, half b) { return to_half(to_f32(a) + to_f32(b)); }
WGSL_FN half subtract(half a, half b) { return to_half(to_f32(a) - to_f32(b)); }
WGSL_FN half multiply(half a, half b) { return to_half(to_f32(a) * to_f32(b)); }
WGSL_FN half divide(half a, half b) { return to_half(to_f32(a) / to_f32(b)); }

#define WGSL_ON_VECTORS(name)                                                                 \
    template <class T, int N> WGSL_FN vec<T, N> name(vec<T, N> a, vec<T, N> b) {              \
        vec<T, N> made;                                                                       \
        _Pragma("unroll") for (int i = 0; i < N; i++) made[i] = name(a[i], b[i]);             \
        return made;                                                                          \
    }                                                                                         \
    template <class T, int N> WGSL_FN vec<T, N> name(vec<T, N> a, T b) { return name(a, splat<N>(b)); } \
    template <class T, int N> WGSL_FN vec<T, N> name(T a, vec<T, N> b) { return name(splat<N>(a), b); }
WGSL_ON_VECTORS(add)
WGSL_ON_VECTORS(subtract)
WGSL_ON_VECTORS(multiply)
WGSL_ON_VECTORS(divide)
WGSL_ON_VECTORS(modulo)
WGSL_ON_VECTORS(shift_left)
WGSL_ON_VECTORS(shift_right)

template <class T, int N> WGSL_FN vec<T, N> negate(vec<T, N> a) {
    vec<T, N> made;
#pragma unroll
    for (int i = 0; i < N; i++) made[i] = negate(a[i]);
    return made;
}

template <class T, int C, int R> WGSL_FN mat<T, C, R> add(mat<T, C, R> a, mat<T, C, R> b) {
#pragma unroll
    for (int i = 0; i < C; i++) a[i] = add(a[i], b[i]);
    return a;
}
template <class T, int C, int R> WGSL_FN mat<T, C, R> subtract(mat<T, C, R> a, mat<T, C, R> b) {
#pragma unroll
    for (int i = 0; i < C; i++) a[i] = subtract(a[i], b[i]);
    return a;
}
template <class T, int C, int R> WGSL_FN mat<T, C, R> multiply(mat<T, C, R> a, T b) {
#pragma unroll
    for (int i = 0; i < C; i++) a[i] = multiply(a[i], b);
    return a;
}
template <class T, int C, int R> WGSL_FN mat<T, C, R> multiply(T a, mat<T, C, R> b) { return multiply(b, a); }
template <class T, int C, int R> WGSL_FN vec<T, R> multiply(mat<T, C, R> a, vec<T, C> b) {
    vec<T, R> sum = multiply(a[0], b[0]);
#pragma unroll
    for (int i = 1; i < C; i++) sum = add(sum, multiply(a[i], b[i]));
    return sum;
}
template <class T, int C, int R> WGSL_FN vec<T, C> multiply(vec<T, R> a, mat<T, C, R> b) {
    vec<T, C> made;
#pragma unroll
    for (int i = 0; i < C; i++) made[i] = dot(a, b[i]);
    return made;
}
template <class T, int K, int C, int R> WGSL_FN mat<T, C, R> multiply(mat<T, K, R> a, mat<T, C, K> b) {
    mat<T, C, R> made;
#pragma unroll
    for (int i = 0; i < C; i++) made[i] = multiply(a, b[i]);
    return made;
}

// a · b + sum.
template <class T, int C, int R> WGSL_FN vec<T, R> multiply_add(mat<T, C, R> a, vec<T, C> b, vec<T, R> sum) {
#pragma unroll
    for (int i = 0; i < C; i++)
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] = ::fmaf(a[i][r], b[i], sum[r]);
    return sum;
}
template <class T, int K, int C, int R> WGSL_FN mat<T, C, R> multiply_add(mat<T, K, R> a, mat<T, C, K> b, mat<T, C, R> sum) {
#pragma unroll
    for (int i = 0; i < C; i++) sum[i] = multiply_add(a, b[i], sum[i]);
    return sum;
}

// ---- Comparisons and bits, number by number.

#define WGSL_COMPARE(name, operation)                                                      \
    template <class T, int N> WGSL_FN vec<bool, N> name(vec<T, N> a, vec<T, N> b) {        \
        vec<bool, N> made;                                                                 \
        _Pragma("unroll") for (int i = 0; i < N; i++) made[i] = a[i] operation b[i];       \
        return made;                                                                       \
    }
WGSL_COMPARE(equal, ==)
WGSL_COMPARE(not_equal, !=)
WGSL_COMPARE(less, <)
WGSL_COMPARE(less_equal, <=)
WGSL_COMPARE(greater, >)
WGSL_COMPARE(greater_equal, >=)

#define WGSL_BITS(name, operation)                                                         \
    template <class T, int N> WGSL_FN vec<T, N> name(vec<T, N> a, vec<T, N> b) {           \
        vec<T, N> made;                                                                    \
        _Pragma("unroll") for (int i = 0; i < N; i++) made[i] = a[i] operation b[i];       \
        return made;                                                                       \
    }
WGSL_BITS(bit_and, &)
WGSL_BITS(bit_or, |)
WGSL_BITS(bit_xor, ^)

template <class T, int N> WGSL_FN vec<T, N> bit_not(vec<T, N> a) {
#pragma unroll
    for (int i = 0; i < N; i++) a[i] = ~a[i];
    return a;
}
template <int N> WGSL_FN vec<bool, N> logical_not(vec<bool, N> a) {
#pragma unroll
    for (int i = 0; i < N; i++) a[i] = !a[i];
    return a;
}
template <int N> WGSL_FN bool any(vec<bool, N> v) {
    bool found = false;
#pragma unroll
    for (int i = 0; i < N; i++) found = found || v[i];
    return found;
}
template <int N> WGSL_FN bool all(vec<bool, N> v) {
    bool every = true;
#pragma unroll
    for (int i = 0; i < N; i++) every = every && v[i];
    return every;
}
WGSL_FN bool any(bool v) { return v; }
WGSL_FN bool all(bool v) { return v; }

template <class T> WGSL_FN T select(bool condition, T accept, T reject) { return condition ? accept : reject; }
template <class T, int N> WGSL_FN vec<T, N> select(vec<bool, N> condition, vec<T, N> accept, vec<T, N> reject) {
#pragma unroll
    for (int i = 0; i < N; i++) reject[i] = condition[i] ? accept[i] : reject[i];
    return reject;
}

// ---- Functions.

#define WGSL_ONE(name, value)                                                        \
    WGSL_FN f32 name(f32 x) { return value; }                                        \
    template <int N> WGSL_FN vec<f32, N> name(vec<f32, N> v) {                       \
        _Pragma("unroll") for (int i = 0; i < N; i++) v[i] = name(v[i]);             \
        return v;                                                                    \
    }
WGSL_ONE(acos, ::acosf(x))
WGSL_ONE(acosh, ::acoshf(x))
WGSL_ONE(asin, ::asinf(x))
WGSL_ONE(asinh, ::asinhf(x))
WGSL_ONE(atan, ::atanf(x))
WGSL_ONE(atanh, ::atanhf(x))
WGSL_ONE(ceil, ::ceilf(x))
WGSL_ONE(cos, ::cosf(x))
WGSL_ONE(cosh, ::coshf(x))
WGSL_ONE(exp, ::expf(x))
WGSL_ONE(exp2, ::exp2f(x))
WGSL_ONE(floor, ::floorf(x))
WGSL_ONE(fract, x - ::floorf(x))
WGSL_ONE(inverse_sqrt, ::rsqrtf(x))
WGSL_ONE(log, ::logf(x))
WGSL_ONE(log2, ::log2f(x))
WGSL_ONE(round, ::rintf(x))
WGSL_ONE(saturate, ::fminf(::fmaxf(x, 0.0f), 1.0f))
WGSL_ONE(sin, ::sinf(x))
WGSL_ONE(sinh, ::sinhf(x))
WGSL_ONE(sqrt, ::sqrtf(x))
WGSL_ONE(tan, ::tanf(x))
WGSL_ONE(tanh, ::tanhf(x))
WGSL_ONE(trunc, ::truncf(x))

// On whole numbers as well.
#define WGSL_ONE_OF(T, name, value)                                                  \
    WGSL_FN T name(T x) { return value; }                                            \
    template <int N> WGSL_FN vec<T, N> name(vec<T, N> v) {                           \
        _Pragma("unroll") for (int i = 0; i < N; i++) v[i] = name(v[i]);             \
        return v;                                                                    \
    }
WGSL_ONE_OF(f32, abs, ::fabsf(x))
WGSL_ONE_OF(i32, abs, x < 0 ? negate(x) : x)
WGSL_ONE_OF(u32, abs, x)
WGSL_ONE_OF(f32, sign, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f)
WGSL_ONE_OF(i32, sign, x > 0 ? 1 : x < 0 ? -1 : 0)
WGSL_ONE_OF(u32, count_leading_zeros, static_cast<u32>(__clz(static_cast<i32>(x))))
WGSL_ONE_OF(i32, count_leading_zeros, __clz(x))
WGSL_ONE_OF(u32, count_trailing_zeros, x == 0u ? 32u : static_cast<u32>(__ffs(static_cast<i32>(x)) - 1))
WGSL_ONE_OF(u32, count_one_bits, static_cast<u32>(__popc(x)))
WGSL_ONE_OF(u32, reverse_bits, __brev(x))
WGSL_ONE_OF(u32, first_leading_bit, x == 0u ? ~0u : 31u - static_cast<u32>(__clz(static_cast<i32>(x))))
WGSL_ONE_OF(u32, first_trailing_bit, static_cast<u32>(__ffs(static_cast<i32>(x)) - 1))

#define WGSL_TWO_OF(T, name, value)                                                  \
    WGSL_FN T name(T x, T y) { return value; }                                       \
    template <int N> WGSL_FN vec<T, N> name(vec<T, N> a, vec<T, N> b) {              \
        _Pragma("unroll") for (int i = 0; i < N; i++) a[i] = name(a[i], b[i]);       \
        return a;                                                                    \
    }
WGSL_TWO_OF(f32, min, ::fminf(x, y))
WGSL_TWO_OF(i32, min, x < y ? x : y)
WGSL_TWO_OF(u32, min, x < y ? x : y)
WGSL_TWO_OF(f32, max, ::fmaxf(x, y))
WGSL_TWO_OF(i32, max, x > y ? x : y)
WGSL_TWO_OF(u32, max, x > y ? x : y)
WGSL_TWO_OF(f32, pow, ::powf(x, y))
WGSL_TWO_OF(f32, atan2, ::atan2f(x, y))
WGSL_TWO_OF(f32, step, x <= y ? 1.0f : 0.0f)

template <class T> WGSL_FN T clamp(T x, T low, T high) { return min(max(x, low), high); }

WGSL_FN f32 fma(f32 a, f32 b, f32 c) { return ::fmaf(a, b, c); }
template <int N> WGSL_FN vec<f32, N> fma(vec<f32, N> a, vec<f32, N> b, vec<f32, N> c) {
#pragma unroll
    for (int i = 0; i < N; i++) c[i] = ::fmaf(a[i], b[i], c[i]);
    return c;
}
WGSL_FN f32 mix(f32 a, f32 b, f32 t) { return a * (1.0f - t) + b * t; }
template <int N> WGSL_FN vec<f32, N> mix(vec<f32, N> a, vec<f32, N> b, vec<f32, N> t) {
#pragma unroll
    for (int i = 0; i < N; i++) a[i] = mix(a[i], b[i], t[i]);
    return a;
}

template <class T, int N> WGSL_FN T dot(vec<T, N> a, vec<T, N> b) {
    T sum = multiply(a[0], b[0]);
#pragma unroll
    for (int i = 1; i < N; i++) sum = add(sum, multiply(a[i], b[i]));
    return sum;
}
template <int N> WGSL_FN f32 length(vec<f32, N> v) { return ::sqrtf(dot(v, v)); }
WGSL_FN f32 length(f32 x) { return ::fabsf(x); }

template <class T, int C, int R> WGSL_FN mat<T, R, C> transpose(mat<T, C, R> a) {
    mat<T, R, C> made;
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int r = 0; r < R; r++) made[r][c] = a[c][r];
    return made;
}

WGSL_FN u32 pack2x16float(vec<f32, 2> v) {
    return static_cast<u32>(half_of_float(v.x)) | static_cast<u32>(half_of_float(v.y)) << 16;
}
WGSL_FN vec<f32, 2> unpack2x16float(u32 word) {
    return {float_of_half(static_cast<unsigned short>(word)), float_of_half(static_cast<unsigned short>(word >> 16))};
}

template <class T, int N> WGSL_FN vec<T, N> shuffle_xor(vec<T, N> v, u32 mask) {
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = shuffle_xor(v[i], mask);
    return v;
}
WGSL_FN f32 shuffle_xor(f32 x, u32 mask) { return __shfl_xor_sync(0xffffffffu, x, static_cast<i32>(mask)); }
WGSL_FN i32 shuffle_xor(i32 x, u32 mask) { return __shfl_xor_sync(0xffffffffu, x, static_cast<i32>(mask)); }
WGSL_FN u32 shuffle_xor(u32 x, u32 mask) { return __shfl_xor_sync(0xffffffffu, x, static_cast<i32>(mask)); }

}  // namespace wgsl
