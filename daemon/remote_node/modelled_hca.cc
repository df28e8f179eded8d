#include "daemon/remote_node/modelled_hca.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "control/client.h"
#include "daemon/remote_node/node_link_pump.h"
#include "daemon/remote_node/remote_cable.h"
#include "hca/model/in_process_function.h"
#include "hca/model/mlx4/firmware/connectx3_model.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {
namespace {

constexpr int kMaxPorts = 2;
constexpr uint32_t kCableLost = 1;  // an internal error code like any other

std::vector<hca::model::Cable*> PortsOf(RemoteCables& cables) {
  std::vector<hca::model::Cable*> ports;
  for (int port = 1; port <= cables.port_count(); ++port) {
    ports.push_back(&cables.cable(port));
  }
  return ports;
}

// The adapter and what it is plugged into.
class Card {
 public:
  Card(std::unique_ptr<RemoteCables> cables, Loop& loop, std::string name)
      : cables_(std::move(cables)),
        device_(loop, PortsOf(*cables_)),
        pump_(loop, *cables_, [this] { OnLost(); }),
        name_(std::move(name)) {}

  absl::Status Start() { return pump_.Start(); }
  hca::model::PciDevice& device() { return device_; }

 private:
  void OnLost() {
    spdlog::error("{}: the daemon that has its fabric has ended", name_);
    device_.Fail(kCableLost);
  }

  const std::unique_ptr<RemoteCables> cables_;
  hca::model::ConnectX3Model device_;
  NodeLinkPump pump_;
  const std::string name_;
};

// Made before the function, and gone after it.
struct CardHolder {
  std::unique_ptr<Card> card;
};

class ModelledFunction : private CardHolder,
                         public hca::model::InProcessFunction {
 public:
  explicit ModelledFunction(std::unique_ptr<Card> made)
      : CardHolder{std::move(made)}, InProcessFunction(card->device()) {}
};

}  // namespace

absl::StatusOr<std::unique_ptr<hca::PciFunction>> PlugInModelledHca(
    const HcaModelChoice& choice, Loop& loop) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(choice.fabric));
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<RemoteCables> cables,
                         RemoteCables::Plug(std::move(client), choice.node));
  if (cables->port_count() > kMaxPorts) {
    return absl::InvalidArgumentError(
        absl::StrCat(choice.node, " has ", cables->port_count(),
                     " ports: a ConnectX-3 has ", kMaxPorts, " at most"));
  }
  auto card = std::make_unique<Card>(std::move(cables), loop, HcaName(choice));
  IBEMU_RETURN_IF_ERROR(card->Start());
  return std::make_unique<ModelledFunction>(std::move(card));
}

}  // namespace ibemu::daemon
