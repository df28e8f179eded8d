#include "daemon/journal/restore_subnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "testing/lab.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr;
using testing::Lab, testing::Chain;
using topology::NodeId;

// Of Chain(1).
constexpr NodeId kHost1{0}, kSwitch1{1}, kHost2{2};

JournalPort RowOf(JournalPlace place, std::optional<JournalPlace> peer,
                  bool cut = false) {
  return {.place = place,
          .peer = peer,
          .cut = cut,
          .guid = wire::Guid{0x77},
          .lid = 9,
          .lmc = 0};
}

std::string MistakeIn(const std::vector<JournalPort>& ports) {
  Lab lab(Chain(1));
  const absl::Status status = RestoreSubnet(
      {.subnet = {}, .nodes = {}, .ports = ports, .faults = {}, .reverts = {}},
      lab.fabric);
  // Nothing was changed.
  EXPECT_TRUE(lab.PortOf("host-1", 1).IsUp());
  EXPECT_EQ(lab.LidOf("host-1"), wire::Lid::kUnassigned);
  return std::string(status.message());
}

TEST(RestoreSubnetTest, CablesCutsAndIdentitiesAreAsTheyWere) {
  Lab lab(Chain(1));
  // The cable of host-1 leads to port 5; that of host-2 is cut.
  const JournalPort moved = RowOf({kHost1, 1}, JournalPlace{kSwitch1, 5});
  ASSERT_TRUE(
      RestoreSubnet(
          {.subnet = {},
           .nodes = {{.node = kHost2, .guid = wire::Guid{0x99}}},
           .ports = {moved, RowOf({kSwitch1, 5}, moved.place),
                     RowOf({kSwitch1, 1}, std::nullopt),
                     RowOf({kHost2, 1}, JournalPlace{kSwitch1, 2}, true),
                     RowOf({kSwitch1, 2}, JournalPlace{kHost2, 1}, true)},
           .faults = {},
           .reverts = {}},
          lab.fabric)
          .ok());
  EXPECT_EQ(lab.PortOf("host-1", 1).peer, lab.IdOf("sw1", 5));
  EXPECT_TRUE(lab.PortOf("sw1", 5).IsUp());
  EXPECT_EQ(lab.PortOf("sw1", 1).peer, fabric::kNoPort);
  EXPECT_FALSE(lab.PortOf("host-2", 1).IsUp());
  EXPECT_FALSE(lab.PortOf("host-2", 1).cable_up);
  EXPECT_EQ(lab.LidOf("host-1"), wire::Lid{9});
  EXPECT_EQ(lab.PortOf("host-1", 1).guid, wire::Guid{0x77});
  EXPECT_EQ(lab.subnet().node(kHost2).node_guid, wire::Guid{0x99});
  // A switch's LID is that of its port 0 alone.
  EXPECT_EQ(lab.LidOf("sw1", 5), wire::Lid::kUnassigned);
}

TEST(RestoreSubnetTest, WhatWasDisabledStaysSoUntilSomebodyEnablesIt) {
  Lab lab(Chain(1));
  JournalPort disabled = RowOf({kSwitch1, 2}, JournalPlace{kHost2, 1});
  disabled.disabled = true;
  ASSERT_TRUE(RestoreSubnet({.subnet = {},
                             .nodes = {},
                             .ports = {disabled},
                             .faults = {},
                             .reverts = {}},
                            lab.fabric)
                  .ok());
  EXPECT_FALSE(lab.PortOf("host-2", 1).IsUp());
  ASSERT_TRUE(StartSubnetManager(lab.fabric).ok());
  EXPECT_FALSE(lab.PortOf("host-2", 1).IsUp());
  EXPECT_TRUE(lab.fabric.links().SetPhysicalState(
      lab.IdOf("sw1", 2), mad::PortPhysicalState::kPolling));
  EXPECT_TRUE(lab.PortOf("host-2", 1).IsUp());
}

TEST(RestoreSubnetTest, WhatIsOffComesBackWithoutItsLid) {
  Lab lab(Chain(1));
  ASSERT_TRUE(
      RestoreSubnet(
          {.subnet = {},
           .nodes = {{.node = kHost1, .guid = wire::Guid{1}, .on = false}},
           .ports = {RowOf({kHost1, 1}, JournalPlace{kSwitch1, 1})},
           .faults = {},
           .reverts = {}},
          lab.fabric)
          .ok());
  EXPECT_FALSE(lab.subnet().node(kHost1).up);
  lab.fabric.SetNode(kHost1, true);
  EXPECT_TRUE(lab.PortOf("sw1", 1).IsUp());
  EXPECT_EQ(lab.PortOf(kHost1, 1).info.lid, wire::Lid::kUnassigned);
}

TEST(RestoreSubnetTest, ASubnetManagerKeepsTheLids) {
  Lab lab(Chain(1));
  ASSERT_TRUE(
      RestoreSubnet({.subnet = {},
                     .nodes = {},
                     .ports = {RowOf({kHost2, 1}, JournalPlace{kSwitch1, 2})},
                     .faults = {},
                     .reverts = {}},
                    lab.fabric)
          .ok());
  ASSERT_TRUE(StartSubnetManager(lab.fabric).ok());
  EXPECT_EQ(lab.LidOf("host-2"), wire::Lid{9});
}

TEST(RestoreSubnetTest, WhatContradictsItselfIsRefusedBeforeAnythingChanges) {
  const JournalPlace host{kHost1, 1}, near{kSwitch1, 1}, far{kSwitch1, 5};
  EXPECT_THAT(MistakeIn({RowOf({NodeId{3}, 1}, std::nullopt)}),
              HasSubstr("there is no node 3: there are 0 to 2"));
  EXPECT_THAT(MistakeIn({RowOf({kHost1, 2}, std::nullopt)}),
              HasSubstr("there is no port 2 of node 0: it has 1 to 1"));
  EXPECT_THAT(MistakeIn({RowOf(far, std::nullopt), RowOf(far, std::nullopt)}),
              HasSubstr("port 5 of node 1 is there twice"));
  EXPECT_THAT(MistakeIn({RowOf(host, far)}), HasSubstr("lost a cable"));
  EXPECT_THAT(MistakeIn({RowOf(host, far), RowOf(near, std::nullopt)}),
              HasSubstr("does not end at port 5 of node 1"));
  EXPECT_THAT(MistakeIn({RowOf(host, near, true)}),
              HasSubstr("is cut at one end alone"));
  EXPECT_THAT(MistakeIn({RowOf(far, far)}), HasSubstr("does not end at"));
  EXPECT_THAT(MistakeIn({RowOf({kSwitch1, 0}, far)}), HasSubstr("port 0"));
  JournalPort disabled = RowOf({kSwitch1, 0}, std::nullopt);
  disabled.disabled = true;
  EXPECT_THAT(MistakeIn({disabled}), HasSubstr("can't be disabled"));
}

}  // namespace
}  // namespace ibemu::daemon
