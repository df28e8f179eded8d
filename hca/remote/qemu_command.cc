#include "hca/remote/qemu_command.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "base/status_macros.h"

namespace ibemu::hca::remote {
namespace {

constexpr char kDefaultMemory[] = "128M";  // QEMU's own default

// Parses QEMU's "value,key=value,...".  A value without a key gets the key
// `implied`.
std::map<std::string, std::string> Settings(const std::string& text,
                                            const std::string& implied) {
  std::map<std::string, std::string> settings;
  const std::vector<std::string> items = absl::StrSplit(text, ',');
  for (const std::string& item : items) {
    const size_t sign = item.find('=');
    if (sign == std::string::npos) {
      settings.emplace(implied, item);
    } else {
      settings[item.substr(0, sign)] = item.substr(sign + 1);
    }
  }
  return settings;
}

// Returns the number of processors that "-smp text" asks for.  A part that is
// not a number is ignored: QEMU itself reports it.
std::optional<int> Processors(const std::string& text) {
  const auto settings = Settings(text, "cpus");
  const auto number = [&settings](const char* key) -> std::optional<int> {
    const auto found = settings.find(key);
    int value = 0;
    if (found == settings.end()) return std::nullopt;
    return absl::SimpleAtoi(found->second, &value) ? std::optional(value)
                                                   : std::nullopt;
  };
  if (const auto cpus = number("cpus")) return cpus;
  int product = 1;
  for (const char* part : {"sockets", "dies", "clusters", "cores", "threads"}) {
    product *= number(part).value_or(1);
  }
  return product;
}

absl::Status CheckProcessors(const std::string& text) {
  if (Processors(text).value_or(1) <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "-smp ", text,
      ": QEMU's proxy device loses accesses of a second processor (\"Blocked "
      "re-entrant IO\"): use -smp 1"));
}

absl::Status CheckIommu(const std::string& text) {
  const auto settings = Settings(text, "driver");
  const auto remapping = settings.find("intremap");
  if (remapping != settings.end() && remapping->second == "off") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "-device ", text, ": interrupts can't go through it: add intremap=off"));
}

// Returns the size in "-m text" with a unit, as a memory backend needs it.
std::string MemorySize(const std::string& text) {
  const std::string size = Settings(text, "size")["size"];
  const bool bare = size.find_first_not_of("0123456789") == std::string::npos;
  return bare ? size + "M" : size;
}

}  // namespace

absl::StatusOr<QemuCommand> PlugInto(std::vector<std::string> command,
                                     int device_socket, int qtest_socket) {
  if (command.empty()) {
    return absl::InvalidArgumentError("QEMU's command is missing");
  }
  QemuCommand result;
  std::string memory = kDefaultMemory;
  for (size_t i = 1; i + 1 < command.size(); ++i) {
    std::string_view option = command[i];
    if (option.starts_with("--")) option.remove_prefix(1);
    const std::string& value = command[i + 1];
    if (option == "-smp") {
      IBEMU_RETURN_IF_ERROR(CheckProcessors(value));
    } else if (option == "-m") {
      memory = MemorySize(value);
    } else if (option == "-device" && value.starts_with("intel-iommu")) {
      IBEMU_RETURN_IF_ERROR(CheckIommu(value));
      result.has_iommu = true;
    } else if ((option == "-machine" || option == "-M") &&
               Settings(value, "type").contains("memory-backend")) {
      return absl::InvalidArgumentError(absl::StrCat(
          Absl(option), " ", value,
          ": the memory has to be shared with the device, and is made here: "
          "leave memory-backend away"));
    }
  }
  result.arguments = std::move(command);
  for (const std::string& argument :
       {std::string("-object"),
        absl::StrCat("memory-backend-memfd,id=ibemu-memory,share=on,size=",
                     memory),
        std::string("-machine"), std::string("memory-backend=ibemu-memory"),
        std::string("-chardev"),
        absl::StrCat("socket,id=ibemu-qtest,fd=", qtest_socket),
        std::string("-object"),
        std::string("qtest,id=ibemu-qtest-server,chardev=ibemu-qtest,log=none"),
        std::string("-device"),
        absl::StrCat("x-pci-proxy-dev,id=ibemu-hca,fd=", device_socket,
                     ",addr=", absl::Hex(kQemuDevfn >> 3), ".0")}) {
    result.arguments.push_back(argument);
  }
  return result;
}

}  // namespace ibemu::hca::remote
