// HcaBackend: the back end of adapters that are driven by MMIO.
#ifndef IBEMU_DAEMON_HCA_BACKEND_H_
#define IBEMU_DAEMON_HCA_BACKEND_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/adapters/adapter_event_log.h"
#include "daemon/adapters/hca_access.h"
#include "daemon/adapters/hca_adapters.h"
#include "daemon/adapters/hca_probe.h"
#include "daemon/addresses/address_plan.h"
#include "daemon/backend.h"
#include "daemon/capture/capture_methods.h"
#include "daemon/daemon_options.h"
#include "daemon/draw_seed.h"
#include "daemon/events/event_methods.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// An HcaBackend has real adapters, or models of them, which this process
// drives; there is no subnet here.  It adds no methods but those of captures
// and events.
class HcaBackend : public Backend {
 public:
  // Takes over the adapters of `options`, one after the other.  `loop` must
  // outlive the result.  `alive` is called about once a second during a wait
  // for an adapter.
  //
  // Errors: those of OpenHca(), PlugInModelledHca(), HcaAdapters::Add() and
  // LoadAddresses(); the adapters that were taken are then given back.
  static absl::StatusOr<std::unique_ptr<Backend>> Load(
      const DaemonOptions& options, Loop& loop, std::function<void()> alive);

  // Asks each adapter what it is, and touches nothing else.  Prints the output
  // of ProbeHca(), after the adapter's name.
  //
  // Errors: as Load(), that of the first adapter that fails; those of others
  // are printed.
  static absl::Status Probe(const std::vector<HcaChoice>& choices, Loop& loop,
                            const hca::Print& print);

  Adapters& adapters() override { return adapters_; }
  const AddressPlan& addresses() const override { return addresses_; }
  uint64_t seed() const override { return seed_; }
  EventLog& events() override { return events_; }
  void AddTo(control::MethodTable& dispatcher, HostTable& hosts,
             cuse::UverbsFiles& uverbs_files) override;
  void Greet(nlohmann::json& greeting) const override;
  void Describe(nlohmann::json& status) const override;
  std::string Summary() const override;
  absl::StatusOr<std::unique_ptr<WebServer>> BindWeb(
      const WebAddress& address, control::MethodTable& dispatcher) override;

 private:
  HcaBackend(Loop& loop, std::function<void()> alive);

  Loop& loop_;
  HcaAdapters adapters_;
  AddressPlan addresses_;  // with Load()
  const uint64_t seed_ = DrawSeed();
  AdapterEventLog events_;
  EventMethods event_methods_;
  std::optional<CaptureMethods> captures_;  // with AddTo()
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_HCA_BACKEND_H_
