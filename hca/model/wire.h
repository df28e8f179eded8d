// What a modelled adapter's port is plugged into.
#ifndef IBEMU_HCA_MODEL_WIRE_H_
#define IBEMU_HCA_MODEL_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/port_info.h"

namespace ibemu::hca::model {

class WireListener {
 public:
  virtual ~WireListener() = default;

  // A packet came in: LRH to ICRC, as IBA vol 1 chapter 5 has it, without
  // VCRC.  ICRC need not be right: links without faults don't break it.  An SMP
  // is as it is on the wire, before this end's SMI has seen it.
  virtual void OnPacket(std::span<const std::byte> packet) = 0;

  // State, LID, P_Keys or GIDs of the port changed.
  virtual void OnPortEvent() = 0;
};

// The other end of the cable, together with the agents that the adapter's
// firmware runs (SMA, PMA, BMA): who owns the link owns its PortInfo, and so a
// node of the simulated subnet that is a modelled adapter shows the same state
// to all.  Calls come on the loop thread; Send() never calls back before it
// returns.
class Wire {
 public:
  virtual ~Wire() = default;

  // At most one; nullptr takes it away.  Not owned.
  virtual void SetListener(WireListener* listener) = 0;

  // LRH to ICRC; ICRC may be 0.  A packet that can't leave is lost.
  virtual void Send(std::span<const std::byte> packet) = 0;

  // MAD_IFC: the firmware's agents.  As mad::Port::ProcessLocal(): a
  // directed-route SMP is as the receiving SMI handed it up.
  virtual mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                         mad::MadBytes& reply) = 0;

  virtual mad::PortInfo Info() const = 0;
  virtual wire::Guid node_guid() const = 0;
  virtual int GidCount() const = 0;
  virtual wire::Gid GidAt(int index) const = 0;
  virtual int PKeyCount() const = 0;
  virtual uint16_t PKeyAt(int index) const = 0;

  // SET_PORT: CapabilityMask.IsSM.
  virtual void SetIsSm(bool is_sm) = 0;
  // INIT_PORT, CLOSE_PORT: the link trains, or goes down.
  virtual void SetEnabled(bool enabled) = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_WIRE_H_
