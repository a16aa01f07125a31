#The digits example for other machines : the one for Linux on arm trains by qemu to the same \
    losses as here,                                                                          \
    the one for macOS links.
#cmake - DZIG = ... - DQEMU = ... - DROOT = ... - DLIBRARIES = < folder of digits.a> - DHOST = \
                                                                   < digits_train> - DSOURCE = \
                                                                       ... - DFOLDER =         \
                                                                           ... - P digits.cmake
file(REMOVE_RECURSE ${FOLDER}) file(MAKE_DIRECTORY ${FOLDER}) function(
    link system machine) execute_process(COMMAND ${ZIG} cc - target ${system} - O2 -
                                         I ${LIBRARIES} / ${machine} ${SOURCE} /
                                             main.c ${LIBRARIES} / ${machine} / digits.a -
                                         lpthread - lm -
                                         o ${FOLDER} /
                                             ${machine} RESULT_VARIABLE result ERROR_VARIABLE
                                                 error) if (NOT result EQUAL 0)
    message(FATAL_ERROR "digits_train does not link for ${machine}: ${error}") endif() endfunction()
        link(aarch64 - macos .11.0 arm - 64 - osx) link(aarch64 - linux - gnu .2.28 arm - 64 -
                                                        linux) if (NOT QEMU OR NOT EXISTS ${ROOT})
            message(
                STATUS
                "qemu is not installed: digits_train is linked for arm-64-linux, not run") return ()
                endif()

                    function(train result)
                        execute_process(COMMAND ${ARGN} ${SOURCE} /
                                        digits.csv OUTPUT_VARIABLE printed RESULT_VARIABLE code
                                            ERROR_VARIABLE error) if (NOT code EQUAL 0)
                            message(FATAL_ERROR "training failed: ${error}") endif() set($ {
                              result
                            } "${printed}" PARENT_SCOPE) endfunction() train(here ${
                                HOST}) train(there ${QEMU} - L ${ROOT} ${FOLDER} / arm - 64 -
                                             linux) message(STATUS "arm-64-linux:\n${there}")
#Four digits of the first epoch's loss; later ones follow their own rounding. What is learnt is the same.
                                foreach (printed here there) string(
                                    REGEX MATCH
                                    "loss ([0-9]\\.[0-9][0-9][0-9])" first
                                    "${${printed}}") set(${printed} _loss ${CMAKE_MATCH_1})
                                    string(REGEX MATCH
                                           "held-out accuracy: ([0-9]+)" last "${${printed}}")
                                        set(${printed} _accuracy ${CMAKE_MATCH_1}) endforeach() if (
                                            NOT here_loss STREQUAL there_loss OR NOT there_loss)
                                            message(SEND_ERROR
                                                    "the first epoch's loss: here ${here_loss}, on "
                                                    "arm ${there_loss}")
                                                endif() if (
                                                    here_accuracy LESS 97 OR there_accuracy LESS 97)
                                                    message(
                                                        SEND_ERROR
                                                        "held-out accuracy: here ${here_accuracy} "
                                                        "%, on arm ${there_accuracy} %") endif()
                                                        file(REMOVE_RECURSE ${FOLDER})
