// Two runs show three hosts, whose adapters come and go while programs open,
// use and close everything in any order.  Whatever happens, each call is
// answered as Linux would, and nothing is left when all have closed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "cuse/fuse/fuse_tree.h"
#include "testing/fake_device.h"
#include "testing/kernel_side.h"
#include "testing/post_box.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/peer.h"
#include "tests/cuse/umad_messages.h"

namespace ibemu::cuse {
namespace {

using testing::KernelSide;
using ::testing::UnorderedElementsAreArray;

constexpr int kIdle = POLLOUT | POLLWRNORM;
constexpr int kReadable = kIdle | POLLIN | POLLRDNORM;
constexpr size_t kRoom = 1024;

// A device of one plugging, from its host on.
struct Device {
  int adapter = 0;
  std::shared_ptr<mad::Host> host;  // the daemon's, null: pulled out
  std::weak_ptr<mad::Host> any;     // anybody's
  std::array<int, 3> sm_holders{};  // open issm files, by port

  bool gone() const { return host == nullptr; }
};

struct OpenFile {
  KernelSide::OpenFile file;
  std::shared_ptr<Device> device;
  int port = 0;
  bool issm = false;
  int queued = 0;                    // MADs to read
  std::optional<uint64_t> parked{};  // a read() that waits
};

// An open() of issmN that waits.
struct Waiter {
  uint64_t request = 0;
  uint64_t node = 0;
  std::shared_ptr<Device> device;
  int port = 0;
};

// A tree, and the programs that use it.
struct Session {
  Session(Timers& timers, WorkerPool& workers, std::vector<int> shown)
      : adapters(std::move(shown)),
        tree(std::in_place, timers, view, workers, FuseTree::Options{}) {
    EXPECT_TRUE(tree->Serve(kernel.TakeServerFd()).ok());
  }

  std::vector<int> adapters;  // by slot
  sysfs::View view;
  std::optional<FuseTree> tree;
  KernelSide kernel;
  std::vector<OpenFile> files;
  std::vector<Waiter> waiters;
};

class HotPlugTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  HotPlugTest() {
    for (int i = 0; i < kAdapters; ++i) {
      adapters_.emplace_back(2);
      for (int port = 1; port <= 2; ++port) {
        peers_.emplace_back(timers_, adapters_.back().port(port));
      }
    }
    runs_.emplace_back(timers_, workers_, std::vector<int>{0, 1, 2});
    runs_.emplace_back(timers_, workers_, std::vector<int>{2, 0});
    for (Session& run : runs_) {
      run.kernel.SetPump([this] { Pump(); });
      run.kernel.SetWorkerWait([this] { posts_.WaitAndRun(); });
      run.kernel.Init();
    }
    for (int i = 0; i < kAdapters; ++i) Plug(i);
  }

  void Pump() {
    for (bool busy = true; busy;) {
      busy = false;
      for (Session& run : runs_) {
        while (run.tree && run.tree->HandleOne() == FuseResult::kHandled) {
          busy = true;
        }
      }
      timers_.RunPending();
    }
  }

  void ForEachView(int adapter, auto change) {
    for (Session& run : runs_) {
      const auto& shown = run.adapters;
      const auto slot = std::find(shown.begin(), shown.end(), adapter);
      if (slot == shown.end()) continue;
      change(run.view, static_cast<int>(slot - shown.begin()));
      run.tree->Update();
    }
  }
  void Plug(int adapter) {
    testing::FakeDevice& device = adapters_[static_cast<size_t>(adapter)];
    device.Add();
    for (int port = 1; port <= 2; ++port) device.port(port).is_sm = false;
    auto plugged = std::make_shared<Device>();
    plugged->adapter = adapter;
    plugged->host = std::make_shared<mad::Host>(timers_, device);
    plugged->any = plugged->host;
    devices_[static_cast<size_t>(adapter)] = plugged;
    all_devices_.push_back(plugged);
    ForEachView(adapter, [&](sysfs::View& view, int slot) {
      PlugIn(view, slot, plugged->host);
    });
  }
  void Pull(int adapter) {
    adapters_[static_cast<size_t>(adapter)].Remove();
    devices_[static_cast<size_t>(adapter)]->host.reset();
    ForEachView(adapter,
                [](sysfs::View& view, int slot) { PullOut(view, slot); });
    timers_.RunPending();  // before any program calls
  }

  // The name of a file of `run`, or none.
  std::optional<std::string> NameOf(const Session& run, const Device& device,
                                    int port, const char* kind) const {
    for (const sysfs::ViewDevice& shown : run.view.devices) {
      if (shown.host != device.host) continue;
      return absl::StrCat(kind, shown.umads[static_cast<size_t>(port - 1)]);
    }
    return std::nullopt;
  }

  void OpenUmad(Session& run, const std::shared_ptr<Device>& device, int port) {
    const auto name = NameOf(run, *device, port, "umad");
    if (!name) return;
    const auto file = run.kernel.Open("dev/" + *name, O_RDWR);
    ASSERT_EQ(file.error, 0) << *name;
    ib_user_mad_reg_req request{};
    request.qpn = 1;
    ASSERT_EQ(run.kernel
                  .Ioctl(file, IB_USER_MAD_REGISTER_AGENT,
                         testing::AsBytes(request), sizeof request)
                  .error,
              0);
    run.files.push_back({.file = file, .device = device, .port = port});
  }

  void OpenIssm(Session& run, const std::shared_ptr<Device>& device, int port) {
    const auto name = NameOf(run, *device, port, "issm");
    if (!name || WaiterFor(*device, port)) return;
    const uint64_t node = run.kernel.Walk("dev/" + *name).out.nodeid;
    int& holders = device->sm_holders[static_cast<size_t>(port)];
    if (holders == 0) {
      const auto file = run.kernel.Open(node, O_RDWR);
      ASSERT_EQ(file.error, 0);
      ++holders;
      run.files.push_back(
          {.file = file, .device = device, .port = port, .issm = true});
    } else {
      EXPECT_EQ(run.kernel.Open(node, O_RDWR | O_NONBLOCK).error, EAGAIN);
      const uint64_t request = run.kernel.StartOpen(node, O_RDWR);
      EXPECT_TRUE(run.kernel.IsParked(request));
      run.waiters.push_back({request, node, device, port});
    }
  }

  bool WaiterFor(const Device& device, int port) const {
    return std::any_of(runs_.begin(), runs_.end(), [&](const Session& run) {
      return std::any_of(
          run.waiters.begin(), run.waiters.end(), [&](const Waiter& waiter) {
            return waiter.device.get() == &device && waiter.port == port;
          });
    });
  }

  // A signal for the first who waits.
  void SignalWaiter(Session& run) {
    if (run.waiters.empty()) return;
    const Waiter waiter = run.waiters.front();
    run.waiters.erase(run.waiters.begin());
    run.kernel.Interrupt(waiter.request);
    EXPECT_EQ(run.kernel.Wait(waiter.request).error, EINTR);
    run.kernel.Forget(waiter.node);
  }

  void Write(Session& run, OpenFile& open) {
    if (open.issm) return;
    const auto reply = run.kernel.Write(open.file, UmadRequest(++last_tid_));
    EXPECT_EQ(reply.error, open.device->gone() ? EIO : 0);
    Pump();
    if (open.device->gone()) return;
    if (open.parked) {
      EXPECT_EQ(run.kernel.Wait(*open.parked).error, 0);
      open.parked.reset();
    } else {
      ++open.queued;
    }
  }

  void Read(Session& run, OpenFile& open, bool nonblock) {
    if (open.issm || open.parked) return;
    const uint64_t read =
        run.kernel.StartRead(open.file, kRoom, 0, nonblock ? O_NONBLOCK : 0);
    Pump();
    if (open.device->gone()) {
      EXPECT_EQ(run.kernel.Wait(read).error, EIO);
    } else if (open.queued > 0) {
      EXPECT_EQ(run.kernel.Wait(read).error, 0);
      --open.queued;
    } else if (nonblock) {
      EXPECT_EQ(run.kernel.Wait(read).error, EAGAIN);
    } else {
      EXPECT_TRUE(run.kernel.IsParked(read));
      open.parked = read;
    }
  }

  void Signal(Session& run, OpenFile& open) {
    if (!open.parked) return;
    EXPECT_TRUE(run.kernel.IsParked(*open.parked));  // removed or not
    run.kernel.Interrupt(*open.parked);
    EXPECT_EQ(run.kernel.Wait(*open.parked).error, EINTR);
    open.parked.reset();
  }

  void Poll(Session& run, const OpenFile& open) {
    if (open.issm) return;
    EXPECT_EQ(run.kernel.Poll(open.file), open.device->gone() ? int{POLLERR}
                                          : open.queued > 0   ? kReadable
                                                              : kIdle);
  }

  void Close(Session& run, size_t index) {
    Signal(run, run.files[index]);
    const OpenFile open = std::move(run.files[index]);
    run.files.erase(run.files.begin() + static_cast<std::ptrdiff_t>(index));
    run.kernel.Release(open.file);
    run.kernel.Forget(open.file.node);
    Pump();
    if (!open.issm) return;
    --open.device->sm_holders[static_cast<size_t>(open.port)];
    PassOn(*open.device, open.port);
  }

  // The issm of `port` was closed: whoever waits has it now.
  void PassOn(const Device& device, int port) {
    for (Session& run : runs_) {
      for (size_t i = 0; i < run.waiters.size(); ++i) {
        const Waiter waiter = run.waiters[i];
        if (waiter.device.get() != &device || waiter.port != port) continue;
        run.waiters.erase(run.waiters.begin() + static_cast<std::ptrdiff_t>(i));
        const auto file = run.kernel.FinishOpen(waiter.request, waiter.node);
        EXPECT_EQ(file.error, device.gone() ? ENXIO : 0);
        if (file.error != 0) return run.kernel.Forget(waiter.node);
        ++waiter.device->sm_holders[static_cast<size_t>(port)];
        run.files.push_back({.file = file,
                             .device = waiter.device,
                             .port = port,
                             .issm = true});
        return;
      }
    }
  }

  void CheckNames(Session& run) {
    std::vector<std::string> wanted = {".", ".."};
    for (const sysfs::ViewDevice& shown : run.view.devices) {
      for (const int number : shown.umads) {
        wanted.push_back(absl::StrCat("umad", number));
        wanted.push_back(absl::StrCat("issm", number));
        EXPECT_LT(number, 2 * static_cast<int>(run.adapters.size()));
      }
    }
    EXPECT_THAT(run.kernel.List(run.kernel.Walk("dev").out.nodeid),
                UnorderedElementsAreArray(wanted));
  }

  void CheckPorts() {
    for (const auto& device : devices_) {
      if (device->gone()) continue;
      testing::FakeDevice& adapter =
          adapters_[static_cast<size_t>(device->adapter)];
      for (int port = 1; port <= 2; ++port) {
        EXPECT_EQ(adapter.port(port).is_sm,
                  device->sm_holders[static_cast<size_t>(port)] == 1);
      }
    }
  }

  void Step(Random& random) {
    Session& run = runs_[random.Below(runs_.size())];
    const auto adapter = static_cast<int>(random.Below(kAdapters));
    const auto device = devices_[static_cast<size_t>(adapter)];
    const auto port = static_cast<int>(1 + random.Below(2));
    const uint64_t action = random.Below(12);
    if (action == 0) return device->gone() ? Plug(adapter) : Pull(adapter);
    if (action == 1) return OpenIssm(run, device, port);
    if (action == 2) return SignalWaiter(run);
    if (action == 3) return timers_.RunFor(absl::Milliseconds(300));
    if (action <= 5) return OpenUmad(run, device, port);
    if (run.files.empty()) return;
    const size_t index = random.Below(run.files.size());
    if (action == 6) return Close(run, index);
    if (action == 7) return Signal(run, run.files[index]);
    if (action == 8) return Poll(run, run.files[index]);
    if (action <= 10) return Write(run, run.files[index]);
    Read(run, run.files[index], random.Chance(0.5));
  }

  static constexpr int kAdapters = 3;

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  std::deque<testing::FakeDevice> adapters_;
  std::deque<Peer> peers_;
  WorkerPool workers_{timers_, posts_.Poster()};
  std::array<std::shared_ptr<Device>, kAdapters> devices_;  // the last ones
  std::vector<std::shared_ptr<Device>> all_devices_;
  std::deque<Session> runs_;
  uint32_t last_tid_ = 0;
};

TEST_P(HotPlugTest, EveryCallIsAnsweredAndNothingIsLeft) {
  Random random(GetParam());
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    SCOPED_TRACE(absl::StrCat("step ", i));
    Step(random);
    CheckPorts();
    CheckNames(runs_[static_cast<size_t>(i) % runs_.size()]);
  }
  for (Session& run : runs_) {
    while (!run.waiters.empty()) SignalWaiter(run);
    while (!run.files.empty()) Close(run, run.files.size() - 1);
  }
  CheckPorts();
  Pump();
  for (const auto& device : all_devices_) {
    EXPECT_EQ(device->any.expired(), device->gone());
  }
  timers_.RunFor(absl::Seconds(5));
  EXPECT_TRUE(timers_.idle());
}

// A launcher is killed: its tree ends with all that is open.
TEST_P(HotPlugTest, ATreeMayEndAtAnyMoment) {
  Random random(GetParam() + 1000);
  for (int i = 0; i < 100 && !HasFailure(); ++i) Step(random);
  Session& ended = runs_.back();
  ended.view.devices.clear();
  ended.tree.reset();
  for (const OpenFile& open : ended.files) {
    if (open.issm) --open.device->sm_holders[static_cast<size_t>(open.port)];
  }
  ended.files.clear();
  ended.waiters.clear();
  Pump();
  for (const auto& device : all_devices_) {
    for (int port = 1; port <= 2; ++port) {
      if (device->sm_holders[static_cast<size_t>(port)] == 0) {
        PassOn(*device, port);
      }
    }
  }
  CheckPorts();
  Session& left = runs_.front();
  CheckNames(left);
  for (size_t i = 0; i < left.files.size(); ++i) Write(left, left.files[i]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, HotPlugTest, ::testing::Range<uint64_t>(1, 11));

}  // namespace
}  // namespace ibemu::cuse
