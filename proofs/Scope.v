(** * Every name is bound

    [lookup] gives an unbound name the value 0, which no C compiler does.  A
    program for which [closed] computes to [true] has no unbound name, and no
    empty minimum or maximum, whose value would be arbitrary as well. *)

From Coq Require Import ZArith List String Bool.
From Loopwright Require Import Loop.
Import ListNotations.
Open Scope Z_scope.

Definition some {A} (l : list A) : bool := match l with [] => false | _ => true end.

Fixpoint closed_expr (names : list string) (a : expr) : bool :=
  match a with
  | Int _ => true
  | Var x => existsb (String.eqb x) names
  | Sum l => forallb (closed_expr names) l
  | Scaled _ b | FloorDiv b _ | TruncDiv b _ | Rem b _ => closed_expr names b
  | Min l | Max l => some l && forallb (closed_expr names) l
  | Select t b c => closed_test names t && closed_expr names b && closed_expr names c
  end
with closed_test (names : list string) (t : test) : bool :=
  match t with
  | Compare _ a b => closed_expr names a && closed_expr names b
  | And l | Or l => forallb (closed_test names) l
  | Not u => closed_test names u
  end.

(** [names] are bound around [n]; its calls, tests and bounds use no others. *)
Fixpoint closed (names : list string) (n : node) : bool :=
  match n with
  | Call _ args hint => forallb (closed_expr names) args && forallb (closed_expr names) hint
  | Block cs => forallb (closed names) cs
  | If c a b => closed_test names c && closed names a && closed names b
  | For x a c _ b => closed_expr names a && closed_test (x :: names) c && closed (x :: names) b
  | Let x a b => closed_expr names a && closed (x :: names) b
  | Mark _ b => closed names b
  end.
