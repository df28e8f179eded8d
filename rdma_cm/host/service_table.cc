#include "rdma_cm/host/service_table.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ibemu::rdma_cm {

// One service ID, which somebody listens for.
class ServiceTable::Service final : public cm::CmListener {
 public:
  void OnRequest(std::unique_ptr<cm::CmId> id,
                 const cm::Arrived& arrived) override {
    const auto listener = std::ranges::find_if(
        listeners,
        [&arrived](const ServiceListener* one) { return one->IsFor(arrived); });
    // Else the id ends here, which rejects the request.
    if (listener != listeners.end()) {
      (*listener)->OnRequest(std::move(id), arrived);
    }
  }

  std::vector<ServiceListener*> listeners;
  std::unique_ptr<cm::Listening> listening;
};

struct ServiceTable::State {
  cm::ConnectionManager* cm;
  std::map<uint64_t, Service> services;
};

class ServiceTable::ListenerEntry final : public Entry {
 public:
  ListenerEntry(const std::shared_ptr<State>& state, uint64_t service_id,
                ServiceListener& listener)
      : state_(state), service_id_(service_id), listener_(listener) {}
  ~ListenerEntry() override {
    const std::shared_ptr<State> state = state_.lock();
    if (state == nullptr) return;
    const auto service = state->services.find(service_id_);
    std::erase(service->second.listeners, &listener_);
    if (service->second.listeners.empty()) state->services.erase(service);
  }
  ListenerEntry(const ListenerEntry&) = delete;
  ListenerEntry& operator=(const ListenerEntry&) = delete;

 private:
  const std::weak_ptr<State> state_;
  const uint64_t service_id_;
  ServiceListener& listener_;
};

ServiceTable::ServiceTable(cm::ConnectionManager& cm)
    : state_(std::make_shared<State>(State{&cm, {}})) {}
ServiceTable::~ServiceTable() = default;

std::unique_ptr<ServiceTable::Entry> ServiceTable::Add(
    uint64_t service_id, ServiceListener& listener) {
  Service& service = state_->services[service_id];
  if (service.listening == nullptr) {
    auto listening = state_->cm->Listen(service_id, service);
    if (!listening.ok()) {
      state_->services.erase(service_id);
      return nullptr;
    }
    service.listening = *std::move(listening);
  }
  service.listeners.push_back(&listener);
  return std::make_unique<ListenerEntry>(state_, service_id, listener);
}

}  // namespace ibemu::rdma_cm
