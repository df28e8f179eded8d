#include "daemon/hca_backend.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "daemon/addresses/load_addresses.h"
#include "daemon/remote_node/modelled_hca.h"
#include "daemon/web/adapter_pages.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

absl::StatusOr<std::unique_ptr<hca::PciFunction>> Open(const HcaChoice& choice,
                                                       Loop& loop) {
  if (const auto* const real = std::get_if<HcaOptions>(&choice)) {
    return OpenHca(*real);
  }
  auto plugged = PlugInModelledHca(std::get<HcaModelChoice>(choice), loop);
  if (plugged.ok()) return plugged;
  return absl::Status(plugged.status().code(),
                      absl::StrCat("model=", HcaName(choice), ": ",
                                   plugged.status().message()));
}

}  // namespace

HcaBackend::HcaBackend(Loop& loop, std::function<void()> alive)
    : loop_(loop),
      adapters_(loop, WithHeartbeat(SleepingPause(), std::move(alive))),
      events_(loop, adapters_, absl::Now() - loop.Now()),
      event_methods_(loop, events_) {}

absl::StatusOr<std::unique_ptr<Backend>> HcaBackend::Load(
    const DaemonOptions& options, Loop& loop, std::function<void()> alive) {
  std::unique_ptr<HcaBackend> backend(new HcaBackend(loop, std::move(alive)));
  for (const HcaChoice& choice : options.adapters) {
    IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<hca::PciFunction> function,
                           Open(choice, loop));
    IBEMU_RETURN_IF_ERROR(
        backend->adapters_.Add(HcaName(choice), std::move(function)));
  }
  if (options.addresses) {
    IBEMU_ASSIGN_OR_RETURN(
        backend->addresses_,
        LoadAddresses(*options.addresses, backend->adapters_, {}));
  }
  return backend;
}

absl::Status HcaBackend::Probe(const std::vector<HcaChoice>& choices,
                               Loop& loop, const hca::Print& print) {
  absl::Status first_error;
  for (const HcaChoice& choice : choices) {
    const std::string name = HcaName(choice);
    absl::Status probed;
    if (const auto function = Open(choice, loop); function.ok()) {
      print(name + ": ");
      probed = ProbeHca(**function, name, loop, SleepingPause(), print);
    } else {
      probed = function.status();
    }
    if (probed.ok()) continue;
    // Only the other errors are printed here: the caller prints the first one
    // at the end.
    if (!first_error.ok()) print(absl::StrCat(probed.message(), "\n"));
    first_error.Update(probed);
  }
  return first_error;
}

void HcaBackend::AddTo(control::MethodTable& dispatcher, HostTable& hosts,
                       cuse::UverbsFiles& /*uverbs_files*/) {
  captures_.emplace(loop_, hosts, nullptr);
  captures_->AddTo(dispatcher);
  event_methods_.AddTo(dispatcher);
  dispatcher.ExplainMissing(
      "this daemon drives adapters and has no simulated subnet");
}

void HcaBackend::Greet(json& greeting) const { greeting["backend"] = "hca"; }

void HcaBackend::Describe(json& status) const {
  status["backend"] = "hca";
  status["adapters"] = adapters_.List();
}

std::string HcaBackend::Summary() const {
  const size_t count = adapters_.count();
  return absl::StrCat(count, count == 1 ? " adapter" : " adapters");
}

absl::StatusOr<std::unique_ptr<WebServer>> HcaBackend::BindWeb(
    const WebAddress& address, control::MethodTable&) {
  return BindAdapterPages(address, loop_, adapters_);
}

}  // namespace ibemu::daemon
