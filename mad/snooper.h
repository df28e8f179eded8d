// Snooper: an observer of the MADs of a port, which takes no part in them.
#ifndef IBEMU_MAD_SNOOPER_H_
#define IBEMU_MAD_SNOOPER_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "base/observer_list.h"
#include "mad/address.h"

namespace ibemu::mad {

// A Snooper is told what a debugging agent of older Linux kernels is told:
// ib_register_mad_snoop().  Host::Snoop() attaches one.  While it is called, it
// must not send or destroy agents, but it may end snoops and begin
// others.  It must copy what it wants to keep.
class Snooper {
 public:
  virtual ~Snooper() = default;

  // `packet` was sent.  This is called for each try and for each RMPP packet.
  // `result` is that of Port::Transmit(), with which the work request ends.
  virtual void OnSent(const Outgoing& packet, const absl::Status& result) = 0;

  // `arrival` was received.  No agent has seen it, and perhaps none will.
  virtual void OnReceived(const Arrival& arrival) = 0;
};

// The snoopers of a port.
class Snoops {
 public:
  // Attaches `snooper` to both queue pairs of a port until it is destroyed.  It
  // may outlive the port's Host.
  class Entry {
   public:
    Entry(std::shared_ptr<Snoops> snoops, Snooper& snooper)
        : snoops_(std::move(snoops)), snooper_(snooper) {
      snoops_->entries_.Add(*this);
    }
    ~Entry() { snoops_->entries_.Remove(*this); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend Snoops;

    const std::shared_ptr<Snoops> snoops_;
    Snooper& snooper_;
  };

  // Both call the snoopers.  They cost nearly nothing when nobody snoops.
  void Sent(const Outgoing& packet, const absl::Status& result) {
    if (entries_.empty()) return;
    entries_.ForEach(
        [&](const Entry& entry) { entry.snooper_.OnSent(packet, result); });
  }
  void Received(const Arrival& arrival) {
    if (entries_.empty()) return;
    entries_.ForEach(
        [&](const Entry& entry) { entry.snooper_.OnReceived(arrival); });
  }
  bool empty() const { return entries_.empty(); }

 private:
  ObserverList<Entry> entries_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SNOOPER_H_
