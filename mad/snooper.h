// Looking at the MADs of a port without taking part.
#ifndef IBEMU_MAD_SNOOPER_H_
#define IBEMU_MAD_SNOOPER_H_

#include "absl/status/status.h"
#include "base/observer_list.h"
#include "mad/address.h"

namespace ibemu::mad {

// What a debugging agent is told: ib_register_mad_snoop() of older Linux
// kernels. Host::Snoop() attaches one.  A snooper must not send, cancel or end
// agents while it is called; it may end snoops and begin others.  What it wants
// to keep, it copies.
class Snooper {
 public:
  virtual ~Snooper() = default;

  // `packet` went out, each try and each RMPP packet by itself.  `result`: what
  // Port::Transmit() said, which ends the work request.
  virtual void OnSent(const Outgoing& packet, const absl::Status& result) = 0;

  // `arrival` came in.  No agent has seen it, and perhaps none will.
  virtual void OnReceived(const Arrival& arrival) = 0;
};

enum class SnoopedQps { kQp0 = 1, kQp1 = 2, kBoth = 3 };

// The snoopers of a port.
class Snoops {
 public:
  // Attaches `snooper` until it is destroyed.
  class Entry {
   public:
    Entry(Snoops& snoops, SnoopedQps qps, Snooper& snooper)
        : snoops_(snoops), qps_(qps), snooper_(snooper) {
      snoops_.entries_.Add(*this);
    }
    ~Entry() { snoops_.entries_.Remove(*this); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend Snoops;

    bool Wants(int qp) const {
      return (static_cast<unsigned>(qps_) & 1u << qp) != 0;
    }

    Snoops& snoops_;
    SnoopedQps qps_;
    Snooper& snooper_;
  };

  // Nearly free when nobody snoops.
  void Sent(const Outgoing& packet, const absl::Status& result) {
    if (entries_.empty()) return;
    entries_.ForEach([&](const Entry& entry) {
      if (entry.Wants(packet.qp)) entry.snooper_.OnSent(packet, result);
    });
  }
  void Received(const Arrival& arrival) {
    if (entries_.empty()) return;
    entries_.ForEach([&](const Entry& entry) {
      if (entry.Wants(arrival.qp)) entry.snooper_.OnReceived(arrival);
    });
  }
  bool empty() const { return entries_.empty(); }

 private:
  ObserverList<Entry> entries_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SNOOPER_H_
