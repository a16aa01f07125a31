# cmake --install: libraries, headers, the command, the compile worker with libHalide beside it, and find_package(Heddle).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(libraries GLOBAL PROPERTY HEDDLE_INSTALLED)
set_target_properties(heddle_frontend PROPERTIES EXPORT_NAME heddle)
set_target_properties(heddle-kernelc PROPERTIES EXPORT_NAME kernelc INSTALL_RPATH "$ORIGIN/../lib")
set_target_properties(heddle PROPERTIES EXPORT_NAME command)
install(TARGETS ${libraries} heddle heddle-kernelc EXPORT HeddleTargets
        ARCHIVE DESTINATION lib RUNTIME DESTINATION bin)
install(FILES "${HALIDE_ROOT}/lib64/libHalide.so" DESTINATION lib)
foreach(folder IN LISTS HEDDLE_FOLDERS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include/heddle
          FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def" PATTERN "cli" EXCLUDE PATTERN "halide" EXCLUDE)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/frontend/heddle.h DESTINATION include/heddle)

install(EXPORT HeddleTargets NAMESPACE Heddle:: DESTINATION lib/cmake/Heddle)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/HeddleConfig.cmake.in ${PROJECT_BINARY_DIR}/HeddleConfig.cmake
                              INSTALL_DESTINATION lib/cmake/Heddle)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HeddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HeddleConfig.cmake ${PROJECT_BINARY_DIR}/HeddleConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/add_library.cmake DESTINATION lib/cmake/Heddle)
