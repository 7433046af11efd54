"""Traps: memory whose address goes where it is not followed, and pointers that come from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import PROVED, Trap, answer

_HEAD = "#include <stdlib.h>\n#include <string.h>\nstatic double *kept, *table[10];\n"
_LOOP = "for (i = 1; i < n; i++) p[i] = q[i - 1];"


def _trap(name: str, setup: str, head: str = "", body: str = _LOOP, after: str = "") -> Trap:
    return Trap(name, body, head=_HEAD + head, setup=setup, after=after)


SHARED = [
    _trap("atomic_store_n", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); __atomic_store_n(&kept, v, 0); return v; }"),
    _trap("atomic_store", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); __atomic_store(&kept, &v, 0); return v; }"),
    _trap("atomic_exchange_n", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); __atomic_exchange_n(&kept, v, 0); return v; }"),
    _trap("sync_lock_test", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); __sync_lock_test_and_set(&kept, v); return v; }"),
    _trap("sync_bool_cas", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); __sync_bool_compare_and_swap(&kept, kept, v); return v; }"),
    _trap("c11 atomic", "double *p=g(n), *q=atomic_load(&ak);", "#include <stdatomic.h>\nstatic double *_Atomic ak; double *g(int n) { double *v = malloc(n*8); atomic_store(&ak, v); return v; }"),
    _trap("c11 atomic plain", "double *p=g(n), *q=ak;", "static double *_Atomic ak; double *g(int n) { double *v = malloc(n*8); ak = v; return v; }"),
    _trap("builtin memcpy", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); __builtin_memcpy(&kept, &v, 8); return v; }"),
    _trap("memcpy", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); memcpy(&kept, &v, 8); return v; }"),
    _trap("memcpy char", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); char *c=(char*)&kept; memcpy(c, &v, 8); return v; }"),
    _trap("nested fn", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); void keep(void) { kept = v; } keep(); return v; }"),
    _trap("nested fn in region fn", "double *p = malloc(n*8), *q; void keep(void) { q = p; } keep();"),
    _trap("m.u[1]=m.u[0]", "struct M m; m.u[0]=malloc(n*8); m.u[1]=m.u[0]; double *p=m.u[1], *q=m.u[0];", "struct M { double *u[2]; };"),
    _trap("m.u direct", "struct M m; m.u[0]=malloc(n*8); m.u[1]=m.u[0];", "struct M { double *u[2]; };", body="for (i = 1; i < n; i++) m.u[1][i] = m.u[0][i - 1];"),
    _trap("table loop", "double *t2[2]; t2[0]=malloc(n*8); t2[1]=t2[0];", body="for (i = 1; i < n; i++) t2[1][i] = t2[0][i - 1];"),
    _trap("update of pointer", "double *p=malloc(80), *q=malloc(80); double **r=&q; *r++ = p;"),
    _trap("comma", "double *p=malloc(80), *q; q=(0,p);"),
    _trap("stmt expr", "double *p=malloc(80), *q; q=({ double *z=p; z; });"),
    _trap("compound literal", "double *p=malloc(80), *q; q=((struct K){p}).v;", "struct K{double*v;};"),
    _trap("compound literal array", "double *p=malloc(80), *q; q=((double*[]){p})[0];"),
    _trap("generic", "double *p=malloc(80), *q; q=_Generic(1, int: p, default: 0);"),
    _trap("choose expr", "double *p=malloc(80), *q; q=__builtin_choose_expr(1, p, 0);"),
    _trap("va_arg", "double *p=malloc(80), *q=id(1,p);", "#include <stdarg.h>\ndouble *id(int n, ...) { va_list l; va_start(l,n); double *r=va_arg(l,double*); va_end(l); return r; }"),
    _trap("int round trip", "double *p=malloc(80), *q; unsigned long z=(unsigned long)p; q=(double*)z;"),
    _trap("int round trip arith", "double *p=malloc(80), *q; unsigned long z=(unsigned long)p; z=z+8; unsigned long w=z; q=(double*)w;"),
    _trap("int through global", "double *p=malloc(80), *q; put(p); q=get();", "static unsigned long W; void put(double*v){W=(unsigned long)v;} double*get(void){return (double*)W;}"),
    _trap("xor", "double *p=malloc(80), *q=malloc(80); unsigned long z=(unsigned long)p^(unsigned long)q; q=(double*)(z^(unsigned long)q);"),
    _trap("union pun", "double *p=malloc(80), *q; union U u; u.d=p; union U w; w.l=u.l; q=w.d;", "union U{double*d; unsigned long l;};"),
    _trap("atomic load", "double *p=malloc(80), *q; q=__atomic_load_n(&p,0);"),
    _trap("atomic load 2", "double *p=malloc(80), *q; __atomic_load(&p,&q,0);"),
    _trap("assume_aligned", "double *p=malloc(80), *q; q=__builtin_assume_aligned(p,8);"),
    _trap("expect", "double *p=malloc(80), *q; q=(double*)__builtin_expect((long)p,0);"),
    _trap("setjmp buf", "double *p=malloc(80), *q; void *b[1]={p}; q=b[0];"),
    _trap("cleanup", "double *p=mk(n), *q=kept;", "static void cl(double **z){kept=*z;} double *mk(int n){ __attribute__((cleanup(cl))) double *v=malloc(n*8); return v;}"),
    _trap("asm", "double *p=malloc(80), *q; __asm__(\"mov %0,%1\":\"=r\"(q):\"r\"(p));"),
    _trap("asm in fn", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); __asm__(\"str %0,[%1]\"::\"r\"(v),\"r\"(&kept)); return v; }"),
    _trap("asm in fn2", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); __asm__(\"\":\"=r\"(kept):\"0\"(v)); return v; }"),
    _trap("callback", "double *p = g(n), *q = kept;", "static void each(void (*f)(double*), double *v) { f(v); } static void k(double *v){kept=v;} double *g(int n) { double *v = malloc(n*8); each(k,v); return v; }"),
    _trap("unseen callback", "double *p = g(n), *q = kept;", "void each(void (*f)(void*), void *v); static void k(void *v){kept=v;} double *g(int n) { double *v = malloc(n*8); each(k,v); return v; }"),
    _trap("size by an unseen callback", "each(hold, &n);", "int *at; void each(void (*f)(int *), int *v); static void hold(int *v){at=v;}", body="for (i = 0; i < n; i++) at[i] = 3;"),
    _trap("calloc wrapper kept", "double *p = g(n), *q = kept;", "double *h(int n){ return kept=malloc(n*8);} double *g(int n){return h(n);}"),
    _trap("ternary store", "double *p = g(n), *q = kept;", "double *g(int n) { double *v = malloc(n*8); *(n?&kept:&table[0]) = v; return v; }"),
    _trap("store via param", "double *p = g(n), *q = kept;", "void put(double **z, double *v){ *z=v; } double *g(int n) { double *v = malloc(n*8); put(&kept,v); return v; }"),
    _trap("store via returned addr", "double *p = g(n), *q = kept;", "double **where(void){return &kept;} double *g(int n) { double *v = malloc(n*8); *where()=v; return v; }"),
    _trap("store via returned addr in region fn", "double *p=malloc(80); *where()=p; double *q=kept;", "double **where(void){return &kept;} "),
    _trap("store via struct ptr", "double *p=malloc(80); where()->v=p; double *q=kk.v;", "struct K{double*v;} kk; struct K*where(void){return &kk;} "),
    _trap("store via array elem ptr", "double *p=malloc(80); double **w=&table[3]; *w=p; double *q=table[3];"),
    _trap("store w[1]", "double *p=malloc(80); double **w=table; w[3]=p; double *q=table[3];"),
    _trap("store int ptr", "double *p=malloc(80), *q=malloc(80); long *w=(long*)&q; *w=(long)p;"),
    _trap("store void ptr", "double *p=malloc(80), *q=malloc(80); void *w=&q; *(double**)w=p;"),
    _trap("qsort", "double *p=malloc(80), *q=malloc(80); double *ar[2]={p,q}; ar[1]=*ar; q=ar[1];"),
    _trap("list", "struct N a1,b1; a1.v=malloc(80); b1=a1; double*p=a1.v,*q=b1.v;", "struct N{struct N*next; double *v;};"),
    _trap("list2", "struct N a1,b1; a1.v=malloc(80); a1.next=&b1; a1.next->v=a1.v; double*p=a1.v,*q=b1.v;", "struct N{struct N*next; double *v;};"),
    _trap("list3", "struct N *a1=malloc(16),*b1=malloc(16); a1->v=malloc(80); a1->next=b1; a1->next->v=a1->v; double*p=a1->v,*q=b1->v;", "struct N{struct N*next; double *v;};"),
    _trap("alloc own name", "double *p=malloc(80), *q=alloc_row(p);", "double *alloc_row(double *base){ return base; }"),
    _trap("extern alloc_in", "double *p=malloc(80), *q=alloc_in(p);", "double *alloc_in(double *base);"),
    _trap("extern deallocate", "double *p=malloc(80), *q=deallocated(p);", "double *deallocated(double *base);"),
    _trap("strdup-like extern", "double *p=malloc(80), *q=same(p);", "double *same(double *base);"),
    _trap("pool", "double *p=my_alloc(n), *q=my_alloc(n);", "double *pool; double *my_alloc(int n){ return pool; }"),
    _trap("pool2", "double *p=my_alloc(n), *q=my_alloc(n);", "static double pool[1000]; static int top; double *my_alloc(int n){ double *r=pool; top=0; return r; }"),
    _trap("for init", "double *p=malloc(80), *q=0; for (q=p; n<0; ) ;"),
    _trap("while cond", "double *p=malloc(80), *q=0; while ((q=p), 0) ;"),
    _trap("array of struct", "struct K ks[2]; ks[0].v=malloc(80); ks[1]=ks[0]; double*p=ks[0].v,*q=ks[1].v;", "struct K{double*v;};"),
    _trap("array of struct 2", "struct K ks[2]; ks[0].v=malloc(80); ks[1].v=ks[0].v;", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("designated", "double *z=malloc(80); struct K k2={.v=z,.u=z}; double*p=k2.u,*q=k2.v;", "struct K{double*u,*v;};"),
    _trap("designated static", "", "struct K{double*u,*v;}; static double Z[100]; static struct K k2={.v=Z,.u=Z};", body="for (i = 1; i < n; i++) k2.u[i] = k2.v[i - 1];"),
    _trap("r plain twice", "double **r=malloc(n*8); r[0]=malloc(n*n*8); r[1]=r[0];", body="for (j=1;j<n;j++) r[1][j] = r[0][j-1];"),
    _trap("link fn", "struct N *a1=malloc(16),*b1=malloc(16); a1->v=malloc(80); b1->v=malloc(80); link2(a1,b1); double*p=a1->v,*q=b1->v;", "struct N{struct N*next; double *v;}; void link2(struct N*a1,struct N*b1){a1->v=b1->v;}"),
    _trap("link fn &", "struct N a1,b1; a1.v=malloc(80); b1.v=malloc(80); link2(&a1,&b1); double*p=a1.v,*q=b1.v;", "struct N{struct N*next; double *v;}; void link2(struct N*a1,struct N*b1){a1->v=b1->v;}"),
    _trap("swap", "double *p=malloc(80),*q=malloc(80); double *z=p; sw(&p,&q); p=z;", "void sw(double**a1,double**b1){double*t1=*a1;*a1=*b1;*b1=t1;}"),
    _trap("dup ptr fn", "double *p=malloc(80),*q=malloc(80); dup(&p,&q);", "void dup(double**a1,double**b1){*a1=*b1;}"),
    _trap("dup ptr fn nested", "double *p=malloc(80),*q=malloc(80); d2(&p,&q);", "void dup(double**a1,double**b1){*a1=*b1;} void d2(double**a1,double**b1){dup(a1,b1);}"),
    _trap("dup ptr fn void", "double *p=malloc(80),*q=malloc(80); dup(&p,&q);", "void dup(void*a1,void*b1){*(double**)a1=*(double**)b1;}"),
    _trap("dup via fnptr", "double *p=malloc(80),*q=malloc(80); void (*fp)(double**,double**)=dup; fp(&p,&q);", "void dup(double**a1,double**b1){*a1=*b1;}"),
    _trap("dup via table", "double *p=malloc(80),*q=malloc(80); tb[0](&p,&q);", "void dup(double**a1,double**b1){*a1=*b1;} static void (*tb[])(double**,double**)={dup};"),
    _trap("global struct via fn", "", "struct S{double*u,*v;} gs; void init(int n){gs.u=malloc(n*8); gs.v=gs.u;}", body="for (i = 1; i < n; i++) gs.u[i] = gs.v[i - 1];"),
    _trap("global array of ptr loop", "", "static double *ta[4]; void init(int n){ double*z=malloc(n*8); for(int l=0;l<4;l++) ta[l]=z;}", body="for (i = 1; i < n; i++) ta[0][i] = ta[1][i - 1];"),
    _trap("struct array member loop", "", "struct S{double*u[4];} gs; void init(int n){ double*z=malloc(n*8); for(int l=0;l<4;l++) gs.u[l]=z;}", body="for (i = 1; i < n; i++) gs.u[0][i] = gs.u[1][i - 1];"),
    _trap("two-d rows same", "double **r=malloc(80), *z=malloc(80); for(int l=0;l<4;l++) r[l]=z;", body="for (i = 1; i < n; i++) for (j=0;j<n;j++) r[i][j] = r[i-1][j];"),
    _trap("memcpy struct", "struct K k1,k2; k1.v=malloc(80); memcpy(&k2,&k1,sizeof k1); double *p=k1.v,*q=k2.v;", "struct K{double*v;};"),
    _trap("memcpy heap struct", "struct K *k1=malloc(8),*k2=malloc(8); k1->v=malloc(80); memcpy(k2,k1,sizeof *k1); double *p=k1->v,*q=k2->v;", "struct K{double*v;};"),
    _trap("memmove rows", "double **r=malloc(80); for(int l=0;l<9;l++) r[l]=malloc(80); memmove(r,r+1,64);", body="for (i = 1; i < n; i++) r[7][i] = r[8][i - 1];"),
    _trap("heap struct assign", "struct K *k1=malloc(8),*k2=malloc(8); k1->v=malloc(80); *k2=*k1; double *p=k1->v,*q=k2->v;", "struct K{double*v;};"),
    _trap("heap struct array assign", "struct K *ks=malloc(80); ks[0].v=malloc(80); ks[1]=ks[0];", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("local struct array assign", "struct K ks[3]; ks[0].v=malloc(80); ks[1]=ks[0];", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("init array of struct", "double *z=malloc(80); struct K ks[2]={{z},{z}};", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("init array of struct desig", "double *z=malloc(80); struct K ks[2]={[0]={.v=z},[1]={.v=z}};", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("return struct twice", "double *z=malloc(80); struct K k1=mk(z),k2=mk(z); double *p=k1.v,*q=k2.v;", "struct K{double*v;}; struct K mk(double*z){ return (struct K){z}; }"),
    _trap("static local", "double *p=sl(), *q=sl();", "double *sl(void){ static double *z; if(!z) z=malloc(80); return z;}"),
    _trap("update ret", "double *p=malloc(80), *q, *z=p; q=z++;"),
    _trap("compound +=", "double *p=malloc(80), *q=p; q+=1;"),
    _trap("end ptr", "double *p=malloc(80), *q=&p[3];"),
    _trap("cond assign", "double *p=malloc(80), *q=0; n && (q=p);"),
    _trap("asm goto", "double *p=malloc(80), *q=malloc(80); __asm__ volatile(\"\":\"+r\"(q),\"+r\"(p));"),
    _trap("alloca", "double *z=__builtin_alloca(80); double *p=z,*q=z+1;"),
    _trap("flex member", "struct F *o=malloc(800); double *p=o->d,*q=o->d;", "struct F{int m; double d[];};"),
    _trap("offset container", "struct F o; double *p=o.d; double *q=(double*)((char*)&o+8);", "struct F{int m; double d[10];};"),
    _trap("int array addr", "double *p=malloc(80); addr[0]=(unsigned long)p; double *q=(double*)addr[0];", "static unsigned long addr[2];"),
    _trap("intptr param", "double *p=malloc(80); double *q=mk((unsigned long)p);", "double *mk(unsigned long z){return (double*)z;}"),
    _trap("vla of ptr", "double *v1[n]; v1[0]=malloc(80); v1[1]=v1[0]; double *p=v1[0], *q=v1[1];"),
    _trap("anonymous union", "struct A1 m; m.u=malloc(80);", "struct A1{ union { double *u; double *v; }; };", body="for (i = 1; i < n; i++) m.u[i] = m.v[i - 1];"),
    _trap("vector of ptr", "double *p=malloc(80); V v={(unsigned long)p,0}; double *q=(double*)v[0];", "typedef unsigned long V __attribute__((vector_size(16)));"),
    _trap("shadow fn name", "double *p=malloc(80),*q=malloc(80); g2(dup,&p,&q);", "void dup(double**a1,double**b1){*a1=*b1;} static void g2(void (*dup)(double**,double**), double**a1,double**b1){ dup(a1,b1);}"),
]
APART = [
    _trap("plain", "double *p=malloc(n*8), *q=malloc(n*8);"),
    _trap("g", "double *p=g(n), *q=g(n);", "double *g(int n) { double *v = malloc(n*8);  return v; }"),
    _trap("aligned idiom", "char *r1=malloc(n*8+64), *r2=malloc(n*8+64); double *p=(double*)(((unsigned long)r1+63)&~63ul), *q=(double*)(((unsigned long)r2+63)&~63ul);"),
    _trap("posix_memalign", "double *p,*q; posix_memalign((void**)&p,64,n*8); posix_memalign((void**)&q,64,n*8);"),
    _trap("contiguous rows", "double **r=malloc(n*8); r[0]=malloc(n*n*8); for (int l=1;l<n;l++) r[l]=r[0]+l*n;", body="for (i = 1; i < n; i++) for (j=0;j<n;j++) r[i][j] = r[i-1][j];"),
    _trap("contiguous rows 2", "double **r=malloc(n*8); r[0]=malloc(n*n*8); for (int l=1;l<n;l++) r[l]=r[l-1]+n;", body="for (i = 1; i < n; i++) for (j=0;j<n;j++) r[i][j] = r[i-1][j];"),
    _trap("contiguous rows 3", "double **r=malloc(n*8), *st=malloc(n*n*8); for (int l=0;l<n;l++) r[l]=&st[l*n];", body="for (i = 1; i < n; i++) for (j=0;j<n;j++) r[i][j] = r[i-1][j];"),
    _trap("struct rows", "struct M m; m.d=malloc(n*8); for (int l=0;l<n;l++) m.d[l]=malloc(n*8);", "struct M{double**d; int n;};", body="for (i = 1; i < n; i++) for (j=0;j<n;j++) m.d[i][j] = m.d[i-1][j];"),
    _trap("array of struct own", "struct K ks[2]; ks[0].v=malloc(80); ks[1].v=malloc(80);", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("struct ptr members", "struct K *o=malloc(16); o->u=malloc(80); o->v=malloc(80);", "struct K{double*u,*v;};", body="for (i = 1; i < n; i++) o->u[i] = o->v[i - 1];"),
    _trap("printf p", "double *p=malloc(n*8), *q=malloc(n*8); printf(\"%p %p\\n\",(void*)p,(void*)q);", "#include <stdio.h>\n"),
    _trap("free", "double *p=malloc(n*8), *q=malloc(n*8);", after="free(p); free(q);"),
    _trap("atomic counter", "int c=0; __atomic_fetch_add(&c,1,0); double *p=malloc(n*8), *q=malloc(n*8);"),
    _trap("cast check align", "double *p=malloc(n*8), *q=malloc(n*8); if (((unsigned long)p|(unsigned long)q)&7) return;"),
    _trap("fread", "double *p=malloc(n*8), *q=malloc(n*8); fread(p,8,n,stdin);", "#include <stdio.h>\n"),
    _trap("qsort cb", "double *p=malloc(n*8), *q=malloc(n*8); qsort(p,n,8,cmp);", "static int cmp(const void*a1,const void*b1){return *(double*)a1<*(double*)b1;}"),
    _trap("void handle", "struct S s1={malloc(n*8)}, s2={malloc(n*8)}; double *p=dat(&s1), *q=s2.d;", "struct S{double*d;};\nstatic double *dat(void *h){ struct S*s=(struct S*)h; return s->d;}"),
]

_SYMBOLS = "for (i = 1; i < n; i++) aa[i] = bb[i - 1];"
SHARED += [
    _trap(name, "", head, body=_SYMBOLS)
    for name, head in [
        ("two names of a symbol by an asm label", 'extern double aa[100] __asm__("z"); extern double bb[100] __asm__("z");'),
        ("two names of a symbol by one asm label", 'double aa[100]; extern double bb[100] __asm__("aa");'),
        ("two names of a symbol by redefine_extname", "#pragma redefine_extname bb aa\ndouble aa[100]; extern double bb[100];"),
        ("two names of a symbol by assembler", 'double aa[100]; extern double bb[100]; __asm__(".set bb, aa");'),
        ("two names of a symbol by weakref", 'extern double aa[100]; static double bb[100] __attribute__((weakref("aa")));'),
    ]
]
APART += [_trap("two symbols beside assembler", "", 'double aa[100], bb[100], cc[100]; __asm__(".set dd, cc");', body=_SYMBOLS)]


@pytest.mark.parametrize("trap", SHARED, ids=lambda trap: trap.name)
def test_memory_that_an_address_may_lead_to_is_not_taken_apart(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) != PROVED


@pytest.mark.parametrize("trap", APART, ids=lambda trap: trap.name)
def test_memory_whose_address_is_put_nowhere_else(trap: Trap, tmp_path: Path) -> None:
    assert answer(trap, tmp_path) == PROVED
