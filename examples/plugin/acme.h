// acme.swish_beta: an operation that Heddle does not have, made with its public headers alone.
#ifndef ACME_H_
#define ACME_H_

#include <heddle/heddle.h>

namespace acme {

/// x / (1 + exp(-beta x)), elementwise; x of a floating dtype, beta a number. (Ramachandran et al.,
/// "Searching for Activation Functions", 2017.)
heddle::Tensor swish_beta(heddle::Tensor x, double beta,
                          std::source_location where = std::source_location::current());

/// Gives the carrier `cpu` a kernel in C for it (swish_kernel.c), for f32. Before its first tensor.
void use_kernel_in_c();

}  // namespace acme

#endif  // ACME_H_
