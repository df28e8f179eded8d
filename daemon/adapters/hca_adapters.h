// The adapters of --backend=hca, which are driven by MMIO.
#ifndef IBEMU_DAEMON_ADAPTERS_HCA_ADAPTERS_H_
#define IBEMU_DAEMON_ADAPTERS_HCA_ADAPTERS_H_

#include <cstddef>
#include <memory>
#include <optional>
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
#include "hca/driver/driven_adapter.h"
#include "loop/loop.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// An HcaAdapters owns adapters, each with our driver.  An adapter that has died
// stays here, cut off from all memory, because files that were open then use it
// until they are closed.  The daemon has to be started again to take it over
// once more.
class HcaAdapters : public Adapters {
 public:
  // An observer of all adapters.  `adapter` is the index on the command line.
  class Watcher {
   public:
    // Called as mad::DeviceListener::OnPortEvent() is.
    virtual void OnPortChange(size_t adapter, int port) = 0;
    // Called when the adapter has died.
    virtual void OnGone(size_t adapter) = 0;

   protected:
    ~Watcher() = default;
  };

  // `loop` must outlive this object.  `pause` waits for hardware.
  HcaAdapters(Loop& loop, hca::Pause pause);
  ~HcaAdapters() override;

  // Takes over an adapter and brings it up, which may take seconds.  `name` is
  // its name on the command line.
  //
  // Errors: those of hca::StartDevice(), with the name in front.
  absl::Status Add(const std::string& name,
                   std::unique_ptr<hca::PciFunction> function);

  size_t count() const { return entries_.size(); }
  // Returns an adapter, by its index on the command line.
  HcaView at(size_t index) const {
    const Entry& entry = *entries_[index];
    return {entry.name, *entry.device, entry.alive};
  }
  // Sets the only watcher, or removes it if null.  Not owned.
  void SetWatcher(Watcher* watcher) { watcher_ = watcher; }
  // Returns DescribeHca() of each adapter.
  nlohmann::json List() const;

  // Finds an adapter by its name, its PCI address, its node description, or the
  // GUID of its node or of a port.
  absl::StatusOr<AdapterId> Find(std::string_view name) const override;
  std::optional<AdapterId> WithPortGuid(wire::Guid guid) const override;
  // Returns the first adapter.
  absl::StatusOr<AdapterId> Default() const override;
  bool IsRemoved(AdapterId) const override { return false; }
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
    std::unique_ptr<hca::DrivenAdapter> device;
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
