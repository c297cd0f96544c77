# ekvi_layer(NAME DEPENDS layer… LIBRARIES target…): the static library ekvi_NAME of the sources in this
# folder and below, its tests, measurements and fuzzers. A new file needs no entry anywhere:
#
#   foo.cc        the library          foo_bench.cc  a program of its own, built by the target "benches"
#   foo_test.cc, foo_testing.cc (what tests share)   NAME_test, in ctest
#                                      foo_fuzz.cc   a program of its own, built by the target "fuzzers" (EKVI_FUZZ)
#
# DEPENDS are layers whose headers this one may include (docs/architecture.md), LIBRARIES what its sources alone need.
function(ekvi_layer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(kind test bench fuzz)
    set(${kind}_files ${files})
    list(FILTER ${kind}_files INCLUDE REGEX "_${kind}\\.cc$")
  endforeach()
  set(testing_files ${files})
  list(FILTER testing_files INCLUDE REGEX "_testing\\.cc$")
  list(FILTER files EXCLUDE REGEX "_(test|testing|bench|fuzz)\\.cc$")

  list(TRANSFORM ARG_DEPENDS PREPEND ekvi_)
  add_library(ekvi_${name} STATIC ${files})
  set_target_properties(ekvi_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(ekvi_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(ekvi_${name} PUBLIC cxx_std_20)
  ekvi_exact_arithmetic(ekvi_${name})
  target_link_libraries(ekvi_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_LIBRARIES})
  install(TARGETS ekvi_${name} EXPORT ekvi ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

  if(EKVI_TESTS AND test_files)
    ekvi_program(${name}_test "${test_files};${testing_files}")
    target_link_libraries(${name}_test PRIVATE ekvi_${name} ${ARG_LIBRARIES} GTest::gtest_main)
    gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST
      PROPERTIES TIMEOUT ${EKVI_TEST_TIMEOUT})
  endif()
  foreach(file ${bench_files})
    cmake_path(GET file STEM program)
    ekvi_program(${program} ${file})
    set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
    target_link_libraries(${program} PRIVATE ekvi_${name} ${ARG_LIBRARIES})
    add_dependencies(benches ${program})
  endforeach()
  foreach(file ${fuzz_files})
    ekvi_fuzzer(${file} ekvi_${name} ${ARG_LIBRARIES})
  endforeach()
endfunction()

# The program of foo_fuzz.cc: tests/fuzzing.cc is what all of them share.
function(ekvi_fuzzer file)
  if(EKVI_FUZZ)
    cmake_path(GET file STEM program)
    ekvi_program(${program} "${file};${PROJECT_SOURCE_DIR}/tests/fuzzing.cc")
    target_link_libraries(${program} PRIVATE ${ARGN})
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${program})
  endif()
endfunction()

# A program that sees the inside of the layers: a test, a measurement, a fuzzer.
function(ekvi_program name files)
  add_executable(${name} ${files})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE EKVI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  ekvi_exact_arithmetic(${name})
endfunction()

# The law: a product and a sum are fused where the code says std::fma, and nowhere else.
function(ekvi_exact_arithmetic target)
  target_compile_options(${target} PRIVATE -ffp-contract=off)
endfunction()
