// A packet that arrives at an interface, whatever is in it, says the same when
// what was understood is said again, and an answer is no longer than a request.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ipoib/echo.h"
#include "ipoib/neighbor_message.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibemu::ipoib;
  using ibemu::wire::IpAddress;
  const auto packet = std::as_bytes(std::span(data, size));
  if (const auto message = DecodeNeighborMessage(packet)) {
    Require(DecodeNeighborMessage(EncodeNeighborMessage(*message)) == message);
  }
  const ibemu::wire::IpNetwork own[] = {
      {IpAddress::Ipv4(0xc6120002), 16},
      {IpAddress::Ipv6(
           {0xfd, 0x1b, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}),
       64}};
  if (const auto answer = AnswerEcho(packet, own)) {
    Require(answer->size() <= size);
    Require(!AnswerEcho(*answer, own));  // no ping-pong
  }
  return 0;
}
