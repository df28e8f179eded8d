#include "daemon/web/metrics/verbs_metrics.h"

#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/daemon/uverbs_programs.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr, ::testing::Not;

class VerbsMetricsTest : public UverbsProgramsTest {
 protected:
  std::string Text() {
    std::ostringstream text;
    prometheus::TextSerializer().Serialize(text, VerbsMetrics(files_));
    return text.str();
  }

  static constexpr char kHost1[] =
      R"({node="host-1",guid="0x0000000000001000")";
};

TEST_F(VerbsMetricsTest, NobodyHasNoMetrics) { EXPECT_EQ(Text(), ""); }

TEST_F(VerbsMetricsTest, WhatAllProgramsOfAHostMadeIsSummedUp) {
  Open("host-1").CreateCqs(2);
  Open("host-1").CreateCqs(1);
  Open("host-2").CreateCqs(4);
  const std::string text = Text();
  EXPECT_THAT(
      text, HasSubstr(absl::StrCat("\nibemu_verbs_contexts", kHost1, "} 2\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("\nibemu_verbs_objects", kHost1,
                                           ",type=\"cq\"} 3\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("\nibemu_verbs_objects", kHost1,
                                           ",type=\"qp\"} 0\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("\nibemu_verbs_registered_bytes",
                                           kHost1, "} 0\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("\nibemu_verbs_multicast_members",
                                           kHost1, "} 0\n")));
  EXPECT_THAT(text, HasSubstr("node=\"host-2\""));
  EXPECT_THAT(text, HasSubstr(",type=\"cq\"} 4\n"));
}

TEST_F(VerbsMetricsTest, AHostWhoseProgramsHaveEndedHasNone) {
  Open("host-1");
  Open("host-2");
  programs_.pop_front();
  EXPECT_THAT(Text(), Not(HasSubstr("host-1")));
  EXPECT_THAT(Text(), HasSubstr("host-2"));
}

}  // namespace
}  // namespace ibemu::daemon
