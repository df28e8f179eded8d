// Carrier: the base class of what carries the packets of a kernel's network
// device: a PacketPath of IPoIB, or a SwitchPort of Ethernet.
#ifndef IBEMU_IPOIB_CARRIER_H_
#define IBEMU_IPOIB_CARRIER_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ibemu::ipoib {

// A Carrier takes what a kernel sends by a network device, and hands it what
// arrives: IP packets, or frames of Ethernet, whichever the device has.
class Carrier {
 public:
  // The kernel's side.  None of these may destroy the carrier.
  class Device {
   public:
    // Receives a packet; `packet` goes with the call.
    virtual void Receive(std::span<const std::byte> packet) = 0;
    // up() may have changed.
    virtual void OnLinkChange() = 0;
    // room() is not 0 any more.
    virtual void OnRoom() = 0;

   protected:
    ~Device() = default;
  };
  struct Counters {
    uint64_t sent = 0, sent_bytes = 0;
    uint64_t received = 0, received_bytes = 0;
    uint64_t dropped = 0;  // that the kernel sent
  };

  virtual ~Carrier() = default;

  virtual bool up() const = 0;
  // The most bytes of an IP packet; 0: not known yet.
  virtual size_t mtu() const = 0;
  // Returns how many packets can be sent before others are lost.  While it is
  // down, all are.
  virtual size_t room() const = 0;
  // Sends a packet, or loses it.
  virtual void Send(std::span<const std::byte> packet) = 0;
  virtual const Counters& counters() const = 0;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_CARRIER_H_
