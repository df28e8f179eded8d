// QueuePair: a queue pair of the software channel adapter.
#ifndef IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_H_
#define IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/timers.h"
#include "fabric/packet/packet.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/datagram_receiver.h"
#include "fabric/soft_hca/transport/queue_pair_context.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "fabric/soft_hca/transport/responder.h"
#include "fabric/subnet/node.h"
#include "verbs/parts/bounce_buffers.h"
#include "verbs/parts/memory_region.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/parts/receive_queue.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

class Hca;

// A queue pair of type RC, UC or UD: IBA vol 1 §9.7 and §9.8.  Memory of
// processes is accessed asynchronously and in chunks.  Operations in progress
// are therefore kept in two lists, the sends of the requester and the steps of
// the responder, and each list completes in order.
class QueuePair final : public verbs::Qp, private QueuePairLink {
 public:
  QueuePair(Hca& hca, uint32_t number, const verbs::QpInit& init,
            verbs::ObjectListener& listener);
  ~QueuePair() override;
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  uint32_t number() const override { return context_.number; }
  verbs::QpCapacity capacity() const override { return context_.init.capacity; }
  absl::Status Modify(const verbs::QpAttributes& attributes) override;
  verbs::QpAttributes Query() const override;
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override;
  absl::Status PostSend(std::span<verbs::SendRequest> requests,
                        size_t& taken) override;
  absl::Status AttachMulticast(const verbs::GidBytes& gid,
                               uint16_t lid) override;
  void DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) override;

  // Takes a packet that came to `port`.  The P_Key at `pkey_index` admitted it.
  void OnPacket(const NodePort& port, uint16_t pkey_index,
                const Packet& packet);

  // The adapter was removed for good: enters the error state.
  void OnRemoval();

  verbs::QpType type() const { return context_.init.type; }

 private:
  using State = verbs::QpState;
  using Syndrome = Transport::Syndrome;

  // The limit on bytes in flight, that is, not acknowledged or not in memory
  // yet.  An operation that starts below the limit may exceed it.
  static constexpr size_t kMaxInFlight = 2 * verbs::kChunk;

  // A work request of the send queue, until it is complete.
  struct Send {
    verbs::SendRequest request;
    verbs::AddressAttributes address{};       // UD only
    std::optional<verbs::PostedBind> bind{};  // no packets are sent for it
    size_t length = 0;
    size_t emitted = 0;  // bytes sent in packets, or requested by reads
    uint32_t first_psn = 0, last_psn = 0;
    bool started = false;   // has its packet sequence numbers
    bool complete = false;  // all packets sent, and acknowledged if reliable
    uint32_t failure = 0;   // its completion status when it is the oldest
    int fetches = 0;        // RDMA READ or atomic requests in progress

    bool IsRead() const {
      return request.work.opcode == IB_UVERBS_WR_RDMA_READ;
    }
    bool IsAtomic() const {
      return request.work.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
             request.work.opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
    }
    bool Fetches() const { return IsRead() || IsAtomic(); }
  };
  // A request packet for a part of an RDMA READ, or for an atomic operation,
  // until its result is in memory.
  struct Fetch {
    Send& send;
    size_t start, length;         // within the message
    uint32_t next_psn, last_psn;  // of its response packets
    size_t received = 0;
    bool answered = false, complete = false;
    verbs::MemoryTransfer arrived{};
  };
  // One or more packets that may have to be sent again.
  struct InFlight {
    uint32_t psn;
    std::shared_ptr<Transport> transport;
    std::shared_ptr<Fetch> fetch;  // null: neither RDMA READ nor atomic
  };
  // queue_pair.cc
  void Apply(const verbs::QpAttributes& attributes);
  void Reset();
  bool IsDrained() const;
  void TellIfDrained();
  void FlushSends();
  void FlushReceives();

  // Implement QueuePairLink.
  const QueuePairContext& qp() const override { return context_; }
  size_t Mtu() const override;
  void Transmit(std::shared_ptr<const Transport> packets) override;
  std::optional<verbs::ReceiveRequest> TakeReceive() override;
  void PutBackReceive(verbs::ReceiveRequest request) override;
  void EnterError() override;

  void TransmitDatagram(std::shared_ptr<const Transport> packet,
                        const Send& send);
  void OnDatagram(const NodePort& port, uint16_t pkey_index,
                  const Packet& packet);

  // queue_pair_send.cc
  void Pump();
  bool Start(Send& send);
  bool Bind(Send& send);
  void Gather(Send& send);
  void EmitChunk(Send& send, const verbs::Buffer& buffer);
  void Emit(std::shared_ptr<Transport> transport, std::shared_ptr<Fetch> fetch);
  void FinishSending(Send& send);
  void OnAnswer(const Transport& answer);
  void AcknowledgeUpTo(uint32_t psn);
  void CompleteSends();
  // Completions with an error: of the oldest send, or of one that is reported
  // once those before it are complete.
  void FailSend(uint32_t status);
  void FailLater(Send& send, uint32_t status);
  void OnRefusal(uint32_t psn, uint32_t status);
  absl::StatusOr<verbs::MemoryRanges> RangesOf(const Send& send) const;
  bool AwaitsPeer(const InFlight& packet) const;
  void Retransmit();
  void ArmRetryTimer();
  void OnRetryTimeout();
  void CompleteSend(const Send& send, uint32_t status);

  // queue_pair_fetch.cc
  bool MayFetch() const;
  void EmitFetch(Send& send);
  void OnFetched(const Transport& answer);
  void OnFetchWritten(Fetch& fetch, const absl::Status& status);

  Hca& hca_;
  QueuePairContext context_;
  std::set<std::pair<verbs::GidBytes, uint16_t>> groups_;

  // State of the requester.
  std::deque<std::unique_ptr<Send>> sends_;
  size_t cursor_ = 0;  // index in sends_ of the one being sent
  bool gathering_ = false;
  int fetches_ = 0;  // outstanding RDMA READ and atomic requests
  // The bytes that they will return.
  size_t fetching_bytes_ = 0;
  uint32_t send_psn_ = 0;
  uint32_t acknowledged_psn_ = 0;  // and all before it
  std::deque<InFlight> in_flight_;
  size_t in_flight_bytes_ = 0;
  int retries_left_ = 0, rnr_retries_left_ = 0;
  int timeouts_ = 0;  // since the last progress
  TimerId retry_timer_ = TimerId::kNone;
  bool waits_for_receiver_ = false;  // after an RNR NAK
  bool tells_drained_ = false;  // an event is due when the queue is drained

  verbs::ReceiveQueue receives_;
  std::unique_ptr<Responder> responder_;         // of a connection
  std::optional<DatagramReceiver> datagrams_{};  // UD only
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_H_
