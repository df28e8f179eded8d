// Programs that have adapters of a subnet open by verbs.
#ifndef IBEMU_TESTS_DAEMON_UVERBS_PROGRAMS_H_
#define IBEMU_TESTS_DAEMON_UVERBS_PROGRAMS_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <list>
#include <memory>
#include <string>
#include <utility>

#include "base/supervisor_ioctls.h"
#include "cuse/uverbs/uverbs_file.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/adapters/host_table.h"
#include "testing/lab.h"
#include "testing/post_box.h"
#include "testing/uverbs_commands.h"
#include "tests/cuse/file_driver.h"

namespace ibemu::daemon {

// An open uverbs file of a host; its client is this process.
struct UverbsProgram {
  UverbsProgram(testing::Lab& lab, std::shared_ptr<mad::Host> host,
                verbs::Provider& provider, WorkerPool& workers,
                testing::PostBox& to_run, cuse::UverbsFiles& files)
      : posts(to_run),
        offers(std::make_shared<cuse::UverbsOffers>()),
        file(std::move(host), provider, verbs::AdapterIdentity{}, lab.timers,
             workers, offers, std::make_shared<cuse::PinnedPages>(0), nullptr,
             &files),
        driver(file),
        events(offers, getuid()),
        events_driver(events) {
    EXPECT_EQ(driver.Open(), cuse::Errno::kOk);
    const EventNumber number{getpid(), 33};
    EXPECT_EQ(
        events_driver.Ioctl(kNumberEventFile, verbs::AsBytes(number)).error,
        cuse::Errno::kOk);
    auto context = verbs::Blank<ib_uverbs_get_context_resp>();
    Write(testing::PlainCommand(
        IB_USER_VERBS_CMD_GET_CONTEXT,
        testing::Answered<ib_uverbs_get_context>(AddressOf(context)), 8));
  }
  template <class T>
  static uint64_t AddressOf(const T& value) {
    return reinterpret_cast<uintptr_t>(&value);
  }
  void Write(const testing::CommandBytes& command,
             cuse::Errno error = cuse::Errno::kOk) {
    const auto write = driver.StartWrite(command, getpid());
    auto answer = driver.AnswerTo(write);
    while (!answer) {
      posts.WaitAndRun();
      answer = driver.AnswerTo(write);
    }
    EXPECT_EQ(answer->error, error);
  }
  // Returns the last one's handle.
  uint32_t CreateCqs(size_t count) {
    uint32_t handle = 0;
    for (size_t i = 0; i < count; ++i) {
      auto made = verbs::Blank<ib_uverbs_create_cq_resp>();
      auto request = testing::Answered<ib_uverbs_create_cq>(AddressOf(made));
      request.cqe = 10;
      request.comp_channel = -1;
      Write(testing::PlainCommand(IB_USER_VERBS_CMD_CREATE_CQ, request,
                                  sizeof made));
      handle = made.cq_handle;
    }
    return handle;
  }
  // One that can't have so many entries.
  void CreateCqInVain(uint32_t entries) {
    auto made = verbs::Blank<ib_uverbs_create_cq_resp>();
    auto request = testing::Answered<ib_uverbs_create_cq>(AddressOf(made));
    request.cqe = entries;
    request.comp_channel = -1;
    Write(testing::PlainCommand(IB_USER_VERBS_CMD_CREATE_CQ, request,
                                sizeof made),
          cuse::Errno::kInvalid);
  }
  void DestroyCq(uint32_t handle) {
    auto made = verbs::Blank<ib_uverbs_destroy_cq_resp>();
    auto request = testing::Answered<ib_uverbs_destroy_cq>(AddressOf(made));
    request.cq_handle = handle;
    Write(testing::PlainCommand(IB_USER_VERBS_CMD_DESTROY_CQ, request,
                                sizeof made));
  }

  testing::PostBox& posts;
  std::shared_ptr<cuse::UverbsOffers> offers;
  cuse::UverbsFile file;
  cuse::FileDriver driver;
  cuse::UverbsEventFile events;
  cuse::FileDriver events_driver;
};

// Two hosts, and the programs on them.
class UverbsProgramsTest : public ::testing::Test {
 protected:
  // A program on a host: "host-1".
  UverbsProgram& Open(const std::string& host) {
    const AdapterId adapter = adapters_.Find(host).value();
    return programs_.emplace_back(lab_, hosts_.Get(adapter),
                                  adapters_.provider(adapter), workers_, posts_,
                                  files_);
  }

  testing::Lab lab_{testing::Chain(1), testing::Lab::kStatically};
  testing::PostBox posts_;
  WorkerPool workers_{lab_.timers, posts_.Poster()};
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{lab_.timers, adapters_};
  cuse::UverbsFiles files_;
  std::list<UverbsProgram> programs_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_UVERBS_PROGRAMS_H_
