// Each command that changes a queue pair, in each state.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/hca/model/fake_host.h"

namespace ibemu::hca::model {
namespace {

using prm::Opcode;
using prm::QpContextState;
using Status = prm::CommandStatus;

constexpr Opcode kCommands[] = {
    Opcode::kRst2InitQp, Opcode::kInit2InitQp, Opcode::kInit2RtrQp,
    Opcode::kRtr2RtsQp,  Opcode::kRts2RtsQp,   Opcode::kSqErr2RtsQp,
    Opcode::kRts2SqdQp,  Opcode::kSqd2SqdQp,   Opcode::kSqd2RtsQp,
    Opcode::k2ErrQp,     Opcode::k2RstQp};

// What firmware takes, as in the Linux driver's table (mlx4/qp.c:
// __mlx4_qp_modify), but for 2ERR_QP of a queue pair that has no context yet.
struct Transition {
  QpContextState from;
  Opcode opcode;
  QpContextState to;
};
constexpr Transition kTaken[] = {
    {QpContextState::kReset, Opcode::kRst2InitQp, QpContextState::kInit},
    {QpContextState::kReset, Opcode::k2RstQp, QpContextState::kReset},
    {QpContextState::kInit, Opcode::kInit2InitQp, QpContextState::kInit},
    {QpContextState::kInit, Opcode::kInit2RtrQp, QpContextState::kRtr},
    {QpContextState::kInit, Opcode::k2ErrQp, QpContextState::kError},
    {QpContextState::kInit, Opcode::k2RstQp, QpContextState::kReset},
    {QpContextState::kRtr, Opcode::kRtr2RtsQp, QpContextState::kRts},
    {QpContextState::kRtr, Opcode::k2ErrQp, QpContextState::kError},
    {QpContextState::kRtr, Opcode::k2RstQp, QpContextState::kReset},
    {QpContextState::kRts, Opcode::kRts2RtsQp, QpContextState::kRts},
    {QpContextState::kRts, Opcode::kRts2SqdQp, QpContextState::kSqDrained},
    {QpContextState::kRts, Opcode::k2ErrQp, QpContextState::kError},
    {QpContextState::kRts, Opcode::k2RstQp, QpContextState::kReset},
    {QpContextState::kSqError, Opcode::kSqErr2RtsQp, QpContextState::kRts},
    {QpContextState::kSqError, Opcode::k2ErrQp, QpContextState::kError},
    {QpContextState::kSqError, Opcode::k2RstQp, QpContextState::kReset},
    {QpContextState::kSqDrained, Opcode::kSqd2SqdQp,
     QpContextState::kSqDrained},
    {QpContextState::kSqDrained, Opcode::kSqd2RtsQp, QpContextState::kRts},
    {QpContextState::kSqDrained, Opcode::k2ErrQp, QpContextState::kError},
    {QpContextState::kSqDrained, Opcode::k2RstQp, QpContextState::kReset},
    {QpContextState::kError, Opcode::k2ErrQp, QpContextState::kError},
    {QpContextState::kError, Opcode::k2RstQp, QpContextState::kReset},
};

class Mlx4Transitions
    : public ::testing::TestWithParam<std::tuple<QpContextState, Opcode>> {
 protected:
  void BringTo(QpContextState state) {
    if (state == QpContextState::kReset) return;
    ASSERT_EQ(here_.Create(kQpn, context_), Status::kOk);
    if (state == QpContextState::kInit) return;
    Give(Opcode::kInit2RtrQp);
    if (state == QpContextState::kRtr) return;
    Give(Opcode::kRtr2RtsQp);
    if (state == QpContextState::kSqDrained) Give(Opcode::kRts2SqdQp);
    if (state == QpContextState::kError) Give(Opcode::k2ErrQp);
    if (state == QpContextState::kSqError) {
      here_.Post(kQpn, prm::ControlSegment{.opcode = prm::WqeOpcode::kSend},
                 {});
    }
    ASSERT_EQ(here_.Query(kQpn).state, state);
  }
  Status Give(Opcode opcode) {
    // The context of RST2INIT has a place that is known by now.
    return opcode == Opcode::kRst2InitQp ? here_.Create(kQpn, context_)
                                         : here_.Modify(opcode, kQpn, context_);
  }

  testing::VirtualTimers timers_;
  FakeHost here_{timers_};
  const prm::QpContext context_ = here_.Context(prm::QpService::kUd);
};

TEST_P(Mlx4Transitions, HappenFromTheStatesOfTheTableAlone) {
  const QpContextState state = std::get<0>(GetParam());
  const Opcode opcode = std::get<1>(GetParam());
  BringTo(state);
  const auto* const taken =
      std::ranges::find_if(kTaken, [&](const Transition& transition) {
        return transition.from == state && transition.opcode == opcode;
      });
  const bool refused = taken == std::end(kTaken);
  EXPECT_EQ(Give(opcode), refused ? Status::kBadQpState : Status::kOk);
  EXPECT_EQ(here_.Query(kQpn).state, refused ? state : taken->to);
}

std::string NameOf(QpContextState state) {
  constexpr const char* kNames[] = {"Reset",   "Init",      "Rtr",  "Rts",
                                    "SqError", "SqDrained", "Error"};
  return kNames[static_cast<size_t>(state)];
}

INSTANTIATE_TEST_SUITE_P(
    EachCommandInEachState, Mlx4Transitions,
    ::testing::Combine(
        ::testing::Values(QpContextState::kReset, QpContextState::kInit,
                          QpContextState::kRtr, QpContextState::kRts,
                          QpContextState::kSqError, QpContextState::kSqDrained,
                          QpContextState::kError),
        ::testing::ValuesIn(kCommands)),
    [](const auto& info) {
      return std::string(prm::Name(std::get<1>(info.param))) + "_in" +
             NameOf(std::get<0>(info.param));
    });

// The optional components of one step.
struct Step {
  prm::QpService service;
  Opcode opcode;
  uint32_t optional;
};
using enum prm::QpService;

// Leads a queue pair to where the step is, by steps without any, and gives it.
Status Take(FakeHost& here, uint32_t qpn, const Step& step) {
  constexpr Opcode kWay[] = {Opcode::kRst2InitQp, Opcode::kInit2RtrQp,
                             Opcode::kRtr2RtsQp, Opcode::kRts2SqdQp};
  prm::QpContext context = here.Context(step.service);
  context.primary.rlid = 5;
  const auto before = [opcode = step.opcode] {
    switch (opcode) {
      case Opcode::kRst2InitQp:
        return 0;
      case Opcode::kInit2InitQp:
      case Opcode::kInit2RtrQp:
        return 1;
      case Opcode::kRtr2RtsQp:
        return 2;
      case Opcode::kRts2RtsQp:
      case Opcode::kRts2SqdQp:
        return 3;
      default:
        return 4;
    }
  };
  for (int i = 0; i < before(); ++i) {
    const Status status =
        i == 0 ? here.Create(qpn, context) : here.Modify(kWay[i], qpn, context);
    EXPECT_EQ(status, Status::kOk) << prm::Name(kWay[i]);
  }
  return step.opcode == Opcode::kRst2InitQp
             ? here.Create(qpn, context, step.optional)
             : here.Modify(step.opcode, qpn, context, step.optional);
}

TEST(Mlx4OptionalComponents, AreTakenAsLinuxNamesThem) {
  testing::VirtualTimers timers;
  FakeHost here(timers);
  constexpr Step kSteps[] = {
      {kRc, Opcode::kRst2InitQp, 0x1e},    {kRc, Opcode::kInit2InitQp, 0x1e},
      {kRc, Opcode::kInit2RtrQp, 0x102df}, {kRc, Opcode::kRtr2RtsQp, 0x754f},
      {kRc, Opcode::kRts2RtsQp, 0x44f},    {kRc, Opcode::kSqd2RtsQp, 0x44f},
      {kRc, Opcode::kSqd2SqdQp, 0x177df},  {kUc, Opcode::kRst2InitQp, 0x1e},
      {kUc, Opcode::kInit2RtrQp, 0x1009f}, {kUc, Opcode::kRtr2RtsQp, 0x40f},
      {kUc, Opcode::kSqd2SqdQp, 0x1049f},  {kUd, Opcode::kRst2InitQp, 0x30},
      {kUd, Opcode::kInit2RtrQp, 0x30},    {kUd, Opcode::kRtr2RtsQp, 0x20},
      {kUd, Opcode::kRts2RtsQp, 0x20},     {kUd, Opcode::kSqd2SqdQp, 0x30},
  };
  uint32_t qpn = kQpn;
  for (const Step& step : kSteps) {
    EXPECT_EQ(Take(here, qpn++, step), Status::kOk)
        << static_cast<int>(step.service) << " " << prm::Name(step.opcode);
  }
}

TEST(Mlx4OptionalComponents, AreRefusedWhereTheTransitionHasNone) {
  testing::VirtualTimers timers;
  FakeHost here(timers);
  constexpr Step kSteps[] = {
      {kRc, Opcode::kRst2InitQp, prm::kOptQKey},
      {kRc, Opcode::kRst2InitQp, prm::kOptPrimaryPath},
      {kRc, Opcode::kInit2InitQp, prm::kOptAckTimeout},
      {kRc, Opcode::kInit2RtrQp, prm::kOptQKey},
      {kRc, Opcode::kInit2RtrQp, prm::kOptMigrationState},
      {kRc, Opcode::kRtr2RtsQp, prm::kOptPrimaryPath},
      {kRc, Opcode::kRtr2RtsQp, prm::kOptPKeyIndex},
      {kRc, Opcode::kRts2RtsQp, prm::kOptAckTimeout},
      {kRc, Opcode::kRts2RtsQp, prm::kOptSchedQueue},
      {kRc, Opcode::kRts2SqdQp, prm::kOptRemoteRead},
      {kRc, Opcode::kSqd2RtsQp, prm::kOptSraMax},
      {kRc, Opcode::kSqd2SqdQp, prm::kOptQKey},
      {kRc, Opcode::kSqd2SqdQp, 1u << 11},
      {kUc, Opcode::kInit2RtrQp, prm::kOptRnrTimeout},
      {kUc, Opcode::kRtr2RtsQp, prm::kOptRetryCount},
      {kUc, Opcode::kSqd2SqdQp, prm::kOptRraMax},
      {kUd, Opcode::kRst2InitQp, prm::kOptRemoteWrite},
      {kUd, Opcode::kInit2RtrQp, prm::kOptPrimaryPath},
      {kUd, Opcode::kRtr2RtsQp, prm::kOptPKeyIndex},
      {kUd, Opcode::kSqd2SqdQp, prm::kOptSchedQueue},
  };
  uint32_t qpn = kQpn;
  for (const Step& step : kSteps) {
    EXPECT_EQ(Take(here, qpn++, step), Status::kBadParam)
        << static_cast<int>(step.service) << " " << prm::Name(step.opcode)
        << " " << step.optional;
  }
}

}  // namespace
}  // namespace ibemu::hca::model
