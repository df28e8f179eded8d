// guest-vfio-client ADDRESS: a driver of guest-test-device in user space, by
// vfio-pci, IOMMU and eventfds.  ADDRESS is the function's (0000:00:10.0),
// which is bound to vfio-pci.  Prints what it saw, a word and a value a line.
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr uint64_t kIova = 0x7700001000;
constexpr uint64_t kPageSize = 4096;
constexpr uint32_t kRead = 1, kWrite = 2;  // the device's commands
constexpr int kPatience = 5000;            // ms

int Check(int result, const char* what) {
  if (result >= 0) return result;
  std::perror(what);
  std::exit(1);
}

// "/sys/.../iommu_group" leads to a directory whose name is the group's.
std::string GroupOf(const std::string& address) {
  std::array<char, PATH_MAX> target{};
  const std::string link = "/sys/bus/pci/devices/" + address + "/iommu_group";
  Check(static_cast<int>(
            readlink(link.c_str(), target.data(), target.size() - 1)),
        link.c_str());
  return std::strrchr(target.data(), '/') + 1;
}

class Device {
 public:
  explicit Device(const std::string& address) {
    container_ = Check(open("/dev/vfio/vfio", O_RDWR), "/dev/vfio/vfio");
    const std::string path = "/dev/vfio/" + GroupOf(address);
    const int group = Check(open(path.c_str(), O_RDWR), path.c_str());
    Check(ioctl(group, VFIO_GROUP_SET_CONTAINER, &container_), "container");
    Check(ioctl(container_, VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU), "IOMMU");
    device_ = Check(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, address.c_str()),
                    "device");
    vfio_region_info region = {};
    region.argsz = sizeof region;
    region.index = VFIO_PCI_BAR0_REGION_INDEX;
    Check(ioctl(device_, VFIO_DEVICE_GET_REGION_INFO, &region), "BAR 0");
    std::printf("bar0 %" PRIu64 "\n", static_cast<uint64_t>(region.size));
    void* const bar =
        mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, device_,
             static_cast<off_t>(region.offset));
    if (bar == MAP_FAILED) Check(-1, "mmap");
    bar_ = static_cast<volatile uint32_t*>(bar);
    SetBusMaster();
  }

  uint32_t Get(size_t offset) const { return bar_[offset / 4]; }
  void Set(size_t offset, uint32_t value) { bar_[offset / 4] = value; }
  void SetAddress(uint64_t address) {
    *reinterpret_cast<volatile uint64_t*>(bar_ + 4) = address;
  }

  void Map(void* memory) const {
    vfio_iommu_type1_dma_map map = {};
    map.argsz = sizeof map;
    map.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
    map.vaddr = reinterpret_cast<uintptr_t>(memory);
    map.iova = kIova;
    map.size = kPageSize;
    Check(ioctl(container_, VFIO_IOMMU_MAP_DMA, &map), "map");
  }
  void Unmap() const {
    vfio_iommu_type1_dma_unmap unmap = {};
    unmap.argsz = sizeof unmap;
    unmap.iova = kIova;
    unmap.size = kPageSize;
    Check(ioctl(container_, VFIO_IOMMU_UNMAP_DMA, &unmap), "unmap");
  }

  void EnableInterrupts(const std::array<int, 4>& events) const {
    std::array<char, sizeof(vfio_irq_set) + sizeof events> buffer{};
    auto* const set = reinterpret_cast<vfio_irq_set*>(buffer.data());
    set->argsz = buffer.size();
    set->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
    set->index = VFIO_PCI_MSIX_IRQ_INDEX;
    set->count = events.size();
    std::memcpy(buffer.data() + sizeof(vfio_irq_set), events.data(),
                sizeof events);
    Check(ioctl(device_, VFIO_DEVICE_SET_IRQS, set), "MSI-X");
  }

 private:
  void SetBusMaster() const {
    vfio_region_info config = {};
    config.argsz = sizeof config;
    config.index = VFIO_PCI_CONFIG_REGION_INDEX;
    Check(ioctl(device_, VFIO_DEVICE_GET_REGION_INFO, &config), "config");
    const uint16_t command = 6;  // memory, bus master
    Check(static_cast<int>(pwrite(device_, &command, sizeof command,
                                  static_cast<off_t>(config.offset) + 4)),
          "command");
  }

  int container_ = -1;
  int device_ = -1;
  volatile uint32_t* bar_ = nullptr;
};

void Copy(Device& device, const char* what, uint64_t address,
          uint32_t command) {
  device.SetAddress(address);
  device.Set(0x1c, command);
  std::printf("%s %s\n", what, device.Get(0x20) == 1 ? "done" : "fault");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Device device(argv[1]);
  std::printf("id %#x\n", device.Get(0));
  void* const page = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const memory = static_cast<volatile uint32_t*>(page);
  memory[1] = 0x5eed;
  Copy(device, "before", kIova + 4, kRead);
  device.Map(page);
  Copy(device, "read", kIova + 4, kRead);
  std::printf("data %#x\n", device.Get(0x18));
  device.Set(0x18, 0xfeed);
  Copy(device, "write", kIova + 8, kWrite);
  std::printf("memory %#x\n", memory[2]);
  Copy(device, "beyond", kIova + kPageSize, kRead);
  device.Unmap();
  Copy(device, "after", kIova + 4, kRead);

  std::array<int, 4> events = {};
  for (int& event : events) event = Check(eventfd(0, 0), "eventfd");
  device.EnableInterrupts(events);
  for (uint32_t vector = 0; vector < events.size(); ++vector) {
    device.Set(0x24, vector);
    pollfd ready = {events[vector], POLLIN, 0};
    uint64_t count = 0;
    if (poll(&ready, 1, kPatience) == 1) {
      Check(static_cast<int>(read(events[vector], &count, sizeof count)),
            "read");
    }
    std::printf("vector%u %" PRIu64 "\n", vector, count);
  }
  return 0;
}
