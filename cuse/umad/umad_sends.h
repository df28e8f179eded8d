// UmadSends: the sends of a umad file that have not ended yet.
#ifndef IBEMU_CUSE_UMAD_UMAD_SENDS_H_
#define IBEMU_CUSE_UMAD_UMAD_SENDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "cuse/umad/umad_header.h"
#include "mad/mad_class.h"

namespace ibemu::cuse {

// The outstanding sends of one file.  Linux refuses a second MAD of the same
// TID and class while the first is outstanding, whatever its destination,
// because the answers could not be told apart.  Of answers it refuses only two
// to the same destination.  (is_duplicate in
// drivers/infiniband/core/user_mad.c.)
class UmadSends {
 public:
  struct Send {
    uint32_t agent_id = 0;
    ib_user_mad_hdr header{};
    std::array<std::byte, mad::kMadHeaderBytes> mad_header{};
  };

  // Returns true if Linux would refuse `mad`.  REQUIRES: `mad` has its final
  // TID.
  bool IsDuplicate(const ib_user_mad_hdr& header, mad::Bytes mad) const;

  // Returns the cookie of the new entry.
  uint64_t Add(uint32_t agent_id, const ib_user_mad_hdr& header,
               mad::Bytes mad);

  // Removes and returns an entry.  Returns nothing if it is already gone.
  std::optional<Send> Take(uint64_t cookie);

  // Removes those of an agent, and calls `dropped` with each.
  void DropAgent(uint32_t agent_id,
                 absl::FunctionRef<void(const Send&)> dropped);

 private:
  using Key = std::pair<uint64_t, mad::MgmtClass>;
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Slot {
    Send send;
    uint32_t generation = 0;
    uint32_t next = kNone;  // of the same key, or free
    bool used = false;
  };

  void Remove(uint32_t index);

  std::vector<Slot> slots_;
  uint32_t free_ = kNone;
  absl::flat_hash_map<Key, uint32_t> first_;  // of each key's chain
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_SENDS_H_
