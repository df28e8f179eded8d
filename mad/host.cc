#include "mad/host.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "base/observer_list.h"
#include "mad/agent_core.h"
#include "mad/dispatcher.h"
#include "mad/host_core.h"
#include "mad/registration_check.h"
#include "mad/sm_semaphore.h"

namespace ibemu::mad {
namespace {

SmiNode SmiNodeOf(Device& device) {
  // Seen as a host, a switch has only port 0.  How many external ports it has,
  // only the back end knows.
  constexpr uint8_t kMaxPorts = 254;
  const bool is_switch = device.type() == NodeType::kSwitch;
  return {.is_switch = is_switch,
          .port_count =
              is_switch ? kMaxPorts : static_cast<uint8_t>(device.last_port())};
}

}  // namespace

struct Host::Impl : DeviceListener {
  class Watcher : public Host::Subscription {
   public:
    Watcher(ObserverList<Watcher>& watchers, std::function<void()> changed)
        : watchers_(watchers), changed_(std::move(changed)) {
      watchers_.Add(*this);
    }
    ~Watcher() override { watchers_.Remove(*this); }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    void Call() {
      // A copy, because the call may destroy `this`.
      const std::function<void()> changed = changed_;
      changed();
    }

   private:
    ObserverList<Watcher>& watchers_;
    std::function<void()> changed_;
  };

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
  ~Impl() override {
    if (!core->removed()) device.SetListener(nullptr);
  }
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
    for (const auto& port : ports) port->dispatcher.OnRemoved();
    device.SetListener(nullptr);
    NotifySoon();
  }

  void NotifySoon() {
    if (std::exchange(notifying, true)) return;
    core->timers().RunSoon([this, alive = std::weak_ptr(core)] {
      if (alive.expired()) return;
      notifying = false;
      watchers.ForEach([](Watcher& watcher) { watcher.Call(); });
    });
  }

  Device& device;
  std::shared_ptr<HostCore> core;
  std::vector<std::unique_ptr<PortState>> ports;
  ObserverList<Watcher> watchers;
  bool notifying = false;
};

Host::Host(Timers& timers, Device& device)
    : impl_(std::make_unique<Impl>(timers, device)) {}

Host::~Host() = default;

Device& Host::device() { return impl_->device; }

bool Host::removed() const { return impl_->core->removed(); }

void Host::Unbind() {
  if (removed()) return;
  for (int n = device().first_port(); n <= device().last_port(); ++n) {
    device().port(n).SetIsSm(false);
  }
  impl_->OnRemoved();
}

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

std::unique_ptr<Snoops::Entry> Host::Snoop(int port, Snooper& snooper) {
  Impl::PortState* state = impl_->port(port);
  if (state == nullptr) return nullptr;
  return std::make_unique<Snoops::Entry>(state->dispatcher.snoops(), snooper);
}

void Host::SetSendWatcher(SendWatcher& watcher) {
  impl_->core->SetSendWatcher(&watcher);
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
  return std::make_unique<Impl::Watcher>(impl_->watchers, std::move(changed));
}

}  // namespace ibemu::mad
