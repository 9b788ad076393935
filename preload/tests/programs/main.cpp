// SPDX-License-Identifier: MIT
extern "C" int use_cublas(const char* what, const char* self);
int main(int, char** arguments) { return use_cublas(arguments[1], arguments[0]); }
