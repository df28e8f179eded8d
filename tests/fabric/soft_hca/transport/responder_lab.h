// A responder over a FakeLink, whose peer is the test.
#ifndef IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_LAB_H_
#define IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_LAB_H_

#include <memory>
#include <string_view>
#include <vector>

#include "fabric/soft_hca/transport/responder.h"
#include "tests/fabric/soft_hca/transport/fake_link.h"
#include "wire/psn.h"

namespace ibemu::fabric {

template <class AnyResponder>
class ResponderLab {
 public:
  using Operation = Transport::Operation;

  explicit ResponderLab(verbs::QpType type) : link(type), responder(link) {
    link.flush = [this] { responder.Flush(); };
    responder.Start(FakeLink::kPsn);
  }

  static uint32_t Psn(uint32_t count) { return FakeLink::Psn(count); }

  // A whole message that starts with `psn`, in packets of one MTU.
  static Transport Send(uint32_t psn, std::string_view text) {
    Transport packets;
    packets.operation = Operation::kSend;
    packets.psn = psn;
    packets.first = packets.last = packets.ack_request = true;
    packets.message = FakeLink::BufferOf(text);
    packets.size = text.size();
    packets.packets = wire::PacketsFor(text.size(), FakeLink::kMtu);
    packets.payload = FakeLink::kMtu;
    return packets;
  }
  // The same to `offset` in the memory.
  Transport Write(uint32_t psn, std::string_view text, size_t offset) const {
    Transport packets = Send(psn, text);
    packets.operation = Operation::kWrite;
    packets.address = FakeLink::kStart + offset;
    packets.key = link.mr->rkey();
    packets.length = static_cast<uint32_t>(text.size());
    return packets;
  }

  void Take(const Transport& request) {
    responder.OnRequest(request);
    link.timers.RunPending();
  }
  void Reset() {
    link.Reset();
    responder.Reset();
  }

  FakeLink link;
  AnyResponder responder;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_LAB_H_
