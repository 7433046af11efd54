"""Traps: memory that the file shows to be shared by what several functions do together."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.read.c.reader import read_c
from tests.traps.support import LEFT, PROVED, Trap

_HEAD = (
    "void *malloc(unsigned long); typedef struct F FILE; FILE *tmpfile(void); void rewind(FILE *); "
    "int sprintf(char *, const char *, ...); int sscanf(const char *, const char *, ...); "
    "unsigned long fread(void *, unsigned long, unsigned long, FILE *); "
    "unsigned long fwrite(const void *, unsigned long, unsigned long, FILE *); "
    "static double *kept, *table[10];\n"
)
_LOOP = "for (i = 1; i < n; i++) p[i] = q[i - 1];"


def _trap(name: str, setup: str, head: str = "", body: str = _LOOP, after: str = "") -> Trap:
    return Trap(name, body, head=_HEAD + head, setup=setup, after=after)


def _read(trap: Trap, folder: Path) -> str:
    """What reading says: shared memory is refused before anything is proved."""
    file = folder / "t.c"
    file.write_text(trap.text())
    try:
        programs = read_c(file)
    except BadInput as failure:
        return failure.message
    return LEFT if any(program.set_aside for program in programs) else PROVED


SHARED = [
    _trap("two deep", "double *p=malloc(80), *q=malloc(80); h(&p,&q);", "static void g(double **p,double **q){*q=*p;} static void h(double **p,double **q){g(p,q);}"),
    _trap("two deep value", "double *p=malloc(80), *q=malloc(80); h(p,&q);", "static void g(double *p,double **q){*q=p;} static void h(double *p,double **q){g(p,q);}"),
    _trap("deep via local ptr", "double *p=malloc(80), *q=malloc(80); h(p,&q);", "static void g(double *p,double **q){*q=p;} static void h(double *p,double **q){double **z=q; double *w=p; g(w,z);}"),
    _trap("fnptr", "double *p=malloc(80), *q=malloc(80); void(*z)(double**,double**)=g; z(&p,&q);", "static void g(double **p,double **q){*q=*p;}"),
    _trap("fnptr member", "double *p=malloc(80), *q=malloc(80); struct O o={g}; o.f(&p,&q);", "struct O{void(*f)(double**,double**);}; static void g(double **p,double **q){*q=*p;}"),
    _trap("fnptr param", "double *p=malloc(80), *q=malloc(80); ap(g,&p,&q);", "static void g(double **p,double **q){*q=*p;} static void ap(void(*z)(double**,double**),double**p,double**q){z(p,q);}"),
    _trap("a.b.p=a.b.q", "struct A x1; x1.b.q=malloc(80); x1.b.p=x1.b.q;", "struct B{double*p,*q;}; struct A{struct B b;};", body="for (i = 1; i < n; i++) x1.b.p[i] = x1.b.q[i - 1];"),
    _trap("a.b.p=a.b.q ptr", "struct A *x1=malloc(99); x1->b.q=malloc(80); x1->b.p=x1->b.q;", "struct B{double*p,*q;}; struct A{struct B b;};", body="for (i = 1; i < n; i++) x1->b.p[i] = x1->b.q[i - 1];"),
    _trap("a.b=a.c", "struct A x1; x1.b.p=malloc(80); x1.c=x1.b;", "struct B{double*p,*q;}; struct A{struct B b,c;};", body="for (i = 1; i < n; i++) x1.b.p[i] = x1.c.p[i - 1];"),
    _trap("a.b=a.c then loc", "struct A x1; x1.b.p=malloc(80); x1.c=x1.b; double *p=x1.b.p,*q=x1.c.p;", "struct B{double*p,*q;}; struct A{struct B b,c;};"),
    _trap("s->t->u", "struct S *s1=malloc(8); s1->t=malloc(16); s1->t->u=malloc(80); s1->t->v=s1->t->u; double *p=s1->t->u,*q=s1->t->v;", "struct U{double*u,*v;}; struct S{struct U*t;};"),
    _trap("s->t->u dir", "struct S *s1=malloc(8); s1->t=malloc(16); s1->t->u=malloc(80); s1->t->v=s1->t->u;", "struct U{double*u,*v;}; struct S{struct U*t;};", body="for (i = 1; i < n; i++) s1->t->u[i] = s1->t->v[i - 1];"),
    _trap("s->t shared 2", "struct S *s1=malloc(8),*s2=malloc(8); s1->t=malloc(16); s2->t=s1->t; s1->t->u=malloc(80); double*p=s1->t->u,*q=s2->t->u;", "struct U{double*u,*v;}; struct S{struct U*t;};"),
    _trap("s->t shared by local", "struct S *s1=malloc(8); s1->t=malloc(16); struct U *w=s1->t; w->u=malloc(80); double*p=s1->t->u,*q=w->u;", "struct U{double*u,*v;}; struct S{struct U*t;};"),
    _trap("a.b copied inner", "struct A x1,x2; x1.b.q=malloc(80); x2.b=x1.b; double*p=x1.b.q,*q=x2.b.q;", "struct B{double*p,*q;}; struct A{struct B b;};"),
    _trap("a.b through ptr", "struct A x1; x1.b.q=malloc(80); struct B*w=&x1.b; w->p=w->q; double*p=x1.b.p,*q=x1.b.q;", "struct B{double*p,*q;}; struct A{struct B b;};"),
    _trap("a.b fn", "struct A x1; x1.b.q=malloc(80); set(&x1.b); double*p=x1.b.p,*q=x1.b.q;", "struct B{double*p,*q;}; struct A{struct B b;}; static void set(struct B*w){w->p=w->q;}"),
    _trap("a fn", "struct A x1; x1.b.q=malloc(80); set(&x1); double*p=x1.b.p,*q=x1.b.q;", "struct B{double*p,*q;}; struct A{struct B b;}; static void set(struct A*w){w->b.p=w->b.q;}"),
    _trap("setsp", "double *p=malloc(80); setsp(p); double*q=getsp();", "static double *sp; static void setsp(double*p){sp=p;} static double*getsp(void){return sp;}"),
    _trap("setsp3", "double *p=malloc(80); setsp(&p); double*q=getsp();", "static double **sp; static void setsp(double**p){sp=p;} static double*getsp(void){return *sp;}"),
    _trap("setsp4", "double *p=malloc(80), *q=malloc(80); setsp(&q); put(p);", "static double **sp; static void setsp(double**p){sp=p;} static void put(double*v){*sp=v;}"),
    _trap("setsp5", "double *p=malloc(80), *q=malloc(80); struct R r={0,0}; setsp(&r); put(p); q=r.q;", "struct R{double*p,*q;}; static struct R *sp; static void setsp(struct R*p){sp=p;} static void put(double*v){sp->q=v;}"),
    _trap("setsp array", "double *p=malloc(80); setsp(3,p); double*q=getsp(3);", "static double *sp[9]; static void setsp(int k,double*p){sp[k]=p;} static double*getsp(int k){return sp[k];}"),
    _trap("setsp list", "double *p=malloc(80); push(p); double*q=pop();", "struct N{struct N*next;double*v;}; static struct N*top; static void push(double*v){struct N*z=malloc(16); z->v=v; z->next=top; top=z;} static double*pop(void){struct N*z=top; top=z->next; return z->v;}"),
    _trap("%p", "double *p=malloc(80), *q; char s1[99]; sprintf(s1,\"%p\",(void*)p); sscanf(s1,\"%p\",(void**)&q);"),
    _trap("%p void", "double *p=malloc(80), *q; char s1[99]; void*z; sprintf(s1,\"%p\",(void*)p); sscanf(s1,\"%p\",&z); q=z;"),
    _trap("write/read", "double *p=malloc(80), *q; FILE*fl=tmpfile(); fwrite(&p,8,1,fl); rewind(fl); fread(&q,8,1,fl);"),
    _trap("pipe", "double *p=malloc(80), *q; int fd[2]; pipe(fd); write(fd[1],&p,8); read(fd[0],&q,8);", "int pipe(int*); long write(int,const void*,unsigned long); long read(int,void*,unsigned long);"),
    _trap("getenv hsearch", "double *p=malloc(80), *q; put(\"a\",p); q=get(\"a\");", "void put(const char*,void*); void*get(const char*);"),
    _trap("extern struct store", "double *p=malloc(80), *q; struct H*h=mk(); put(h,p); q=get(h);", "struct H; struct H*mk(void); void put(struct H*,double*); double*get(struct H*);"),
    _trap("list insert", "struct N a1={0},b1={0}; a1.v=malloc(80); b1.v=malloc(80); ins(&a1,&b1); double*p=a1.next->v,*q=b1.v;", "struct N{struct N*next;double*v;}; static void ins(struct N*a1,struct N*b1){a1->next=b1;}"),
    _trap("list walk", "struct N *hd=0; for(int z=0;z<3;z++){struct N*e=malloc(16);e->v=malloc(80);e->next=hd;hd=e;} double*p=hd->v; struct N*w=hd; while(w->next)w=w->next; double*q=w->v;", "struct N{struct N*next;double*v;};"),
    _trap("return of struct ptr member", "struct R r; r.p=malloc(80); double*p=r.p,*q=get(&r);", "struct R{double*p;}; static double*get(struct R*r){return r->p;}"),
    _trap("out struct", "struct R r; double*m=malloc(80); fill(&r,m); double*p=r.p,*q=m;", "struct R{double*p;}; static void fill2(struct R*r,double*m){r->p=m;} static void fill(struct R*r,double*m){fill2(r,m);}"),
    _trap("array fill fn", "double *r[3]; fill(r, 3, malloc(80));", "static void fill(double**r,int k,double*m){for(int z=0;z<k;z++)r[z]=m;}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("array fill fn 2 deep", "double *r[3]; fill(r, 3, malloc(80));", "static void one(double**r,double*m){*r=m;} static void fill(double**r,int k,double*m){for(int z=0;z<k;z++)one(r+z,m);}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("heap rows fill fn", "double **r=malloc(99); fill(r, 3, malloc(80));", "static void fill(double**r,int k,double*m){for(int z=0;z<k;z++)r[z]=m;}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("global rows", "mk(); ", "static double **r; static void mk(void){r=malloc(99); double*m=malloc(80); for(int z=0;z<3;z++)r[z]=m;}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("global rows local m", "mk(&r); ", "static double **r; static void mk(double***w){*w=malloc(99); double*m=malloc(80); for(int z=0;z<3;z++)(*w)[z]=m;}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("struct rows", "struct M*m1=mk(); ", "struct M{double**r;}; static struct M*mk(void){struct M*w=malloc(8); w->r=malloc(99); double*m=malloc(80); for(int z=0;z<3;z++)w->r[z]=m; return w;}", body="for (i = 1; i < n; i++) m1->r[0][i] = m1->r[1][i - 1];"),
    _trap("x of caller2", "double*p=x,*q=kept;", "static void init(double*x){kept=x;} ", after="} void mn(int n){double*m=malloc(80),*o=malloc(80); init(m); f(n,m,o);"),
    _trap("pthread-like callback", "double*p=malloc(80); run(th,p); double*q=kept;", "void run(void*(*f)(void*),void*); static void*th(void*a1){kept=a1; return 0;}"),
    _trap("atexit", "double*p=malloc(80); kept2=p; later(cb); double*q=kept;", "static double*kept2; void later(void(*f)(void)); static void cb(void){kept=kept2;}"),
    _trap("extern fn calls file fn", "double*p=malloc(80); kept2=p; later(); double*q=kept;", "double*kept2; void later(void); void cb(void){kept=kept2;}"),
    _trap("va list struct", "double*p=malloc(80),*q; st(1,p,&q);", "#include <stdarg.h>\nstatic void st(int k,...){va_list l; va_start(l,k); double*a1=va_arg(l,double*); double**b1=va_arg(l,double**); *b1=a1; va_end(l);}"),
    _trap("rec out", "double*p=malloc(80),*q; ra(3,p,&q);", "static void ra(int k,double*v,double**o){ if(k==0) {*o=v;return;} ra(k-1,v+1,o);}"),
    _trap("array in struct in array", "struct A as[2]; as[0].b[0]=malloc(80); as[1].b[1]=as[0].b[0]; double*p=as[0].b[0],*q=as[1].b[1];", "struct A{double*b[2];};"),
    _trap("ptr to array of ptr", "double*m[2]; double*(*w)[2]=&m; m[0]=malloc(80); (*w)[1]=m[0]; double*p=m[0],*q=m[1];"),
    _trap("ptr to struct in array", "struct K ks[2]; struct K*w=ks+1; ks[0].v=malloc(80); w->v=ks[0].v; double*p=ks[0].v,*q=ks[1].v;", "struct K{double*v;};"),
    _trap("container_of", "struct K k1; double**w=&k1.u; k1.u=malloc(80); w[1]=k1.u; double*p=k1.u,*q=k1.v;", "struct K{double*u,*v;};"),
    _trap("container_of2", "struct K k1; char*w=(char*)&k1.u; k1.u=malloc(80); struct K*z=(struct K*)(w-0); z->v=z->u; double*p=k1.u,*q=k1.v;", "struct K{double*u,*v;};"),
    _trap("other struct view", "struct K k1; struct L*z=(struct L*)&k1; k1.u=malloc(80); z->y=z->x; double*p=k1.u,*q=k1.v;", "struct K{double*u,*v;}; struct L{double*x,*y;};"),
    _trap("cycle rec", "double*q=h(3); double*p=kept;", "static double*other; static double*h(int k){ if(k==0) return kept; double*z=h(k-1); other=z; return z;}", body="for (i = 1; i < n; i++) { b[i]=q[i]; other[i] = p[i - 1]; }"),
    _trap("up two", "", body="for (i = 1; i < n; i++) x[i] = y[i - 1];", after="} static void g(int n,double*u,double*v){f(n,u,v);} void mn(int n){double*m=malloc(80); g(n,m,m);"),
    _trap("up two global", "", body="for (i = 1; i < n; i++) x[i] = a[i - 1];", after="} static void g(int n,double*u,double*v){f(n,u,v);} void mn(int n){double*m=malloc(80); g(n,a,m);"),
    _trap("up struct", "", "struct R{double*p,*q;};", body="for (i = 1; i < n; i++) x[i] = y[i - 1];", after="} static void g(int n,struct R*r){f(n,r->p,r->q);} void mn(int n){double*m=malloc(80); struct R r={m,m}; g(n,&r);"),
    _trap("up by fnptr", "", body="for (i = 1; i < n; i++) x[i] = y[i - 1];", after="} void mn(int n){double*m=malloc(80); void(*z)(int,double*,double*)=f; z(n,m,m);"),
    _trap("up by table", "", body="for (i = 1; i < n; i++) x[i] = y[i - 1];", after="} static void (*tb[])(int,double*,double*)={f}; void mn(int n){double*m=malloc(80); tb[0](n,m,m);"),
    _trap("struct in init list", "struct B b1; b1.p=malloc(80); struct A x1={b1,b1}; double*p=x1.b.p,*q=x1.c.p;", "struct B{double*p,*q;}; struct A{struct B b,c;};"),
    _trap("inner struct via ptr copy", "struct B b1; b1.p=malloc(80); struct A x1; struct B*w=&x1.b; *w=b1; double*p=x1.b.p,*q=b1.p;", "struct B{double*p,*q;}; struct A{struct B b,c;};"),
    _trap("inner struct array", "struct A x1; x1.b[0].p=malloc(80); x1.b[1]=x1.b[0]; double*p=x1.b[0].p,*q=x1.b[1].p;", "struct B{double*p,*q;}; struct A{struct B b[2];};"),
    _trap("ptr member struct copy", "struct A *x1=malloc(99); x1->b.p=malloc(80); x1->c=x1->b; double*p=x1->b.p,*q=x1->c.p;", "struct B{double*p,*q;}; struct A{struct B b,c;};"),
    _trap("ptr member struct copy dir", "struct A *x1=malloc(99); x1->b.p=malloc(80); x1->c=x1->b;", "struct B{double*p,*q;}; struct A{struct B b,c;};", body="for (i = 1; i < n; i++) x1->b.p[i] = x1->c.p[i - 1];"),
    _trap("param struct copy dir", "x1->c=x1->b;", "struct B{double*p,*q;}; struct A{struct B b,c;}; static struct A*x1;", body="for (i = 1; i < n; i++) x1->b.p[i] = x1->c.p[i - 1];"),
    _trap("return struct inner", "struct A x1=mk(malloc(80)); double*p=x1.b.p,*q=x1.c.p;", "struct B{double*p,*q;}; struct A{struct B b,c;}; static struct A mk(double*m){struct A z; z.b.p=m; z.c=z.b; return z;}"),
    _trap("exchange apart statements", "double *r[2]; r[0]=malloc(80); r[1]=malloc(80); struct K ks[2]; ks[0].v=r[0]; ks[1].v=r[1]; struct K t1=ks[0]; if(n>3) ks[0]=ks[1]; if(n>5) ks[1]=t1;", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("exchange order", "struct K ks[2]; ks[0].v=malloc(80); ks[1].v=malloc(80); struct K t1=ks[0]; ks[1]=t1; ks[0]=ks[1];", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("exchange with change", "struct K ks[3]; ks[0].v=malloc(80); ks[1].v=malloc(80); struct K t1=ks[0]; ks[0]=ks[1]; t1=ks[1]; ks[1]=t1;", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("exchange subscripts move", "int k1=0; struct K ks[3]; ks[0].v=malloc(80); ks[1].v=malloc(80); struct K t1=ks[k1]; ks[k1]=ks[1]; k1=2; ks[1]=t1; k1=0;", "struct K{double*v;};", body="for (i = 1; i < n; i++) ks[0].v[i] = ks[1].v[i - 1];"),
    _trap("dup rows fn", "double **r=malloc(99); for(int z=0;z<3;z++) r[z]=malloc(80); dupl(r);", "static void dupl(double**r){r[1]=r[0];}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("dup rows fn deep", "double **r=malloc(99); for(int z=0;z<3;z++) r[z]=malloc(80); dup2(r);", "static void dupl(double**r){r[1]=r[0];} static void dup2(double**r){dupl(r);}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("struct rows dup", "struct M*m1=mk(); dupl(m1);", "struct M{double**r;}; static struct M*mk(void){struct M*w=malloc(8); w->r=malloc(99); for(int z=0;z<3;z++)w->r[z]=malloc(80); return w;} static void dupl(struct M*m){m->r[1]=m->r[0];}", body="for (i = 1; i < n; i++) m1->r[0][i] = m1->r[1][i - 1];"),
    _trap("kept by an earlier call", "double*old=kept; kept=x;", body="for (i = 1; i < n; i++) y[i] = old[i - 1];", after="} void mn(int n){double*m=malloc(80),*o=malloc(80); f(n,m,o); f(n,o,m);"),
    _trap("kept by a callee", "double*old=kept; keep(x);", "static void keep(double*v){kept=v;}", body="for (i = 1; i < n; i++) y[i] = old[i - 1];", after="} void mn(int n){double*m=malloc(80),*o=malloc(80); f(n,m,o); f(n,o,m);"),
    _trap("kept in a static local", "static double*last; double*old=last; last=x;", body="for (i = 1; i < n; i++) y[i] = old[i - 1];", after="} void mn(int n){double*m=malloc(80),*o=malloc(80); f(n,m,o); f(n,o,m);"),
    _trap("kept in a struct", "struct R*w=G; double*old=w->p; w->p=x;", "struct R{double*p;struct R*next;}; struct R*G;", body="for (i = 1; i < n; i++) y[i] = old[i - 1];", after="} void mn(int n){G=malloc(16); double*m=malloc(80),*o=malloc(80); f(n,m,o); f(n,o,m);"),
    _trap("kept in an extern struct", "struct R*w=G; double*old=w->p; w->p=x;", "struct R{double*p;struct R*next;}; extern struct R*G;", body="for (i = 1; i < n; i++) y[i] = old[i - 1];", after="} void mn(int n){G=malloc(16); double*m=malloc(80),*o=malloc(80); f(n,m,o); f(n,o,m);"),
    _trap("kept in an element", "double*old=table[n]; table[n]=x;", body="for (i = 1; i < n; i++) y[i] = old[i - 1];", after="} void mn(int n){double*m=malloc(80),*o=malloc(80); f(n,m,o); f(n,o,m);"),
    _trap("kept in a struct in a struct", "struct R*w=G->next; double*old=w->p; w->p=x;", "struct R{double*p;struct R*next;}; struct R*G;", body="for (i = 1; i < n; i++) y[i] = old[i - 1];", after="} void mn(int n){G=malloc(16); G->next=malloc(16); double*m=malloc(80),*o=malloc(80); f(n,m,o); f(n,o,m);"),
]
APART = [
    _trap("rows fn own", "double **r=malloc(99); fill(r,3);", "static void fill(double**r,int k){for(int z=0;z<k;z++) r[z]=malloc(80);}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("rows fn contiguous", "double **r=malloc(99); fill(r,3,malloc(999));", "static void fill(double**r,int k,double*m){for(int z=0;z<k;z++) r[z]=m+z*k;}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("rows fn contiguous &", "double **r=malloc(99); fill(r,3,malloc(999));", "static void fill(double**r,int k,double*m){for(int z=0;z<k;z++) r[z]=&m[z*k];}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("rows mk", "double **r=mk(3);", "static double**mk(int k){double**r=malloc(k*8); r[0]=malloc(k*k*8); for(int z=1;z<k;z++) r[z]=r[z-1]+k; return r;}", body="for (i = 1; i < n; i++) r[0][i] = r[1][i - 1];"),
    _trap("struct matrices", "struct M*m1=mk(n),*m2=mk(n);", "struct M{int n; double*d;}; static struct M*mk(int k){struct M*w=malloc(16); w->n=k; w->d=malloc(80); return w;}", body="for (i = 1; i < n; i++) m1->d[i] = m2->d[i - 1];"),
    _trap("global matrices", "", "static double *u,*v; void init(int n){u=malloc(n*8); v=malloc(n*8);} double *get(void){return u;}", body="for (i = 1; i < n; i++) u[i] = v[i - 1];"),
    _trap("nested struct apart", "struct A x1; x1.b.p=malloc(80); x1.c.p=malloc(80);", "struct B{double*p,*q;}; struct A{struct B b,c;};", body="for (i = 1; i < n; i++) x1.b.p[i] = x1.c.p[i - 1];"),
    _trap("list own", "struct N *hd=0; for(int z=0;z<3;z++){struct N*e=malloc(16);e->v=malloc(80);e->next=hd;hd=e;} double*p=hd->v,*q=b;", "struct N{struct N*next;double*v;};"),
    _trap("kept after the region", "double*q=malloc(80);", body="for (i = 1; i < n; i++) q[i] = y[i - 1];", after="kept=q; } void mn(int n){double*m=malloc(80),*o=malloc(80); f(n,m,o); f(n,o,m);"),
    _trap("nothing kept", "double*old=x;", body="for (i = 1; i < n; i++) y[i] = old[i - 1];", after="} void mn(int n){double*m=malloc(80),*o=malloc(80); f(n,m,o);"),
    _trap("rows of parameters", "struct R*w=u; double*p=w->p,*q=v->p;", "struct R{double*p;struct R*next;}; struct R*u,*v; void init(void){u=malloc(16); v=malloc(16); u->p=malloc(80); v->p=malloc(80);}"),
]


@pytest.mark.parametrize("trap", SHARED, ids=lambda trap: trap.name)
def test_memory_that_functions_share(trap: Trap, tmp_path: Path) -> None:
    assert "memory" in _read(trap, tmp_path)


@pytest.mark.parametrize("trap", APART, ids=lambda trap: trap.name)
def test_memory_that_they_do_not_share(trap: Trap, tmp_path: Path) -> None:
    assert _read(trap, tmp_path) == PROVED
