# Goal: what cmake --install leaves is enough for others. Method: install the build into a fresh prefix, build the
# examples against it as a project of its own that knows nothing of this tree, run its programs and read what they say.
#
# Expects build, examples, generator, compiler, flags (-D NAME=VALUE).
set(scratch ${build}/install_test)
file(REMOVE_RECURSE ${scratch})

function(run output_name)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}${errors}")
  endif()
  set(${output_name} "${output}" PARENT_SCOPE)
endfunction()

run(ignored ${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/prefix)
file(COPY ${examples}/ DESTINATION ${scratch}/source)
run(ignored ${CMAKE_COMMAND} -S ${scratch}/source -B ${scratch}/build -G ${generator}
  -D CMAKE_PREFIX_PATH=${scratch}/prefix -D CMAKE_CXX_COMPILER=${compiler} "-D CMAKE_CXX_FLAGS=${flags}")
run(ignored ${CMAKE_COMMAND} --build ${scratch}/build)

run(attention ${scratch}/build/attention)
if(NOT attention MATCHES "identical")
  message(FATAL_ERROR "examples/attention.cc says: ${attention}")
endif()
run(text ${scratch}/build/text "Once upon a time")
string(LENGTH "${text}" length)
if(length LESS 40)
  message(FATAL_ERROR "examples/text.cc says: ${text}")
endif()
file(WRITE ${scratch}/messages.txt "Once upon a time\nOne </s> day\n")
execute_process(COMMAND ${scratch}/build/chat INPUT_FILE ${scratch}/messages.txt OUTPUT_VARIABLE chat
  ERROR_VARIABLE counts RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT counts MATCHES "computed, 0 from the cache\n[0-9]+ tokens computed, [1-9]")
  message(FATAL_ERROR "examples/chat.cc says: ${result}\n${chat}${counts}")
endif()
run(version ${scratch}/prefix/bin/ekvi --version)
file(REMOVE_RECURSE ${scratch})
