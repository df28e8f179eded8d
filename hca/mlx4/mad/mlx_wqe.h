// Send requests of queue pairs 0 and 1, whose headers the driver makes.
#ifndef IBEMU_HCA_MLX4_MAD_MLX_WQE_H_
#define IBEMU_HCA_MLX4_MAD_MLX_WQE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mad/address.h"
#include "wire/types.h"

namespace ibemu::hca::mlx4 {

// What the port adds to what a MAD's address says.
struct MlxSource {
  int qp = 0;  // 0 or 1
  uint16_t p_key = 0;
  uint8_t vl = 0;    // of the address's SL; QP0 has 15
  wire::Gid sgid{};  // with a GRH
  uint32_t psn = 0;
};

// LRH to DETH.  The adapter adds the port's LID to the path bits in LRH.SLID,
// but for the permissive destination, which has the permissive source.
std::vector<std::byte> MakeMadHeaders(const mad::AddressVector& to,
                                      const MlxSource& source);

// Where the MAD is.
struct MlxPayload {
  uint64_t iova = 0;
  uint32_t lkey = 0;
};

inline constexpr int kLogMlxWqe = 7;
inline constexpr size_t kMlxWqe = size_t{1} << kLogMlxWqe;
using MlxWqe = std::array<std::byte, kMlxWqe>;

// `owner`: as the queue's number says for this WQE.
MlxWqe MakeMlxWqe(const mad::AddressVector& to, const MlxSource& source,
                  const MlxPayload& payload, bool owner);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_MAD_MLX_WQE_H_
