// Adapters whose values a test sets, and the words for asking their tree.
#ifndef IBEMU_TESTS_SYSFS_FIXTURE_H_
#define IBEMU_TESTS_SYSFS_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "mad/device.h"
#include "mad/host.h"
#include "sysfs/tree.h"
#include "sysfs/view.h"
#include "testing/virtual_timers.h"

namespace ibemu::sysfs {

struct FakePort : mad::Port {
  absl::Status Transmit(const mad::Outgoing&) override {
    return absl::OkStatus();
  }
  mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                 mad::MadBytes& reply) override {
    ++questions;
    return process ? process(request, reply) : mad::LocalVerdict::kUnhandled;
  }
  void SetListener(mad::PortListener*) override {}
  mad::PortInfo Info() const override { return info; }
  int GidCount() const override { return static_cast<int>(gids.size()); }
  mad::Gid GidAt(int index) const override { return gids[index]; }
  int PKeyCount() const override { return static_cast<int>(pkeys.size()); }
  uint16_t PKeyAt(int index) const override { return pkeys[index]; }
  void SetIsSm(bool) override {}

  mad::PortInfo info;
  std::vector<mad::Gid> gids = {{mad::kDefaultGidPrefix, 0xfc6a'1c03'0082'db01},
                                {}};
  std::vector<uint16_t> pkeys = {0xffff, 0};
  std::function<mad::LocalVerdict(const mad::Arrival&, mad::MadBytes&)> process;
  int questions = 0;
};

struct FakeDevice : mad::Device {
  FakeDevice(mad::NodeType type, int first, int last)
      : node_type(type), first(first), ports(last - first + 1) {}

  mad::NodeType type() const override { return node_type; }
  mad::Guid node_guid() const override { return guid; }
  mad::Guid system_image_guid() const override {
    return mad::Guid{0xfc6a'1c03'0082'db0f};
  }
  std::string node_description() const override { return description; }
  void SetNodeDescription(std::string_view text) override {
    description = std::string(text);
  }
  int first_port() const override { return first; }
  int last_port() const override {
    return first + static_cast<int>(ports.size()) - 1;
  }
  mad::Port& port(int number) override { return ports[number - first]; }
  void SetListener(mad::DeviceListener* to) override { listener = to; }

  mad::NodeType node_type;
  mad::Guid guid{0xfc6a'1c03'0082'db00};
  std::string description = "node-1 ibemu0";
  int first;
  std::vector<FakePort> ports;
  mad::DeviceListener* listener = nullptr;
};

// A machine with the adapters of a test.
class Machine {
 public:
  FakeDevice& AddAdapter(int ports) {
    return Add(mad::NodeType::kChannelAdapter, 1, ports);
  }
  FakeDevice& AddSwitch() { return Add(mad::NodeType::kSwitch, 0, 0); }

  absl::StatusOr<View> Show(std::string_view format = "ibemu%d",
                            Profile profile = Profile::kQib) const {
    return MakeView(hosts_, format, profile);
  }

 private:
  FakeDevice& Add(mad::NodeType type, int first, int last) {
    devices_.push_back(std::make_unique<FakeDevice>(type, first, last));
    hosts_.push_back(std::make_shared<mad::Host>(timers_, *devices_.back()));
    return *devices_.back();
  }

  testing::VirtualTimers timers_;
  std::vector<std::unique_ptr<FakeDevice>> devices_;
  std::vector<std::shared_ptr<mad::Host>> hosts_;
};

// The entry at `path`, links on the way followed; null when there is none.
inline const Entry* Find(const Entry& root, std::string_view path) {
  std::vector<std::string> parts =
      absl::StrSplit(std::string(path), '/', absl::SkipEmpty());
  std::vector<const Entry*> trail = {&root};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "..") {
      if (trail.size() > 1) trail.pop_back();
      continue;
    }
    const auto child = trail.back()->children.find(parts[i]);
    if (child == trail.back()->children.end()) return nullptr;
    if (child->second->kind != Entry::Kind::kLink) {
      trail.push_back(child->second.get());
      continue;
    }
    std::vector<std::string> rest =
        absl::StrSplit(child->second->target, '/', absl::SkipEmpty());
    rest.insert(rest.end(), parts.begin() + static_cast<long>(i) + 1,
                parts.end());
    parts = std::move(rest);
    i = static_cast<size_t>(-1);
  }
  return trail.back();
}

// What `cat path` prints.
inline absl::StatusOr<std::string> Cat(const Entry& root,
                                       std::string_view path) {
  const Entry* entry = Find(root, path);
  if (entry == nullptr || entry->kind != Entry::Kind::kText) {
    return absl::NotFoundError(std::string(path));
  }
  return entry->read();
}

// `echo -n text > path`
inline absl::Status Write(const Entry& root, std::string_view path,
                          std::string_view text) {
  const Entry* entry = Find(root, path);
  if (entry == nullptr || !entry->write) {
    return absl::PermissionDeniedError(std::string(path));
  }
  return entry->write(text);
}

}  // namespace ibemu::sysfs

#endif  // IBEMU_TESTS_SYSFS_FIXTURE_H_
