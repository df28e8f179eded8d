// Send WQEs of queue pairs 0 and 1, whose packet headers the driver builds.
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

// The values that the port adds to a MAD's address.
struct MlxSource {
  int qp = 0;  // 0 or 1
  uint16_t p_key = 0;
  uint8_t vl = 0;    // for the address's SL; QP0 has 15
  wire::Gid sgid{};  // used with a GRH
  uint32_t psn = 0;
};

// Returns the packet headers LRH to DETH.  The adapter adds the port's LID to
// the path bits in LRH.SLID; only a packet to the permissive LID has the
// permissive LID as its source, too.
std::vector<std::byte> MakeMadHeaders(const mad::AddressVector& to,
                                      const MlxSource& source);

// The memory of a MAD.
struct MlxPayload {
  uint64_t iova = 0;
  uint32_t lkey = 0;
};

inline constexpr int kLogMlxWqe = 7;
inline constexpr size_t kMlxWqe = size_t{1} << kLogMlxWqe;
using MlxWqe = std::array<std::byte, kMlxWqe>;

// Returns the WQE that sends the MAD in `payload`.  `owner`: the owner bit of
// this WQE, which follows from its number in the queue.
MlxWqe MakeMlxWqe(const mad::AddressVector& to, const MlxSource& source,
                  const MlxPayload& payload, bool owner);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_MAD_MLX_WQE_H_
