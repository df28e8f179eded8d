// Port: the interface between MAD agents and whatever carries their packets.
#ifndef IBEMU_MAD_PORT_H_
#define IBEMU_MAD_PORT_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "mad/address.h"
#include "mad/wire/notice.h"
#include "mad/wire/port_info.h"

namespace ibemu::mad {

// The callback of a Port.
class PortListener {
 public:
  virtual ~PortListener() = default;

  // Receives a MAD that none of the port's own agents (SMA, PMA ...) took.  A
  // directed-route SMP is as SmiReceive() left it.  The gid_index of a GRH is
  // that of its destination GID; the port has dropped MADs for GIDs that it
  // does not have.
  virtual void OnReceive(const Arrival& arrival) = 0;
};

// A BadKey is what a port tells of packets whose P_Key or Q_Key is wrong.
struct BadKey {
  TrapNumber trap = TrapNumber::kBadPKey;  // or kBadQKey
  BadKeyDetails details{};                 // of one packet
  uint32_t packets = 1;                    // how many there were, not 0

  bool operator==(const BadKey&) const = default;
};

// The fate of a MAD that was given to a port's own agents (SMA, PMA ...), as
// told by Linux's process_mad.
enum class LocalVerdict {
  kReply,      // `reply` holds the answer
  kConsumed,   // taken, there is no answer
  kUnhandled,  // not for them: a registered agent may want it
};

// One InfiniBand port, as its MAD agents see it: packets go down through
// Transmit() and come up through PortListener::OnReceive().  A back end
// (fabric/, hca/) implements Port; testing/faulty_port.h wraps one.
//
// Everything runs on the loop thread.  Transmit() never calls OnReceive()
// before it returns, not even for a packet addressed to this very port.
class Port {
 public:
  virtual ~Port() = default;

  // Puts one 256-byte MAD on the wire (IBA vol 1 §13.4.3).  Delivery is
  // unreliable: OK means "sent", and retries are the caller's business.  A port
  // takes what it is given, whatever its state: a packet that can't leave is
  // lost, as on real hardware.
  //
  // Errors (they are those of creating an address handle in a driver):
  //   InvalidArgument  the GRH's gid_index is outside the GID table
  //   Unavailable      the device is gone, until it is back for another host
  virtual absl::Status Transmit(const Outgoing& packet) = 0;

  // Hands `request` to the port's own agents at once, without the wire.  They
  // see `request.mad`, and fill `reply` if the result is kReply.
  virtual LocalVerdict ProcessLocal(const Arrival& request,
                                    MadBytes& reply) = 0;

  // Sets the port's only listener, which is not owned; nullptr removes it.
  virtual void SetListener(PortListener* listener) = 0;

  // Returns the port's PortInfo as it is now, IsSM in the capability mask
  // included.
  virtual PortInfo Info() const = 0;

  // The GID and P_Key tables.  Entries beyond their ends are zero.
  virtual int GidCount() const = 0;
  virtual wire::Gid GidAt(int index) const = 0;
  virtual int PKeyCount() const = 0;
  virtual uint16_t PKeyAt(int index) const = 0;

  // Returns false on a link layer without subnet management packets (RoCE).
  virtual bool HasQp0() const { return true; }

  // Sets or clears CapabilityMask.IsSM (a subnet manager runs on this port).
  virtual void SetIsSm(bool is_sm) = 0;
};

// Returns the index of the port's entry for the partition of `p_key`: that of a
// full member if there is one, or else that of a limited one.  The membership
// bit of `p_key` does not count, as in ib_find_cached_pkey() of Linux.
inline std::optional<uint16_t> PKeyIndexOf(const Port& port, uint16_t p_key) {
  std::optional<uint16_t> limited;
  for (int i = 0; i < port.PKeyCount(); ++i) {
    const uint16_t entry = port.PKeyAt(i);
    if (!wire::IsSamePartition(entry, p_key)) continue;
    const auto index = static_cast<uint16_t>(i);
    if ((entry & wire::kFullMembership) != 0) return index;
    if (!limited) limited = index;
  }
  return limited;
}

// Returns the index of a GID in the port's table.
inline std::optional<uint8_t> GidIndexOf(const Port& port,
                                         const wire::Gid& gid) {
  for (int i = 0; i < port.GidCount(); ++i) {
    if (port.GidAt(i) == gid) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_PORT_H_
