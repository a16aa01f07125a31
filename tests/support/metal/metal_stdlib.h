// As much of Metal's standard library as the shaders of kernels use, in C++17: they are compiled
// and run on the CPU. Stands for Metal's header of this name. What Metal has not, or what kernels
// may not use, does not compile: double, arithmetic of half, vectors of numbers.
//
// HEDDLE_ADDRESS_SPACES (clang only): pointers of different address spaces are different types, as
// in Metal, and are not converted.
#pragma once
#define __METAL_VERSION__ 300
#define kernel extern "C"
#ifdef HEDDLE_ADDRESS_SPACES
#define device __attribute__((address_space(1)))
#define threadgroup __attribute__((address_space(3)))
#else
#define device
#define threadgroup
#endif
#define constant const
#define thread

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;

// 16 bits and nothing else: kernels compute in float.
struct half {
  ushort bits;
};
constexpr half operator""h(long double) { return half{0x3c00}; }
constexpr half operator/(half a, half) { return a; }

// What blocks' memory is counted in.
struct int4 {
  int v[4];
};

template <class T, class U>
constexpr T as_type(U u) {
  static_assert(sizeof(T) == sizeof(U), "as_type keeps the size");
  return __builtin_bit_cast(T, u);
}

void heddle_barrier();

namespace metal {

struct uint3 {
  uint x, y, z;
};

inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline float rint(float x) { return __builtin_rintf(x); }
inline float fabs(float x) { return __builtin_fabsf(x); }
inline float fmod(float x, float y) { return __builtin_fmodf(x, y); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// Of a NaN and a number, the number: Metal's fmax and fmin.
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline float min(float a, float b) { return __builtin_fminf(a, b); }
#define HEDDLE_EXTREMES(T)                         \
  inline T max(T a, T b) { return a < b ? b : a; } \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T abs(T a) { return (T)(a < 0 ? 0u - (uint)a : (uint)a); }
HEDDLE_EXTREMES(char)
HEDDLE_EXTREMES(signed char)
HEDDLE_EXTREMES(short)
HEDDLE_EXTREMES(int)
#undef HEDDLE_EXTREMES
#define HEDDLE_EXTREMES(T)                         \
  inline T max(T a, T b) { return a < b ? b : a; } \
  inline T min(T a, T b) { return b < a ? b : a; }
HEDDLE_EXTREMES(uchar)
HEDDLE_EXTREMES(ushort)
HEDDLE_EXTREMES(uint)
#undef HEDDLE_EXTREMES

inline uint mulhi(uint a, uint b) {
  return static_cast<uint>((static_cast<unsigned long>(a) * b) >> 32);
}

template <class T>
constexpr bool is_bool = false;
template <>
constexpr bool is_bool<bool> = true;
template <class T>
T select(T no, T yes, bool condition) {
  static_assert(!is_bool<T>, "Metal selects numbers");
  return condition ? yes : no;
}

inline bool isnan(float x) { return x != x; }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
inline void threadgroup_barrier(mem_flags) { heddle_barrier(); }

}  // namespace metal

#define double Metal_has_no_double
