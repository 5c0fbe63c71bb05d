// librocsparse, and libhipsparse on top of it: products, a triangular solve, conversions.
#include "check.hpp"

#include <hipsparse/hipsparse.h>
#include <rocsparse/rocsparse.h>

#include <cmath>

enum { SIZE = 200, COLUMNS = 16 };

#define GOOD(call)                                                                                                     \
    do {                                                                                                               \
        int status = static_cast<int>(call);                                                                           \
        CHECK(status == 0, #call ": status %d", status);                                                               \
    } while (0)

static const rocsparse_operation plain = rocsparse_operation_none;

// A matrix by its rows: values between -1 and 1, and 10 on the diagonal.
struct Matrix {
    std::vector<int> rows{0}, columns;
    std::vector<double> values;

    explicit Matrix(Numbers &numbers)
    {
        for (unsigned i = 0; i < SIZE; i++) {
            for (unsigned j = 0; j < SIZE; j++)
                if (i == j || numbers.below(20) == 0) {
                    columns.push_back(static_cast<int>(j));
                    values.push_back(i == j ? 10.0 : numbers.unit());
                }
            rows.push_back(static_cast<int>(columns.size()));
        }
    }
    int count() const
    {
        return static_cast<int>(values.size());
    }
    std::vector<double> times(const double *x) const
    {
        std::vector<double> product(SIZE);
        for (int i = 0; i < SIZE; i++)
            for (int k = rows[i]; k < rows[i + 1]; k++)
                product[i] += values[k] * x[columns[k]];
        return product;
    }
    // The y with the lower triangle's product x.
    std::vector<double> lower_solution(const std::vector<double> &x) const
    {
        std::vector<double> y(SIZE);
        for (int i = 0; i < SIZE; i++) {
            double rest = x[i], diagonal = 1;
            for (int k = rows[i]; k < rows[i + 1]; k++) {
                if (columns[k] < i)
                    rest -= values[k] * y[columns[k]];
                if (columns[k] == i)
                    diagonal = values[k];
            }
            y[i] = rest / diagonal;
        }
        return y;
    }
    // Column after column.
    std::vector<double> dense() const
    {
        std::vector<double> all(SIZE * SIZE);
        for (int i = 0; i < SIZE; i++)
            for (int k = rows[i]; k < rows[i + 1]; k++)
                all[columns[k] * SIZE + i] = values[k];
        return all;
    }
};

static void near(const Array<double> &array, const std::vector<double> &want, const char *what)
{
    auto got = array.values();
    double worst = 0;
    for (size_t i = 0; i < want.size(); i++)
        worst = std::fmax(worst, std::fabs(got[i] - want[i]));
    CHECK(worst < 1e-11, "%s: off by %g", what, worst);
}

int main()
{
    Numbers numbers;
    const Matrix matrix(numbers);
    const int count = matrix.count();
    auto x = made(SIZE, [&](size_t) { return static_cast<double>(numbers.unit()); });
    Array<int> rows(matrix.rows), columns(matrix.columns);
    Array<double> values(matrix.values), in(x), out(std::vector<double>(SIZE, 1));
    const double one = 1, two = 2, half = 0.5, zero = 0;

    rocsparse_handle handle;
    rocsparse_mat_descr general, lower;
    rocsparse_mat_info info;
    NEED(rocsparse_create_handle(&handle) == rocsparse_status_success);
    GOOD(rocsparse_create_mat_descr(&general));
    GOOD(rocsparse_create_mat_descr(&lower));
    GOOD(rocsparse_set_mat_fill_mode(lower, rocsparse_fill_mode_lower));
    GOOD(rocsparse_create_mat_info(&info));

    auto want = matrix.times(x.data());
    for (double &value : want)
        value = 2 * value + 0.5;
    GOOD(rocsparse_dcsrmv(handle, plain, SIZE, SIZE, count, &two, general, values, rows, columns, nullptr, in, &half,
                          out));
    near(out, want, "a product with a vector");
    OK(hipMemcpy(out, std::vector<double>(SIZE, 1).data(), out.bytes(), hipMemcpyHostToDevice));
    GOOD(rocsparse_dcsrmv_analysis(handle, plain, SIZE, SIZE, count, general, values, rows, columns, info));
    GOOD(
        rocsparse_dcsrmv(handle, plain, SIZE, SIZE, count, &two, general, values, rows, columns, info, in, &half, out));
    near(out, want, "a product with a vector after an analysis");

    size_t bytes = 0;
    GOOD(rocsparse_dcsrsv_buffer_size(handle, plain, SIZE, count, lower, values, rows, columns, info, &bytes));
    {
        Array<char> buffer(bytes);
        GOOD(rocsparse_dcsrsv_analysis(handle, plain, SIZE, count, lower, values, rows, columns, info,
                                       rocsparse_analysis_policy_force, rocsparse_solve_policy_auto, buffer));
        GOOD(rocsparse_dcsrsv_solve(handle, plain, SIZE, count, &one, lower, values, rows, columns, info, in, out,
                                    rocsparse_solve_policy_auto, buffer));
        near(out, matrix.lower_solution(x), "a triangular solve");
    }

    Array<double> dense(SIZE * SIZE);
    GOOD(rocsparse_dcsr2dense(handle, SIZE, SIZE, general, values, rows, columns, dense, SIZE));
    SAME(dense.values(), matrix.dense());
    auto right = made(SIZE * COLUMNS, [&](size_t) { return static_cast<double>(numbers.unit()); });
    Array<double> factor(right), product(SIZE * COLUMNS);
    GOOD(rocsparse_dcsrmm(handle, plain, plain, SIZE, COLUMNS, SIZE, count, &one, general, values, rows, columns,
                          factor, SIZE, &zero, product, SIZE));
    std::vector<double> columns_of_product;
    for (int j = 0; j < COLUMNS; j++)
        for (double value : matrix.times(&right[j * SIZE]))
            columns_of_product.push_back(value);
    near(product, columns_of_product, "a product with a matrix");

    // The same product by the portable interface.
    hipsparseHandle_t portable;
    hipsparseMatDescr_t description;
    NEED(hipsparseCreate(&portable) == HIPSPARSE_STATUS_SUCCESS);
    GOOD(hipsparseCreateMatDescr(&description));
    GOOD(hipsparseDcsrmv(portable, HIPSPARSE_OPERATION_NON_TRANSPOSE, SIZE, SIZE, count, &one, description, values,
                         rows, columns, in, &zero, out));
    near(out, matrix.times(x.data()), "a product by hipsparse");
    GOOD(hipsparseDestroyMatDescr(description));
    GOOD(hipsparseDestroy(portable));

    GOOD(rocsparse_destroy_mat_info(info));
    GOOD(rocsparse_destroy_mat_descr(lower));
    GOOD(rocsparse_destroy_mat_descr(general));
    GOOD(rocsparse_destroy_handle(handle));
    return summary();
}
