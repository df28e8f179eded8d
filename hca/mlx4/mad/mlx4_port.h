// Mlx4Port: a port of an mlx4 adapter, as MAD agents see it.
#ifndef IBEMU_HCA_MLX4_MAD_MLX4_PORT_H_
#define IBEMU_HCA_MLX4_MAD_MLX4_PORT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "hca/mlx4/core/resources.h"
#include "hca/mlx4/mad/mad_ifc.h"
#include "hca/mlx4/mad/mlx4_port_tables.h"
#include "hca/mlx4/mad/special_qp.h"
#include "hca/prm/mlx4_events.h"
#include "hca/prm/mlx4_query.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::hca::mlx4 {

// The objects and values that the ports of one adapter share.
struct PortParts {
  Resources& resources;
  MadIfc& mads;
  int port_count = 1;
  uint32_t first_qpn = 0;  // given to CONF_SPECIAL_QP
  uint32_t cqn = 0;
  uint32_t lkey = 0;  // of the region of all memory
  // The description in Linux's node_desc; the firmware has its own.
  const std::string& node_description;
  // Called when the state or a table of `port` has changed, from within the
  // port's own calls.
  std::function<void(int port)> changed;
};

// An Mlx4Port sends and receives MADs by its queue pairs 0 and 1, and asks the
// firmware's agents by MAD_IFC.  It tells its listener of changes that events
// and answered Sets bring.
class Mlx4Port : public mad::Port {
 public:
  // All that `parts` refers to must outlive the port.
  Mlx4Port(PortParts parts, int number, const prm::QueryPort& limits);
  // Takes the queue pairs down, and closes the port.
  ~Mlx4Port() override;

  // Runs SET_PORT, then brings up queue pairs 0 and 1, with INIT_PORT in
  // between.
  absl::Status Start();

  absl::Status Transmit(const mad::Outgoing& packet) override;
  mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                 mad::MadBytes& reply) override;
  void SetListener(mad::PortListener* listener) override {
    listener_ = listener;
  }
  mad::PortInfo Info() const override { return tables_.info(); }
  int GidCount() const override { return tables_.GidCount(); }
  wire::Gid GidAt(int index) const override { return tables_.GidAt(index); }
  int PKeyCount() const override { return tables_.PKeyCount(); }
  uint16_t PKeyAt(int index) const override { return tables_.PKeyAt(index); }
  void SetIsSm(bool is_sm) override;

  // Handles a completion of one of the port's queue pairs; returns false if
  // `completion` belongs to another.
  bool OnCompletion(const Completion& completion);
  // Handles an asynchronous event that names this port.
  void OnEvent(const prm::Eqe& event);

  // The counters of queue pair 0 or 1.  Requests to the firmware's agents are
  // not among them, because they are commands.  REQUIRES: the queue pair was
  // started.
  const MadTotals& mads(int qp) const {
    return qps_[static_cast<size_t>(qp)]->totals();
  }

  // Called when the device is gone: Transmit() fails from now on.
  void OnRemoved() { removed_ = true; }

 private:
  absl::Status StartQp(int qp, const std::function<absl::Status()>& between);
  absl::Status SetLimits();
  absl::Status SetPort(const prm::SetPort& wanted);
  // Reads again what a Set that the firmware's agent has answered may have
  // changed.
  void Follow(const mad::MadBytes& request);
  void Tell(const absl::Status& refreshed);
  void OnMad(int qp, const prm::Cqe& entry, std::span<const std::byte> bytes);
  void Dispatch(mad::Arrival& arrival, const wire::Gid& dgid);
  mad::LocalVerdict AskFirmware(const mad::Arrival& request,
                                const wire::Gid& dgid, mad::MadBytes& reply);
  void Answer(const mad::Arrival& request, mad::MadBytes& reply);

  const PortParts parts_;
  const int number_;
  const prm::QueryPort limits_;
  Mlx4PortTables tables_;
  std::array<std::unique_ptr<SpecialQp>, 2> qps_;
  bool initialised_ = false;  // INIT_PORT was run
  mad::PortListener* listener_ = nullptr;
  bool removed_ = false;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_MAD_MLX4_PORT_H_
