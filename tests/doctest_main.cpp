#include <doctest/doctest.h>

// Apart from doctest itself, so that a program may bring a main of its own.
int main(int argc, char** argv) { return doctest::Context(argc, argv).run(); }
