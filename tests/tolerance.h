#pragma once
/// Every tolerance a test may use: its name, its formula, where it comes from. Tests never write a bare
/// number.
namespace minfer::tol {}
