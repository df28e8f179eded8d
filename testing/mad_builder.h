// MADs, clients of agents, and matchers, for tests of mad/ and of what is
// above.
#ifndef IBEMU_TESTING_MAD_BUILDER_H_
#define IBEMU_TESTING_MAD_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "mad/agent.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"

namespace ibemu::testing {

// Returns a 256-byte MAD with this header, and `fill` in all other bytes.
inline mad::MadBytes MakeMad(const mad::MadHeader& header, int fill = 0) {
  mad::MadBytes bytes;
  bytes.fill(std::byte(fill));
  wire::Encode(header, bytes);
  return bytes;
}

inline std::vector<std::byte> ToVector(const mad::MadBytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

inline mad::MadHeader HeaderOf(mad::Bytes bytes) {
  return wire::Decode<mad::MadHeader>(bytes);
}

inline mad::RmppHeader RmppOf(mad::Bytes bytes) {
  return wire::Decode<mad::RmppHeader>(bytes.subspan(mad::kRmppHeaderOffset));
}

inline void SetRmpp(mad::MadBytes& bytes, const mad::RmppHeader& rmpp) {
  wire::Encode(rmpp, std::span(bytes).subspan(mad::kRmppHeaderOffset));
}

// A RecordingClient records what an agent tells its client.
class RecordingClient : public mad::AgentClient {
 public:
  void OnMad(mad::Agent& agent, mad::IncomingMessage message) override {
    receivers.push_back(&agent);
    inbox.push_back(std::move(message));
  }
  void OnSendDone(mad::Agent&, uint64_t cookie) override {
    done.push_back(cookie);
  }
  void OnSendTimeout(mad::Agent&, uint64_t cookie) override {
    timed_out.push_back(cookie);
  }

  std::vector<mad::IncomingMessage> inbox;
  std::vector<mad::Agent*> receivers;  // of each message in `inbox`
  std::vector<uint64_t> done;
  std::vector<uint64_t> timed_out;
};

MATCHER_P(HasTid, tid, "") { return HeaderOf(arg.mad).tid == tid; }
MATCHER_P(HasMethod, method, "") { return HeaderOf(arg.mad).method == method; }
MATCHER_P(HasStatusCode, code, "") { return arg.status().code() == code; }

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_MAD_BUILDER_H_
