// mpi_sums ROUNDS: all ranks sum their vectors, again and again.  Each says
// whether its sums were right.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 14 };

int main(int argc, char **argv) {
  static double mine[COUNT], sum[COUNT];
  const long rounds = argc > 1 ? atol(argv[1]) : 1;
  int rank, size, right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (long round = 0; round < rounds && right; ++round) {
    for (int i = 0; i < COUNT; ++i) mine[i] = rank + i + (double)round;
    MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) {
      right &= sum[i] == size * (i + (double)round) + size * (size - 1) / 2;
    }
  }
  printf("rank %d: %s\n", rank, right ? "right" : "wrong");
  MPI_Finalize();
  return !right;
}
