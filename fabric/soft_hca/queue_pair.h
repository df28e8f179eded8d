// QueuePair: a queue pair of the software channel adapter.
#ifndef IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_H_
#define IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "fabric/packet/packet.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/event_gate.h"
#include "fabric/soft_hca/path_migration.h"
#include "fabric/soft_hca/queue_pair_counters.h"
#include "fabric/soft_hca/queue_pair_notes.h"
#include "fabric/soft_hca/queue_pair_status.h"
#include "fabric/soft_hca/transport/call_guard.h"
#include "fabric/soft_hca/transport/datagram_receiver.h"
#include "fabric/soft_hca/transport/queue_pair_context.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "fabric/soft_hca/transport/requester.h"
#include "fabric/soft_hca/transport/responder.h"
#include "fabric/subnet/node.h"
#include "verbs/parts/receive_queue.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

class Hca;

// A queue pair of type RC, UC or UD: IBA vol 1 §9.7 and §9.8.  It has the state
// and the attributes, and gives packets and requests to its requester and its
// responder.
class QueuePair final : public verbs::Qp, private QueuePairLink {
 public:
  QueuePair(Hca& hca, uint32_t number, const verbs::QpInit& init,
            verbs::ObjectListener& listener);
  ~QueuePair() override;
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  uint32_t number() const override { return context_.number; }
  verbs::QpCapacity capacity() const override { return context_.init.capacity; }
  std::optional<verbs::QpPromise> promise() const override;
  void MakeRoom(size_t sends, size_t receives) override;
  absl::Status Modify(const verbs::QpAttributes& attributes) override;
  verbs::QpAttributes Query() const override;
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override;
  absl::Status PostSend(std::span<verbs::SendRequest> requests,
                        size_t& taken) override;
  absl::Status AttachMulticast(const verbs::GidBytes& gid,
                               uint16_t lid) override;
  void DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) override;

  // Takes a packet that came to `port`, if its P_Key matches that of this queue
  // pair.
  void OnPacket(const NodePort& port, const Packet& packet);

  // The adapter was removed for good: enters the error state.
  void OnRemoval();
  const std::shared_ptr<QueuePairHistory>& history() const { return history_; }
  QueuePairNotes& notes() { return notes_; }

  verbs::QpType type() const { return context_.init.type; }
  // Returns whose it is, see verbs::Memory::process().
  uint64_t process() const { return history_->process(); }
  verbs::QpState state() const { return context_.state; }
  // Returns the number of its port; 0: none yet.
  int port() const { return context_.attributes.port_num; }
  const verbs::HwCounters& counters() const { return counters_.present(); }
  QueuePairStatus Status() const;

  // Fails by the fault with this name: it enters the error state, and its
  // listener hears of a fatal error.
  void FailBy(std::string_view fault);
  // Enters the send queue error state.  REQUIRES: CanFailToSend().
  void FailToSendBy(std::string_view fault);
  // Returns true for a type that has the send queue error state, in a state
  // from which it is entered (IBA vol 1 §10.3.1.6).
  bool CanFailToSend() const;

 private:
  using State = verbs::QpState;

  // Returns whether the program has moved it to its alternate path by them.
  bool Apply(const verbs::QpAttributes& attributes);
  // Returns true if receive requests may be posted to itself.
  bool TakesReceives() const;
  void Reset();
  void ForgetCompletions();
  void EndAndTell();
  void EndRequests();
  void FlushReceives();
  void OnDatagram(const NodePort& port, const Packet& packet);
  // Moves the connection to its alternate path.  Returns false if that is not
  // armed.
  bool Move(absl::string_view why);
  // Returns true if a packet of the peer shows that the peer has moved.
  bool ComesByAlternatePath(const NodePort& port, const Packet& packet) const;

  // Implement QueuePairLink.
  const QueuePairContext& qp() const override { return context_; }
  size_t Mtu() const override;
  void Transmit(std::shared_ptr<const Transport> packets) override;
  void TransmitDatagram(std::shared_ptr<const Transport> packet,
                        const PostedSend& send) override;
  std::optional<verbs::ReceiveRequest> TakeReceive(
      QueuePairHistory::Psn psn, absl::string_view what) override;
  void PutBackReceive(verbs::ReceiveRequest request) override;
  void EnterError(absl::string_view why) override;
  void EnterSendQueueError(absl::string_view why) override;
  bool MoveToAlternatePath(absl::string_view why) override;
  CompletionFate FateOf(WorkQueue queue) override;
  void OnLostCompletion() override;

  // What it has counted belongs to its port.
  void LeavePort();

  Hca& hca_;
  const std::shared_ptr<QueuePairHistory> history_;
  QueuePairCounters counters_;
  EventGate gate_;  // to who listens to its events
  QueuePairContext context_;
  PathMigration migration_{context_.attributes};
  verbs::ReceiveQueue receives_;
  Requester requester_;
  QueuePairNotes notes_{context_, requester_.sends(), receives_};
  std::unique_ptr<Responder> responder_;         // of a connection
  std::optional<DatagramReceiver> datagrams_{};  // UD only
  // The listener hears of a fatal error, or did, because a completion was lost.
  bool told_of_loss_ = false;
  CallGuard loss_guard_;  // of that; an error does not invalidate it
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_H_
