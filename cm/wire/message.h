// Message: the messages of the communication manager, IBA vol 1 §12.6.
#ifndef IBEMU_CM_WIRE_MESSAGE_H_
#define IBEMU_CM_WIRE_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ibemu::cm {

// The messages in the order of their attribute ids, 0x0010 to 0x001a.
enum class Message : uint8_t {
  kReq,
  kMra,
  kRej,
  kRep,
  kRtu,
  kDreq,
  kDrep,
  kSidrReq,
  kSidrRep,
  kLap,
  kApr,
};

inline constexpr int kMessageCount = 11;
inline constexpr uint16_t kFirstAttributeId = 0x0010;

// The length of each message, behind the MAD header.
inline constexpr size_t kMessageBytes = 232;

constexpr uint16_t AttributeIdOf(Message message) {
  return static_cast<uint16_t>(kFirstAttributeId +
                               static_cast<uint16_t>(message));
}

// Returns the message with this attribute id, if there is one.
constexpr std::optional<Message> MessageOf(uint16_t attribute_id) {
  if (attribute_id < kFirstAttributeId ||
      attribute_id >= kFirstAttributeId + kMessageCount) {
    return std::nullopt;
  }
  return static_cast<Message>(attribute_id - kFirstAttributeId);
}

}  // namespace ibemu::cm

#endif  // IBEMU_CM_WIRE_MESSAGE_H_
