# CMake generated Testfile for 
# Source directory: /work/h/lead/sorus/tests
# Build directory: /work/h/lead/sorus/build-asan/tests
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
include("/work/h/lead/sorus/build-asan/tests/test_autograd[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_compiler[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_core[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_data[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_formats[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_ir[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_kernels[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_math[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_nn[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_ops[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_optim[1]_include.cmake")
include("/work/h/lead/sorus/build-asan/tests/test_train[1]_include.cmake")
subdirs("docs")
