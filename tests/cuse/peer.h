// Whoever is at the other end of a FakePort's link: answers what is sent.
#ifndef IBEMU_TESTS_CUSE_PEER_H_
#define IBEMU_TESTS_CUSE_PEER_H_

#include <algorithm>
#include <cstdint>

#include "base/timers.h"
#include "testing/fake_port.h"
#include "tests/cuse/umad_messages.h"

namespace ibemu::cuse {

// Answers each request with itself, and SA's GetTable with `table_bytes` of
// data by RMPP: byte i of the table is i modulo 251.
class Peer {
 public:
  Peer(Timers& timers, testing::FakePort& port) : timers_(timers), port_(port) {
    port.on_transmit = [this](const mad::Outgoing& sent) { OnSent(sent); };
  }

  static std::byte TableByte(size_t i) { return std::byte(i % 251); }

  size_t table_bytes = 1000;

 private:
  static constexpr size_t kHeader = 56;
  static constexpr size_t kSegment = 200;

  void OnSent(const mad::Outgoing& sent) {
    port_.sent.clear();
    const auto rmpp = testing::RmppOf(sent.mad);
    const auto method = testing::HeaderOf(sent.mad).method;
    if (method == mad::Method::kGetTable && rmpp.active) {
      if (rmpp.type == mad::RmppType::kAck) {
        SendSegments(rmpp.segment + 1, rmpp.length_or_window);
      }
    } else if (method == mad::Method::kGetTable) {
      answer_ = AnswerTo(sent);
      SendSegments(1, 1);
    } else if (!mad::IsResponse(method)) {
      Deliver(AnswerTo(sent));
    }
  }

  void SendSegments(uint32_t from, uint32_t to) {
    const auto last =
        static_cast<uint32_t>((table_bytes + kSegment - 1) / kSegment);
    for (uint32_t i = from; i <= std::min(to, last); ++i) {
      const size_t begin = (i - 1) * kSegment;
      const size_t size = std::min(kSegment, table_bytes - begin);
      mad::Arrival segment = answer_;
      uint32_t length = 0;  // the kernel's reckoning: class header included
      if (i == 1) length = static_cast<uint32_t>(table_bytes + last * 20);
      if (i == last) length = static_cast<uint32_t>(size + 20);
      testing::SetRmpp(segment.mad, {.type = mad::RmppType::kData,
                                     .last = i == last,
                                     .first = i == 1,
                                     .segment = i,
                                     .length_or_window = length});
      for (size_t j = 0; j < size; ++j) {
        segment.mad[kHeader + j] = TableByte(begin + j);
      }
      Deliver(segment);
    }
  }

  void Deliver(const mad::Arrival& arrival) {
    timers_.RunSoon([this, arrival] { port_.Receive(arrival); });
  }

  Timers& timers_;
  testing::FakePort& port_;
  mad::Arrival answer_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_PEER_H_
