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
#include "fabric/subnet/node.h"
#include "verbs/parts/bounce_buffers.h"
#include "verbs/parts/completion_queue.h"
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
class QueuePair final : public verbs::Qp {
 public:
  QueuePair(Hca& hca, uint32_t number, const verbs::QpInit& init,
            verbs::ObjectListener& listener);
  ~QueuePair() override;
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  uint32_t number() const override { return number_; }
  verbs::QpCapacity capacity() const override { return init_.capacity; }
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

  verbs::QpType type() const { return init_.type; }

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
  // An operation of the responder.  It finishes when its memory access is done
  // and the steps before it have finished.
  struct Step {
    bool done = false;
    absl::Status status{};  // of the memory access
    bool acknowledge = false;
    uint32_t psn = 0;  // of the last packet that belongs to it
    std::optional<verbs::WorkCompletion> completion = std::nullopt;
    bool solicited = false;
    std::optional<Syndrome> refusal = std::nullopt;
    // The request of an RDMA READ or an atomic operation, and the number of
    // bytes of the READ's response that have been sent.
    std::shared_ptr<const Transport> fetch = nullptr;
    size_t answered = 0;
    bool reaching = false;  // a memory access is in progress
    bool repeats = false;   // the request was answered before
    bool breaks = false;    // ends in the error state, after the completion
  };
  // The original value of an atomic operation, kept in case its response is
  // lost.
  struct AtomicResult {
    uint32_t psn;
    uint64_t original;
  };
  // A message of which some packets have arrived.
  struct Message {
    Transport::Operation operation;
    uint64_t address;  // RDMA WRITE only
    uint32_t key, size;
    size_t length = 0;  // received so far
    std::optional<verbs::ReceiveRequest> receive;
  };

  // queue_pair.cc
  void Apply(const verbs::QpAttributes& attributes);
  void Reset();
  void EnterError();
  bool IsDrained() const;
  void TellIfDrained();
  void FlushSends();
  void FlushReceives();
  size_t Mtu() const;
  bool Receives() const;
  verbs::CompletionQueue& send_cq() const;
  verbs::CompletionQueue& receive_cq() const;
  void Transmit(std::shared_ptr<const Transport> transport,
                const Send* datagram = nullptr);
  template <class Call>
  auto WhileSame(Call call);

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

  // queue_pair_receive.cc
  void OnRequest(const Transport& request);
  bool InSequence(const Transport& request);
  bool Begin(const Transport& request);
  bool Place(const Transport& request);
  void FlushBatch(const Transport& request,
                  std::optional<verbs::WorkCompletion> completion);
  void WriteStep(verbs::MemoryTransfer transfer, Step made);
  std::shared_ptr<Step> AddStep(Step step);
  void RunSteps();
  void FailStep(const Step& step);
  bool MayAccess(uint32_t right) const;
  void Answer(Syndrome syndrome);
  void Refuse(Syndrome syndrome);
  void RefuseReceive(uint32_t status, Syndrome syndrome);
  void DropMessage();
  void SendAcknowledge(Syndrome syndrome, uint32_t psn);
  void OnDatagram(const NodePort& port, uint16_t pkey_index,
                  const Packet& packet);
  std::optional<verbs::ReceiveRequest> TakeReceiveRequest();
  void PutBackReceive(verbs::ReceiveRequest request);
  verbs::WorkCompletion ReceiveCompletion(const Transport& request) const;

  // queue_pair_fetch.cc
  bool MayFetch() const;
  void EmitFetch(Send& send);
  void OnFetched(const Transport& answer);
  void OnFetchWritten(Fetch& fetch, const absl::Status& status);
  void AnswerFetch(const Transport& request);
  void RepeatFetch(const Transport& request);
  bool ContinueFetch(Step& step);
  bool ContinueRead(Step& step);
  bool ContinueAtomic(Step& step);
  absl::StatusOr<verbs::MemoryRange> AtomicTarget(
      const Transport& request) const;
  void SendReadResponses(Step& step, const verbs::Buffer& buffer);
  void SendAtomicResponse(uint32_t psn, uint64_t original);

  Hca& hca_;
  const uint32_t number_;
  const verbs::QpInit init_;
  verbs::ObjectListener& listener_;
  State state_ = State::kReset;
  verbs::QpAttributes attributes_{};
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

  // State of the responder.
  verbs::ReceiveQueue receives_;
  uint32_t expected_psn_ = 0;
  bool told_of_gap_ = false, refused_ = false, established_ = false;
  std::optional<Message> message_;
  verbs::MemoryTransfer batch_;
  size_t writing_bytes_ = 0;  // being written to memory
  std::deque<std::shared_ptr<Step>> steps_;
  std::deque<AtomicResult> atomic_results_;  // the latest ones, oldest first

  // Callbacks of memory and timers compare this with its value when they were
  // started (WhileSame()).  It is incremented by each reset or error.
  uint64_t life_ = 0;
  std::shared_ptr<QueuePair*> self_ = std::make_shared<QueuePair*>(this);
};

// Wraps `call` so that it does nothing if this queue pair has been destroyed,
// was reset, or has entered the error state in the meantime.
template <class Call>
auto QueuePair::WhileSame(Call call) {
  return [self = self_, life = life_,
          call = std::move(call)](auto&&... arguments) mutable {
    if (*self == nullptr || (*self)->life_ != life) return;
    call(std::forward<decltype(arguments)>(arguments)...);
  };
}

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_H_
