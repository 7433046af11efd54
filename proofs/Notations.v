(** * LOOP, written like the C it is printed as

    [<{ for "i" = 0; "i" < "n"; += 1 do call "S" ("i", 2 * "i" - 1) }>] is a
    [node].  Names are strings, numbers are integers; [/] and [%] are C's,
    [floord] rounds down, and divisors are positive numbers.  Every notation
    stands for one constructor of [Loop.v], but for [a - b], which is
    [Sum [a; Scaled (-1) b]], and for [if] without [else], whose other branch
    is [Block []].  [call "S" (...) at (...)] has a hint. *)

From Coq Require Import ZArith List String.
From Loopwright Require Import Loop.
Import ListNotations.
Open Scope Z_scope.

Coercion Int : Z >-> expr.
Coercion Var : string >-> expr.

Declare Custom Entry loop.

Notation "<{ n }>" := (n : node) (n custom loop at level 99).
Notation "( x )" := x (in custom loop, x at level 99).
Notation "x" := x (in custom loop at level 0, x constr at level 0).

(** Expressions *)
Notation "k * a" := (Scaled k a) (in custom loop at level 40, left associativity).
Notation "a / d" := (TruncDiv a d) (in custom loop at level 40, left associativity, d constr at level 0).
Notation "a % d" := (Rem a d) (in custom loop at level 40, left associativity, d constr at level 0).
Notation "- a" := (Scaled (-1) a) (in custom loop at level 35, a custom loop at level 35).
Notation "a + b" := (Sum (@cons expr a (@cons expr b nil))) (in custom loop at level 50, left associativity).
Notation "a - b" := (Sum (@cons expr a (@cons expr (Scaled (-1) b) nil)))
  (in custom loop at level 50, left associativity).
Notation "'floord' ( a , d )" := (FloorDiv a d)
  (in custom loop at level 0, a custom loop at level 99, d constr at level 0).
Notation "'min' ( a , .. , b )" := (Min (@cons expr a .. (@cons expr b nil) ..))
  (in custom loop at level 0, a custom loop at level 99, b custom loop at level 99).
Notation "'max' ( a , .. , b )" := (Max (@cons expr a .. (@cons expr b nil) ..))
  (in custom loop at level 0, a custom loop at level 99, b custom loop at level 99).
Notation "c ? a : b" := (Select c a b)
  (in custom loop at level 90, a custom loop at level 89, b custom loop at level 90).

(** Tests *)
Notation "a < b" := (Compare LT a b) (in custom loop at level 70, no associativity).
Notation "a <= b" := (Compare LE a b) (in custom loop at level 70, no associativity).
Notation "a > b" := (Compare GT a b) (in custom loop at level 70, no associativity).
Notation "a >= b" := (Compare GE a b) (in custom loop at level 70, no associativity).
Notation "a == b" := (Compare EQ a b) (in custom loop at level 70, no associativity).
Notation "a != b" := (Compare NE a b) (in custom loop at level 70, no associativity).
Notation "! t" := (Not t) (in custom loop at level 30, t custom loop at level 30).
Notation "t && u" := (And (@cons test t (@cons test u nil))) (in custom loop at level 80, left associativity).
Notation "t || u" := (Or (@cons test t (@cons test u nil))) (in custom loop at level 85, left associativity).
Notation "'always'" := (And nil) (in custom loop at level 0).
Notation "'never'" := (Or nil) (in custom loop at level 0).

(** Programs *)
Notation "'call' f" := (Call f nil nil) (in custom loop at level 95, f constr at level 0).
Notation "'call' f ( a , .. , b )" := (Call f (@cons expr a .. (@cons expr b nil) ..) nil)
  (in custom loop at level 95, f constr at level 0, a custom loop at level 94, b custom loop at level 94).
Notation "'call' f 'at' ( c , .. , d )" :=
  (Call f nil (@cons expr c .. (@cons expr d nil) ..))
  (in custom loop at level 95, f constr at level 0, c custom loop at level 94, d custom loop at level 94).
Notation "'call' f ( a , .. , b ) 'at' ( c , .. , d )" :=
  (Call f (@cons expr a .. (@cons expr b nil) ..) (@cons expr c .. (@cons expr d nil) ..))
  (in custom loop at level 95, f constr at level 0, a custom loop at level 94, b custom loop at level 94,
   c custom loop at level 94, d custom loop at level 94).
Notation "{ }" := (Block nil) (in custom loop at level 0).
Notation "{ n ; .. ; m }" := (Block (@cons node n .. (@cons node m nil) ..))
  (in custom loop at level 0, n custom loop at level 99, m custom loop at level 99).
Notation "'for' x = a ; c ; += s 'do' n" := (For x a c s n)
  (in custom loop at level 95, x constr at level 0, a custom loop at level 94, c custom loop at level 94, s constr at level 0, n custom loop at level 95).
Notation "'if' c 'then' n" := (If c n (Block nil))
  (in custom loop at level 95, c custom loop at level 94, n custom loop at level 95).
Notation "'if' c 'then' n 'else' m" := (If c n m)
  (in custom loop at level 95, c custom loop at level 94, n custom loop at level 95, m custom loop at level 95).
Notation "'let' x = a 'in' n" := (Let x a n)
  (in custom loop at level 95, x constr at level 0, a custom loop at level 94, n custom loop at level 95).
Notation "'mark' text 'on' n" := (Mark text n)
  (in custom loop at level 95, text constr at level 0, n custom loop at level 95).
