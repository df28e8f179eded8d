// A queue pair of the software channel adapter.
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

// Reliable and unreliable connections and datagrams: IBA vol 1 §9.7 and §9.8.
// Memory is reached piece by piece, by others; so what is under way stays in
// two lists, of sends and of steps, whose ends come in order.
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

  // A packet for it came to `port`, whose P_Key at `pkey_index` let it in.
  void OnPacket(const NodePort& port, uint16_t pkey_index,
                const Packet& packet);

  // The adapter is gone for good.
  void OnRemoval();

  verbs::QpType type() const { return init_.type; }

 private:
  using State = verbs::QpState;
  using Syndrome = Transport::Syndrome;

  // What may be on its way, not acknowledged or not in memory yet, at most;
  // but for what begins before that.
  static constexpr size_t kMaxInFlight = 2 * verbs::kChunk;

  // A send request, until it is complete.
  struct Send {
    verbs::SendRequest request;
    verbs::AddressAttributes address{};       // of a datagram
    std::optional<verbs::PostedBind> bind{};  // nothing leaves for it
    size_t length = 0;
    size_t emitted = 0;  // bytes given to packets, or asked for
    uint32_t first_psn = 0, last_psn = 0;
    bool started = false;   // has its sequence numbers
    bool complete = false;  // all packets sent, and acknowledged if reliable
    uint32_t failure = 0;   // its completion, when those before it are complete
    int fetches = 0;        // under way

    bool IsRead() const {
      return request.work.opcode == IB_UVERBS_WR_RDMA_READ;
    }
    bool IsAtomic() const {
      return request.work.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
             request.work.opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
    }
    bool Fetches() const { return IsRead() || IsAtomic(); }
  };
  // A request for a part of a read, or for an atomic, until what it brought is
  // in memory.
  struct Fetch {
    Send& send;
    size_t start, length;         // in the message
    uint32_t next_psn, last_psn;  // of its answers
    size_t received = 0;
    bool answered = false, complete = false;
    verbs::MemoryTransfer arrived{};
  };
  // A packet that may have to be sent again.
  struct InFlight {
    uint32_t psn;
    std::shared_ptr<Transport> transport;
    std::shared_ptr<Fetch> fetch;  // null: it is none
  };
  // Something of the responder that is finished when memory was reached, and
  // those before it are.
  struct Step {
    bool done = false;
    absl::Status status{};  // of reaching memory
    bool acknowledge = false;
    uint32_t psn = 0;  // of the last packet that it covers
    std::optional<verbs::WorkCompletion> completion = std::nullopt;
    bool solicited = false;
    std::optional<Syndrome> refusal = std::nullopt;
    // A read or an atomic, and how many bytes of a read's answer have left.
    std::shared_ptr<const Transport> fetch = nullptr;
    size_t answered = 0;
    bool reaching = false;  // for memory
    bool repeats = false;   // one that was answered before
    bool breaks = false;    // the queue pair, of which the completion tells
  };
  // What an atomic found, for a requester that did not hear of it.
  struct AtomicResult {
    uint32_t psn;
    uint64_t original;
  };
  // A message that is coming in.
  struct Message {
    Transport::Operation operation;
    uint64_t address;  // of a write
    uint32_t key, size;
    size_t length = 0;  // so far
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
  // Sends of an error: the oldest, or one whose turn will come.
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

  // Requester.
  std::deque<std::unique_ptr<Send>> sends_;
  size_t cursor_ = 0;  // of sends_: what is being sent
  bool gathering_ = false;
  int fetches_ = 0;  // outstanding, and the bytes that they bring
  size_t fetching_bytes_ = 0;
  uint32_t send_psn_ = 0;
  uint32_t acknowledged_psn_ = 0;  // and all before it
  std::deque<InFlight> in_flight_;
  size_t in_flight_bytes_ = 0;
  int retries_left_ = 0, rnr_retries_left_ = 0;
  int timeouts_ = 0;  // since there was progress
  TimerId retry_timer_ = TimerId::kNone;
  bool waits_for_receiver_ = false;  // told so by an RNR NAK
  bool tells_drained_ = false;       // of the end of a drain

  // Responder.
  verbs::ReceiveQueue receives_;
  uint32_t expected_psn_ = 0;
  bool told_of_gap_ = false, refused_ = false, established_ = false;
  std::optional<Message> message_;
  verbs::MemoryTransfer batch_;
  size_t writing_bytes_ = 0;  // on their way to memory
  std::deque<std::shared_ptr<Step>> steps_;
  std::deque<AtomicResult> atomic_results_;  // the latest, oldest first

  // Who comes back from memory or a timer: grows with each reset.
  uint64_t life_ = 0;
  std::shared_ptr<QueuePair*> self_ = std::make_shared<QueuePair*>(this);
};

// Wraps `call` so that it does nothing when this queue pair has ended, or was
// reset, since.
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
