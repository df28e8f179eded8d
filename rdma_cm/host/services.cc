#include "rdma_cm/host/services.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ibemu::rdma_cm {

// One service ID, which somebody listens for.
class Services::Service final : public cm::CmListener {
 public:
  void OnRequest(std::unique_ptr<cm::CmId> id,
                 const cm::Arrived& arrived) override {
    const auto offer = std::ranges::find_if(
        offers, [&arrived](const Offer* one) { return one->IsFor(arrived); });
    // Else the id ends here, which rejects the request.
    if (offer != offers.end()) (*offer)->OnRequest(std::move(id), arrived);
  }

  std::vector<Offer*> offers;
  std::unique_ptr<cm::Listening> listening;
};

struct Services::State {
  cm::ConnectionManager* cm;
  std::map<uint64_t, Service> services;
};

class Services::EntryOfService final : public Entry {
 public:
  EntryOfService(const std::shared_ptr<State>& state, uint64_t service_id,
                 Offer& offer)
      : state_(state), service_id_(service_id), offer_(offer) {}
  ~EntryOfService() override {
    const std::shared_ptr<State> state = state_.lock();
    if (state == nullptr) return;
    const auto service = state->services.find(service_id_);
    std::erase(service->second.offers, &offer_);
    if (service->second.offers.empty()) state->services.erase(service);
  }
  EntryOfService(const EntryOfService&) = delete;
  EntryOfService& operator=(const EntryOfService&) = delete;

 private:
  const std::weak_ptr<State> state_;
  const uint64_t service_id_;
  Offer& offer_;
};

Services::Services(cm::ConnectionManager& cm)
    : state_(std::make_shared<State>(State{&cm, {}})) {}
Services::~Services() = default;

std::unique_ptr<Services::Entry> Services::Add(uint64_t service_id,
                                               Offer& offer) {
  Service& service = state_->services[service_id];
  if (service.listening == nullptr) {
    auto listening = state_->cm->Listen(service_id, service);
    if (!listening.ok()) {
      state_->services.erase(service_id);
      return nullptr;
    }
    service.listening = *std::move(listening);
  }
  service.offers.push_back(&offer);
  return std::make_unique<EntryOfService>(state_, service_id, offer);
}

}  // namespace ibemu::rdma_cm
