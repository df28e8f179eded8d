// UmadRings: the rings of an open umadN, seen from the daemon.
#ifndef IBEMU_CUSE_UMAD_UMAD_RINGS_H_
#define IBEMU_CUSE_UMAD_UMAD_RINGS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "cuse/reply.h"
#include "cuse/rings/ring_set.h"
#include "cuse/rings/shared_memory.h"
#include "fast_path/rings/umad_ring_memory.h"

namespace ibemu::cuse {

// The UmadRings of a file take its client's MADs out of one ring and put those
// for it into another.  The client may do with the memory what it likes: it is
// then cut off from its rings, and still has its file.  Before it has rings,
// and when it is cut off, nothing waits here and nothing fits.
class UmadRings final : private RingSet::Rings {
 public:
  // Handles what a write() of `data` would have brought.
  using Send = std::function<void(Bytes data)>;

  explicit UmadRings(Send send) : send_(std::move(send)) {}

  // Closes the rings.
  ~UmadRings();
  UmadRings(const UmadRings&) = delete;
  UmadRings& operator=(const UmadRings&) = delete;

  // Uses the rings in `memory` from now on.  REQUIRES: called once;
  // set.HasRoomFor(client.user); `memory` has the size of a UmadRingMemory;
  // `set` outlives this object.
  void Attach(RingSet& set, RingSet::Client client, SharedMemory memory);
  bool attached() const { return set_ != nullptr; }

  // Handles all that was written by the rings before a call that came by the
  // file, and serves the rings from now on.
  void CatchUp();

  // Cuts the client off from its rings.  It is told, and goes on by its file.
  void Close();

  // Tell the client what it may write by the rings.  `route_port`: with which
  // port directed routes have to begin; 0: none may.
  void SetFormat(size_t header_size, uint8_t route_port);
  void SetAgent(uint32_t id, fast_path::AgentKind kind);

  // Count a send that was accepted, and one that has ended.  `mad` begins with
  // a MAD's header.
  void OnAccepted(Bytes mad) { Count(mad, +1); }
  void OnEnded(Bytes mad) { Count(mad, -1); }

  // Puts a message behind those that are there.  Returns false if it does not
  // fit.
  bool Put(Bytes header, Bytes mad);

  // The number of messages that wait.
  size_t messages() const;

  // Tells the client if more messages wait for it that are not in the ring.
  void SetMore(bool more);

  // Takes the first message, as a read() of `room` bytes does: into `data`.
  // Returns its length; nothing if there is no message; or a length above
  // `room`, and then it stays.
  std::optional<size_t> Take(std::span<std::byte> data, size_t room);

 private:
  using Memory = fast_path::UmadRingMemory;

  bool Drain() override { return DrainSome(kAtOnce); }
  bool HasCalls() const override;
  fast_path::RingControl& control() override { return memory().control; }

  Memory& memory() const { return *static_cast<Memory*>(shared_->address()); }
  bool DrainSome(uint64_t most);
  void Count(Bytes mad, int by);

  // A client with many calls waits for the others after so many.
  static constexpr uint64_t kAtOnce = 64;

  const Send send_;
  RingSet* set_ = nullptr;              // null before Attach()
  std::optional<SharedMemory> shared_;  // likewise
  // What of the shared positions is ours.
  uint64_t taken_ = 0;  // of `sent`
  uint64_t put_ = 0;    // into `received`
  size_t header_size_ = 0;
  bool closed_ = true;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_RINGS_H_
