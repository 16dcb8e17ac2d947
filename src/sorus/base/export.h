#pragma once

/// Marks a class or function as part of the library's interface; everything else has hidden visibility.
#define SORUS_API __attribute__((visibility("default")))
