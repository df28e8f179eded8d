// A message goes round all ranks.  Each says whether it got what was sent, and
// with how many ranks it believes to share memory.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 18 };

int main(int argc, char **argv) {
  int rank, size, near, right = 1;
  MPI_Comm node;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                      &node);
  MPI_Comm_size(node, &near);
  int *data = malloc(COUNT * sizeof *data);
  for (int i = 0; i < COUNT; ++i) data[i] = rank == 0 ? i : 0;
  if (rank == 0) {
    MPI_Send(data, COUNT, MPI_INT, 1 % size, 0, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) data[i] = 0;
  }
  MPI_Recv(data, COUNT, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  if (rank != 0) {
    MPI_Send(data, COUNT, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  }
  for (int i = 0; i < COUNT; ++i) right &= data[i] == i;
  printf("rank %d beside %d: %s\n", rank, near - 1, right ? "right" : "wrong");
  MPI_Finalize();
  return !right;
}
