// Adapters whose values a test sets, and the words for asking their tree.
#ifndef IBEMU_TESTS_SYSFS_FIXTURE_H_
#define IBEMU_TESTS_SYSFS_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "mad/host.h"
#include "sysfs/tree.h"
#include "sysfs/view.h"
#include "testing/fake_device.h"
#include "testing/virtual_timers.h"

namespace ibemu::sysfs {

using ibemu::testing::FakeDevice, ibemu::testing::FakePort;

// A machine with the adapters of a test.
class Machine {
 public:
  FakeDevice& AddAdapter(int ports) { return Add(FakeDevice(ports)); }
  FakeDevice& AddSwitch() { return Add(FakeDevice::Switch()); }

  FakeDevice& device(size_t index) { return *devices_[index]; }

  // The host of a device that was plugged in again.
  std::shared_ptr<mad::Host> FreshHost(size_t index) {
    return std::make_shared<mad::Host>(timers_, *devices_[index]);
  }

  absl::StatusOr<View> Show(std::string_view format = "ibemu%d",
                            Profile profile = Profile::kQib,
                            bool verbs = false) const {
    return MakeView(hosts_, format, profile, verbs);
  }

 private:
  FakeDevice& Add(FakeDevice device) {
    devices_.push_back(std::make_unique<FakeDevice>(std::move(device)));
    for (int i = devices_.back()->first_port();
         i <= devices_.back()->last_port(); ++i) {
      FakePort& port = devices_.back()->port(i);
      port.gids.push_back({});
      port.pkeys.push_back(0);
    }
    hosts_.push_back(std::make_shared<mad::Host>(timers_, *devices_.back()));
    return *devices_.back();
  }

  ibemu::testing::VirtualTimers timers_;
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

// Returns the text that `cat path` prints.
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
