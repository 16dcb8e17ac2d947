# CMake generated Testfile for 
# Source directory: /work/h/lead/sorus
# Build directory: /work/h/lead/sorus/build-asan
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
subdirs("src/sorus")
subdirs("apps")
subdirs("tests")
