// Adapters by MMIO.
#ifndef IBEMU_DAEMON_ADAPTERS_HCA_ADAPTERS_H_
#define IBEMU_DAEMON_ADAPTERS_HCA_ADAPTERS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/adapters/adapters.h"
#include "daemon/adapters/hca_status.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_function.h"
#include "hca/driver/device.h"
#include "loop/loop.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// Each with our driver.  One that dies stays here, cut off from all memory:
// files that were open then ask it until they are closed, and the daemon has to
// be started again to take it over once more.
class HcaAdapters : public Adapters {
 public:
  // Hears what happens to each, by its place in the command line.
  class Watcher {
   public:
    // As mad::DeviceListener's OnPortEvent().
    virtual void OnPortChange(size_t adapter, int port) = 0;
    // It has died.
    virtual void OnGone(size_t adapter) = 0;

   protected:
    ~Watcher() = default;
  };

  // `loop` must outlive this; `pause` is for the time that hardware takes.
  HcaAdapters(Loop& loop, hca::Pause pause);
  ~HcaAdapters() override;

  // Takes one over and brings it up, which may take seconds.  `name`: what the
  // command line calls it.
  //
  // Errors: hca::StartDevice()'s, with the name before them.
  absl::Status Add(const std::string& name,
                   std::unique_ptr<hca::PciFunction> function);

  size_t count() const { return entries_.size(); }
  // In the order of the command line.
  HcaView at(size_t index) const {
    const Entry& entry = *entries_[index];
    return {entry.name, *entry.device, entry.alive};
  }
  // At most one; nullptr takes it away.  Not owned.
  void SetWatcher(Watcher* watcher) { watcher_ = watcher; }
  // DescribeHca() of each.
  nlohmann::json List() const;

  // By name, PCI address, node description, or GUID of it or a port.
  absl::StatusOr<AdapterId> Find(std::string_view name) const override;
  // The first one.
  absl::StatusOr<AdapterId> Default() const override;
  absl::Status CheckShowable(AdapterId adapter) const override;
  std::string description(AdapterId adapter) const override;
  wire::Guid node_guid(AdapterId adapter) const override;
  mad::Device& device(AdapterId adapter) override;
  verbs::Provider& provider(AdapterId adapter) override;

 private:
  struct Entry final : hca::DeviceWatcher {
    Entry(HcaAdapters& adapters, size_t place, std::string its_name)
        : all(adapters), index(place), name(std::move(its_name)) {}

    void OnPortChange(int port) override;
    void OnGone() override;

    HcaAdapters& all;
    const size_t index;
    const std::string name;
    std::unique_ptr<hca::PciFunction> function;
    std::unique_ptr<hca::Device> device;
    bool alive = true;
  };

  const Entry& entry(AdapterId adapter) const {
    return *entries_[static_cast<size_t>(adapter)];
  }
  absl::Status Watch(Entry& entry);

  Loop& loop_;
  const hca::Pause pause_;
  std::vector<std::unique_ptr<Entry>> entries_;
  Watcher* watcher_ = nullptr;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_HCA_ADAPTERS_H_
