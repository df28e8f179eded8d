// Cable: the other end of the cable of a modelled adapter's port.
#ifndef IBEMU_HCA_MODEL_CABLE_H_
#define IBEMU_HCA_MODEL_CABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/port_info.h"

namespace ibemu::hca::model {

// The adapter's side of a Cable.
class CableListener {
 public:
  virtual ~CableListener() = default;

  // Called when a packet arrives: LRH to ICRC, as in IBA vol 1 chapter 5,
  // without VCRC.  The ICRC need not be right, as links without faults don't
  // corrupt packets.  An SMP is as it is on the wire, before the SMI of this
  // end has processed it.
  virtual void OnPacket(std::span<const std::byte> packet) = 0;

  // Called when the state, LID, P_Keys or GIDs of the port change.
  virtual void OnPortEvent() = 0;

  // Called when the subnet manager asks the users of the port to register
  // again.  Who reads SMPs hears of it by one of them, too, unless the manager
  // is the fabric's own.
  virtual void OnReregister() {}
};

// The other end of the cable, together with the agents that the adapter's
// firmware runs (SMA, PMA, BMA).  The owner of the link also owns its PortInfo,
// so that a modelled adapter, as a node of the simulated subnet, shows the same
// state to everyone.  Calls come on the loop thread.  Send() never calls the
// listener before it returns.
class Cable {
 public:
  virtual ~Cable() = default;

  // Sets the only listener, or removes it if null.  Not owned.
  virtual void SetListener(CableListener* listener) = 0;

  // Sends a packet, LRH to ICRC; the ICRC may be 0.  A packet that can't leave
  // is lost.
  virtual void Send(std::span<const std::byte> packet) = 0;

  // MAD_IFC: gives a MAD to the firmware's agents, as mad::Port::ProcessLocal()
  // does.  A directed-route SMP is as the receiving SMI passed it on.
  virtual mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                         mad::MadBytes& reply) = 0;

  virtual mad::PortInfo Info() const = 0;
  virtual wire::Guid node_guid() const = 0;
  virtual int GidCount() const = 0;
  virtual wire::Gid GidAt(int index) const = 0;
  virtual int PKeyCount() const = 0;
  virtual uint16_t PKeyAt(int index) const = 0;

  // SET_PORT: sets CapabilityMask.IsSM.
  virtual void SetIsSm(bool is_sm) = 0;
  // Packets with a wrong P_Key or Q_Key have come: the firmware's agents count
  // them, and tell the subnet manager (IBA vol 1 §10.9.4).
  virtual void OnBadKey(const mad::BadKey& bad) = 0;
  // INIT_PORT, CLOSE_PORT: lets the link train, or takes it down.
  virtual void SetEnabled(bool enabled) = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_CABLE_H_
