#include "daemon/events/event_text.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

std::string Text(const char* event) { return EventText(json::parse(event)); }

TEST(EventTextTest, EveryKindIsALineForPeople) {
  EXPECT_EQ(Text(R"({"time_ns":2000000000,"event":"link","state":"down",
                     "a":{"node":"node-1","port":1},
                     "b":{"node":"sw1","port":3}})"),
            "     2.000000  link        node-1/1 - sw1/3 down");
  EXPECT_EQ(Text(R"({"time_ns":1500,"event":"port","node":"sw1","port":0,
                     "state":"active","lid":3,"lmc":0,"sm_lid":1})"),
            "     0.000002  port        sw1/0 active, LID 3, SM LID 1");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"sm","node":"n","port":1,
                     "is_sm":true})"),
            "     0.000000  sm          n/1 has a subnet manager");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"device","node":"n",
                     "state":"removed"})"),
            "     0.000000  device      n removed");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"trap","node":"sw1","port":0,
                     "trap":128,"sm_lid":1,"repeated":true})"),
            "     0.000000  trap        128 of sw1/0 to LID 1, again");
  EXPECT_EQ(
      Text(R"({"time_ns":0,"event":"drop","node":"sw1","port":2,
                     "cause":"loss","fault":"f","class":"SM","packets":3,
                     "attribute":"NodeInfo","slid":1,"dlid":2})"),
      "     0.000000  drop        sw1/2 loss, f, SM NodeInfo, LID 1 to 2, "
      "3 packets");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"fault","name":"f","state":"added",
                     "place":"link n/1","what":"loss 5%"})"),
            "     0.000000  fault       f added: link n/1 loss 5%");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"scenario","file":"a.yaml","line":7,
                     "state":"step","do":"fault reset"})"),
            "     0.000000  scenario    a.yaml:7 step: fault reset");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"connection","state":"rejected",
                     "from":{"node":"a","address":"fd00::1","port":5},
                     "to":{"node":null,"address":"198.18.0.9","port":9},
                     "by":"to","space":"RDMA_PS_TCP","reason":8,
                     "why":"invalid service ID"})"),
            "     0.000000  connection  a [fd00::1]:5 -> 198.18.0.9:9 "
            "RDMA_PS_TCP rejected by 198.18.0.9:9: invalid service ID (8)");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"datagram","state":"answered",
                     "from":{"node":"a","address":"10.0.0.1","port":5},
                     "to":{"node":"b","address":"10.0.0.2","port":9},
                     "space":"RDMA_PS_UDP"})"),
            "     0.000000  datagram    a 10.0.0.1:5 -> b 10.0.0.2:9 "
            "RDMA_PS_UDP answered");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"group","state":"failed","node":"a",
                     "port":1,"group":null,"mgid":"ff12::1","why":"so"})"),
            "     0.000000  group       a/1 ff12::1 failed: so");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"qp","node":"a","qpn":18,
                     "kind":"state","psn":null,"text":"RTR to RTS"})"),
            "     0.000000  qp          a queue pair 0x12: RTR to RTS");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"qp","node":"a","qpn":18,
                     "kind":"kept-back","psn":null,"text":"so"})"),
            "     0.000000  qp          a queue pair 0x12: kept-back: so");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"qp","node":"a","qpn":18,
                     "kind":"sent-again","psn":58,"text":"no answer"})"),
            "     0.000000  qp          a queue pair 0x12: sent-again, PSN "
            "0x3a: no answer");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"qp","node":"a","qpn":18,
                     "kind":"failed","psn":58,"why":"so"})"),
            "     0.000000  qp          so");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"mad","node":"a","why":"so"})"),
            "     0.000000  mad         so");
  EXPECT_EQ(Text(R"({"time_ns":0,"event":"call","node":"a","why":"so"})"),
            "     0.000000  call        so");
  EXPECT_EQ(
      Text(R"({"event":"lost","events":9})"),
      "               lost        9 events: they came faster than they were "
      "read");
}

TEST(EventTextTest, AStrangersEventIsALineToo) {
  EXPECT_EQ(Text("5"), "");
  EXPECT_EQ(Text(R"({"event":"link","a":5,"time_ns":"x"})"),
            "               link        ? - ?");
  EXPECT_EQ(Text(R"({"event":"qp","qpn":"x"})"),
            "               qp           queue pair ?:");
  EXPECT_EQ(Text(R"({"event":"connection","from":5,"by":"to","to":[]})"),
            "               connection  ? -> ?");
  EXPECT_EQ(Text(R"({"event":"node","node":"\u001b[2J\n","state":"up"})"),
            "               node        ?[2J? up");
}

}  // namespace
}  // namespace ibemu::daemon
