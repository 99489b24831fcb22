/* meanshift [ROWS]: mean shift of an image's colours, as imagick of SPEC CPU2017.
 *
 * Each pixel moves to the mean place and colour of the similar pixels around it until it comes to
 * rest. Places are fractions: every neighbour's is rounded by comparing its distances to floor()
 * and ceil() of libm. On riscv64 glibc saves and restores the floating point flags there (frflags,
 * fsflags), and these flush the pipeline of a BOOM core: they cost their own time (FL-EX), and what
 * the flushes expose in the functions around them costs as much again (TIP paper, §6).
 * experiments/case-imagick.py makes a copy of the program with no-ops in their place. */
#include <math.h>

#include "workload.h"

enum { WIDTH = 64, RADIUS = 3, MOST_ROUNDS = 8 };

struct pixel {
    double red, green, blue;
};

struct image {
    int64_t rows;
    const struct pixel *pixels;
};

/* Outside the image, the nearest pixel of its edge. */
kernel struct pixel pixel_at(const struct image *image, int64_t column, int64_t row) {
    column = column < 0 ? 0 : column >= WIDTH ? WIDTH - 1 : column;
    row = row < 0 ? 0 : row >= image->rows ? image->rows - 1 : row;
    return image->pixels[row * WIDTH + column];
}

static inline double nearest(double place) {
    if (place - floor(place) < ceil(place) - place)
        return floor(place);
    return ceil(place);
}

static inline double square(double value) {
    return value * value;
}

kernel struct pixel shift_to_mean(const struct image *image, int64_t column, int64_t row,
                                  double similar) {
    struct pixel mean = pixel_at(image, column, row);
    double x = (double)column, y = (double)row;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        struct pixel sum = {0, 0, 0};
        double x_sum = 0, y_sum = 0;
        int found = 0;
        for (int v = -RADIUS; v <= RADIUS; v++)
            for (int u = -RADIUS; u <= RADIUS; u++) {
                if (u * u + v * v > RADIUS * RADIUS)
                    continue;
                double at_x = nearest(x + u), at_y = nearest(y + v);
                struct pixel near = pixel_at(image, (int64_t)at_x, (int64_t)at_y);
                double distance = square(mean.red - near.red) + square(mean.green - near.green) +
                                  square(mean.blue - near.blue);
                if (distance > similar)
                    continue;
                x_sum += x + u;
                y_sum += y + v;
                sum.red += near.red;
                sum.green += near.green;
                sum.blue += near.blue;
                found++;
            }
        double weight = found ? 1.0 / found : 1.0;
        struct pixel next = {sum.red * weight, sum.green * weight, sum.blue * weight};
        double moved = square(x_sum * weight - x) + square(y_sum * weight - y) +
                       square(next.red - mean.red) + square(next.green - mean.green) +
                       square(next.blue - mean.blue);
        x = x_sum * weight;
        y = y_sum * weight;
        mean = next;
        if (moved < 1e-3)
            break;
    }
    return mean;
}

int main(int count, char **arguments) {
    uint64_t rows = argument(count, arguments, 1, 256, "rows");
    struct pixel *pixels = allocate(rows * WIDTH, sizeof *pixels);
    uint64_t seed = 20170620;
    /* Bands of colour with noise. */
    for (uint64_t i = 0; i < rows * WIDTH; i++) {
        double band = (double)((i / WIDTH / 16 + i % WIDTH / 16) % 4) * 0.25;
        pixels[i].red = band + (double)random_below(&seed, 1000) * 1e-4;
        pixels[i].green = 1 - band + (double)random_below(&seed, 1000) * 1e-4;
        pixels[i].blue = 0.5 + (double)random_below(&seed, 1000) * 1e-4;
    }
    const struct image image = {(int64_t)rows, pixels};
    double sum = 0;
    for (int64_t row = 0; row < image.rows; row++)
        for (int64_t column = 0; column < WIDTH; column++) {
            struct pixel mean = shift_to_mean(&image, column, row, 0.04);
            sum += mean.red + 2 * mean.green + 4 * mean.blue;
        }
    printf("meanshift %.6e\n", sum);
    free(pixels);
    return 0;
}
