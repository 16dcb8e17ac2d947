# Headers that most sources of a target include are parsed once. Only builds without sanitizers have them: there every
# source shows by itself that it includes what it uses.
option(SORUS_PRECOMPILE "Parse common headers once" ON)
if(SORUS_SANITIZE)
  set(SORUS_PRECOMPILE OFF)
endif()
if(SORUS_PRECOMPILE AND SORUS_CCACHE)
  # What ccache has to be told to know such sources again. The environment wins, where it says more.
  set(sloppiness pch_defines,time_macros)
  if(DEFINED ENV{CCACHE_SLOPPINESS})
    set(sloppiness $ENV{CCACHE_SLOPPINESS},${sloppiness})
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=${sloppiness} ${SORUS_CCACHE})
endif()

# sorus_precompile(TARGET HEADERS...): headers of one target.
function(sorus_precompile target)
  if(SORUS_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()

# sorus_precompiled_headers(NAME HEADERS...): the target NAME, whose headers other targets share.
function(sorus_precompiled_headers name)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp "int main() {}\n")
  add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  sorus_precompile(${name} ${ARGN})
endfunction()

# sorus_precompile_as(TARGET NAME): shares the headers of NAME, which is compiled with the same options.
function(sorus_precompile_as target name)
  if(SORUS_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${name})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()
