// Throughput of copies between processes.  Each line of the output has a name,
// a number of bytes, and MB/s.
//
//   one         process_vm_readv() alone
//   two         the same, then process_vm_writev() to the other process
//   overlapped  one thread reads while another writes what was read before
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <thread>
#include <vector>

namespace {

constexpr size_t kMax = size_t{1} << 20;
// As verbs::kChunk: a buffer of this size fits a second-level cache.
constexpr size_t kChunk = size_t{256} << 10;
constexpr size_t kTotal = size_t{1} << 30;

class Process {
 public:
  explicit Process(std::byte* memory) : memory_(memory) {
    pid_ = fork();
    if (pid_ != 0) return;
    std::memset(memory, 1, kMax);  // gives the process its own pages
    while (true) pause();
  }
  ~Process() { kill(pid_, SIGKILL); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Read(std::byte* buffer, size_t offset, size_t size) const {
    Check(
        size,
        [&](const iovec& here, const iovec& there) {
          return process_vm_readv(pid_, &here, 1, &there, 1, 0);
        },
        buffer, offset);
  }
  void Write(std::byte* buffer, size_t offset, size_t size) const {
    Check(
        size,
        [&](const iovec& here, const iovec& there) {
          return process_vm_writev(pid_, &here, 1, &there, 1, 0);
        },
        buffer, offset);
  }

 private:
  template <class Call>
  void Check(size_t size, Call call, std::byte* buffer, size_t offset) const {
    const iovec here = {buffer, size}, there = {memory_ + offset, size};
    if (call(here, there) == static_cast<ssize_t>(size)) return;
    std::perror("process_vm");
    std::exit(1);
  }

  std::byte* memory_;
  pid_t pid_;
};

template <class Copy>
void Measure(const char* name, size_t size, Copy copy) {
  copy();  // the first call touches the pages
  const auto began = std::chrono::steady_clock::now();
  for (size_t done = 0; done < kTotal; done += size) copy();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - began;
  std::printf("%s %zu %.0f\n", name, size, kTotal / took.count() / 1e6);
}

// Copies messages in chunks: one thread reads a chunk while the other writes
// the one before.
void Overlap(const Process& from, const Process& to, size_t size) {
  const size_t chunk = std::min(size / 2, kChunk);
  std::array<std::vector<std::byte>, 2> bounces = {
      std::vector<std::byte>(chunk), std::vector<std::byte>(chunk)};
  std::counting_semaphore<2> free(2), full(0);
  const size_t chunks = kTotal / chunk, per_message = size / chunk;
  const auto began = std::chrono::steady_clock::now();
  std::thread writer([&] {
    for (size_t i = 0; i < chunks; ++i) {
      full.acquire();
      to.Write(bounces[i % 2].data(), i % per_message * chunk, chunk);
      free.release();
    }
  });
  for (size_t i = 0; i < chunks; ++i) {
    free.acquire();
    from.Read(bounces[i % 2].data(), i % per_message * chunk, chunk);
    full.release();
  }
  writer.join();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - began;
  std::printf("overlapped %zu %.0f\n", size, kTotal / took.count() / 1e6);
}

}  // namespace

int main() {
  void* const memory = mmap(nullptr, kMax, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  const Process from(static_cast<std::byte*>(memory));
  const Process to(static_cast<std::byte*>(memory));
  std::vector<std::byte> bounce(kMax);
  for (const size_t size : {size_t{64} << 10, kMax}) {
    const size_t chunk = std::min(size, kChunk);
    Measure("one", size, [&] {
      for (size_t at = 0; at < size; at += chunk) {
        from.Read(bounce.data(), at, chunk);
      }
    });
    Measure("two", size, [&] {
      for (size_t at = 0; at < size; at += chunk) {
        from.Read(bounce.data(), at, chunk);
        to.Write(bounce.data(), at, chunk);
      }
    });
    Overlap(from, to, size);
  }
  return 0;
}
