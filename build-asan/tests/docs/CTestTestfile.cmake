# CMake generated Testfile for 
# Source directory: /work/h/lead/sorus/tests/docs
# Build directory: /work/h/lead/sorus/build-asan/tests/docs
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[docs.data_pipeline]=] "/work/h/lead/sorus/build-asan/tests/docs/docs_example_data_pipeline")
set_tests_properties([=[docs.data_pipeline]=] PROPERTIES  LABELS "docs" WORKING_DIRECTORY "/work/h/lead/sorus" _BACKTRACE_TRIPLES "/work/h/lead/sorus/tests/docs/CMakeLists.txt;16;add_test;/work/h/lead/sorus/tests/docs/CMakeLists.txt;0;")
add_test([=[docs.gradients]=] "/work/h/lead/sorus/build-asan/tests/docs/docs_example_gradients")
set_tests_properties([=[docs.gradients]=] PROPERTIES  LABELS "docs" WORKING_DIRECTORY "/work/h/lead/sorus" _BACKTRACE_TRIPLES "/work/h/lead/sorus/tests/docs/CMakeLists.txt;16;add_test;/work/h/lead/sorus/tests/docs/CMakeLists.txt;0;")
add_test([=[docs.tensors]=] "/work/h/lead/sorus/build-asan/tests/docs/docs_example_tensors")
set_tests_properties([=[docs.tensors]=] PROPERTIES  LABELS "docs" WORKING_DIRECTORY "/work/h/lead/sorus" _BACKTRACE_TRIPLES "/work/h/lead/sorus/tests/docs/CMakeLists.txt;16;add_test;/work/h/lead/sorus/tests/docs/CMakeLists.txt;0;")
add_test([=[docs.training]=] "/work/h/lead/sorus/build-asan/tests/docs/docs_example_training")
set_tests_properties([=[docs.training]=] PROPERTIES  LABELS "docs" WORKING_DIRECTORY "/work/h/lead/sorus" _BACKTRACE_TRIPLES "/work/h/lead/sorus/tests/docs/CMakeLists.txt;16;add_test;/work/h/lead/sorus/tests/docs/CMakeLists.txt;0;")
