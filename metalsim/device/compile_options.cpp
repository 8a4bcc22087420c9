#include "device/library.h"
#include "objc/class_builder.h"

namespace metalsim::device {

void register_compile_options() {
  using Options = CompileOptions;
  objc::ClassBuilder<Options>()
      .creatable()
      .copyable()
      .method<&Options::get<&Options::fast_math>>("fastMathEnabled")
      .method<&Options::set<&Options::fast_math, bool>>("setFastMathEnabled:")
      .method<&Options::get<&Options::preserve_invariance>>("preserveInvariance")
      .method<&Options::set<&Options::preserve_invariance, bool>>("setPreserveInvariance:")
      .method<&Options::get<&Options::language_version>>("languageVersion")
      .method<&Options::set<&Options::language_version, MTL::LanguageVersion>>("setLanguageVersion:")
      .method<&Options::get<&Options::library_type>>("libraryType")
      .method<&Options::set<&Options::library_type, MTL::LibraryType>>("setLibraryType:")
      .method<&Options::get<&Options::optimization_level>>("optimizationLevel")
      .method<&Options::set<&Options::optimization_level, MTL::LibraryOptimizationLevel>>(
          "setOptimizationLevel:")
      .method<&Options::get<&Options::math_mode>>("mathMode")
      .method<&Options::set<&Options::math_mode, MTL::MathMode>>("setMathMode:")
      .method<&Options::get<&Options::math_functions>>("mathFloatingPointFunctions")
      .method<&Options::set<&Options::math_functions, MTL::MathFloatingPointFunctions>>(
          "setMathFloatingPointFunctions:")
      .method<&Options::get_macros>("preprocessorMacros")
      .method<&Options::set_macros>("setPreprocessorMacros:");
}

}  // namespace metalsim::device
