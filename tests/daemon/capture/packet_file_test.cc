#include "daemon/capture/packet_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr;

TEST(PacketFileTest, ANameThatIsGivenCountsMoreThanTheFiles) {
  EXPECT_EQ(*ParsePacketFileFormat("", "a.pcapng"), PacketFileFormat::kPcapng);
  EXPECT_EQ(*ParsePacketFileFormat("", "-"), PacketFileFormat::kPcap);
  EXPECT_EQ(*ParsePacketFileFormat("pcap", "a.pcapng"),
            PacketFileFormat::kPcap);
  EXPECT_THAT(ParsePacketFileFormat("pcapgn", "").status().message(),
              HasSubstr("did you mean \"pcapng\"?"));
}

TEST(PacketFileTest, TheFirstBytesTellTheFormat) {
  std::vector<std::byte> pcap, pcapng;
  MakePacketFile(PacketFileFormat::kPcap, "")->Begin(pcap);
  MakePacketFile(PacketFileFormat::kPcapng, "")->Begin(pcapng);
  EXPECT_EQ(pcap[0], std::byte{0xa1});
  EXPECT_EQ(pcapng[0], std::byte{0x0a});
}

}  // namespace
}  // namespace ibemu::daemon
