#include "peers/certificates.h"

#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "peers/certificate_maker.h"
#include "testing/temp_directory.h"

namespace ibemu::peers {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr int kDays = 30;

class CertificatesTest : public ::testing::Test {
 protected:
  absl::Status Make(const std::vector<Machine>& machines) {
    return MakeCertificates(folder_, machines, kDays);
  }
  std::string In(const std::string& name) const { return folder_ + "/" + name; }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) {
        files.push_back(fs::relative(entry.path(), folder_));
      }
    }
    return files;
  }

  static mode_t ModeOf(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777;
  }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  const testing::TempDirectory home_;
  const std::string folder_ = home_.path() + "/lab";
};

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

X509Ptr CertificateIn(const std::string& folder) {
  auto all = ReadCertificates(TextOf(folder + "/tls.crt"), folder);
  return std::move(all->front());
}

TEST_F(CertificatesTest, AFolderHasWhatOneMachineNeedsAndTheKeyIsItsOwners) {
  ASSERT_TRUE(Make({{{"head"}}, {{"pc7"}}}).ok());
  EXPECT_THAT(Files(),
              UnorderedElementsAre("ca.crt", "ca.key", "head/ca.crt",
                                   "head/tls.crt", "head/tls.key", "pc7/ca.crt",
                                   "pc7/tls.crt", "pc7/tls.key"));
  EXPECT_EQ(ModeOf(In("ca.key")), 0600U);
  EXPECT_EQ(ModeOf(In("head/tls.key")), 0600U);
  EXPECT_EQ(ModeOf(In("head")), 0700U);
  for (const char* const machine : {"head", "pc7"}) {
    const absl::Status good = CheckCertificates(In(machine));
    EXPECT_TRUE(good.ok()) << good;
  }
}

TEST_F(CertificatesTest, ACertificateHasAllNamesOfItsMachineAndNoOther) {
  ASSERT_TRUE(Make({{{"head", "head.example", "10.0.0.1", "fd00::1"}}}).ok());
  const X509Ptr own = CertificateIn(In("head"));
  for (const char* const name : {"head", "head.example"}) {
    EXPECT_EQ(X509_check_host(own.get(), name, 0, 0, nullptr), 1) << name;
  }
  for (const char* const address : {"10.0.0.1", "fd00::1"}) {
    EXPECT_EQ(X509_check_ip_asc(own.get(), address, 0), 1) << address;
  }
  EXPECT_EQ(X509_check_host(own.get(), "pc7", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_ip_asc(own.get(), "10.0.0.2", 0), 0);
}

TEST_F(CertificatesTest, ANameMayBeAsLongAsOneOfDnsAndAnAddressAsShortAsThere) {
  const std::string pod = std::string(60, 'a') + ".pods.cluster.example";
  const std::string longest = std::string(253, 'b');
  ASSERT_TRUE(Make({{{pod}}, {{longest}}, {{"::1"}}, {{"lab_head_1"}}}).ok());
  for (const std::string& name : {pod, longest, std::string("lab_head_1")}) {
    EXPECT_TRUE(CheckCertificates(In(name)).ok()) << name;
    const X509Ptr own = CertificateIn(In(name));
    EXPECT_EQ(X509_check_host(own.get(), name.c_str(), 0, 0, nullptr), 1)
        << name;
  }
  EXPECT_EQ(X509_check_ip_asc(CertificateIn(In("::1")).get(), "::1", 0), 1);
  EXPECT_THAT(Make({{{"first"}}, {{longest + "b"}}}).message(),
              HasSubstr("is no name of a machine"));
  EXPECT_FALSE(fs::exists(In("first")));
}

TEST_F(CertificatesTest, ACertificateServesBothEndsAndSignsNoOther) {
  ASSERT_TRUE(Make({{{"head"}}}).ok());
  const X509Ptr own = CertificateIn(In("head"));
  EXPECT_EQ(X509_check_purpose(own.get(), X509_PURPOSE_SSL_SERVER, 0), 1);
  EXPECT_EQ(X509_check_purpose(own.get(), X509_PURPOSE_SSL_CLIENT, 0), 1);
  EXPECT_EQ(X509_check_ca(own.get()), 0);
}

TEST_F(CertificatesTest, AMachineThatIsMadeLaterHasTheSameAuthority) {
  ASSERT_TRUE(Make({{{"head"}}}).ok());
  ASSERT_TRUE(Make({{{"pc7"}}}).ok());
  EXPECT_EQ(TextOf(In("head/ca.crt")), TextOf(In("pc7/ca.crt")));
}

TEST_F(CertificatesTest, AMachineThatHasCertificatesKeepsThemAndSoDoAll) {
  ASSERT_TRUE(Make({{{"head"}}}).ok());
  const std::string before = TextOf(In("head/tls.crt"));
  const absl::Status again = Make({{{"pc7"}}, {{"head"}}});
  EXPECT_TRUE(absl::IsAlreadyExists(again)) << again;
  EXPECT_EQ(TextOf(In("head/tls.crt")), before);
  EXPECT_FALSE(fs::exists(In("pc7")));
}

TEST_F(CertificatesTest, AnAuthorityThatIsNotWholeSignsNothing) {
  ASSERT_TRUE(Make({{{"head"}}}).ok());
  fs::rename(In("ca.key"), In("away"));
  EXPECT_THAT(
      Make({{{"pc7"}}}).message(),
      HasSubstr("ca.key: it is missing, and ca.crt is there: put it back"));
  ASSERT_TRUE(
      MakeCertificates(home_.path() + "/other", {{{"pc7"}}}, kDays).ok());
  fs::copy(home_.path() + "/other/ca.key", In("ca.key"));
  EXPECT_THAT(Make({{{"pc7"}}}).message(),
              HasSubstr("ca.key: it is not the key of the certificate"));
  EXPECT_FALSE(fs::exists(In("pc7")));
}

TEST_F(CertificatesTest, AMachineIsNamedOnce) {
  EXPECT_THAT(Make({{{"pc7"}}, {{"pc7"}}}).message(),
              HasSubstr("\"pc7\" is named twice"));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(CertificatesTest, WhatIsNoNameOfAMachineIsRefused) {
  for (const char* const name :
       {"", "../up", "a/b", "-x", ".x", "a b", "a:b", "_x"}) {
    const absl::Status made = Make({{{name}}});
    EXPECT_TRUE(absl::IsInvalidArgument(made)) << name << ": " << made;
  }
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(CertificatesTest, WhatIsMissingIsToldWithTheCure) {
  const absl::Status missing = CheckCertificates(In("head"));
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(missing.message(), HasSubstr(In("head/ca.crt: No such file")));
  EXPECT_THAT(missing.message(), HasSubstr("\"ibemu certs\""));
}

TEST_F(CertificatesTest, FilesThatDoNotBelongTogetherAreTold) {
  ASSERT_TRUE(Make({{{"head"}}, {{"pc7"}}}).ok());
  fs::copy(In("pc7/tls.key"), In("head/tls.key"),
           fs::copy_options::overwrite_existing);
  EXPECT_THAT(
      CheckCertificates(In("head")).message(),
      HasSubstr("tls.key: it is not the key of the certificate beside it"));
  ASSERT_TRUE(
      MakeCertificates(home_.path() + "/other", {{{"pc7"}}}, kDays).ok());
  fs::copy(home_.path() + "/other/ca.crt", In("pc7/ca.crt"),
           fs::copy_options::overwrite_existing);
  const absl::Status unsigned_by_it = CheckCertificates(In("pc7"));
  EXPECT_TRUE(absl::IsFailedPrecondition(unsigned_by_it)) << unsigned_by_it;
}

TEST_F(CertificatesTest, ACertificateOfAnotherTimeIsTold) {
  ASSERT_TRUE(MakeCertificates(folder_, {{{"head"}}}, -1).ok());
  EXPECT_THAT(CheckCertificates(In("head")).message(),
              HasSubstr("tls.crt: certificate has expired"));
}

TEST_F(CertificatesTest, OthersMayStandBehindTheCertificate) {
  auto root = MakeAuthority(kDays);
  ASSERT_TRUE(root.ok());
  const auto machine = MakeMachine(*root, {"head"}, kDays);
  ASSERT_TRUE(machine.ok());
  fs::create_directory(folder_);
  // The order of cert-manager: its own first.
  Write(In("ca.crt"), WriteCertificate(*root->certificate));
  Write(In("tls.crt"), WriteCertificate(*machine->certificate) +
                           WriteCertificate(*root->certificate));
  Write(In("tls.key"), WriteKey(*machine->key));
  EXPECT_TRUE(CheckCertificates(folder_).ok());
}

TEST_F(CertificatesTest, WhatIsNoPemTextIsTold) {
  ASSERT_TRUE(Make({{{"head"}}}).ok());
  Write(In("head/tls.key"), "nonsense");
  EXPECT_THAT(CheckCertificates(In("head")).message(),
              HasSubstr("tls.key: it holds no private key"));
  Write(In("head/tls.crt"), "");
  EXPECT_THAT(CheckCertificates(In("head")).message(),
              HasSubstr("tls.crt: it holds no certificate"));
}

}  // namespace
}  // namespace ibemu::peers
