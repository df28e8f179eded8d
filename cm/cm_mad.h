// MADs of the communication manager: header and message.
#ifndef IBEMU_CM_CM_MAD_H_
#define IBEMU_CM_CM_MAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cm/wire/message.h"
#include "mad/address.h"
#include "mad/mad_class.h"
#include "mad/wire/mad_header.h"
#include "wire/layout.h"

namespace ibemu::cm {

inline constexpr uint8_t kClassVersion = 2;

// Returns the MAD of class CommMgt that carries `message`.  `attr_mod`: the
// options of ECE, 0 in other messages.
template <class M>
mad::MadBytes MakeMad(const M& message, uint64_t tid, uint32_t attr_mod = 0) {
  mad::MadBytes bytes{};
  wire::Encode(mad::MadHeader{.mgmt_class = mad::MgmtClass::kCommunication,
                              .class_version = kClassVersion,
                              .method = mad::Method::kSend,
                              .tid = tid,
                              .attr_id = static_cast<mad::AttributeId>(
                                  AttributeIdOf(M::kMessage)),
                              .attr_mod = attr_mod},
               bytes);
  wire::Encode(message, std::span(bytes).subspan(mad::kMadHeaderBytes));
  return bytes;
}

// Returns which message `mad` carries, if any.  Requires a whole MAD.
inline std::optional<Message> MessageOf(mad::Bytes mad) {
  return MessageOf(
      static_cast<uint16_t>(wire::Get<&mad::MadHeader::attr_id>(mad)));
}

// Returns the message of `mad`, which must be an M.
template <class M>
M BodyOf(mad::Bytes mad) {
  return wire::Decode<M>(mad.subspan(mad::kMadHeaderBytes));
}

}  // namespace ibemu::cm

#endif  // IBEMU_CM_CM_MAD_H_
