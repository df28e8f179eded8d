#include "daemon/remote_node/node_link_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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
