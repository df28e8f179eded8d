#include "daemon/web/view/view_token.h"

#include <string>

#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

TEST(ViewTokenTest, Is128BitsThatNobodyHadBefore) {
  const std::string token = MakeViewToken();
  EXPECT_EQ(token.size(), 32u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), token.npos);
  EXPECT_NE(token, MakeViewToken());
}

TEST(ViewTokenTest, IsTheBearers) {
  const std::string token = MakeViewToken();
  EXPECT_TRUE(HasViewToken("Bearer " + token, token));
  std::string wrong = token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& header :
       {std::string(), token, std::string("Bearer "), "Bearer " + wrong,
        "Bearer " + token + "0", "Bearer " + token.substr(1),
        "Basic " + token}) {
    EXPECT_FALSE(HasViewToken(header, token)) << header;
  }
}

}  // namespace
}  // namespace ibemu::daemon
