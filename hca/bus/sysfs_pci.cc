#include "hca/bus/sysfs_pci.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "hca/bus/big_endian.h"
#include "hca/bus/pci_config.h"

namespace ibemu::hca {
namespace {

class PhysicalMemory : public DmaMemory {
 public:
  PhysicalMemory(std::shared_ptr<PhysicalRun> run, std::span<std::byte> bytes)
      : run_(std::move(run)), bytes_(bytes) {}
  ~PhysicalMemory() override { run_->Return(bytes_); }

  std::span<std::byte> bytes() override { return bytes_; }
  uint64_t iova() const override { return run_->AddressOf(bytes_.data()); }

 private:
  const std::shared_ptr<PhysicalRun> run_;
  const std::span<std::byte> bytes_;
};

absl::StatusOr<UniqueFd> OpenFunctionFile(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDWR | O_SYNC | O_CLOEXEC));
  if (file.valid()) return file;
  const std::string message = absl::StrCat(path, ": ", std::strerror(errno));
  if (errno == EACCES || errno == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat(message, ": access=sysfs is for root"));
  }
  return absl::UnavailableError(message);
}

// Locks the function until `config`, its file at `path`, is closed.
absl::Status LockFunction(const UniqueFd& config, const std::string& path,
                          const PciAddress& address) {
  if (flock(config.get(), LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  if (errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(
        absl::StrCat(address.Text(), ": another program drives it (\"fuser -v ",
                     path, "\" names it)"));
  }
  return absl::UnavailableError(
      absl::StrCat(path, ": it can't be locked: ", std::strerror(errno)));
}

// Gives the function power and the right to answer to its addresses, unless it
// has them.  `path`: its file `enable`, which counts its users.  Returns
// whether the function was not enabled before.
absl::StatusOr<bool> EnableFunction(const std::string& path) {
  int users = 0;
  if (std::ifstream(path) >> users && users > 0) return false;
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.valid() && write(file.get(), "1", 1) == 1) return true;
  return absl::UnavailableError(absl::StrCat(
      path, ": ", std::strerror(errno),
      ": the kernel does not enable the function (\"dmesg\" may say why)"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SysfsPci>> SysfsPci::Open(
    const PciSysfs& sysfs, const PciFacts& facts, const std::string& pagemap) {
  IBEMU_RETURN_IF_ERROR(CheckSysfs(facts));
  const std::string config_path = sysfs.Path(facts.address, "config");
  IBEMU_ASSIGN_OR_RETURN(UniqueFd config, OpenFunctionFile(config_path));
  IBEMU_RETURN_IF_ERROR(LockFunction(config, config_path, facts.address));
  IBEMU_ASSIGN_OR_RETURN(PageMap pages, PageMap::Open(pagemap));
  const std::string enable = sysfs.Path(facts.address, "enable");
  IBEMU_ASSIGN_OR_RETURN(const bool enabled, EnableFunction(enable));
  std::unique_ptr<SysfsPci> function(
      new SysfsPci(sysfs, facts, std::move(config), std::move(pages), enabled));
  // This disables the interrupt pin, too, which `enable` has enabled.
  pci_config::SetCommand(*function, /*memory=*/true, /*bus_master=*/false);
  return function;
}

SysfsPci::~SysfsPci() {
  pci_config::SetCommand(*this, /*memory=*/true, /*bus_master=*/false);
  if (!enabled_) return;
  // Writing `enable` needs CAP_SYS_ADMIN, which a serving daemon no longer has;
  // the function stays enabled then.
  std::ofstream(sysfs_.Path(facts_.address, "enable")) << "0" << std::flush;
}

uint32_t SysfsPci::ReadConfig(size_t offset, size_t size) {
  uint32_t value = 0;
  const ssize_t got =
      pread(config_.get(), &value, size, static_cast<off_t>(offset));
  // All ones, as the bus answers where no device is.
  return got == static_cast<ssize_t>(size) ? ToBus(value) : ~uint32_t{0};
}

void SysfsPci::WriteConfig(size_t offset, size_t size, uint32_t value) {
  value = ToBus(value);
  // A failure is ignored, because the bus does not report lost writes, either.
  [[maybe_unused]] const ssize_t put =
      pwrite(config_.get(), &value, size, static_cast<off_t>(offset));
}

absl::StatusOr<Bar*> SysfsPci::OpenBar(int index) {
  if (!IsBar(index)) {
    return absl::NotFoundError(absl::StrCat(facts_.address.Text(), ": BAR ",
                                            index, ": there are 0 to 5"));
  }
  std::unique_ptr<MappedBar>& bar = bars_[static_cast<size_t>(index)];
  if (bar) return bar.get();
  const PciResource& resource = facts_.bars[static_cast<size_t>(index)];
  const std::string path =
      sysfs_.Path(facts_.address, absl::StrCat("resource", index));
  if (!resource.is_memory || resource.size == 0) {
    return absl::NotFoundError(
        absl::StrCat(path, ": the function has no such memory"));
  }
  IBEMU_ASSIGN_OR_RETURN(const UniqueFd file, OpenFunctionFile(path));
  IBEMU_ASSIGN_OR_RETURN(bar,
                         MappedBar::Map(file.get(), 0, resource.size, path));
  return bar.get();
}

absl::StatusOr<std::unique_ptr<DmaMemory>> SysfsPci::Allocate(size_t size) {
  static_assert(PhysicalRun::kHugePage >= kDmaPiece);
  if (size > PhysicalRun::kHugePage) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "access=sysfs has at most a huge page in one piece, 2 MiB, not ", size,
        " bytes"));
  }
  for (const std::shared_ptr<PhysicalRun>& run : runs_) {
    if (const auto memory = run->Take(size); memory.ok()) {
      return std::make_unique<PhysicalMemory>(run, *memory);
    }
  }
  IBEMU_ASSIGN_OR_RETURN(std::shared_ptr<PhysicalRun> run,
                         PhysicalRun::Make(pages_));
  runs_.push_back(run);
  IBEMU_ASSIGN_OR_RETURN(const std::span<std::byte> memory, run->Take(size));
  return std::make_unique<PhysicalMemory>(std::move(run), memory);
}

absl::Status SysfsPci::EnableInterrupts(int) {
  return absl::FailedPreconditionError("access=sysfs has no interrupts");
}

}  // namespace ibemu::hca
