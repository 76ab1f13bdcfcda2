"""Cells that the audit hook notes, and ordinary ones that it does not; each begins with a comment that names it."""

SEEN = r"""
# exec
exec('x=1')
# eval
eval('1+1')
# compile
f = compile('1','a','eval'); eval(f)
# timeit
import timeit
timeit.timeit('1+1',number=1)
# doctest
import doctest
def f():
    '''
    >>> 1+1
    2
    '''
doctest.run_docstring_examples(f, {})
# code
import code
code.InteractiveInterpreter().runsource('1')
# runpy
open('a.py','w').write('x=1')
import runpy
runpy.run_path('a.py')
# hints
import typing
def f(x: 'print(1)'): pass
typing.get_type_hints(f)
# signature
import inspect
def f(x: 'print(1)'): pass
inspect.signature(f, eval_str=True)
# run_cell
get_ipython().run_cell('1+1')
# ex
get_ipython().ex('1+1')
# ev
get_ipython().ev('1+1')
# a magic with a text put together
get_ipython().run_line_magic('timeit', '-n1 -r1 6*'+'7')
# namedtuple
import collections, sys
class S:
    intern=staticmethod(lambda x: x.replace('evil', 'a=print(1)'))
    def __getattr__(s,n): return getattr(sys,n)
collections._sys=S()
try: collections.namedtuple('A',['evil'])
except SyntaxError as e: pass
collections._sys=sys
# pickle
import pickle
pickle.loads(b'cnumpy\ntri\n.')
# marshal
import marshal
marshal.loads(marshal.dumps(1))
# getframe
import sys
sys._getframe()
# currentframe
import inspect
inspect.currentframe()
# stack
import inspect
inspect.stack()
# current_frames
import sys
sys._current_frames()
# tb_frame
try: 1/0
except Exception as e: e.__traceback__.tb_frame
# trace
import inspect
try: 1/0
except Exception as e: inspect.trace()
# walk_tb
import traceback
try: 1/0
except Exception as e: list(traceback.walk_tb(e.__traceback__))
# walk_stack
import traceback
list(traceback.walk_stack(None))
# gi_frame
g=(i for i in range(3))
g.gi_frame
# attrgetter
import operator
try: 1/0
except Exception as e: operator.attrgetter('__traceback__.tb_frame')(e)
# code_of
def f(): pass
f.__code__
# code_set
def f(): pass
def g(): pass
f.__code__=g.__code__
# replace
def f(): pass
import types
c=f.__code__
c.replace(co_name='x')
# function
import types
def f(): pass
types.FunctionType(f.__code__, {})
# gc
import gc
gc.get_objects()
# referrers
import gc
gc.get_referrers(np)
# ctypes
import ctypes
ctypes.string_at(id(1))
# cdll
import ctypes
ctypes.CDLL(None)
# settrace
import sys
sys.settrace(None)
# setprofile
import sys
sys.setprofile(None)
# hook
import sys
sys.addaudithook(lambda *a: None)
# mem
open('/proc/self/mem','rb').close()
# clear
import os
os.open('/proc/self/clear_refs', os.O_WRONLY)
# chdir mem
import os
here=os.getcwd()
os.chdir('/proc/self')
open('mem','rb').close()
os.chdir(here)
# own loader
import sys, importlib.machinery as m
open('mine.py','w').write('x=1')
m.SourceFileLoader('mine','mine.py').load_module()
# socket
import socket
socket.socketpair()
# map
import mmap
mmap.mmap(-1, 4096)
# importer
import importlib._bootstrap as b
b._call_with_frames_removed(exec, 'x = 1', globals())
# lent name
import collections
f = compile('1', collections.__file__, 'eval')
# run
open('b.py', 'w').write('x = 1')
%run b.py
# thread exec
import threading
t=threading.Thread(target=exec,args=('x=1',)); t.start(); t.join()
# _thread exec
import _thread,time
_thread.start_new_thread(exec,('x=1',{})); time.sleep(0.1)
# partial repr
import functools
class R:
    _repr_html_ = functools.partial(exec,'x=1')
    def __init__(s): s._repr_html_=functools.partial(exec,'x=1')
R()
# pdb
import pdb,sys
try: pdb.set_trace()
except BaseException: pass
sys.settrace(None)
# dataclass injection
from dataclasses import make_dataclass, dataclass
class A: __annotations__={'x=print(1)': int}
try: dataclass(A)
except Exception as e: print(e)
# del
import sys, gc
class X:
    def __del__(s): sys._getframe()
x=X(); x.me=x; del x; gc.collect()
"""
"""What each does shows only while it runs."""

ORDINARY = r"""
# namedtuple
import collections
A=collections.namedtuple('A','a b', defaults=(1,))
A(1,2)
# typing
import typing
class B(typing.NamedTuple):
    a: int
    b: 'float' = 2
class P(typing.Protocol):
    def f(self): ...
T=typing.TypeVar('T')
x: typing.Optional['np.ndarray']=None
typing.Optional['np.ndarray | None']
typing.get_type_hints(B)
# dataclass
from dataclasses import dataclass, field, make_dataclass, replace, asdict, KW_ONLY, InitVar
@dataclass(frozen=True, order=True)
class B:
    a: int
    b: list = field(default_factory=list)
replace(B(1), a=2); asdict(B(1))
@dataclass(frozen=True, slots=True, order=True, unsafe_hash=True)
class A:
    x: int
    _: KW_ONLY
    y: InitVar[int] = 3
    z: dict = field(default_factory=dict, hash=False)
    def __post_init__(self, y): pass
A(1)
make_dataclass('B', ['a','b'])(1,2)
class P: pass
@dataclass
class C(P):
    q: float = 0.0
repr(C()), C()==C()
# enum
import enum
class C(enum.Enum):
    A=1
    B=enum.auto()
enum.Enum('D','x y')
C(1)
# functools
import functools
@functools.lru_cache
def f(x): return x
@functools.singledispatch
def g(x): return x
@g.register
def _(x: int): return x
@functools.wraps(f)
def h(*a): return f(*a)
f(1);g(1);functools.partial(f,1)()
class K:
    @functools.cached_property
    def p(self): return 1
K().p
@functools.total_ordering
class Q:
    def __lt__(s,o): return True
    def __eq__(s,o): return True
# warnings
import warnings
warnings.warn('x')
with warnings.catch_warnings(): warnings.simplefilter('ignore'); warnings.warn('y', DeprecationWarning, stacklevel=2)
# logging
import logging
logging.basicConfig(level=20)
logging.getLogger('a').info('x %s', 1)
logging.warning('b')
try: 1/0
except Exception: logging.exception('c')
# re
import re
re.sub('a+', lambda m: 'b', 'caa')
re.compile(r'(?P<x>\d)').match('1')
# numpy
np.vectorize(lambda x: x+1)(np.zeros(3))
np.einsum('ij,jk->ik', np.eye(2), np.eye(2))
np.random.default_rng(0).normal(size=3)
np.linalg.svd(np.eye(3))
np.fromfunction(lambda i,j: i+j,(2,2))
np.apply_along_axis(sum,0,np.eye(2))
np.piecewise(np.zeros(2),[np.zeros(2)==0],[1])
np.polynomial.Polynomial([1,2])(3)
np.save('x.npy', np.zeros(3)); np.load('x.npy')
np.savetxt('x.txt', np.eye(2)); np.loadtxt('x.txt')
np.array2string(np.zeros(3)); np.info
np.testing.assert_allclose(np.zeros(2), np.zeros(2))
try: np.testing.assert_array_equal(np.zeros(2), np.ones(2))
except AssertionError: pass
np.lib.stride_tricks.sliding_window_view(np.arange(5),2)
np.ma.masked_array([1,2],[0,1]).mean()
np.fft.fft(np.zeros(4)); np.zeros(2).ctypes.data
np.show_config
np.set_printoptions(precision=3)
with np.errstate(all='ignore'): np.log(0.)
np.log(np.zeros(2))
# arrays kept
import copy, pickle
pickle.loads(pickle.dumps([np.zeros(2), np.arange(3)[::2], np.float32(1), np.dtype(float)]))
for protocol in (3, 4, 5):
    pickle.loads(pickle.dumps(np.eye(2), protocol))
# cell magic
%%time
    # a comment
np.zeros(2)
# magics
%timeit -n1 -r1 1+1
%time np.zeros(2)
%pwd
%matplotlib inline
# who
%who
%whos
%precision 3
%reset -f in
%env
%load_ext autoreload
%autoreload 2
%xmode Plain
np.sum?
# capture
%%capture out
print(1)
# imports
import abc, argparse, ast, asyncio, base64, bisect, cmath, collections.abc, concurrent.futures, contextlib, copy
import csv, datetime, decimal, difflib, fractions, glob, hashlib, heapq, html, http, inspect, io, itertools, json
import keyword, locale, math, multiprocessing, numbers, operator, os, pathlib, pprint, queue, random, secrets
import shutil, sqlite3, statistics, string, struct, subprocess, tempfile, textwrap, threading, timeit, tokenize
import traceback, types, typing, unittest, urllib.request, uuid, weakref, xml.dom, zipfile, zlib, ctypes, pickle
import pdb, doctest, platform, graphlib, tomllib, zoneinfo, calendar, array
import numpy.polynomial, numpy.lib.recfunctions, numpy.testing, numpy.ma, numpy.f2py, numpy.typing
# traceback
import traceback
try: 1/0
except Exception: traceback.print_exc(); traceback.format_exc()
# threads
import threading
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as p: list(p.map(abs,[1,2]))
t=threading.Thread(target=print,args=(1,)); t.start(); t.join()
t=threading.Thread(target=lambda: 1/0); t.start(); t.join()
# asyncio
import asyncio
async def f(): await asyncio.sleep(0)
await f()
await asyncio.gather(f(), f())
# asyncio.run
import asyncio, threading
async def f(): await asyncio.sleep(0)
def g(): asyncio.run(f())
g()
t=threading.Thread(target=g); t.start(); t.join()
# timeit
import timeit
timeit.timeit(lambda: 1, number=3)
timeit.repeat(lambda: 1, number=1, repeat=2)
# inspect
import inspect
inspect.signature(np.vectorize); inspect.signature(lambda x: x); inspect.getdoc(np.zeros)
def f(x): return x
inspect.getsource(f)
# copy
import copy
copy.deepcopy({'a': np.zeros(2)})
import json; json.dumps({'a':1}); json.loads('[1]')
# literal
import ast
ast.literal_eval('[1,2]')
# contextlib
import contextlib
@contextlib.contextmanager
def c(): yield
with c(): pass
with contextlib.suppress(ZeroDivisionError), c(): 1/0
# generators
def g(): yield 1
list(g())
class It:
    def __iter__(s): return iter([1])
list(It()); print(g()); display(g())
g()
# unittest
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(1,1)
unittest.main(argv=['x'], exit=False)
# fractions
from fractions import Fraction; from decimal import Decimal; Fraction(1,2)+1; Decimal('1.1')
# jaxlike
import torch, jax.numpy as jnp
from scipy.special import softmax
import matplotlib.pyplot as plt
# open
open('a.txt','w').write('x'); open('/proc/cpuinfo').read(); open('/proc/meminfo').read()
# future
from __future__ import annotations
from dataclasses import dataclass
@dataclass
class A:
    x: np.ndarray | None = None
# strings
import string
string.Template('$a').substitute(a=1); '{:.2f}'.format(1.0); f'{1}'
# help
help(np.zeros)
"""
"""The library does the like of it for everybody."""
