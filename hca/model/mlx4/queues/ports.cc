#include "hca/model/mlx4/queues/ports.h"

#include <utility>

namespace ibemu::hca::model::mlx4 {

namespace {

using Status = prm::CommandStatus;

// A bit of PortInfo.CapabilityMask.
constexpr uint32_t kIsSm = 1u << 1;

// Returns the number of data VLs for a code of VLCap.
uint8_t VlsOf(uint8_t code) {
  constexpr uint8_t kVls[] = {0, 1, 2, 4, 8, 15};
  return code < std::size(kVls) ? kVls[code] : uint8_t{0};
}

}  // namespace

class Ports::Listener : public CableListener {
 public:
  Listener(Ports& ports, int port) : ports_(ports), port_(port) {}

  void OnPacket(std::span<const std::byte> packet) override {
    if (ports_.enabled(port_)) ports_.receive_(port_, packet);
  }
  void OnPortEvent() override { ports_.TellChanges(port_, false); }

 private:
  Ports& ports_;
  const int port_;
};

Ports::Ports(const std::vector<Cable*>& cables, EventQueues& events,
             Receive receive)
    : events_(events), receive_(std::move(receive)) {
  for (Cable* cable : cables) {
    const int number = static_cast<int>(ports_.size()) + 1;
    ports_.push_back({.cable = cable,
                      .listener = std::make_unique<Listener>(*this, number),
                      .told = Look(*cable)});
    cable->SetListener(ports_.back().listener.get());
  }
}

Ports::~Ports() {
  for (const Port& port : ports_) port.cable->SetListener(nullptr);
}

Ports::Told Ports::Look(const Cable& cable) {
  Told told;
  told.info = cable.Info();
  for (int i = 0; i < cable.GidCount(); ++i)
    told.gids.push_back(cable.GidAt(i));
  for (int i = 0; i < cable.PKeyCount(); ++i) {
    told.p_keys.push_back(cable.PKeyAt(i));
  }
  return told;
}

prm::QueryPort Ports::Query(int port) const {
  const mad::PortInfo info = At(port).cable->Info();
  const auto log = [](int count) {
    uint8_t bits = 0;
    while (1 << (bits + 1) <= count) ++bits;
    return bits;
  };
  return {.link_up = info.port_state != mad::PortState::kDown,
          .supported_type = At(port).type,
          .ib_mtu = info.mtu_cap,
          .ib_port_width = info.link_width_supported,
          .log_max_gid = log(At(port).cable->GidCount()),
          .log_max_pkey = log(At(port).cable->PKeyCount()),
          .max_vl = VlsOf(info.vl_cap)};
}

Status Ports::Initialise(int port) {
  if (At(port).enabled) return Status::kBadResourceState;
  At(port).enabled = true;
  At(port).cable->SetEnabled(true);
  return Status::kOk;
}

void Ports::Close(int port) {
  if (std::exchange(At(port).enabled, false)) {
    At(port).cable->SetEnabled(false);
  }
}

Status Ports::Set(int port, const prm::SetPort& wanted) {
  const mad::PortInfo info = At(port).cable->Info();
  if (wanted.change_mtu_cap &&
      (wanted.mtu_cap == 0 || wanted.mtu_cap > info.mtu_cap)) {
    return Status::kBadParam;
  }
  // Linux tries 8, 4, 2 and 1 until firmware accepts one.
  if (wanted.change_vl_cap &&
      (wanted.vl_cap == 0 || wanted.vl_cap > VlsOf(info.vl_cap))) {
    return Status::kExceedLimit;
  }
  At(port).cable->SetIsSm((wanted.capability_mask & kIsSm) != 0);
  return Status::kOk;
}

void Ports::TellChanges(int port, bool reregister) {
  Told& told = At(port).told;
  const Told old = std::exchange(told, Look(*At(port).cable));
  const mad::PortInfo& info = told.info;
  const auto number = static_cast<uint8_t>(port);

  prm::PortManagementEvent change{
      .port = number,
      .sm_lid = static_cast<uint16_t>(info.master_sm_lid),
      .port_lid = static_cast<uint16_t>(info.lid),
      .sm_sl = info.master_sm_sl,
      .gid_prefix = info.gid_prefix};
  const auto mark = [&change](bool differs, uint32_t bit) {
    if (differs) change.changed |= bit;
  };
  mark(info.master_sm_lid != old.info.master_sm_lid, prm::kSmLidChange);
  mark(info.master_sm_sl != old.info.master_sm_sl, prm::kSmSlChange);
  mark(info.gid_prefix != old.info.gid_prefix, prm::kGidPrefixChange);
  mark(info.lid != old.info.lid || info.lmc != old.info.lmc, prm::kLidChange);
  mark(reregister, prm::kClientReregister);
  if (change.changed != 0) {
    events_.Report(prm::EqeType::kPortManagementChange, prm::kPortInfoChange,
                   change);
  }
  if (told.p_keys != old.p_keys) {
    events_.Report(prm::EqeType::kPortManagementChange, prm::kPKeyTableChange,
                   prm::PortManagementEvent{.port = number});
  }
  if (told.gids != old.gids) {
    events_.Report(prm::EqeType::kPortManagementChange, prm::kGuidInfoChange,
                   prm::PortManagementEvent{.port = number});
  }
  const bool was_active = old.info.port_state == mad::PortState::kActive;
  const bool is_active = info.port_state == mad::PortState::kActive;
  if (was_active != is_active) {
    events_.Report(prm::EqeType::kPortChange,
                   is_active ? prm::kPortActive : prm::kPortDown,
                   prm::PortChangeEvent{.port = number});
  }
}

void Ports::Reset() {
  for (Port& port : ports_) {
    if (std::exchange(port.enabled, false)) port.cable->SetEnabled(false);
    port.cable->SetIsSm(false);
    port.told = Look(*port.cable);
  }
}

}  // namespace ibemu::hca::model::mlx4
