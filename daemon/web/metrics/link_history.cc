#include "daemon/web/metrics/link_history.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

using nlohmann::json;

LinkHistory::LinkHistory(Timers& timers, const fabric::Fabric& fabric)
    : timers_(timers), fabric_(fabric) {
  Look(0);
}

void LinkHistory::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("link.history",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Show(parameters);
                 });
}

void LinkHistory::Look(size_t slice) {
  const absl::Time now = timers_.Now();
  if (slice == 0) began_ = now;
  const bool more = meter_.Look(fabric_.subnet(), slice, now);
  if (!more) Keep();
  // The next slice is due at once, but other tasks of the loop go first.
  next_ = timers_.RunAt(more ? now : began_ + kEvery,
                        [this, next = more ? slice + 1 : 0] {
                          next_ = TimerId::kNone;
                          Look(next);
                        });
}

void LinkHistory::Keep() {
  ++looks_;
  for (const LinkLoad& load : meter_.Take().links) {
    samples_[load.port].push_back(
        {.look = looks_,
         .sent = static_cast<float>(load.sent),
         .received = static_cast<float>(load.received),
         .sent_packets = static_cast<float>(load.sent_packets),
         .received_packets = static_cast<float>(load.received_packets),
         .errors = static_cast<float>(load.errors)});
  }
  absl::erase_if(samples_, [this](auto& link) {
    std::deque<Sample>& samples = link.second;
    while (!samples.empty() && samples.front().look + kLooks <= looks_) {
      samples.pop_front();
    }
    return samples.empty();
  });
}

absl::StatusOr<json> LinkHistory::Show(control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const auto number =
      static_cast<int>(parameters.Number("port", 0, 1, topology::kMaxPorts));
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const topology::NodeId id, fabric_.Find(name));
  const fabric::Subnet& subnet = fabric_.subnet();
  std::vector<fabric::PortId> ports;
  if (number != 0) {
    IBEMU_ASSIGN_OR_RETURN(ports.emplace_back(), fabric_.FindPort(id, number));
  } else {
    for (const fabric::NodePort& port : subnet.PortsOf(subnet.node(id))) {
      ports.push_back(subnet.id_of(port));
    }
  }
  struct Sum {
    double sent = 0, received = 0, sent_packets = 0, received_packets = 0;
    double errors = 0;
  };
  std::map<uint32_t, Sum> sums;  // by look
  for (const fabric::PortId port : ports) {
    const fabric::PortId peer = subnet.port(port).peer;
    const auto found = samples_.find(std::min(port, peer));
    if (peer == fabric::kNoPort || found == samples_.end()) continue;
    for (Sample sample : found->second) {
      if (port > peer) {
        std::swap(sample.sent, sample.received);
        std::swap(sample.sent_packets, sample.received_packets);
      }
      Sum& sum = sums[sample.look];
      sum.sent += sample.sent;
      sum.received += sample.received;
      sum.sent_packets += sample.sent_packets;
      sum.received_packets += sample.received_packets;
      sum.errors += sample.errors;
    }
  }
  json samples = json::array();
  for (const auto& [look, sum] : sums) {
    samples.push_back({looks_ - look, sum.sent, sum.received, sum.sent_packets,
                       sum.received_packets, sum.errors});
  }
  return json{{"every_ms", absl::ToInt64Milliseconds(kEvery)},
              {"looks", std::min(looks_ - std::min(looks_, 1u), kLooks)},
              {"samples", std::move(samples)}};
}

}  // namespace ibemu::daemon
