// FetchRequester: the requests of RDMA READs and atomic operations.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_REQUESTER_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_REQUESTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/fetch_in_flight.h"
#include "fabric/soft_hca/transport/packets_in_flight.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "fabric/soft_hca/transport/send_queue.h"

namespace ibemu::fabric {

// The part of a requester that executes RDMA READs and atomic operations, whose
// responses carry data (IBA vol 1 §9.4.4, §9.4.5 and §9.7.5.1).  Responses come
// in the order of the requests, but a request is complete only when its data is
// in memory.
class FetchRequester {
 public:
  class Listener {
   public:
    // A request is complete whose response ended with `last_psn`.
    virtual void OnFetchComplete(uint32_t last_psn) = 0;

   protected:
    ~Listener() = default;
  };

  FetchRequester(QueuePairLink& link, SendQueue& sends,
                 PacketsInFlight& in_flight, Listener& listener)
      : link_(link),
        qp_(link.qp()),
        sends_(sends),
        in_flight_(in_flight),
        listener_(listener) {}
  FetchRequester(const FetchRequester&) = delete;
  FetchRequester& operator=(const FetchRequester&) = delete;

  // Returns true if no request is outstanding.
  bool idle() const { return outstanding_ == 0; }
  // Returns true if another request may be sent.
  bool MayRequest() const;

  // Sends the next request of `send`.  A long RDMA READ is several requests on
  // the wire, one for each chunk.
  void Request(PostedSend& send);

  // Handles response packets.  `fetch` is the oldest request that waits for
  // some.
  void OnResponse(const std::shared_ptr<FetchInFlight>& fetch,
                  const Transport& response);

  // Forgets all requests.
  void Reset() {
    outstanding_ = 0;
    bytes_ = 0;
  }

 private:
  std::shared_ptr<Transport> RequestPacket(const PostedSend& send,
                                           size_t length) const;
  void FailLocally(PostedSend& send, const absl::Status& why);
  void OnWritten(FetchInFlight& fetch, const absl::Status& status);

  QueuePairLink& link_;
  const QueuePairContext& qp_;
  SendQueue& sends_;
  PacketsInFlight& in_flight_;
  Listener& listener_;
  int outstanding_ = 0;
  size_t bytes_ = 0;  // that the outstanding requests will return
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_REQUESTER_H_
