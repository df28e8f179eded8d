#include "daemon/web/view/view_feed.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/version.h"
#include "control/rpc.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/words/port_text.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::NodePort, fabric::PortId, fabric::Subnet;
using nlohmann::json;

constexpr absl::Duration kBetweenLoads = absl::Seconds(1);
constexpr absl::Duration kBetweenChanges = absl::Milliseconds(100);

}  // namespace

ViewFeed::ViewFeed(Timers& timers, fabric::Fabric& fabric, EventLog& events)
    : timers_(timers), fabric_(fabric), events_(events) {
  events_.Add(*this);
}

ViewFeed::~ViewFeed() {
  if (Watching()) Stop();
  events_.Remove(*this);
}

void ViewFeed::Add(const std::shared_ptr<EventBacklog>& page) {
  page->Push(std::make_shared<const std::string>(
      SentEvent("past", absl::StrCat("[", absl::StrJoin(past_, ","), "]"))));
  page->Push(std::make_shared<const std::string>(
      SentEvent("hello", control::Dump({{"version", Version()}}))));
  const bool first = !Watching();
  pages_.push_back(page);
  if (first) Start();
}

void ViewFeed::Start() {
  fabric_.AddWatcher(*this);
  meter_.emplace();
  for (const NodePort& port : fabric_.subnet().ports()) {
    cut_.push_back(!port.cable_up);
  }
  dropped_ = fabric_.totals().dropped;
  Look(0);
}

void ViewFeed::Stop() {
  pages_.clear();
  fabric_.RemoveWatcher(*this);
  timers_.Cancel(next_look_);
  timers_.Cancel(next_changes_);
  next_look_ = next_changes_ = TimerId::kNone;
  meter_.reset();
  cut_ = {};
  changed_ = {};
}

void ViewFeed::Tell(std::string_view name, std::string_view data) {
  const auto text = std::make_shared<const std::string>(SentEvent(name, data));
  for (const auto& page : pages_) {
    if (const auto queue = page.lock()) queue->Push(text);
  }
}

void ViewFeed::OnEvent(std::string_view, std::string_view line) {
  if (past_.size() == kMaxPast) past_.pop_front();
  past_.emplace_back(line);
  Tell("event", line);
}

void ViewFeed::OnPortChange(PortId port) { Changed(port); }

void ViewFeed::Changed(PortId port) {
  // More are told as "all".
  if (changed_.size() <= kMaxChanges) changed_.insert(port);
  if (next_changes_ != TimerId::kNone) return;
  next_changes_ = timers_.RunAfter(kBetweenChanges, [this] {
    next_changes_ = TimerId::kNone;
    TellChanges();
  });
}

void ViewFeed::TellChanges() {
  const Subnet& subnet = fabric_.subnet();
  std::vector<PortId> ports(changed_.begin(), changed_.end());
  changed_.clear();
  if (ports.size() > kMaxChanges) return Tell("change", R"({"all":true})");
  std::vector<PortId> links;
  std::vector<topology::NodeId> nodes;
  for (const PortId id : ports) {
    const NodePort& port = subnet.port(id);
    nodes.push_back(port.node);
    if (port.peer == fabric::kNoPort) continue;
    links.push_back(std::min(id, port.peer));
    nodes.push_back(subnet.port(port.peer).node);
  }
  const auto unique = [](auto& ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  unique(links);
  unique(nodes);
  json change = {{"links", json::array()}, {"nodes", json::array()}};
  for (const PortId id : links) {
    change["links"].push_back(DescribeLink(subnet, subnet.port(id)));
  }
  for (const topology::NodeId id : nodes) {
    change["nodes"].push_back(DescribeNode(subnet, subnet.node(id)));
  }
  Tell("change", control::Dump(change));
}

void ViewFeed::Look(size_t slice) {
  if (slice == 0) {
    std::erase_if(pages_, [](const auto& page) { return page.expired(); });
    if (pages_.empty()) return Stop();
    began_ = timers_.Now();
  }
  LookForCuts(slice);
  const bool more = meter_->Look(fabric_.subnet(), slice, timers_.Now());
  if (!more) TellLoads();
  // The next slice is due at once, but other tasks of the loop go first.
  next_look_ = timers_.RunAt(more ? timers_.Now() : began_ + kBetweenLoads,
                             [this, next = more ? slice + 1 : 0] {
                               next_look_ = TimerId::kNone;
                               Look(next);
                             });
}

void ViewFeed::LookForCuts(size_t slice) {
  const auto ports = fabric_.subnet().ports();
  const size_t end = std::min(ports.size(), (slice + 1) * LoadMeter::kSlice);
  for (size_t i = slice * LoadMeter::kSlice; i < end; ++i) {
    if (cut_[i] != ports[i].cable_up) continue;
    cut_[i] = !ports[i].cable_up;
    Changed(PortId{static_cast<uint32_t>(i)});
  }
}

void ViewFeed::TellLoads() {
  const Subnet& subnet = fabric_.subnet();
  const LoadMeter::Found found = meter_->Take();
  json links = json::array();
  for (const LinkLoad& load : found.links) {
    if (load.share <= 0) continue;  // it has counted errors only
    const NodePort& port = subnet.port(load.port);
    links.push_back({GuidText(subnet.node(port.node).node_guid), port.number,
                     load.sent, load.received, load.share});
  }
  const uint64_t before = std::exchange(dropped_, fabric_.totals().dropped);
  Tell("load", control::Dump({{"links", std::move(links)},
                              {"others", found.others},
                              {"dropped", dropped_ - before}}));
}

}  // namespace ibemu::daemon
