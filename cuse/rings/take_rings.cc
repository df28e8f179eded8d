#include "cuse/rings/take_rings.h"

#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "fast_path/rings/attach_rings.h"

namespace ibemu::cuse {

// Who shares memory with the daemon writes what others read from the file, so
// it is for the one that opened it.
Errno TakeRings(const IoctlRequest& ioctl, const RingSet* set, Errno state,
                size_t size, std::optional<SharedMemory>& memory) {
  if (set == nullptr) return Errno::kNotTty;
  if (!ioctl.is_opener) return Errno::kNotPermitted;
  fast_path::AttachRings wanted;
  if (ioctl.in.size() < sizeof wanted) return Errno::kFault;
  std::memcpy(&wanted, ioctl.in.data(), sizeof wanted);
  if (wanted.version != fast_path::kRingsVersion) return Errno::kInvalid;
  if (state != Errno::kOk) return state;
  if (!set->HasRoomFor(ioctl.user)) return Errno::kNoSpace;
  absl::StatusOr<SharedMemory> taken =
      SharedMemory::Of(ioctl.caller, wanted.memory, size);
  if (!taken.ok()) return ToErrno(taken.status());
  memory.emplace(*std::move(taken));
  return Errno::kOk;
}

}  // namespace ibemu::cuse
