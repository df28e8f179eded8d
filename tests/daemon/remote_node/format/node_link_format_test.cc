#include "daemon/remote_node/format/node_link_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "daemon/remote_node/format/node_link_splitter.h"

namespace ibemu::daemon {
namespace {

using Bytes = std::vector<std::byte>;
using ::testing::ElementsAre;

mad::MadBytes SomeMad() {
  mad::MadBytes mad;
  for (size_t i = 0; i < mad.size(); ++i) mad[i] = std::byte(i);
  return mad;
}

TEST(NodeLinkFormat, ARequestKeepsWhereItCameFrom) {
  mad::Arrival arrival{.qp = 1,
                       .slid = wire::Lid{0x1234},
                       .sl = 3,
                       .path_bits = 4,
                       .pkey_index = 5,
                       .source_qpn = 0x666666,
                       .grh = mad::GlobalRoute{.gid = {7, 8},
                                               .flow_label = 9,
                                               .gid_index = 10,
                                               .hop_limit = 11,
                                               .traffic_class = 12},
                       .mad = SomeMad()};
  for (const bool global : {true, false}) {
    if (!global) arrival.grh.reset();
    const auto back = DecodeRequest(EncodeRequest(arrival));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->qp, arrival.qp);
    EXPECT_EQ(back->slid, arrival.slid);
    EXPECT_EQ(back->sl, arrival.sl);
    EXPECT_EQ(back->path_bits, arrival.path_bits);
    EXPECT_EQ(back->pkey_index, arrival.pkey_index);
    EXPECT_EQ(back->source_qpn, arrival.source_qpn);
    EXPECT_EQ(back->grh, arrival.grh);
    EXPECT_EQ(back->mad, arrival.mad);
  }
}

TEST(NodeLinkFormat, ALeaseKeepsItsTerms) {
  NodeLinkLease lease{.number = 7,
                      .receives = true,
                      .sl = 3,
                      .dlid = wire::Lid{0x1234},
                      .p_key = 0x8001,
                      .mtu = 4096};
  lease.token.back() = std::byte{9};
  std::string address;
  const auto back = DecodeLease(EncodeLease(lease, "10.0.0.7:1"), address);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(address, "10.0.0.7:1");
  EXPECT_EQ(back->number, lease.number);
  EXPECT_TRUE(back->receives);
  EXPECT_EQ(back->sl, lease.sl);
  EXPECT_EQ(back->dlid, lease.dlid);
  EXPECT_EQ(back->p_key, lease.p_key);
  EXPECT_EQ(back->mtu, lease.mtu);
  EXPECT_EQ(back->token, lease.token);
  const std::string long_one(NodeLinkLease::kLongestAddress + 1, '1');
  EXPECT_FALSE(DecodeLease(EncodeLease(lease, long_one), address).ok());
  EXPECT_FALSE(DecodeLease(Bytes(31), address).ok());
}

TEST(NodeLinkFormat, WhatIsSaidOfALeaseHasOneLength) {
  EXPECT_EQ(*DecodeNumber(EncodeNumber(0xfffffffe)), 0xfffffffe);
  EXPECT_FALSE(DecodeNumber(Bytes(5)).ok());
  Bytes bytes;
  wire::Append(
      NodeLinkLeaseUsage{.number = 1, .packets = 1ull << 40, .words = 3},
      bytes);
  const auto usage = DecodeLeaseUsage(bytes);
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_EQ(usage->number, 1u);
  EXPECT_EQ(usage->packets, 1ull << 40);
  EXPECT_EQ(usage->words, 3u);
  EXPECT_FALSE(DecodeLeaseUsage(Bytes(4)).ok());
}

TEST(NodeLinkFormat, ABadKeyIsAPKeyOrAQKeyAndNothingElse) {
  mad::BadKey bad{.trap = mad::TrapNumber::kBadQKey,
                  .details = {.lid1 = wire::Lid{1},
                              .lid2 = wire::Lid{2},
                              .key = 0x80000003,
                              .sl = 4,
                              .qp1 = 5,
                              .qp2 = 0xffffff,
                              .gid1 = {6, 7},
                              .gid2 = {8, 9}},
                  .packets = 10};
  for (const auto trap :
       {mad::TrapNumber::kBadPKey, mad::TrapNumber::kBadQKey}) {
    bad.trap = trap;
    EXPECT_EQ(DecodeBadKey(EncodeBadKey(bad)).value(), bad);
  }
  bad.trap = mad::TrapNumber::kBadMKey;
  EXPECT_EQ(DecodeBadKey(EncodeBadKey(bad)).status().message(),
            "trap 256 is not about a P_Key or Q_Key");
  bad.trap = mad::TrapNumber::kBadPKey;
  bad.packets = 0;
  EXPECT_FALSE(DecodeBadKey(EncodeBadKey(bad)).ok());
  EXPECT_FALSE(DecodeBadKey(Bytes(61)).ok());
}

TEST(NodeLinkFormat, AReplyKeepsItsVerdict) {
  for (const auto verdict :
       {mad::LocalVerdict::kReply, mad::LocalVerdict::kConsumed,
        mad::LocalVerdict::kUnhandled}) {
    mad::MadBytes mad{};
    const auto back = DecodeReply(EncodeReply(verdict, SomeMad()), mad);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, verdict);
    EXPECT_EQ(mad, SomeMad());
  }
}

TEST(NodeLinkFormat, AStateKeepsTheTables) {
  NodeLinkPortState state;
  state.info.lid = wire::Lid{17};
  state.info.port_state = mad::PortState::kActive;
  state.node_guid = wire::Guid{0x1122334455667788};
  state.ports = 2;
  state.gids = {{1, 2}, {3, 4}};
  state.p_keys = {0xffff, 0x8001, 0x7fff};
  for (const bool takes : {true, false}) {
    state.takes_bad_keys = takes;
    EXPECT_EQ(DecodeState(EncodeState(state)).value().takes_bad_keys, takes);
  }
  const auto back = DecodeState(EncodeState(state));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->info.lid, wire::Lid{17});
  EXPECT_EQ(back->info.port_state, mad::PortState::kActive);
  EXPECT_EQ(back->node_guid, state.node_guid);
  EXPECT_EQ(back->ports, 2);
  EXPECT_EQ(back->gids, state.gids);
  EXPECT_EQ(back->p_keys, state.p_keys);
}

TEST(NodeLinkFormat, RefusesWhatHasAnotherLength) {
  Bytes request = EncodeRequest({.mad = SomeMad()});
  request.pop_back();
  EXPECT_EQ(DecodeRequest(request).status().message(),
            "a request has 296 bytes, not 295");
  mad::MadBytes mad;
  EXPECT_EQ(DecodeReply({}, mad).status().message(),
            "a reply has 260 bytes, not 0");
  EXPECT_EQ(DecodeState({}).status().message(), "a port's state is too short");
  Bytes state = EncodeState({.gids = {{1, 2}}});
  state.push_back(std::byte{0});
  EXPECT_EQ(DecodeState(state).status().message(),
            "a port's state has 96 bytes, not 97");
}

TEST(NodeLinkFormat, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(DecodeRequest(EncodeRequest({.qp = 2})).status().message(),
            "queue pair 2 has no agents");
  mad::MadBytes mad;
  EXPECT_EQ(DecodeReply(EncodeReply(mad::LocalVerdict{9}, mad), mad)
                .status()
                .message(),
            "9 is no verdict");
}

TEST(NodeLinkFormat, AStreamIsCutIntoItsMessagesHoweverItArrives) {
  const Bytes payload = {std::byte{1}, std::byte{2}, std::byte{3}};
  Bytes stream;
  AppendMessage(NodeLinkMessage::kPacket, 1, payload, stream);
  AppendMessage(NodeLinkMessage::kIsSm, 2, std::span(payload).first(1), stream);
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    NodeLinkSplitter splitter;
    std::vector<NodeLinkSplitter::Message> messages;
    for (size_t at = 0; at < stream.size(); at += piece) {
      splitter.Add(
          std::span(stream).subspan(at, std::min(piece, stream.size() - at)));
      NodeLinkSplitter::Message message;
      while (splitter.Next(message).value()) messages.push_back(message);
    }
    ASSERT_EQ(messages.size(), 2u) << "pieces of " << piece;
    EXPECT_EQ(messages[0].type, NodeLinkMessage::kPacket);
    EXPECT_EQ(messages[0].port, 1);
    EXPECT_EQ(messages[0].payload, payload);
    EXPECT_EQ(messages[1].port, 2);
    EXPECT_THAT(messages[1].payload, ElementsAre(std::byte{1}));
  }
}

TEST(NodeLinkFormat, AMessageThatIsTooLongEndsTheStream) {
  Bytes header;
  wire::Append(NodeLinkHeader{.length = 8193, .type = NodeLinkMessage::kPacket},
               header);
  NodeLinkSplitter splitter;
  splitter.Add(header);
  NodeLinkSplitter::Message message;
  EXPECT_EQ(splitter.Next(message).status().message(),
            "a message of 8193 bytes: the longest has 8192");
}

}  // namespace
}  // namespace ibemu::daemon
