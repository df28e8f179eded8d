#include "daemon/journal/subnet_journal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {
namespace {

using fabric::kNoPort, fabric::NodePort, fabric::PortId, fabric::Subnet;
using topology::NodeId;

JournalPlace PlaceOf(const NodePort& port) {
  return {.node = port.node, .port = port.number};
}

}  // namespace

SubnetJournal::SubnetJournal(Timers& timers, fabric::Fabric& fabric,
                             FabricMethods& links, FaultMethods& faults,
                             std::unique_ptr<JournalFile> file,
                             const JournalContent& content,
                             absl::Duration since_1970)
    : timers_(timers),
      fabric_(fabric),
      links_(links),
      faults_(faults),
      file_(std::move(file)),
      since_1970_(since_1970),
      faults_version_(faults.version()),
      reverts_version_(links.reverts_version()) {
  const Subnet& subnet = std::as_const(fabric_).subnet();
  for (uint32_t i = 0; i < subnet.nodes().size(); ++i) {
    nodes_.push_back(NodeNow(NodeId{i}));
    nodes_.back().joined = false;
  }
  for (uint32_t i = 0; i < subnet.ports().size(); ++i) {
    ports_.push_back(PortNow(PortId{i}));
    // A subnet manager may have given LIDs since the fabric was restored.
    ports_.back().lid = ports_.back().lmc = 0;
  }
  for (const JournalNode& node : content.nodes) {
    nodes_[static_cast<size_t>(node.node)] = node;
    if (node.joined) joined_.push_back(node.node);
  }
  for (const JournalPort& port : content.ports) {
    const PortId id = subnet.port_id(port.place.node, port.place.port);
    ports_[static_cast<size_t>(id)] = port;
  }
  fabric_.AddWatcher(*this);
}

SubnetJournal::~SubnetJournal() {
  fabric_.RemoveWatcher(*this);
  timers_.Cancel(timer_);
  timers_.Cancel(joined_timer_);
}

absl::Status SubnetJournal::Start(const JournalSubnet& its,
                                  const JournalContent& content) {
  for (const StoredFault& fault : content.faults) {
    const absl::Status restored = faults_.Restore(fault);
    if (restored.ok()) continue;
    const std::string what =
        absl::StrCat("the fault \"", fault.name, "\": ", restored.message());
    if (!absl::IsNotFound(restored) && !absl::IsFailedPrecondition(restored)) {
      return file_->Named(absl::DataLossError(what));
    }
    spdlog::warn("{}: {}: it is left out", file_->path(), what);
  }
  for (const JournalRevert& revert : content.reverts) {
    links_.Revert({.node = revert.place.node,
                   .port = revert.place.port,
                   .up = revert.up,
                   .at = absl::FromUnixMillis(revert.at_unix) - since_1970_});
  }
  joined_timer_ = timers_.RunAfter(kRejoinsWithin, [this] {
    awaits_joined_ = false;
    const Subnet& subnet = std::as_const(fabric_).subnet();
    for (const JournalNode& node : nodes_) {
      if (!node.joined) continue;
      later_.insert(
          subnet.port_id(node.node, subnet.node(node.node).first_number()));
    }
    WriteLater(absl::ZeroDuration());
  });
  IBEMU_RETURN_IF_ERROR(file_->Accept(its));
  JournalChange change;
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    Look(PortId{i}, /*at_once=*/true, change);
  }
  AddLists(change);
  return Put(change);
}

void SubnetJournal::OnPortChange(PortId port) {
  later_.insert(port);
  if (timer_ == TimerId::kNone) WriteLater(kQuiet);
}

void SubnetJournal::OnHardwareChange(PortId port) {
  at_once_.insert(port);
  OnPortChange(port);
  // Also what no method of the control socket has done.
  write_.Request();
}

void SubnetJournal::Write() {
  JournalChange change;
  for (const PortId port : at_once_) Look(port, /*at_once=*/true, change);
  AddLists(change);
  if (!TryPut(change)) return WriteLater(kRetry);
  at_once_.clear();
}

void SubnetJournal::WriteAll() {
  at_once_.merge(later_);
  Write();
}

void SubnetJournal::WriteLater(absl::Duration delay) {
  timers_.Cancel(timer_);
  timer_ = timers_.RunAfter(delay, [this] { WriteQuietly(); });
}

void SubnetJournal::WriteQuietly() {
  timer_ = TimerId::kNone;
  if (!error_.empty()) Write();
  if (timer_ != TimerId::kNone) return;
  JournalChange change;
  std::vector<PortId> seen;
  for (const PortId port : later_) {
    if (change.ports.size() + change.nodes.size() >= kBatch) break;
    Look(port, /*at_once=*/false, change);
    seen.push_back(port);
  }
  if (!TryPut(change)) return WriteLater(kRetry);
  for (const PortId port : seen) later_.erase(port);
  if (!later_.empty()) WriteLater(kPause);
}

void SubnetJournal::Look(PortId id, bool at_once, JournalChange& change) const {
  const JournalPort port = PortNow(id);
  if (port != ports_[static_cast<size_t>(id)]) change.ports.push_back(port);
  const NodeId node_id = std::as_const(fabric_).subnet().port(id).node;
  const JournalNode& written = nodes_[static_cast<size_t>(node_id)];
  JournalNode node = NodeNow(node_id);
  // Those who join are told to end together with this daemon, or lose it: that
  // is no reason to forget them.
  node.joined |= written.joined && (at_once || awaits_joined_);
  if (node == written ||
      (!change.nodes.empty() && change.nodes.back().node == node_id)) {
    return;
  }
  change.nodes.push_back(node);
}

JournalPort SubnetJournal::PortNow(PortId id) const {
  const Subnet& subnet = std::as_const(fabric_).subnet();
  const NodePort& port = subnet.port(id);
  JournalPort now{.place = PlaceOf(port),
                  .peer = std::nullopt,
                  // What a fault has cut it cuts again.
                  .cut = !port.cable_up && fabric_.CutBy(id) == 0,
                  .guid = port.guid,
                  .lid = static_cast<int>(port.info.lid),
                  .lmc = port.info.lmc,
                  // A port whose adapter is elsewhere is disabled until that
                  // one opens it.
                  .disabled = !subnet.NodeOf(id).remote &&
                              port.info.port_physical_state ==
                                  mad::PortPhysicalState::kDisabled};
  if (port.peer != kNoPort) now.peer = PlaceOf(subnet.port(port.peer));
  return now;
}

JournalNode SubnetJournal::NodeNow(NodeId id) const {
  const fabric::Node& node = std::as_const(fabric_).subnet().node(id);
  return {.node = id,
          .guid = node.node_guid,
          .on = node.on,
          .plugged = node.plugged,
          .joined = node.remote};
}

std::vector<JournalRevert> SubnetJournal::RevertsNow() const {
  std::vector<JournalRevert> all;
  for (const LinkRevert& revert : links_.Reverts()) {
    all.push_back({.place = {.node = revert.node, .port = revert.port},
                   .up = revert.up,
                   .at_unix = absl::ToUnixMillis(revert.at + since_1970_)});
  }
  return all;
}

void SubnetJournal::AddLists(JournalChange& change) const {
  if (faults_.version() != faults_version_) change.faults = faults_.Stored();
  if (links_.reverts_version() != reverts_version_) {
    change.reverts = RevertsNow();
  }
}

absl::Status SubnetJournal::Put(const JournalChange& change) {
  if (change.empty()) return absl::OkStatus();
  IBEMU_RETURN_IF_ERROR(file_->Write(change));
  const Subnet& subnet = std::as_const(fabric_).subnet();
  for (const JournalNode& node : change.nodes) {
    nodes_[static_cast<size_t>(node.node)] = node;
  }
  for (const JournalPort& port : change.ports) {
    const PortId id = subnet.port_id(port.place.node, port.place.port);
    ports_[static_cast<size_t>(id)] = port;
  }
  if (change.faults) faults_version_ = faults_.version();
  if (change.reverts) reverts_version_ = links_.reverts_version();
  return absl::OkStatus();
}

bool SubnetJournal::TryPut(const JournalChange& change) {
  const absl::Status status = Put(change);
  std::string error(status.message());
  if (error_.empty() && !error.empty()) {
    spdlog::error(
        "{}: what is done to the subnet would be lost with the daemon", error);
  } else if (!error_.empty() && error.empty()) {
    spdlog::info("{}: nothing is missing in it any more", file_->path());
  }
  error_ = std::move(error);
  return status.ok();
}

nlohmann::json SubnetJournal::Describe() const {
  return {{"file", file_->path()}, {"error", error_}};
}

}  // namespace ibemu::daemon
