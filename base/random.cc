#include "base/random.h"

#include <cmath>

namespace ibemu {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

}  // namespace

Random Random::ForStream(uint64_t seed, std::string_view name) {
  uint64_t hash = Mix(seed + kGolden);
  for (const char c : name) {
    hash = Mix(hash ^ (static_cast<unsigned char>(c) + kGolden));
  }
  return Random(hash);
}

uint64_t Random::Next() { return Mix(state_ += kGolden); }

uint64_t Random::Below(uint64_t bound) {
  // Multiply-shift; the bias is below 2^-32 for any bound used here.
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((Wide{Next()} * bound) >> 64);
}

bool Random::Chance(double probability) {
  const auto threshold = static_cast<uint64_t>(std::ldexp(probability, 32));
  return (Next() >> 32) < threshold;
}

}  // namespace ibemu
