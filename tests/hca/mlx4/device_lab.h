// An adapter that our driver has brought up, and somebody who asks through it.
#ifndef IBEMU_TESTS_HCA_MLX4_DEVICE_LAB_H_
#define IBEMU_TESTS_HCA_MLX4_DEVICE_LAB_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "hca/mlx4/mlx4_device.h"
#include "mad/host.h"
#include "mad/wire/port_info.h"
#include "mad/wire/smp.h"
#include "testing/mad_builder.h"
#include "testing/mlx4_machine.h"
#include "testing/recording_client.h"

namespace ibemu::hca::mlx4 {

// A DeviceLab is a host whose adapter our driver has brought up.
class DeviceLab : public testing::Mlx4Lab {
 protected:
  DeviceLab() {
    device_ = Start(host_);
    device_->SetListener(&listener_);
    Run(absl::Milliseconds(10));
  }

  void Run(absl::Duration span) { RunFor(span, {device_.get()}); }

  std::unique_ptr<mad::Agent> Register(mad::Host& host, int qp) {
    auto agent = host.Register(1, {.qp = qp}, asker_);
    EXPECT_TRUE(agent.ok()) << agent.status();
    return *std::move(agent);
  }

  // Its answer goes to asker_, or that none came in time.
  static void Post(mad::Agent& agent, const mad::Outgoing& packet,
                   absl::Duration timeout) {
    const absl::Status sent =
        agent.Send({.to = packet.to,
                    .mad = {packet.mad.begin(), packet.mad.end()},
                    .timeout = timeout});
    EXPECT_TRUE(sent.ok()) << sent;
  }
  // With a transaction id of its own.
  static void Post(mad::Agent& agent, mad::Outgoing packet, uint64_t tid,
                   absl::Duration timeout) {
    wire::Put<&mad::MadHeader::tid>(packet.mad, tid);
    Post(agent, packet, timeout);
  }

  // What comes back.
  std::vector<mad::IncomingMessage> Ask(mad::Agent& agent,
                                        const mad::Outgoing& packet) {
    asker_.inbox.clear();
    Post(agent, packet, absl::Milliseconds(20));
    Run(absl::Milliseconds(2));
    return asker_.inbox;
  }

  static mad::Outgoing Directed(mad::AttributeId attribute,
                                std::initializer_list<int> path) {
    mad::Outgoing packet = testing::DirectedGet(attribute, path);
    wire::Put<&mad::Smp::hop_pointer>(packet.mad, 0);
    return packet;
  }

  // How often the software went around the queues of this kind that it used
  // most, once the device has ended.
  uint64_t RoundsOf(model::mlx4::QueueKind kind) {
    uint64_t rounds = 0;
    for (const auto& [sort, use] : host_.model.ended_queues()) {
      if (sort.kind == kind) rounds = std::max(rounds, use.most / sort.size);
    }
    return rounds;
  }

  mad::PortInfo FabricsView() { return lab_.HostPort(1).Info(); }

  testing::Mlx4Machine& host_ = PlugIn();
  testing::RecordingDeviceListener listener_;
  std::unique_ptr<Mlx4Device> device_;
  testing::RecordingClient asker_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_HCA_MLX4_DEVICE_LAB_H_
