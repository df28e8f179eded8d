// Link: an IPoIB interface as a network device of a kernel uses it: what
// carries its packets.
#ifndef IBEMU_IPOIB_LINK_H_
#define IBEMU_IPOIB_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "ipoib/interface.h"
#include "ipoib/steady_membership.h"
#include "ipoib/wire/hardware_address.h"
#include "mad/wire/sa_services.h"
#include "wire/ip_address.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// A Link sends datagrams to neighbours and groups, finds neighbours by ARP and
// ND, and answers their questions for its own addresses.  A datagram is an IP
// packet behind its Encapsulation.
class Link {
 public:
  // Who takes what arrives.  None of these may destroy the link.
  class User {
   public:
    // An IP packet, without its encapsulation; `packet` goes with the call.  It
    // may be anything that a peer has sent.
    virtual void OnPacket(std::span<const std::byte> packet) = 0;
    // A neighbour has said which hardware address it has.
    virtual void OnNeighbor(const HardwareAddress& neighbor) = 0;
    // A packet was not sent: it is longer than the neighbour or the group
    // takes.
    virtual void OnTooLong(std::span<const std::byte> packet, size_t mtu) = 0;
    // Returns the flags of the link's hardware address while it has this user.
    virtual uint8_t hardware_flags() const { return 0; }
    // up() or the broadcast group has changed: all memberships of Join() are
    // to be begun anew, and what was known of neighbours is stale.
    virtual void OnLinkChange() = 0;
    // room() is not 0 any more.
    virtual void OnRoom() = 0;

   protected:
    ~User() = default;
  };

  // How a port is a member of a group.
  enum class JoinAs { kSender, kReceiver };

  virtual ~Link() = default;

  // Sets who uses the link, at most one; null: nobody.  With a user, echo
  // requests are the user's to answer, the link has an address of its own in
  // fe80::/64 (RFC 4391 §8), and neighbours are told of its IPv4 addresses
  // whenever it comes up.
  virtual void SetUser(User* user) = 0;

  virtual bool up() const = 0;
  // The most bytes of an IP packet; 0 until the broadcast group was joined.
  virtual size_t mtu() const = 0;
  // That of the group; null until it was joined.
  virtual const mad::McMemberRecord* broadcast_group() const = 0;
  virtual const std::vector<wire::IpNetwork>& own_addresses() const = 0;
  virtual HardwareAddress hardware_address() const = 0;
  virtual uint16_t pkey() const = 0;

  // As Interface::Resolve().
  virtual std::unique_ptr<Resolution> ResolveHardware(
      const wire::IpAddress& address, absl::Duration timeout,
      absl::AnyInvocable<void(absl::StatusOr<HardwareAddress>)> done) = 0;

  // Returns how many datagrams can be sent before others are lost.
  virtual size_t room() const = 0;
  // Sends a datagram, or loses it.
  // REQUIRES: up()
  virtual void SendTo(const HardwareAddress& neighbor,
                      std::vector<std::byte> datagram) = 0;
  virtual void SendToGroup(const mad::McMemberRecord& group,
                           std::span<const std::byte> datagram) = 0;
  // Takes a datagram that came some other way.  Returns true if it is a
  // question or an answer of ARP or ND, which is the link's.
  virtual bool TakeNeighborMessage(std::span<const std::byte> datagram) = 0;

  // Joins the group of a multicast address, and tries again until that is
  // done.  `changed` as of SteadyMembership.
  // REQUIRES: up()
  virtual std::unique_ptr<SteadyMembership> Join(
      const wire::IpAddress& group, JoinAs as,
      SteadyMembership::Changed changed) = 0;
  // Lets what is sent to a group arrive here; Detach() undoes that.
  virtual void Attach(const mad::McMemberRecord& group) = 0;
  virtual void Detach(const mad::McMemberRecord& group) = 0;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_LINK_H_
