#include "hca/mlx4/mlx4_device.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "hca/bus/pci_config.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_events.h"
#include "hca/prm/mlx4_memory.h"
#include "mad/wire/node_info.h"

namespace ibemu::hca::mlx4 {
namespace {

// The log of the number of events.  Until it is read, a completion queue makes
// one event; a queue pair makes one each for communication established, send
// queue drained, an error and the last WQE of its shared receive queue; a
// shared receive queue makes one each for its limit and an error.  There is
// room for these events of all objects that clients can create, and for more of
// the ports.  An overflow ends the device.
constexpr int kLogEvents = 13;
// Room for the completions of all that the four queue pairs have in flight.
constexpr int kLogCompletions = 12;
constexpr uint32_t kSpecialQps = 8;  // reserved; four are used
constexpr uint32_t kLogPage = 12;

constexpr uint64_t kSubscribed =
    prm::EventBit(prm::EqeType::kPortChange) |
    prm::EventBit(prm::EqeType::kPortManagementChange) |
    prm::EventBit(prm::EqeType::kLocalCatastrophicError) |
    prm::EventBit(prm::EqeType::kCqError) |
    prm::EventBit(prm::EqeType::kCommunicationEstablished) |
    prm::EventBit(prm::EqeType::kSendQueueDrained) |
    prm::EventBit(prm::EqeType::kWqCatastrophicError) |
    prm::EventBit(prm::EqeType::kWqInvalidRequest) |
    prm::EventBit(prm::EqeType::kWqAccessError) |
    prm::EventBit(prm::EqeType::kSrqCatastrophicError) |
    prm::EventBit(prm::EqeType::kSrqLastWqe) |
    prm::EventBit(prm::EqeType::kSrqLimit) |
    prm::EventBit(prm::EqeType::kEqOverflow);

// Returns whether the subnet manager wants clients to register once more.
bool IsReregister(const prm::Eqe& event) {
  if (event.type != prm::EqeType::kPortManagementChange ||
      event.subtype != prm::kPortInfoChange) {
    return false;
  }
  const auto change = wire::Decode<prm::PortManagementEvent>(
      std::as_bytes(std::span(event.data)));
  return (change.changed & prm::kClientReregister) != 0;
}

std::string_view FatalEventText(prm::EqeType type) {
  switch (type) {
    case prm::EqeType::kEqOverflow:
      return "its queue of events overflowed";
    case prm::EqeType::kCqError:
      return "their completion queue has failed";
    default:
      return "one of their queue pairs has failed";
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Mlx4Device>> Mlx4Device::Start(
    PciFunction& function, Timers& timers, DeviceOptions options) {
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<Mlx4Adapter> adapter,
      Mlx4Adapter::Start(function, timers, std::move(options)));
  std::unique_ptr<Mlx4Device> device(new Mlx4Device(std::move(adapter)));
  IBEMU_RETURN_IF_ERROR(device->StartQueues());
  IBEMU_RETURN_IF_ERROR(device->ReadIdentity());
  IBEMU_RETURN_IF_ERROR(device->StartPorts());
  device->StartVerbs();
  device->PollQueues();
  device->WatchHealth();
  if (device->interrupt_fd_ < 0) device->WatchQueues();
  return device;
}

Mlx4Device::Mlx4Device(std::unique_ptr<Mlx4Adapter> adapter)
    : adapter_(std::move(adapter)),
      timers_(adapter_->timers()),
      mads_(adapter_->commands()),
      resources_(*adapter_),
      self_(std::make_shared<Mlx4Device*>(this)) {}

Mlx4Device::~Mlx4Device() {
  timers_.Cancel(health_timer_);
  timers_.Cancel(poll_timer_);
  if (verbs_) verbs_->End();
  ports_.clear();
  completions_.reset();
  if (has_mpt_) {
    adapter_->TakeDown(prm::Opcode::kHw2SwMpt,
                       {.in = mpt_, .op = prm::kNoOutbox});
  }
  if (has_qps_) adapter_->TakeDown(prm::Opcode::kConfSpecialQp);
  events_.reset();
}

absl::Status Mlx4Device::StartQueues() {
  IBEMU_RETURN_IF_ERROR(resources_.CheckUarPage());
  PciFunction& function = adapter_->function();
  if (const absl::Status enabled = function.EnableInterrupts(1); enabled.ok()) {
    interrupt_fd_ = function.InterruptFd(0);
  } else {
    adapter_->Note(absl::StrCat(enabled.message(), ": the queues are polled"));
  }
  IBEMU_ASSIGN_OR_RETURN(events_,
                         Mlx4Eq::Create(resources_, kLogEvents, /*vector=*/0));
  IBEMU_RETURN_IF_ERROR(events_->Subscribe(kSubscribed));
  IBEMU_ASSIGN_OR_RETURN(
      first_qpn_, resources_.TakeQps(kSpecialQps, /*alignment=*/kSpecialQps));
  IBEMU_RETURN_IF_ERROR(
      adapter_->commands()
          .Run(prm::Opcode::kConfSpecialQp, {.in = first_qpn_})
          .status());
  has_qps_ = true;
  IBEMU_RETURN_IF_ERROR(RegisterAllMemory());
  IBEMU_ASSIGN_OR_RETURN(
      completions_,
      Mlx4Cq::Create(resources_, kLogCompletions, events_->number()));
  return absl::OkStatus();
}

// Registers a region of all memory that the adapter can reach, by bus address,
// for the driver's own buffers.
absl::Status Mlx4Device::RegisterAllMemory() {
  IBEMU_ASSIGN_OR_RETURN(mpt_, resources_.TakeMpt());
  prm::Mpt mpt;
  mpt.status = prm::MptStatus::kSoftware;  // until the command is done
  mpt.mio = true;
  mpt.local_read = mpt.local_write = true;
  mpt.physical = true;
  mpt.region = true;
  mpt.key = mpt_;
  mpt.pd = resources_.pd();
  mpt.length = ~uint64_t{0};
  mpt.entity_size = kLogPage;
  IBEMU_RETURN_IF_ERROR(
      adapter_->commands().Send(prm::Opcode::kSw2HwMpt, mpt, {.in = mpt_}));
  has_mpt_ = true;
  return absl::OkStatus();
}

absl::Status Mlx4Device::ReadIdentity() {
  IBEMU_ASSIGN_OR_RETURN(const auto node, mads_.Get<mad::NodeInfo>(1));
  IBEMU_ASSIGN_OR_RETURN(const auto description,
                         mads_.Get<mad::NodeDescription>(1));
  node_guid_ = node.node_guid;
  system_image_guid_ = node.system_image_guid;
  description_.assign(description.text.begin(), description.text.end());
  description_.resize(description_.find_last_not_of('\0') + 1);
  PciFunction& function = adapter_->function();
  label_.firmware = VersionText(adapter_->firmware().fw());
  label_.hardware =
      absl::StrCat(absl::Hex(function.ReadConfig(pci_config::kRevision, 1)));
  label_.board_id = BoardId(adapter_->firmware().adapter());
  product_ = DeviceText(
      static_cast<uint16_t>(function.ReadConfig(pci_config::kVendor, 2)),
      static_cast<uint16_t>(function.ReadConfig(pci_config::kDevice, 2)));
  label_.hca_type =
      absl::StrCat("MT", function.ReadConfig(pci_config::kDevice, 2));
  return absl::OkStatus();
}

absl::Status Mlx4Device::StartPorts() {
  const int count = adapter_->firmware().caps().num_ports;
  for (int number = 1; number <= count; ++number) {
    ports_.push_back(std::make_unique<Mlx4Port>(
        PortParts{.resources = resources_,
                  .mads = mads_,
                  .port_count = count,
                  .first_qpn = first_qpn_,
                  .cqn = completions_->number(),
                  .lkey = prm::KeyOfMpt(mpt_),
                  .node_description = description_,
                  .changed = [this](int port) { TellChange(port); }},
        number, adapter_->firmware().port(number)));
    IBEMU_RETURN_IF_ERROR(ports_.back()->Start());
  }
  return absl::OkStatus();
}

void Mlx4Device::StartVerbs() {
  PciFunction& function = adapter_->function();
  VerbsParts parts{
      .resources = resources_,
      .ports = {},
      .node_guid = static_cast<uint64_t>(node_guid_),
      .system_image_guid = static_cast<uint64_t>(system_image_guid_),
      .revision = function.ReadConfig(pci_config::kRevision, 1),
      .lkey = prm::KeyOfMpt(mpt_),
      .eqn = events_->number()};
  for (const auto& port : ports_) parts.ports.push_back(port.get());
  verbs_ = std::make_shared<VerbsProvider>(std::move(parts));
  resources_.SetEventReader([this] { PollEvents(); });
}

void Mlx4Device::SetNodeDescription(std::string_view text) {
  description_ = text.substr(0, 64);
}

void Mlx4Device::OnInterrupt() {
  uint64_t count = 0;
  // The descriptor does not block: there may be nothing to read.
  [[maybe_unused]] const ssize_t got =
      read(interrupt_fd_, &count, sizeof count);
  PollQueues();
}

std::map<std::string, CommandTotals> Mlx4Device::commands() const {
  std::map<std::string, CommandTotals> by_name;
  for (const auto& [opcode, totals] : adapter_->counted().totals()) {
    by_name.emplace(prm::Name(static_cast<prm::Opcode>(opcode)), totals);
  }
  return by_name;
}

std::map<std::string, uint64_t> Mlx4Device::events() const {
  std::map<std::string, uint64_t> by_name;
  for (const auto& [type, count] : event_totals_) {
    std::string name(prm::Name(type));
    if (name == "?") name = absl::StrFormat("0x%02x", static_cast<int>(type));
    by_name.emplace(std::move(name), count);
  }
  return by_name;
}

void Mlx4Device::PollEvents() {
  if (removed_) return;
  if (events_->Poll([this](const prm::Eqe& event) { OnEvent(event); })) {
    resources_.EndRest();
  }
}

void Mlx4Device::PollQueues() {
  PollEvents();
  PollCompletions();
}

// Returns whether `event` ends the device: something that the ports themselves
// need has failed, or an overflow has cost events.  After an overflow tables
// could be read once more, but no queue pair reports again that it is in error,
// and a completion queue whose event was lost does not report the next
// completion.
bool Mlx4Device::IsFatal(const prm::Eqe& event) const {
  const uint32_t number =
      wire::Decode<prm::QueueEvent>(std::as_bytes(std::span(event.data)))
          .number;
  switch (event.type) {
    case prm::EqeType::kEqOverflow:
      return true;
    case prm::EqeType::kCqError:
      return completions_ && number == completions_->number();
    case prm::EqeType::kWqCatastrophicError:
    case prm::EqeType::kWqInvalidRequest:
    case prm::EqeType::kWqAccessError:
      return has_qps_ && number - first_qpn_ < kSpecialQps;
    default:
      return false;
  }
}

void Mlx4Device::OnEvent(const prm::Eqe& event) {
  ++event_totals_[event.type];
  if (IsFatal(event)) {
    return DieSoon(absl::UnavailableError(
        absl::StrCat("the adapter can't serve its ports any more: ",
                     Absl(FatalEventText(event.type)))));
  }
  switch (event.type) {
    case prm::EqeType::kCompletion: {
      const auto queue =
          wire::Decode<prm::QueueEvent>(std::as_bytes(std::span(event.data)));
      if (completions_ && queue.number == completions_->number()) {
        completions_->OnEvent();
      } else if (verbs_) {
        verbs_->OnEvent(event);
      }
      return;
    }
    case prm::EqeType::kCommunicationEstablished:
    case prm::EqeType::kSendQueueDrained:
    case prm::EqeType::kWqCatastrophicError:
    case prm::EqeType::kWqInvalidRequest:
    case prm::EqeType::kWqAccessError:
    case prm::EqeType::kSrqCatastrophicError:
    case prm::EqeType::kSrqLastWqe:
    case prm::EqeType::kSrqLimit:
      if (verbs_) verbs_->OnEvent(event);
      return;
    case prm::EqeType::kPortChange:
    case prm::EqeType::kPortManagementChange: {
      const std::span<const std::byte> data =
          std::as_bytes(std::span(event.data));
      const size_t number =
          event.type == prm::EqeType::kPortChange
              ? wire::Decode<prm::PortChangeEvent>(data).port
              : wire::Decode<prm::PortManagementEvent>(data).port;
      if (number >= 1 && number <= ports_.size()) {
        ports_[number - 1]->OnEvent(event);
        if (verbs_ && IsReregister(event)) {
          verbs_->OnClientReregister(static_cast<int>(number));
        }
      }
      return;
    }
    case prm::EqeType::kLocalCatastrophicError:
      // Deferred, because the event queue is being read.
      return timers_.RunSoon([weak = std::weak_ptr(self_)] {
        if (const auto self = weak.lock()) {
          (*self)->Die((*self)->adapter_->health().Check());
        }
      });
    default:
      if (verbs_) verbs_->OnEvent(event);
      adapter_->Note(absl::StrCat("the adapter tells of an error: event ",
                                  static_cast<int>(event.type), ", subtype ",
                                  static_cast<int>(event.subtype)));
  }
}

// The queue is armed before the last pass, so a completion that comes after
// that pass, or is left by it, makes an event.
void Mlx4Device::PollCompletions() {
  if (removed_ || !completions_) return;
  int left = kMaxCompletions;
  for (bool armed = false;; armed = true) {
    for (; left != 0; --left) {
      const auto completion = completions_->Poll();
      if (!completion) break;
      for (const auto& port : ports_) {
        if (port->OnCompletion(*completion)) break;
      }
    }
    if (armed) return;
    completions_->Arm();
  }
}

void Mlx4Device::WatchHealth() {
  health_timer_ = timers_.RunAfter(Health::kPeriod, [this] {
    absl::Status health = adapter_->health().Check();
    // The adapter may have been cut off meanwhile, too.
    if (health.ok()) health = adapter_->dead();
    if (!health.ok()) return Die(health);
    // So an interrupt that was lost costs a second at most.
    PollQueues();
    verbs_->PollCompletions();
    WatchHealth();
  });
}

void Mlx4Device::WatchQueues() {
  poll_timer_ = timers_.RunAfter(kPollPeriod, [this] {
    PollQueues();
    if (!removed_) WatchQueues();
  });
}

// Deferred, because ports report changes from within the calls of those who
// listen.
void Mlx4Device::TellChange(int port) {
  timers_.RunSoon([weak = std::weak_ptr(self_), port] {
    const auto self = weak.lock();
    if (!self) return;
    if ((*self)->verbs_) (*self)->verbs_->OnPortChange(port);
    if ((*self)->listener_ != nullptr) (*self)->listener_->OnPortEvent(port);
    if ((*self)->watcher_ != nullptr) (*self)->watcher_->OnPortChange(port);
  });
}

// Deferred, because the event queue is being read.
void Mlx4Device::DieSoon(const absl::Status& why) {
  timers_.RunSoon([weak = std::weak_ptr(self_), why] {
    if (const auto self = weak.lock()) (*self)->Die(why);
  });
}

void Mlx4Device::Die(const absl::Status& why) {
  if (removed_) return;
  removed_ = true;
  for (const auto& port : ports_) port->OnRemoved();
  adapter_->CutOff(
      why.ok() ? absl::UnavailableError("the adapter met a catastrophic error")
               : why);
  verbs_->OnRemoved();
  mad::DeviceListener* const listener = std::exchange(listener_, nullptr);
  if (listener != nullptr) listener->OnRemoved();
  if (watcher_ != nullptr) watcher_->OnGone();
}

}  // namespace ibemu::hca::mlx4
