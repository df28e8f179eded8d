// The names of faults, by the numbers that packets have from them.
#ifndef IBEMU_DAEMON_SUBNET_FAULT_NAMES_H_
#define IBEMU_DAEMON_SUBNET_FAULT_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace ibemu::daemon {

// A FaultNames remembers the names of faults that were removed, too, for
// histories of what they did.  Numbers are those of the fabric, which gives
// none of them twice.
class FaultNames {
 public:
  static constexpr size_t kMaxRemoved = 1000;  // the last of them

  void Add(uint32_t number, std::string name);

  // No effect on a number that was not added.
  void Remove(uint32_t number);

  // "fault-3"; "fault-3, removed since"; empty: unknown, or forgotten.
  std::string Of(uint32_t number) const;

 private:
  struct Name {
    std::string text;
    bool removed = false;
  };
  absl::flat_hash_map<uint32_t, Name> names_;
  std::deque<uint32_t> removed_;  // the first one longest ago
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_FAULT_NAMES_H_
