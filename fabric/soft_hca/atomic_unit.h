// Atomic operations of an adapter on the memory of processes.
#ifndef IBEMU_FABRIC_SOFT_HCA_ATOMIC_UNIT_H_
#define IBEMU_FABRIC_SOFT_HCA_ATOMIC_UNIT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "verbs/parts/key_table.h"

namespace ibemu::fabric {

// What an atomic changes: 8 bytes, in the order of the machine.
inline constexpr size_t kAtomicBytes = 8;

// IBA vol 1 §9.4.5.
struct AtomicOperation {
  bool compares = false;  // else it adds
  uint64_t compare = 0;
  uint64_t swap_or_add = 0;

  uint64_t Apply(uint64_t value) const {
    if (!compares) return value + swap_or_add;
    return value == compare ? swap_or_add : value;
  }
};

// Reads, changes and writes, in jobs of the memory.  One operation at an
// address waits for the one before it, so no other atomic of the adapter comes
// between; what the processor or a write does there may (IB_ATOMIC_HCA). Places
// are told apart by process and address: memory that several processes share,
// and each registers for itself, is several places.
class AtomicUnit {
 public:
  // What was there before, or Memory's errors.
  using Done = absl::AnyInvocable<void(absl::StatusOr<uint64_t>)>;
  // Whether the target may still be written to.
  using Check = absl::AnyInvocable<absl::Status()>;

  AtomicUnit() = default;
  ~AtomicUnit() { *self_ = nullptr; }
  AtomicUnit(const AtomicUnit&) = delete;
  AtomicUnit& operator=(const AtomicUnit&) = delete;

  // `target` has kAtomicBytes.  `done` is called after returning.  `check` is
  // asked before the write, for keys may go after the read; its error is that
  // of the operation.
  void Run(const verbs::MemoryRange& target, const AtomicOperation& operation,
           Check check, Done done);

 private:
  struct Job {
    verbs::MemoryRange target;
    AtomicOperation operation;
    Check check;
    Done done;
  };
  // A process, and an address in it.
  using Place = std::pair<uint64_t, uint64_t>;

  void Begin(Place place);
  void Change(Place place, const verbs::Buffer& buffer);
  void End(Place place, absl::StatusOr<uint64_t> result);

  // The first of each is being done.
  absl::flat_hash_map<Place, std::deque<Job>> jobs_;
  // Who comes back from memory looks here first.
  std::shared_ptr<AtomicUnit*> self_ = std::make_shared<AtomicUnit*>(this);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_ATOMIC_UNIT_H_
