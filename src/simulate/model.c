/* The number is made from the rooms by which a program becomes cycles (Makefile). */
#include "simulate/model.h"

#include "simulate/model_number.h"

const char *simulation_model(void) {
    return MODEL_NUMBER;
}
