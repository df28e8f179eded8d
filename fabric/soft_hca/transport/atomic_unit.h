// AtomicUnit: the atomic operations of an adapter on the memory of processes.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_ATOMIC_UNIT_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_ATOMIC_UNIT_H_

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

// The size of an atomic operand.  Operands are in the byte order of the
// machine.
inline constexpr size_t kAtomicBytes = 8;

// One atomic operation: compare and swap, or fetch and add (IBA vol 1 §9.4.5).
struct AtomicOperation {
  bool compares = false;  // false: fetch and add
  uint64_t compare = 0;
  uint64_t swap_or_add = 0;

  uint64_t Apply(uint64_t value) const {
    if (!compares) return value + swap_or_add;
    return value == compare ? swap_or_add : value;
  }
};

// The executor of atomic operations: it reads, changes and writes back the
// operand through the jobs of verbs::Memory.  Operations on one address run one
// after the other, so they are atomic with respect to all others of this
// adapter, but not to the processor or to RDMA WRITEs (IB_ATOMIC_HCA).
//
// Addresses are told apart by process and virtual address.  If several
// processes register the same shared memory, their addresses are not serialized
// with each other.
class AtomicUnit {
 public:
  // Receives the original value, or the error of verbs::Memory.
  using Done = absl::AnyInvocable<void(absl::StatusOr<uint64_t>)>;
  // Returns OK if the target may still be written to.
  using Check = absl::AnyInvocable<absl::Status()>;

  AtomicUnit() = default;
  ~AtomicUnit() { *self_ = nullptr; }
  AtomicUnit(const AtomicUnit&) = delete;
  AtomicUnit& operator=(const AtomicUnit&) = delete;

  // Starts an operation.  `target` has kAtomicBytes.  `done` is called after
  // Run() returns.  `check` is called between the read and the write, because
  // the memory key may be revoked after the read; its error becomes that of the
  // operation.
  void Run(const verbs::MemoryRange& target, const AtomicOperation& operation,
           Check check, Done done);

 private:
  struct Job {
    verbs::MemoryRange target;
    AtomicOperation operation;
    Check check;
    Done done;
  };
  // A process, and a virtual address in it.
  using Place = std::pair<uint64_t, uint64_t>;

  void Begin(Place place);
  void Change(Place place, const verbs::Buffer& buffer);
  void End(Place place, absl::StatusOr<uint64_t> result);

  // The operations on each address; the first one is in progress.
  absl::flat_hash_map<Place, std::deque<Job>> jobs_;
  // Memory callbacks may outlive this object: they hold this pointer, which the
  // destructor sets to null.
  std::shared_ptr<AtomicUnit*> self_ = std::make_shared<AtomicUnit*>(this);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_ATOMIC_UNIT_H_
