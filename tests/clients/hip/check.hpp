// Counting checks for HIP programs. A check that fails says where, what and why, and the program goes on; NEED ends the
// program, for what everything after it depends on. Safe to use from several threads.
#pragma once

#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

inline std::atomic<int> checks_passed{0}, checks_failed{0};

__attribute__((format(printf, 5, 6))) inline bool check_at(const char *file, int line, bool good, const char *what,
                                                           const char *format, ...)
{
    if (good) {
        checks_passed++;
        return true;
    }
    checks_failed++;
    char why[512];
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    printf("FAILED %s:%d: %s%s%s\n", file, line, what, why[0] ? ": " : "", why);
    fflush(stdout);
    return false;
}

// CHECK(condition, "format", ...): the format tells the values that matter.
#define CHECK(condition, ...) check_at(__FILE__, __LINE__, (condition), #condition, __VA_ARGS__)

inline bool check_error_at(const char *file, int line, hipError_t got, hipError_t want, const char *what)
{
    return check_at(file, line, got == want, what, "%s, expected %s", hipGetErrorName(got), hipGetErrorName(want));
}
// The call ends with this error; its trace in hipGetLastError is taken away.
#define FAILS(call, error) (check_error_at(__FILE__, __LINE__, (call), (error), #call), (void)hipGetLastError())
#define OK(call) check_error_at(__FILE__, __LINE__, (call), hipSuccess, #call)

// The last line of every program, and its exit status. A program that checked nothing has failed.
inline int summary()
{
    printf("%d passed, %d failed\n", checks_passed.load(), checks_failed.load());
    fflush(stdout);
    return checks_failed == 0 && checks_passed > 0 ? 0 : 1;
}

inline void need_at(const char *file, int line, bool good, const char *what)
{
    if (good)
        return;
    printf("FAILED %s:%d: cannot go on without %s\n", file, line, what);
    checks_failed++;
    summary();
    _Exit(2);
}
#define NEED(condition) need_at(__FILE__, __LINE__, (condition), #condition)
#define NEED_OK(call) need_at(__FILE__, __LINE__, check_error_at(__FILE__, __LINE__, (call), hipSuccess, #call), #call)

// One check for a whole array; says the first element that differs.
template <class T>
bool same_at(const char *file, int line, const std::vector<T> &got, const std::vector<T> &want, const char *what)
{
    std::ostringstream why;
    bool good = got.size() == want.size();
    if (!good)
        why << got.size() << " elements, expected " << want.size();
    size_t wrong = 0;
    for (size_t i = 0; got.size() == want.size() && i < got.size(); i++) {
        if (memcmp(&got[i], &want[i], sizeof(T)) == 0)
            continue;
        if (wrong++ == 0)
            why << "element " << i << " is " << +got[i] << ", expected " << +want[i];
        good = false;
    }
    if (wrong > 1)
        why << " (" << wrong << " differ)";
    return check_at(file, line, good, what, "%s", why.str().c_str());
}
#define SAME(got, want, ...) same_at(__FILE__, __LINE__, got, want, #got " == " #want " " __VA_ARGS__)

// Device memory that lives as long as its scope.
template <class T> class Array {
  public:
    explicit Array(size_t count) : count_(count)
    {
        NEED_OK(hipMalloc(&data_, count * sizeof(T)));
    }
    explicit Array(const std::vector<T> &values) : Array(values.size())
    {
        NEED_OK(hipMemcpy(data_, values.data(), bytes(), hipMemcpyHostToDevice));
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    ~Array()
    {
        OK(hipFree(data_));
    }
    operator T *() const
    {
        return data_;
    }
    size_t bytes() const
    {
        return count_ * sizeof(T);
    }
    // What it holds now; waits for the null stream.
    std::vector<T> values() const
    {
        std::vector<T> values(count_);
        OK(hipMemcpy(values.data(), data_, bytes(), hipMemcpyDeviceToHost));
        return values;
    }

  private:
    T *data_ = nullptr;
    size_t count_;
};

// `count` values of a function of the index.
template <class F> auto made(size_t count, F f)
{
    std::vector<decltype(f(size_t{0}))> values(count);
    for (size_t i = 0; i < count; i++)
        values[i] = f(i);
    return values;
}

// Numbers that look random and are the same on every machine (xorshift64*).
class Numbers {
  public:
    explicit Numbers(uint64_t seed = 1) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
    uint64_t next()
    {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1du;
    }
    uint32_t below(uint32_t limit)
    {
        return static_cast<uint32_t>(next() >> 32) % limit;
    }
    // In [-1, 1), exact in float.
    float unit()
    {
        return static_cast<float>(static_cast<int>(next() >> 40)) / 8388608.0f - 1.0f;
    }

  private:
    uint64_t state_;
};
