/* An extension module whose function has two threads transfer money in opposite directions, without the interpreter's
 * lock. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "bank.h"

static PyObject *opposite_transfers(PyObject *self, PyObject *unused)
{
    long sum;
    (void)self;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS sum = bank_test();
    Py_END_ALLOW_THREADS return PyLong_FromLong(sum);
}

static PyMethodDef methods[] = { { "opposite_transfers", opposite_transfers, METH_NOARGS, "The sum of both accounts." },
                                 { 0 } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, "bank", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_bank(void)
{
    return PyModule_Create(&module);
}
