#include "daemon/web/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/version.h"

namespace ibemu::daemon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily One(const char* name, const char* help, double value,
                 MetricType type = MetricType::Gauge) {
  ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) =
      value;
  return {.name = name, .help = help, .type = type, .metric = {metric}};
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// proc(5): the second number is the resident set, in pages.
double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double OpenDescriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/self/fd", error);
  return static_cast<double>(std::distance(begin(all), end(all)));
}

}  // namespace

MetricFamilies ProcessMetrics() {
  MetricFamily build =
      One("ibemu_build_info", "The version that runs; the value is 1", 1);
  build.metric.front().label.push_back({"version", Version()});
  return {
      build,
      One("process_cpu_seconds_total", "Time on processors", CpuSeconds(),
          MetricType::Counter),
      One("process_resident_memory_bytes", "Memory in use", ResidentBytes()),
      One("process_open_fds", "Open file descriptors", OpenDescriptors())};
}

}  // namespace ibemu::daemon
