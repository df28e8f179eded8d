// PostedSend: a work request of the send queue.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_POSTED_SEND_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_POSTED_SEND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/queue_pair_context.h"
#include "verbs/memory.h"
#include "verbs/parts/key_table.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// A work request of the send queue, until it is complete.
struct PostedSend {
  explicit PostedSend(verbs::SendRequest posted);

  verbs::SendRequest request;
  uint64_t entry = 0;  // of the send queue
  // UD only.  The domain is only compared: it may have ended.
  verbs::AddressAttributes address{};
  const verbs::Pd* address_pd = nullptr;
  size_t length = 0;
  size_t emitted = 0;  // bytes sent in packets, or requested by reads
  uint32_t first_psn = 0, last_psn = 0;
  bool started = false;   // has its packet sequence numbers
  bool complete = false;  // all packets sent, and acknowledged if reliable
  uint32_t failure = 0;   // its completion status when it is the oldest
  int fetches = 0;        // RDMA READ or atomic requests in progress

  bool IsAtomic() const;
  // Returns true for an RDMA READ or an atomic operation, whose response
  // carries data.
  bool Fetches() const;
  bool IsFenced() const;
  bool HasImmediate() const;
  // Returns the name of its operation, "RDMA WRITE".
  std::string_view Name() const;
  // Returns the operation of its packets.
  Transport::Operation Operation() const;
  // Returns its successful completion.
  verbs::WorkCompletion Completion() const;

  // Returns the memory that the message comes from or goes to.  Keys are looked
  // up each time, because they may have been revoked since the message started.
  //
  // Errors: PermissionDenied.
  absl::StatusOr<verbs::MemoryRanges> FindMemory(
      const QueuePairContext& qp) const;

  // Returns the next packets of the message, and counts them as emitted.
  // `buffer` is their payload; null: none.  REQUIRES: the send has started, and
  // is neither an RDMA READ nor an atomic operation.
  std::shared_ptr<Transport> TakePackets(verbs::QpType service, size_t mtu,
                                         const verbs::Buffer& buffer);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_POSTED_SEND_H_
