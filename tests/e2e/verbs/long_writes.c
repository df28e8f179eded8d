// long_writes DEVICE THREADS: each thread has a write() to DEVICE that breaks
// off before its end, where a page is missing, and then does nothing.  Prints
// "idle" when all have, and stays.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t kThere = (size_t)240 << 20, kWritten = (size_t)250 << 20;
static int device;
static char *buffer;
static sem_t ended;

static void *break_off(void *nothing) {
  const ssize_t written = write(device, buffer, kWritten);
  printf("%s\n", written == (ssize_t)kWritten ? "whole"
                 : written < 0                ? strerror(errno)
                                              : "broken off");
  sem_post(&ended);
  for (;;) pause();
  return nothing;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  device = open(argv[1], O_RDWR | O_CLOEXEC);
  buffer = mmap(NULL, kWritten, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (device < 0 || buffer == MAP_FAILED ||
      munmap(buffer + kThere, kWritten - kThere) != 0) {
    perror(argv[1]);
    return 1;
  }
  sem_init(&ended, 0, 0);
  const int count = atoi(argv[2]);
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, break_off, NULL) != 0) return 1;
    sem_wait(&ended);
  }
  printf("idle\n");
  fflush(stdout);
  for (;;) pause();
}
