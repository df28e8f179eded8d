#include "hca/mlx4/verbs_provider.h"

#include <endian.h>

#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "hca/mlx4/verbs_attributes.h"
#include "verbs/port_attributes.h"

namespace ibemu::hca::mlx4 {
namespace {

class ProtectionDomain final : public verbs::Pd {
 public:
  ProtectionDomain(std::shared_ptr<VerbsProvider> provider, uint32_t& count)
      : provider_(std::move(provider)), count_(count) {
    ++count_;
  }
  ~ProtectionDomain() override { --count_; }
  ProtectionDomain(const ProtectionDomain&) = delete;
  ProtectionDomain& operator=(const ProtectionDomain&) = delete;

 private:
  const std::shared_ptr<VerbsProvider> provider_;
  uint32_t& count_;  // the provider's
};

verbs::DeviceAttributes DeviceOf(const VerbsParts& parts) {
  verbs::DeviceAttributes device =
      DeviceAttributesOf(parts.resources.adapter().firmware());
  device.node_guid = htobe64(parts.node_guid);
  device.sys_image_guid = htobe64(parts.system_image_guid);
  device.vendor_id = parts.vendor_id;
  device.vendor_part_id = parts.part_id;
  device.hw_ver = parts.revision;
  return device;
}

verbs::PortAttributes AttributesOf(const mad::Port& port) {
  return verbs::PortAttributesOf(port.Info(), {.max_message = kMostMessage,
                                               .gids = port.GidCount(),
                                               .p_keys = port.PKeyCount()});
}

absl::Status Missing(const char* what) {
  return absl::UnimplementedError(
      absl::StrFormat("a real adapter has no %s here yet", what));
}

absl::Status NoMore(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrFormat("the device has no more %s", what));
}

}  // namespace

VerbsProvider::VerbsProvider(VerbsParts parts)
    : parts_(std::move(parts)), device_(DeviceOf(parts_)) {
  for (const mad::Port* const port : parts_.ports) {
    port_attributes_.push_back(AttributesOf(*port));
    looks_.push_back(LookAt(*port));
  }
}

VerbsProvider::~VerbsProvider() = default;

absl::Status VerbsProvider::CheckAlive() const {
  if (alive_) return absl::OkStatus();
  return absl::UnavailableError("the adapter is gone");
}

absl::StatusOr<verbs::PortAttributes> VerbsProvider::QueryPort(int port) const {
  if (port < 1 || port > static_cast<int>(port_attributes_.size())) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %d: the device has ports 1 to %d", port,
                        port_attributes_.size()));
  }
  return port_attributes_[static_cast<size_t>(port - 1)];
}

absl::StatusOr<std::unique_ptr<verbs::Pd>> VerbsProvider::CreatePd() {
  IBEMU_RETURN_IF_ERROR(CheckAlive());
  if (pds_ >= device_.max_pd) return NoMore("domains");
  return std::make_unique<ProtectionDomain>(shared_from_this(), pds_);
}

absl::StatusOr<std::unique_ptr<verbs::Mr>> VerbsProvider::CreateMr(
    const verbs::MrInit& /*init*/) {
  return Missing("memory regions");
}

absl::StatusOr<std::unique_ptr<verbs::Mw>> VerbsProvider::CreateMw(
    verbs::Pd& /*pd*/) {
  return Missing("memory windows");
}

absl::StatusOr<std::unique_ptr<verbs::Fmr>> VerbsProvider::CreateFmr(
    const verbs::FmrInit& /*init*/) {
  return Missing("regions for fast registration");
}

absl::StatusOr<std::unique_ptr<verbs::Ah>> VerbsProvider::CreateAh(
    verbs::Pd& /*pd*/, const verbs::AddressAttributes& /*attributes*/) {
  return Missing("address handles");
}

absl::StatusOr<std::unique_ptr<verbs::Cq>> VerbsProvider::CreateCq(
    uint32_t /*size*/, verbs::CqListener& /*listener*/) {
  return Missing("completion queues");
}

absl::StatusOr<std::unique_ptr<verbs::Srq>> VerbsProvider::CreateSrq(
    verbs::Pd& /*pd*/, const verbs::SrqAttributes& /*attributes*/,
    verbs::ObjectListener& /*listener*/) {
  return Missing("shared receive queues");
}

absl::StatusOr<std::unique_ptr<verbs::Qp>> VerbsProvider::CreateQp(
    const verbs::QpInit& /*init*/, verbs::ObjectListener& /*listener*/) {
  return Missing("queue pairs");
}

void VerbsProvider::AddListener(verbs::DeviceListener& listener) {
  listeners_.Add(listener);
}

void VerbsProvider::RemoveListener(verbs::DeviceListener& listener) {
  listeners_.Remove(listener);
}

VerbsProvider::PortLook VerbsProvider::LookAt(const mad::Port& port) const {
  const mad::PortInfo info = port.Info();
  PortLook look = {.active = info.port_state == mad::PortState::kActive,
                   .lid = info.lid,
                   .sm_lid = info.master_sm_lid,
                   .p_keys = {},
                   .gids = {}};
  for (int i = 0; i < port.PKeyCount(); ++i) {
    look.p_keys.push_back(port.PKeyAt(i));
  }
  for (int i = 0; i < port.GidCount(); ++i) look.gids.push_back(port.GidAt(i));
  return look;
}

void VerbsProvider::Tell(verbs::EventType type, int port) {
  listeners_.ForEach([&](verbs::DeviceListener& listener) {
    listener.OnDeviceEvent(type, port);
  });
}

void VerbsProvider::OnPortChange(int number) {
  using enum verbs::EventType;
  if (!alive_) return;
  const auto place = static_cast<size_t>(number - 1);
  const mad::Port& port = *parts_.ports[place];
  port_attributes_[place] = AttributesOf(port);
  const PortLook now = LookAt(port);
  const PortLook before = std::exchange(looks_[place], now);
  if (before.active != now.active) {
    Tell(now.active ? kPortActive : kPortError, number);
  }
  if (before.lid != now.lid) Tell(kLidChange, number);
  if (before.sm_lid != now.sm_lid) Tell(kSmChange, number);
  if (before.p_keys != now.p_keys) Tell(kPKeyChange, number);
  if (before.gids != now.gids) Tell(kGidChange, number);
}

void VerbsProvider::OnClientReregister(int port) {
  if (alive_) Tell(verbs::EventType::kClientReregister, port);
}

void VerbsProvider::OnRemoved() {
  if (!std::exchange(alive_, false)) return;
  Tell(verbs::EventType::kDeviceFatal, 0);
}

void VerbsProvider::End() { alive_ = false; }

}  // namespace ibemu::hca::mlx4
