#include "fabric/subnet/link_rate.h"

#include <gtest/gtest.h>

#include "mad/wire/port_codes.h"
#include "topology/rate_text.h"

namespace ibemu::fabric {
namespace {

namespace width = mad::link_width;
namespace speed = mad::link_speed;
namespace ext = mad::link_speed_ext;
namespace ext2 = mad::link_speed_ext2;

mad::PortInfo PortWith(const topology::LinkRate& rate) {
  mad::PortInfo info;
  info.link_width_supported = info.link_width_enabled = rate.width;
  info.link_speed_supported = info.link_speed_enabled = rate.speed;
  info.link_speed_ext_supported = info.link_speed_ext_enabled = rate.speed_ext;
  info.link_speed_ext_supported2 = info.link_speed_ext_enabled2 =
      rate.speed_ext2;
  return info;
}

NegotiatedRate Between(const char* a, const char* b) {
  return Negotiate(PortWith(*topology::ParseLinkRate(a)),
                   PortWith(*topology::ParseLinkRate(b)));
}

TEST(LinkRateTest, TakesTheSlowerOfTwoPorts) {
  const NegotiatedRate rate = Between("4xEDR", "4xFDR");
  EXPECT_EQ(rate.width, width::k4x);
  EXPECT_EQ(rate.speed, speed::kQdr);
  EXPECT_EQ(rate.speed_ext, ext::kFdr);
  EXPECT_EQ(rate.speed_ext2, 0);
}

TEST(LinkRateTest, FallsBackToABasicSpeed) {
  const NegotiatedRate rate = Between("4xHDR", "1xDDR");
  EXPECT_EQ(rate.width, width::k1x);
  EXPECT_EQ(rate.speed, speed::kDdr);
  EXPECT_EQ(rate.speed_ext, 0);
}

TEST(LinkRateTest, KnowsThat12xIsWiderThan2x) {
  mad::PortInfo port = PortWith(*topology::ParseLinkRate("12xSDR"));
  port.link_width_supported = port.link_width_enabled =
      width::k2x | width::k12x | width::k1x;
  EXPECT_EQ(Negotiate(port, port).width, width::k12x);
  port.link_width_enabled = width::k2x | width::k1x;
  EXPECT_EQ(Negotiate(port, port).width, width::k2x);
}

TEST(LinkRateTest, ShowsXdrInItsOwnComponentAlone) {
  const NegotiatedRate rate = Between("4xXDR", "4xXDR");
  EXPECT_EQ(rate.speed_ext2, ext2::kXdr);
  EXPECT_EQ(rate.speed_ext, 0);
  EXPECT_EQ(Between("4xXDR", "4xNDR").speed_ext, ext::kNdr);
}

TEST(LinkRateTest, UnderstandsTheCodesOfEnabled) {
  mad::PortInfo a = PortWith(*topology::ParseLinkRate("4xEDR")), b = a;
  a.link_width_enabled = width::kAllSupported;
  a.link_speed_enabled = speed::kAllSupported;
  a.link_speed_ext_enabled = ext::kAllSupported;
  EXPECT_EQ(Negotiate(a, b).speed_ext, ext::kEdr);
  a.link_speed_ext_enabled = ext::kDisabled;
  EXPECT_EQ(Negotiate(a, b).speed_ext, 0);
  EXPECT_EQ(Negotiate(a, b).speed, speed::kQdr);

  a = b = PortWith(*topology::ParseLinkRate("4xXDR"));
  a.link_speed_ext_enabled2 = ext2::kDisabled;
  EXPECT_EQ(Negotiate(a, b).speed_ext2, 0);
}

TEST(LinkRateTest, HasNoWidthWithoutASpeedInCommon) {
  mad::PortInfo a = PortWith(*topology::ParseLinkRate("4xSDR"));
  mad::PortInfo b = a;
  b.link_speed_enabled = 0;
  EXPECT_EQ(Negotiate(a, b).width, 0);
}

}  // namespace
}  // namespace ibemu::fabric
