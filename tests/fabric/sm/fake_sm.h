// Programs that claim to be subnet managers.
#ifndef IBEMU_TESTS_FABRIC_SM_FAKE_SM_H_
#define IBEMU_TESTS_FABRIC_SM_FAKE_SM_H_

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "fabric/sm/subnet_manager.h"
#include "mad/smi.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/smp.h"
#include "testing/lab.h"

namespace ibemu::fabric {

// A FakeSm is what a program on port 1 of `node` does as a subnet manager.
class FakeSm : public mad::PortListener {
 public:
  FakeSm(testing::Lab& lab, std::string_view node, uint8_t priority)
      : port_(lab.fabric.device(lab.Find(node)).port(1)) {
    info.guid = lab.PortOf(node, 1).guid;
    info.priority = priority;
    info.sm_state = mad::SmState::kStandby;
    port_.SetListener(this);
  }
  ~FakeSm() override { port_.SetListener(nullptr); }
  FakeSm(const FakeSm&) = delete;
  FakeSm& operator=(const FakeSm&) = delete;

  void Appear() { port_.SetIsSm(true); }
  void Vanish() {
    silent = true;
    port_.SetIsSm(false);
  }

  // By a directed route: Set(SMInfo), and what came for it.
  void Set(SmControl control, const std::vector<uint8_t>& path) {
    mad::Smp smp;
    smp.mgmt_class = mad::MgmtClass::kSubnetDirectedRoute;
    smp.method = mad::Method::kSet;
    smp.attr_id = mad::AttributeId::kSmInfo;
    smp.attr_mod = static_cast<uint32_t>(control);
    smp.hop_pointer = 1;
    smp.hop_count = static_cast<uint8_t>(path.size());
    smp.dr_slid = smp.dr_dlid = wire::Lid::kPermissive;
    std::copy(path.begin(), path.end(), smp.initial_path.begin() + 1);
    wire::Encode(info, smp.data);
    mad::Outgoing packet;
    packet.to.dlid = wire::Lid::kPermissive;
    wire::Encode(smp, packet.mad);
    EXPECT_TRUE(port_.Transmit(packet).ok());
  }

  void OnReceive(const mad::Arrival& arrival) override {
    auto smp = wire::Decode<mad::Smp>(arrival.mad);
    if (smp.attr_id != mad::AttributeId::kSmInfo) return;
    if (mad::IsResponse(smp.method)) {
      answers.push_back(smp);
      return;
    }
    requests.push_back(smp);
    if (silent) return;
    const auto control = static_cast<SmControl>(smp.attr_mod);
    if (smp.method == mad::Method::kSet && control == SmControl::kHandover) {
      info.sm_state = mad::SmState::kMaster;
    }
    smp.method = mad::Method::kGetResp;
    smp.direction = true;
    wire::Encode(info, smp.data);
    mad::Outgoing answer;
    answer.to.dlid = wire::Lid::kPermissive;
    wire::Encode(smp, answer.mad);
    mad::SmiAnswer(answer.mad, {.is_switch = false, .port_count = 1}, 1);
    EXPECT_TRUE(port_.Transmit(answer).ok());
  }

  // Set(SMInfo) with this control packet that arrived.
  int Received(SmControl control) const {
    int count = 0;
    for (const mad::Smp& smp : requests) {
      count += smp.method == mad::Method::kSet &&
               smp.attr_mod == static_cast<uint32_t>(control);
    }
    return count;
  }

  mad::SmInfo info;
  bool silent = false;
  std::vector<mad::Smp> requests, answers;

 private:
  mad::Port& port_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_SM_FAKE_SM_H_
