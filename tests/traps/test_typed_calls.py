"""Traps: what functions store in the members whose addresses they are given, and in no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, Trap
from tests.traps.test_shown_memory import _read, _trap

_T = (
    "struct S{double*u,*v;}; struct T{struct S s; double*d,*e; long k; int n;}; struct K{double*a,*b;}; "
    "void *calloc(unsigned long,unsigned long); void *realloc(void*,unsigned long); void *map(int); "
    "void *memcpy(void*,const void*,unsigned long); void free(void*); int printf(const char*,...); "
    "void qsort(void*,unsigned long,unsigned long,int(*)(const void*,const void*)); "
)


def _members(name: str, head: str, setup: str, one: str, other: str, after: str = "") -> Trap:
    """A struct T named t, and a pointer m to new memory, are set up by functions."""
    before = f"struct T t; double*m=malloc(80); {setup} double*p={one},*q={other};"
    return _trap(name, before, _T + head, after=after)


_SET = "static void set(double**d,double*w){*d=w;} "
_MAKE = "static void make(struct S*s){s->u=calloc(9,8); s->v=calloc(9,8);} "
SHARED = [
    _members("one allocation in two members", "static void set(struct S*s){s->u=malloc(80); s->v=s->u;}", "set(&t.s);", "t.s.u", "t.s.v"),
    _members("one allocation in two structs", "static void set(struct S*s,double**d){s->u=malloc(80); *d=s->u;}", "set(&t.s,&t.d);", "t.s.u", "t.d"),
    _members("one pointer given twice", _SET, "set(&t.d,m); set(&t.e,m);", "t.d", "t.e"),
    _members("one pointer given deep", _SET + "static void outer(struct T*z,double*w){set(&z->d,w); set(&z->s.u,w);}", "outer(&t,m);", "t.d", "t.s.u"),
    _members("two deep in a member", "static void in(struct S*s,double*w){s->u=w; s->v=w;} static void out(struct T*z,double*w){in(&z->s,w);}", "out(&t,m);", "t.s.u", "t.s.v"),
    _members("the next member", "static void set(double**d,double*w){d[1]=w;} ", "set(&t.d,m);", "t.e", "m"),
    _members("the member before", "static void set(double**d,double*w){*(d-1)=w;} ", "set(&t.e,m);", "t.d", "m"),
    _members("a moved address", "static void set(double**d,double*w){d++; *d=w;} ", "set(&t.d,m);", "t.e", "m"),
    _members("an address moved by a callee", "static void mv(double***d){(*d)++;} static void set(double**d,double*w){mv(&d); *d=w;} ", "set(&t.d,m);", "t.e", "m"),
    _members("another member in another call", _SET, "set(&t.d,0); set(&t.e,m);", "t.e", "m"),
    _members("an address in a variable", _SET, "double**z=&t.e; set(&t.d,0); set(z,m);", "t.e", "m"),
    _members("an address chosen", _SET, "set(n>3?&t.d:&t.e,m);", "t.e", "m"),
    _members("an address returned", _SET + "static double**at(struct T*z){return &z->e;}", "set(&t.d,0); set(at(&t),m);", "t.e", "m"),
    _members("called by its pointer", _SET, "void(*z)(double**,double*)=set; set(&t.d,0); z(&t.e,m);", "t.e", "m"),
    _members("called in a table", _SET + "static void(*tb[])(double**,double*)={set};", "set(&t.d,0); tb[0](&t.e,m);", "t.e", "m"),
    _members("another struct", "static void set(void*x,double*w){struct K*z=x; z->b=w;}", "set(&t,m);", "t.s.v", "m"),
    _members("another struct inside", "static void in(struct K*z,double*w){z->b=w;} static void set(struct T*x,double*w){void*z=x; in(z,w);}", "set(&t,m);", "t.s.v", "m"),
    _members("bytes", "static void set(struct T*x,double*w){char*z=(char*)x; memcpy(z+8,&w,8);}", "set(&t,m);", "t.s.v", "m"),
    _members("copied by memcpy", "static void set(struct S*s){memcpy(&s->v,&s->u,8);}", "t.s.u=m; set(&t.s);", "t.s.u", "t.s.v"),
    _members("copied by memcpy from outside", "static void set(struct S*s,double*w){memcpy(&s->v,&w,8);}", "set(&t.s,m);", "t.s.v", "m"),
    _members("an unseen function", "void ext(struct S*,double*); static void set(struct S*s,double*w){ext(s,w);}", "set(&t.s,m);", "t.s.v", "m"),
    _members("an unseen function of void", "void ext(void*,double*); static void set(struct S*s,double*w){ext(s,w);}", "set(&t.s,m);", "t.s.v", "m"),
    _members("a function given", "static void set(struct S*s,double*w,void(*g)(struct S*,double*)){g(s,w);} void ext(struct S*,double*);", "set(&t.s,m,ext);", "t.s.v", "m"),
    _members("a comparison that stores", "static double*g; static int cmp(const void*x,const void*y){((struct S*)x)->v=g; return 0;} static void set(struct S*s,double*w){g=w; qsort(s,1,16,cmp);}", "set(&t.s,m);", "t.s.v", "m"),
    _members("a comparison that copies", "static int cmp(const void*x,const void*y){struct S*z=(struct S*)x; z->v=z->u; return 0;}", "t.s.u=m; qsort(&t.s,1,16,cmp);", "t.s.v", "m"),
    _members("realloc of another member", "static void set(struct S*s){s->u=malloc(80); s->v=realloc(s->u,160);}", "set(&t.s);", "t.s.v", "t.s.v"),
    _members("pieces of one mapping that overlap", "static void cut(struct S*s,double*w){s->u=w; s->v=w+1;}", "cut(&t.s,map(9));", "t.s.u", "t.s.v"),
    _members("pieces at computed places", "static void cut(struct S*s,double*w,int n){s->u=w; w+=n*n; s->v=w;}", "cut(&t.s,map(9),n);", "t.s.u", "t.s.v"),
    _members("a piece and the mapping", "static void cut(struct S*s,double**d,int n){*d=map(9); s->u=*d+n;}", "cut(&t.s,&t.d,n);", "t.s.u", "t.d"),
    _members("an address kept", "static struct T*g; static void keep(struct T*z){g=z;} static void put(double*w){g->e=w;}", "keep(&t); put(m);", "t.e", "m"),
    _members("the address of a member kept", "static double**g; static void keep(double**z){g=z;} static void put(double*w){*g=w;}", "keep(&t.e); put(m);", "t.e", "m"),
    _members("members moved", "static void mv(struct S*s){s->v=s->u;}", "t.s.u=m; mv(&t.s);", "t.s.v", "m"),
    _members("members exchanged", "static void sw(struct S*s){double*z=s->u; s->u=s->v; s->v=z;}", "t.s.u=m; sw(&t.s);", "t.s.v", "m"),
    _members("a struct copied", "static void cp(struct S*s,struct S*z){*s=*z;}", "struct S o; o.v=m; cp(&t.s,&o);", "t.s.v", "m"),
    _members("a struct copied inside", "static void cp(struct T*x,struct T*y){x->s=y->s;}", "struct T o; o.s.v=m; cp(&t,&o);", "t.s.v", "m"),
    _members("a number", "static void set(struct T*x,double*w){x->k=(long)w; x->e=(double*)x->k;}", "set(&t,m);", "t.e", "m"),
    _members("a union", "union U{double*a;long b;}; static void set(union U*x,double*w){x->b=(long)w;}", "union U o; set(&o,m);", "o.a", "m"),
    _members("variable arguments", "#include <stdarg.h>\nstatic void st(struct T*x,...){va_list l; va_start(l,x); x->e=va_arg(l,double*); va_end(l);}", "st(&t,m);", "t.e", "m"),
    _members("read from a file", "static void rd(struct S*s,FILE*g){fread(&s->v,8,1,g);}", "FILE*g=tmpfile(); fwrite(&m,8,1,g); rewind(g); rd(&t.s,g);", "t.s.v", "m"),
    _members("read from a file as a struct", "struct P{double*a;}; static void rd(struct P*s,FILE*g){fread(s,8,1,g);}", "FILE*g=tmpfile(); struct P o; fwrite(&m,8,1,g); rewind(g); rd(&o,g);", "o.a", "m"),
    _members("an array of structs", _SET, "struct T ts[3]; set(&ts[1].d,m);", "ts[1].d", "m"),
    _members("through a pointer to a pointer", "static void set(struct T**z,double*w){(*z)->e=w;}", "struct T*o=&t; set(&o,m);", "t.e", "m"),
    _members("recursive", "static void set(double**d,double*w,int n){if(n) set(d+1,w,n-1); else *d=w;}", "set(&t.d,m,1);", "t.e", "m"),
    _members("a parameter changed", "static void set(double**d,double**e,double*w){d=e; *d=w;}", "set(&t.d,&t.e,m);", "t.e", "m"),
    _members("given what a pointer holds", "static void set(struct T*x,struct T*y){x->e=y->d;}", "t.d=m; set(&t,&t);", "t.e", "m"),
]
APART = [
    _members("members of their own", _MAKE, "make(&t.s);", "t.s.u", "t.s.v"),
    _members("a mapping beside them", _MAKE + "static void cut(double**d){*d=map(9);}", "make(&t.s); cut(&t.d);", "t.s.u", "t.d"),
    _members("pieces of a mapping beside them", _MAKE + "static void cut(struct T*x,double**d,int n){*d=map(9); x->e=*d+n;}", "make(&t.s); cut(&t,&t.d,n);", "t.s.u", "t.e"),
    _members("other arguments", _MAKE + "static void use(struct T*x,struct K*y){x->n=1; y->a[0]=0;}", "struct K o; o.a=malloc(80); make(&t.s); use(&t,&o);", "t.s.u", "o.a"),
    _members("a struct of numbers read from a file", _MAKE + "struct P{int a,b; float c;}; static void rd(struct P*s,FILE*g){fread(s,12,1,g);}", "struct P o; FILE*g=tmpfile(); rd(&o,g); make(&t.s);", "t.s.u", "t.s.v"),
    _members("sorted beside them", _MAKE + "struct W{char*a;int b;}; int strcmp(const char*,const char*); static int cmp(const void*x,const void*y){return strcmp(((struct W*)x)->a,((struct W*)y)->a);} static void so(struct T*x,struct W*w,char*c){w[0].a=c; qsort(w,9,16,cmp);}", "char c[9]; struct W*w=malloc(99); make(&t.s); so(&t,w,c);", "t.s.u", "t.s.v"),
    _members("printed and freed", _MAKE + "static void done(struct S*s,double*w){printf(\"%d\\n\",1); free(w);}", "double*o=malloc(80); make(&t.s); done(&t.s,o);", "t.s.u", "t.s.v"),
]


@pytest.mark.parametrize("trap", SHARED, ids=lambda trap: trap.name)
def test_memory_that_callees_share(trap: Trap, tmp_path: Path) -> None:
    assert "memory" in _read(trap, tmp_path)


@pytest.mark.parametrize("trap", APART, ids=lambda trap: trap.name)
def test_memory_that_they_keep_apart(trap: Trap, tmp_path: Path) -> None:
    assert _read(trap, tmp_path) == PROVED
