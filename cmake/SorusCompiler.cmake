# Compiler settings that every Sorus target shares, as the interface target `sorus_compiler`.
add_library(sorus_compiler INTERFACE)
target_compile_features(sorus_compiler INTERFACE cxx_std_20)
# Rule 1 of the numerics contract: no contraction. A fused multiply-add appears only where it is written.
target_compile_options(sorus_compiler INTERFACE
  -ffp-contract=off -fno-fast-math -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
if(SORUS_SANITIZE)
  # The first report ends the program. Instrumented code gives GCC false reports of uninitialized variables.
  target_compile_options(sorus_compiler INTERFACE -fsanitize=${SORUS_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1 -O1 -Wno-maybe-uninitialized)
  target_link_options(sorus_compiler INTERFACE -fsanitize=${SORUS_SANITIZE})
endif()
find_program(SORUS_CCACHE ccache)
if(SORUS_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SORUS_CCACHE})
endif()
find_program(SORUS_MOLD mold)
if(SORUS_MOLD)
  target_link_options(sorus_compiler INTERFACE -fuse-ld=mold)
endif()
