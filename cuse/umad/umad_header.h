// The header in front of every MAD that is read from or written to umadN.
#ifndef IBEMU_CUSE_UMAD_UMAD_HEADER_H_
#define IBEMU_CUSE_UMAD_UMAD_HEADER_H_

#include <rdma/ib_user_mad.h>

#include <cstddef>
#include <cstdint>

#include "mad/address.h"
#include "mad/agent.h"

namespace ibemu::cuse {

// Files that did not ask for P_Key indexes use the old, shorter layout, which
// is the first 56 bytes of the new one.  In memory there is only the new one.
inline constexpr size_t kUmadHeader = sizeof(ib_user_mad_hdr);
inline constexpr size_t kOldUmadHeader = sizeof(ib_user_mad_hdr_old);
static_assert(kUmadHeader == 64 && kOldUmadHeader == 56);

// REQUIRES: `written` has at least `header_size` bytes, one of the two above.
ib_user_mad_hdr DecodeUmadHeader(mad::Bytes written, size_t header_size);

inline mad::Bytes AsBytes(const ib_user_mad_hdr& header, size_t header_size) {
  return {reinterpret_cast<const std::byte*>(&header), header_size};
}

// Returns the destination of a written MAD.  Linux ignores the header's Q_Key,
// and uses that of the agent's queue pair.
mad::AddressVector DestinationOf(const ib_user_mad_hdr& header, int qp);

// Returns the header that a reader sees in front of `message`.
ib_user_mad_hdr HeaderOf(const mad::IncomingMessage& message, uint32_t agent_id,
                         size_t header_size);

// Returns true if two answers go to the same place (same_destination in Linux).
bool SameDestination(const ib_user_mad_hdr& a, const ib_user_mad_hdr& b);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_HEADER_H_
