// RecordingClient: an agent's client that keeps what it is told.
#ifndef IBEMU_TESTING_RECORDING_CLIENT_H_
#define IBEMU_TESTING_RECORDING_CLIENT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "mad/agent.h"

namespace ibemu::testing {

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

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_RECORDING_CLIENT_H_
