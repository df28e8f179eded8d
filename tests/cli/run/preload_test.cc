#include "cli/run/preload.h"

#include <gtest/gtest.h>

namespace ibemu::cli {
namespace {

constexpr char kLibrary[] = "/usr/lib/ibemu/libibemu-preload.so";

TEST(PreloadTest, BringsTheLibraryInAndLetsLibasanBeBehindIt) {
  EXPECT_EQ(PreloadVariables({kLibrary}, "", ""),
            (launch::Variables{{"LD_PRELOAD", kLibrary},
                               {"ASAN_OPTIONS", "verify_asan_link_order=0"}}));
}

TEST(PreloadTest, WhatIsPreloadedAlreadyComesFirst) {
  EXPECT_EQ(PreloadVariables({kLibrary}, "/lib/a.so /lib/b.so", "")[0].second,
            std::string("/lib/a.so /lib/b.so:") + kLibrary);
}

TEST(PreloadTest, KeepsTheOptionsOfLibasan) {
  EXPECT_EQ(PreloadVariables({kLibrary}, "", "detect_leaks=0")[1].second,
            "detect_leaks=0:verify_asan_link_order=0");
  EXPECT_EQ(PreloadVariables({kLibrary}, "", "verify_asan_link_order=1").size(),
            1u);
}

TEST(PreloadTest, ALibraryThatIsThereIsNotAddedAgain) {
  EXPECT_TRUE(PreloadVariables({kLibrary}, kLibrary, "").empty());
  EXPECT_TRUE(
      PreloadVariables({kLibrary}, std::string("/lib/a.so:") + kLibrary, "")
          .empty());
}

TEST(PreloadTest, BringsInAllThatAreNotThere) {
  const std::string lint = "/usr/lib/ibemu/libibemu-lint.so";
  EXPECT_EQ(PreloadVariables({kLibrary, lint}, "", "")[0].second,
            kLibrary + (":" + lint));
  EXPECT_EQ(PreloadVariables({kLibrary, lint}, kLibrary, "")[0].second,
            kLibrary + (":" + lint));
  EXPECT_EQ(PreloadVariables({"", lint}, "", "")[0].second, lint);
}

TEST(PreloadTest, APathThatTheLoaderWouldSplitIsNone) {
  EXPECT_TRUE(PreloadVariables({""}, "", "").empty());
  EXPECT_TRUE(
      PreloadVariables({"/home/a b/libibemu-preload.so"}, "", "").empty());
  EXPECT_TRUE(
      PreloadVariables({"/home/a:b/libibemu-preload.so"}, "", "").empty());
  EXPECT_TRUE(
      PreloadVariables({"/home/$LIB/libibemu-preload.so"}, "", "").empty());
}

TEST(PreloadTest, ThereIsNoLibraryBesideAProgramElsewhere) {
  const std::string found = FindPreload("/nowhere/bin/ibemu", kFastPath);
  EXPECT_TRUE(found.empty() || found.starts_with("/usr/")) << found;
}

}  // namespace
}  // namespace ibemu::cli
