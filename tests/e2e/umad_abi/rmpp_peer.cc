#include "rmpp_peer.h"

#include <cerrno>

namespace umad_abi {

void PutRmpp(Bytes& mad, const Rmpp& rmpp) {
  mad[kRmpp] = static_cast<uint8_t>(rmpp.version);
  mad[kRmpp + 1] = static_cast<uint8_t>(rmpp.type);
  mad[kRmpp + 2] = static_cast<uint8_t>(rmpp.flags);
  mad[kRmpp + 3] = static_cast<uint8_t>(rmpp.status);
  Put(mad, kRmpp + 4, 4, rmpp.segment);
  Put(mad, kRmpp + 8, 4, rmpp.length);
}

Rmpp RmppIn(const Bytes& mad) {
  return {.type = mad.at(kRmpp + 1),
          .flags = mad.at(kRmpp + 2) & 7,
          .status = mad.at(kRmpp + 3),
          .segment = static_cast<uint32_t>(Get(mad, kRmpp + 4, 4)),
          .length = static_cast<uint32_t>(Get(mad, kRmpp + 8, 4)),
          .version = mad.at(kRmpp)};
}

std::string Describe(const Packet& packet) {
  if (packet.result <= 0)
    return packet.result == 0 ? "nothing" : Outcome(packet.result);
  if (packet.header.status == ETIMEDOUT) return "ETIMEDOUT";
  const Rmpp rmpp = RmppIn(packet.mad);
  if ((rmpp.flags & kActive) == 0) return "no RMPP";
  const std::string segment = std::to_string(rmpp.segment);
  switch (rmpp.type) {
    case kData:
      return "DATA " + segment + ((rmpp.flags & kFirst) != 0 ? " first" : "") +
             ((rmpp.flags & kLast) != 0 ? " last" : "") + " " +
             std::to_string(rmpp.length);
    case kAck:
      return "ACK " + segment + " to " + std::to_string(rmpp.length);
    case kStop:
      return "STOP " + std::to_string(rmpp.status);
    case kAbort:
      return "ABORT " + std::to_string(rmpp.status);
    default:
      return "type " + std::to_string(rmpp.type);
  }
}

Bytes SaMessage(int method, uint64_t tid, size_t bytes) {
  Bytes message = Mad(kSa, method, tid);
  PutRmpp(message, {.flags = kActive});
  message.resize(kSaHeader + bytes);
  for (size_t i = 0; i < bytes; ++i) {
    message[kSaHeader + i] = static_cast<uint8_t>(i * 7);
  }
  return message;
}

int RmppEnds::Reply(const Packet& to, const Rmpp& rmpp) const {
  Bytes mad = to.mad;
  mad[kMethod] ^= kResponse;
  PutRmpp(mad, rmpp);
  return raw.Send(peer, {}, mad);
}

}  // namespace umad_abi
