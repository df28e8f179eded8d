// Requester: the sending half of a queue pair (IBA vol 1 §9.7.3).
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_REQUESTER_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_REQUESTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/fetch_requester.h"
#include "fabric/soft_hca/transport/packets_in_flight.h"
#include "fabric/soft_hca/transport/posted_send.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "fabric/soft_hca/transport/send_queue.h"
#include "verbs/memory.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// The requester of a queue pair of any type.  It reads messages from memory,
// asynchronously and in chunks, and sends the packets of a chunk together.  On
// a reliable connection it keeps them until they are acknowledged; the others
// forget a message when its last packet has left.
class Requester final : private PacketsInFlight::Listener,
                        private FetchRequester::Listener {
 public:
  explicit Requester(QueuePairLink& link)
      : link_(link),
        qp_(link.qp()),
        sends_(link),
        in_flight_(link, *this),
        fetches_(link, sends_, in_flight_, *this) {}
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;

  // Adds work requests, see verbs::Qp::PostSend().
  absl::Status Post(std::span<verbs::SendRequest> requests, size_t& taken);

  // Returns how many requests are surely taken.
  size_t promised() const;
  void MakeRoom(size_t requests) { sends_.MakeRoom(requests); }

  // The next packet has PSN `psn`.
  void Start(uint32_t psn);
  uint32_t next_psn() const { return next_psn_; }
  const SendQueue& sends() const { return sends_; }
  // The attributes have changed: allows as many retries as they say.
  void RenewRetries() { in_flight_.RenewRetries(); }
  // The connection has moved to another path: begins to count retries there.
  void OnNewPath() { in_flight_.OnNewPath(); }

  // Sends as much as may be sent now.
  void Pump();
  // Handles an acknowledgement or a response.
  void OnAnswer(const Transport& answer);

  // The queue pair has entered the send queue drain state.  `tells`: an event
  // is due once the queue is drained.
  void Drain(bool tells);
  // Returns true if what has started is sent, and acknowledged if reliable.
  bool IsDrained() const;

  // The queue pair is in error: flushes the send queue.
  void Flush();
  void Reset();

 private:
  using Syndrome = Transport::Syndrome;

  bool Begin(PostedSend& send);
  bool FindLength(PostedSend& send);
  bool Fail(PostedSend& send, uint32_t status, absl::string_view why);
  void Gather(PostedSend& send);
  void SendChunk(PostedSend& send, const verbs::Buffer& buffer);
  void FinishSending(PostedSend& send);

  void OnResponse(const Transport& response);
  void OnRefusal(uint32_t psn, uint32_t status);
  void Acknowledge(uint32_t psn);
  void TellIfDrained();

  void OnRetriesExceeded(uint32_t status) override {
    sends_.FailOldest(status);
  }
  void OnReceiverReady() override { Pump(); }
  void OnFetchComplete(uint32_t last_psn) override { Acknowledge(last_psn); }

  void ForgetPackets();

  QueuePairLink& link_;
  const QueuePairContext& qp_;
  SendQueue sends_;
  PacketsInFlight in_flight_;  // empty unless the connection is reliable
  FetchRequester fetches_;
  uint32_t next_psn_ = 0;
  bool gathering_ = false;
  bool tells_drained_ = false;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_REQUESTER_H_
