#include "daemon/adapters/adapter_event_log.h"

#include <string>
#include <utility>

#include "daemon/adapters/hca_status.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

constexpr std::string_view kKinds[] = {"port",       "sm",       "device",
                                       "connection", "datagram", "group"};

}  // namespace

AdapterEventLog::AdapterEventLog(Timers& timers, HcaAdapters& adapters,
                                 absl::Duration wall_clock)
    : EventLog(timers, wall_clock), adapters_(adapters) {}

AdapterEventLog::~AdapterEventLog() {
  if (Listened()) adapters_.SetWatcher(nullptr);
}

std::span<const std::string_view> AdapterEventLog::kinds() const {
  return kKinds;
}

void AdapterEventLog::Begin() {
  for (size_t i = 0; i < adapters_.count(); ++i) {
    const HcaView adapter = adapters_.at(i);
    std::vector<KnownPort>& ports = ports_.emplace_back();
    for (int port = 1; port <= adapter.device.last_port(); ++port) {
      ports.emplace_back(InfoOf(adapter, port));
    }
  }
  adapters_.SetWatcher(this);
}

void AdapterEventLog::End() {
  adapters_.SetWatcher(nullptr);
  ports_ = {};
}

void AdapterEventLog::OnPortChange(size_t adapter, int port) {
  const HcaView view = adapters_.at(adapter);
  const KnownPort now(InfoOf(view, port));
  const KnownPort before =
      std::exchange(ports_[adapter][static_cast<size_t>(port - 1)], now);
  TellPort({{"node", view.device.node_description()}, {"port", port}}, before,
           now);
}

void AdapterEventLog::OnGone(size_t adapter) {
  const HcaView view = adapters_.at(adapter);
  for (int port = 1; port <= view.device.last_port(); ++port) {
    OnPortChange(adapter, port);
  }
  Tell("device", {{"node", view.device.node_description()},
                  {"state", "removed"},
                  {"error", std::string(view.device.dead().message())}});
}

}  // namespace ibemu::daemon
