#pragma once

#include "MTLPrivate.hpp"

namespace MTL {

enum Mutability : NS::UInteger {
  MutabilityDefault = 0,
  MutabilityMutable = 1,
  MutabilityImmutable = 2,
};

enum ShaderValidation : NS::Integer {
  ShaderValidationDefault = 0,
  ShaderValidationEnabled = 1,
  ShaderValidationDisabled = 2,
};

class PipelineBufferDescriptor : public NS::Copying<PipelineBufferDescriptor> {
 public:
  static PipelineBufferDescriptor* alloc() {
    return NS::Private::send<PipelineBufferDescriptor*, "alloc">(
        NS::Private::class_named<"MTLPipelineBufferDescriptor">());
  }
  PipelineBufferDescriptor* init() { return NS::Private::send<PipelineBufferDescriptor*, "init">(this); }
  Mutability mutability() const { return NS::Private::send<Mutability, "mutability">(this); }
  void setMutability(MTL::Mutability mutability) {
    NS::Private::send<void, "setMutability:">(this, mutability);
  }
};

class PipelineBufferDescriptorArray : public NS::Referencing<PipelineBufferDescriptorArray> {
 public:
  PipelineBufferDescriptor* object(NS::UInteger bufferIndex) {
    return NS::Private::send<PipelineBufferDescriptor*, "objectAtIndexedSubscript:">(this, bufferIndex);
  }
  void setObject(const MTL::PipelineBufferDescriptor* buffer, NS::UInteger bufferIndex) {
    NS::Private::send<void, "setObject:atIndexedSubscript:">(this, buffer, bufferIndex);
  }
};

}  // namespace MTL
