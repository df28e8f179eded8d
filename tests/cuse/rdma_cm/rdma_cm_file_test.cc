#include "cuse/rdma_cm/rdma_cm_file.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "cuse/rdma_cm/addresses.h"
#include "testing/post_box.h"
#include "testing/rdma_cm_lab.h"
#include "tests/cuse/file_driver.h"

namespace ibemu::cuse {
namespace {

using CommandBytes = std::vector<std::byte>;

template <class T>
CommandBytes CmCommand(uint32_t number, const T& body, size_t out = 0,
                       size_t in = sizeof(T)) {
  const rdma_ucm_cmd_hdr header{number, static_cast<uint16_t>(in),
                                static_cast<uint16_t>(out)};
  CommandBytes bytes(sizeof header + sizeof body);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &body, sizeof body);
  return bytes;
}

// Returns a command of zeros but for what `set` sets.
template <class T, class Set>
T Made(Set set) {
  T command{};
  set(command);
  return command;
}

template <class T>
uint64_t PlaceOf(const T& value) {
  return reinterpret_cast<uintptr_t>(&value);
}

// The client is this process: what it is answered lands in its own memory.
class RdmaCmFileTest : public ::testing::Test {
 protected:
  RdmaCmFileTest() {
    adapters_->Add(lab_.host(1));
    const RequestId open = driver_.StartOpen();
    lab_.Settle();
    EXPECT_EQ(driver_.AnswerTo(open)
                  .value_or(FileDriver::Answer{Errno::kIo, {}})
                  .error,
              Errno::kOk);
  }
  // A file that ends answers what waits.
  ~RdmaCmFileTest() override { file_.reset(); }

  Errno Finish(FileDriver& driver, RequestId write) {
    auto answer = driver.AnswerTo(write);
    while (!answer) {
      posts_.WaitAndRun();
      answer = driver.AnswerTo(write);
    }
    return answer->error;
  }
  Errno Write(const CommandBytes& command) {
    return Finish(driver_, driver_.StartWrite(command, getpid()));
  }

  // Returns the new id's number.
  uint32_t Create(uint64_t uid = 0x1234) {
    uint32_t id = ~0u;
    EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_CREATE_ID,
                              Made<rdma_ucm_create_id>([&](auto& c) {
                                c.uid = uid;
                                c.response = PlaceOf(id);
                                c.ps = RDMA_PS_TCP;
                              }),
                              sizeof id)),
              Errno::kOk);
    return id;
  }
  CommandBytes GetEvent(const rdma_ucm_event_resp& event,
                        size_t out = sizeof(rdma_ucm_event_resp)) {
    return CmCommand(RDMA_USER_CM_CMD_GET_EVENT,
                     rdma_ucm_get_event{PlaceOf(event)}, out);
  }
  // Resolves the host's own address, so that an event comes.
  CommandBytes Resolve(uint32_t id) {
    rdma_ucm_resolve_addr command{};
    command.id = id;
    command.timeout_ms = 2000;
    command.dst_size = static_cast<uint16_t>(
        WriteAddress(rdma_cm::SocketAddress::Ip(lab_.host(1)->address(), 7174),
                     std::as_writable_bytes(std::span(&command.dst_addr, 1))));
    return CmCommand(RDMA_USER_CM_CMD_RESOLVE_ADDR, command);
  }

  testing::RdmaCmLab lab_;
  testing::PostBox posts_;
  WorkerPool workers_{lab_.timers(), posts_.Poster()};
  std::shared_ptr<testing::LabAdapters> adapters_ =
      std::make_shared<testing::LabAdapters>();
  std::shared_ptr<rdma_cm::RdmaCmView> view_ =
      std::make_shared<rdma_cm::RdmaCmView>(lab_.timers(), adapters_,
                                            Random(1));
  std::unique_ptr<RdmaCmFile> file_ =
      std::make_unique<RdmaCmFile>(view_, workers_);
  FileDriver driver_{*file_};
};

TEST_F(RdmaCmFileTest, OpenWaitsASecondForAnInterfaceThatIsDown) {
  lab_.host(1)->lab_interface().is_up = false;
  RdmaCmFile file(view_, workers_);
  FileDriver driver(file);
  const RequestId open = driver.StartOpen();
  lab_.timers().RunFor(absl::Milliseconds(999));
  EXPECT_FALSE(driver.AnswerTo(open).has_value());
  lab_.timers().RunFor(absl::Milliseconds(2));
  EXPECT_TRUE(driver.AnswerTo(open).has_value());
}

TEST_F(RdmaCmFileTest, OpenDoesNotWaitForAnAdapterThatIsPulledOut) {
  auto pulled = std::make_shared<testing::LabHost>(lab_.timers(), 3);
  pulled->lab_interface().is_up = false;
  adapters_->Add(pulled);
  const RequestId open = driver_.StartOpen();
  lab_.timers().RunFor(absl::Milliseconds(100));
  EXPECT_FALSE(driver_.AnswerTo(open).has_value());
  adapters_->Remove(pulled);
  pulled.reset();
  lab_.timers().RunPending();
  const auto answer = driver_.AnswerTo(open);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->error, Errno::kOk);
}

TEST_F(RdmaCmFileTest, ClosingFailsAnOpenThatWaits) {
  lab_.host(1)->lab_interface().is_up = false;
  const RequestId open = driver_.StartOpen();
  file_.reset();
  EXPECT_EQ(driver_.AnswerTo(open)->error, Errno::kIo);
  lab_.timers().RunFor(absl::Seconds(2));
}

TEST_F(RdmaCmFileTest, AnswersIntoTheMemoryOfTheClient) {
  EXPECT_EQ(Create(), 0u);
  EXPECT_EQ(Create(), 1u);
}

TEST_F(RdmaCmFileTest, HeadersAreCheckedInLinuxsOrder) {
  EXPECT_EQ(Write(CommandBytes(7)), Errno::kInvalid);
  EXPECT_EQ(Write(CmCommand(23, uint64_t{0})), Errno::kInvalid);
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_GET_OPTION, uint64_t{0}, 0, 9)),
            Errno::kInvalid);
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_GET_OPTION, uint64_t{0})),
            Errno::kNoSystemCall);
}

TEST_F(RdmaCmFileTest, AnAnswerOneByteShortOfItsRoomIsRefusedFirst) {
  struct Row {
    uint32_t command;
    size_t least;
  };
  for (const auto& [command, least] :
       {Row{RDMA_USER_CM_CMD_CREATE_ID, 4}, Row{RDMA_USER_CM_CMD_DESTROY_ID, 4},
        Row{RDMA_USER_CM_CMD_QUERY_ROUTE, 200},
        Row{RDMA_USER_CM_CMD_INIT_QP_ATTR, 144},
        Row{RDMA_USER_CM_CMD_GET_EVENT, 324},
        Row{RDMA_USER_CM_CMD_JOIN_IP_MCAST, 4},
        Row{RDMA_USER_CM_CMD_LEAVE_MCAST, 4},
        Row{RDMA_USER_CM_CMD_JOIN_MCAST, 4}}) {
    EXPECT_EQ(Write(CmCommand(command, uint64_t{0}, least - 1)),
              Errno::kNoSpace)
        << command;
  }
}

TEST_F(RdmaCmFileTest, ArgumentsAreCheckedBeforeTheId) {
  constexpr uint32_t kNobody = 99;
  EXPECT_EQ(
      Write(CmCommand(RDMA_USER_CM_CMD_CREATE_ID,
                      Made<rdma_ucm_create_id>([&](auto& c) { c.ps = 5; }), 4)),
      Errno::kInvalid);
  EXPECT_EQ(Write(CmCommand(
                RDMA_USER_CM_CMD_CONNECT,
                Made<rdma_ucm_connect>([&](auto& c) { c.id = kNobody; }))),
            Errno::kInvalid);
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_REJECT,
                            Made<rdma_ucm_reject>([&](auto& c) {
                              c.id = kNobody;
                              c.reason = 5;
                            }))),
            Errno::kInvalid);
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_REJECT,
                            Made<rdma_ucm_reject>([&](auto& c) {
                              c.id = kNobody;
                              c.reason = 28;
                            }))),
            Errno::kNoEntry);
  EXPECT_EQ(
      Write(CmCommand(RDMA_USER_CM_CMD_BIND, Made<rdma_ucm_bind>([&](auto& c) {
                        c.id = kNobody;
                        c.addr_size = 15;
                      }))),
      Errno::kInvalid);
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_RESOLVE_ROUTE,
                            rdma_ucm_resolve_route{Create(), 1000})),
            Errno::kInvalid);
}

TEST_F(RdmaCmFileTest, WithoutAConnectionNoEventOfItsQueuePairIsTold) {
  const uint32_t id = Create();
  for (uint32_t event = 0; event < 20; ++event) {
    EXPECT_EQ(
        Write(CmCommand(RDMA_USER_CM_CMD_NOTIFY, rdma_ucm_notify{id, event})),
        Errno::kInvalid)
        << event;
  }
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_NOTIFY, rdma_ucm_notify{99, 4})),
            Errno::kNoEntry);
}

TEST_F(RdmaCmFileTest, AQueryNeedsItsIdBeforeItsRoom) {
  rdma_ucm_query query{0, 99, 0};
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_QUERY, query)), Errno::kNoEntry);
  query.id = Create();
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_QUERY, query, 271)),
            Errno::kNoSpace);
  query.option = 3;
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_QUERY, query, 280)),
            Errno::kNoSystemCall);
}

TEST_F(RdmaCmFileTest, AQueryTellsTheAddressesAndTheAdapter) {
  const uint32_t id = Create();
  EXPECT_EQ(Write(Resolve(id)), Errno::kOk);
  rdma_ucm_query_addr_resp response{};
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_QUERY,
                            rdma_ucm_query{PlaceOf(response), id, 0}, 280)),
            Errno::kOk);
  EXPECT_EQ(response.src_size, sizeof(sockaddr_in));
  EXPECT_EQ(response.port_num, 1);
  EXPECT_EQ(response.node_guid, htobe64(0x1001));
  const auto source =
      ReadAddress(std::as_bytes(std::span(&response.src_addr, 1)));
  EXPECT_EQ(source.ip, lab_.host(1)->address());
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_QUERY,
                            rdma_ucm_query{PlaceOf(response), id, 2}, 280)),
            Errno::kOk);
  EXPECT_EQ(response.src_size, sizeof(SockaddrIb));
  const auto gid = ReadAddress(std::as_bytes(std::span(&response.src_addr, 1)));
  EXPECT_EQ(gid.gid, lab_.host(1)->gid());
}

TEST_F(RdmaCmFileTest, AnIdWhoseNumberCouldNotBeToldIsGone) {
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_CREATE_ID,
                            Made<rdma_ucm_create_id>([&](auto& c) {
                              c.response = 8;
                              c.ps = RDMA_PS_TCP;
                            }),
                            4)),
            Errno::kFault);
  EXPECT_EQ(Create(), 0u);
}

TEST_F(RdmaCmFileTest, OptionsAreReadFromTheClient) {
  const int flag = 1;
  rdma_ucm_set_option option{.optval = PlaceOf(flag),
                             .id = Create(),
                             .level = RDMA_OPTION_ID,
                             .optname = RDMA_OPTION_ID_REUSEADDR,
                             .optlen = sizeof flag};
  const auto set = [this, &option] {
    return Write(CmCommand(RDMA_USER_CM_CMD_SET_OPTION, option));
  };
  EXPECT_EQ(set(), Errno::kOk);
  option.optlen = 1;
  EXPECT_EQ(set(), Errno::kInvalid);
  option.optname = 4;
  EXPECT_EQ(set(), Errno::kNoSystemCall);
  option.optval = 8;
  EXPECT_EQ(set(), Errno::kFault);
  option.id = 99;
  EXPECT_EQ(set(), Errno::kNoEntry);
}

// ----- Events

TEST_F(RdmaCmFileTest, OtherCommandsAreAnsweredWhileGetEventWaits) {
  const uint32_t id = Create();
  rdma_ucm_event_resp event{};
  const RequestId waiting = driver_.StartWrite(GetEvent(event), getpid());
  EXPECT_EQ(Write(Resolve(id)), Errno::kOk);
  EXPECT_FALSE(driver_.AnswerTo(waiting).has_value());
  lab_.Settle();
  EXPECT_EQ(Finish(driver_, waiting), Errno::kOk);
  EXPECT_EQ(event.uid, 0x1234u);
  EXPECT_EQ(event.id, id);
  EXPECT_EQ(event.event, 0u);
  uint32_t reported = 0;
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_DESTROY_ID,
                            rdma_ucm_destroy_id{PlaceOf(reported), id, 0}, 4)),
            Errno::kOk);
  EXPECT_EQ(reported, 1u);
}

TEST_F(RdmaCmFileTest, PollTellsOfEventsAndNeverOfRoom) {
  EXPECT_EQ(driver_.events, 0);
  EXPECT_EQ(file_->Poll(), 0u);
  EXPECT_EQ(Write(Resolve(Create())), Errno::kOk);
  lab_.Settle();
  EXPECT_GT(driver_.events, 0);
  EXPECT_EQ(file_->Poll(), uint32_t{POLLIN | POLLRDNORM});
}

TEST_F(RdmaCmFileTest, WithoutBlockingThereIsNothingToWaitFor) {
  rdma_ucm_event_resp event{};
  const CommandBytes command = GetEvent(event);
  Written written = Written::Of(command, 0, getpid());
  written.nonblock = true;
  EXPECT_EQ(driver_.Write(std::move(written)), Errno::kTryAgain);
}

TEST_F(RdmaCmFileTest, ASignalEndsAGetEventThatWaits) {
  rdma_ucm_event_resp event{};
  const RequestId waiting = driver_.StartWrite(GetEvent(event), getpid());
  file_->Interrupt(waiting);
  EXPECT_EQ(Finish(driver_, waiting), Errno::kInterrupted);
}

TEST_F(RdmaCmFileTest, AnEventThatCouldNotBeToldStays) {
  const uint32_t id = Create();
  EXPECT_EQ(Write(Resolve(id)), Errno::kOk);
  lab_.Settle();
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_GET_EVENT, rdma_ucm_get_event{8},
                            sizeof(rdma_ucm_event_resp))),
            Errno::kFault);
  EXPECT_NE(file_->Poll(), 0u);
  rdma_ucm_event_resp event{};
  EXPECT_EQ(Write(GetEvent(event, 324)), Errno::kOk);
  EXPECT_EQ(event.id, id);
  EXPECT_EQ(file_->Poll(), 0u);
}

TEST_F(RdmaCmFileTest, ClosingFailsWhatWaits) {
  rdma_ucm_event_resp event{};
  const RequestId waiting = driver_.StartWrite(GetEvent(event), getpid());
  uint32_t number = 0;
  const RequestId answered =
      driver_.StartWrite(CmCommand(RDMA_USER_CM_CMD_CREATE_ID,
                                   Made<rdma_ucm_create_id>([&](auto& c) {
                                     c.response = PlaceOf(number);
                                     c.ps = RDMA_PS_TCP;
                                   }),
                                   4),
                         getpid());
  file_.reset();
  EXPECT_EQ(driver_.AnswerTo(waiting)->error, Errno::kIo);
  EXPECT_EQ(driver_.AnswerTo(answered)->error, Errno::kIo);
}

TEST_F(RdmaCmFileTest, AnIdDestroyedInAnotherThreadLeavesTheWaiterWaiting) {
  const uint32_t id = Create();
  rdma_ucm_event_resp event{};
  const RequestId waiting = driver_.StartWrite(GetEvent(event), getpid());
  uint32_t reported = 7;
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_DESTROY_ID,
                            rdma_ucm_destroy_id{PlaceOf(reported), id, 0}, 4)),
            Errno::kOk);
  EXPECT_EQ(reported, 0u);
  EXPECT_FALSE(driver_.AnswerTo(waiting).has_value());
}

TEST_F(RdmaCmFileTest, ADescriptorThatIsNotOfRdmaCmHasNoIds) {
  rdma_ucm_migrate_id migrate{.response = 0, .id = Create(), .fd = 9999};
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_MIGRATE_ID, migrate)),
            Errno::kNoEntry);
  migrate.fd = STDERR_FILENO;
  EXPECT_EQ(Write(CmCommand(RDMA_USER_CM_CMD_MIGRATE_ID, migrate)),
            Errno::kInvalid);
}

TEST_F(RdmaCmFileTest, ReadsAndIoctlsAreRefused) {
  EXPECT_EQ(driver_.Read(8).error, Errno::kInvalid);
  EXPECT_EQ(driver_.Ioctl(0x1b01, {}).error, Errno::kNotTty);
}

}  // namespace
}  // namespace ibemu::cuse
