// Elements of any dtype as numbers, and the streams of numbers that check files are made of.
// Shared by the core and by those who write check files: both sides must make the same bits.
#ifndef HEDDLE_RUNTIME_CORE_NUMBERS_H_
#define HEDDLE_RUNTIME_CORE_NUMBERS_H_

#include <stdint.h>

namespace hdcore {

// Element i of the stream `seed`: in [0, 1), a multiple of 2^-24.
double uniform(uint64_t seed, uint64_t i);
// Element i of the tensor: low + (high - low) * uniform(seed, i), rounded down for integers; bool:
// in the upper half. f16 and bf16 are left as they are.
void fill_uniform(uint32_t dtype, void* data, uint64_t count, double low, double high,
                  uint64_t seed);

double element_as_double(uint32_t dtype, const void* data, uint64_t i);
int64_t element_as_integer(uint32_t dtype, const void* data, uint64_t i);  // u64: its bits
bool is_finite_element(uint32_t dtype, const void* element);
// The unit in the last place of a floating dtype at this magnitude.
double ulp_of(uint32_t dtype, double magnitude);

}  // namespace hdcore

#endif  // HEDDLE_RUNTIME_CORE_NUMBERS_H_
