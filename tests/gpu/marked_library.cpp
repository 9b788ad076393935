// SPDX-License-Identifier: MIT
// A library with a function whose answer tells builds of it apart, and in one of them the name of a newer function.
extern "C" int mark();
int mark() { return PGTUNE_MARK; }
#if PGTUNE_MARK == 1
extern "C" int cublasLtGroupedMatrixLayoutCreate();
int cublasLtGroupedMatrixLayoutCreate() { return 1; }
#endif
