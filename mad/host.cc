#include "mad/host.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "mad/agent_core.h"
#include "mad/dispatcher.h"
#include "mad/host_core.h"
#include "mad/registration_check.h"
#include "mad/sm_semaphore.h"

namespace ibemu::mad {
namespace {

SmiNode SmiNodeOf(Device& device) {
  // Seen as a host, a switch has port 0 only; how many others there are, its
  // own side knows.
  constexpr uint8_t kMostPorts = 254;
  const bool is_switch = device.type() == NodeType::kSwitch;
  return {.is_switch = is_switch,
          .port_count = is_switch ? kMostPorts
                                  : static_cast<uint8_t>(device.last_port())};
}

// Callbacks that may come and go while they are called.
class Watchers {
 public:
  class Subscription : public Host::Subscription {
   public:
    Subscription(Watchers& watchers, std::function<void()> changed)
        : watchers_(watchers), changed_(std::move(changed)) {
      watchers_.all_.push_back(this);
    }
    ~Subscription() override {
      std::replace(watchers_.all_.begin(), watchers_.all_.end(), this,
                   static_cast<Subscription*>(nullptr));
    }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

    void Call() {
      const std::function<void()> changed = changed_;  // may end `this`
      changed();
    }

   private:
    Watchers& watchers_;
    std::function<void()> changed_;
  };

  void CallAll() {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i] != nullptr) all_[i]->Call();
    }
    std::erase(all_, nullptr);
  }

 private:
  std::vector<Subscription*> all_;  // null: gone, not yet erased
};

}  // namespace

struct Host::Impl : DeviceListener {
  struct PortState {
    PortState(HostCore& host, Port& port, SmiNode node, int number)
        : dispatcher(host, port, node, number), sm(host, port) {}
    Dispatcher dispatcher;
    SmSemaphore sm;
  };

  Impl(Timers& timers, Device& own_device)
      : device(own_device), core(std::make_shared<HostCore>(timers)) {
    for (int n = device.first_port(); n <= device.last_port(); ++n) {
      ports.push_back(std::make_unique<PortState>(*core, device.port(n),
                                                  SmiNodeOf(device), n));
    }
    device.SetListener(this);
  }
  ~Impl() override { device.SetListener(nullptr); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  PortState* port(int number) {
    if (number < device.first_port() || number > device.last_port()) {
      return nullptr;
    }
    return ports[static_cast<size_t>(number - device.first_port())].get();
  }

  void OnPortEvent(int number) override {
    if (PortState* changed = port(number)) changed->dispatcher.OnPortEvent();
    NotifySoon();
  }

  void OnRemoved() override {
    core->Remove();
    NotifySoon();
  }

  void NotifySoon() {
    if (std::exchange(notifying, true)) return;
    core->timers().RunSoon([this, alive = std::weak_ptr(core)] {
      if (alive.expired()) return;
      notifying = false;
      watchers.CallAll();
    });
  }

  Device& device;
  std::shared_ptr<HostCore> core;
  std::vector<std::unique_ptr<PortState>> ports;
  Watchers watchers;
  bool notifying = false;
};

Host::Host(Timers& timers, Device& device)
    : impl_(std::make_unique<Impl>(timers, device)) {}

Host::~Host() = default;

Device& Host::device() { return impl_->device; }

bool Host::removed() const { return impl_->core->removed(); }

absl::StatusOr<std::unique_ptr<Agent>> Host::Register(
    int port, const Registration& registration, AgentClient& client) {
  if (removed()) return absl::UnavailableError("the device is gone");
  Impl::PortState* state = impl_->port(port);
  if (state == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %d: the device has ports %d to %d", port,
                        impl_->device.first_port(), impl_->device.last_port()));
  }
  Dispatcher& dispatcher = state->dispatcher;
  if (registration.qp == 0 && !dispatcher.port().HasQp0()) {
    return absl::UnimplementedError(
        absl::StrFormat("port %d has no QP0", port));
  }
  if (absl::Status status = CheckRegistration(registration); !status.ok()) {
    return status;
  }
  auto agent = std::make_unique<AgentCore>(dispatcher, registration,
                                           impl_->core->NextHighTid(), client);
  if (absl::Status status = dispatcher.registry().Add(*agent, registration);
      !status.ok()) {
    return status;
  }
  return agent;
}

std::unique_ptr<Host::SmLock> Host::TryLockSm(int port) {
  Impl::PortState* state = impl_->port(port);
  return state == nullptr ? nullptr : state->sm.TryLock();
}

std::unique_ptr<Host::SmWait> Host::WaitForSm(
    int port, std::function<void(std::unique_ptr<SmLock>)> granted) {
  Impl::PortState* state = impl_->port(port);
  return state == nullptr ? nullptr : state->sm.Wait(std::move(granted));
}

std::unique_ptr<Host::Subscription> Host::Watch(std::function<void()> changed) {
  return std::make_unique<Watchers::Subscription>(impl_->watchers,
                                                  std::move(changed));
}

}  // namespace ibemu::mad
