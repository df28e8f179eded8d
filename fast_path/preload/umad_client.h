// UmadClient: write(), read() and poll() of an open umadN through its rings.
#ifndef IBEMU_FAST_PATH_PRELOAD_UMAD_CLIENT_H_
#define IBEMU_FAST_PATH_PRELOAD_UMAD_CLIENT_H_

#include <cstddef>

#include "fast_path/preload/attached_files.h"
#include "fast_path/rings/umad_ring_memory.h"

namespace ibemu::fast_path {

// A view of one file's rings, which does what is surely the same as a call of
// the device file, and leaves all else to that.
class UmadClient {
 public:
  // REQUIRES: both outlive this object.
  UmadClient(UmadRingMemory& memory, ProcessFacts& facts)
      : memory_(memory), facts_(facts) {}

  // Writes `data`.  With kRing it is done; the caller has to look at
  // IsServed() then, and to make the daemon look if it is not.
  Way Write(const void* data, size_t size);

  // Reads one message.  With kRing it is done, and `length` is its length.
  Way Read(void* data, size_t size, size_t& length);

  // What poll() would find.
  enum class State {
    kQuiet,     // nothing to read
    kReadable,  // a message is in the ring
    kUnknown,   // the device file knows
  };
  State Look() const;

  bool IsServed() const { return memory_.control.IsServed(); }

 private:
  Way Judge(const std::byte* written) const;
  Way Fill(const void* data, size_t size);

  UmadRingMemory& memory_;
  ProcessFacts& facts_;
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_UMAD_CLIENT_H_
