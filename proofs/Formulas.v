(** * Reading a program as formulas

    The executed relation of [Executed.v] is what a program does; this file
    gives formulas, made by recursion over the tree, that say the same where
    loops are regular.  Unfolded on a given program they are statements of
    linear arithmetic, with division by constants, that [lia] can decide.  The
    proofs that they say the same are in [Reduction.v]. *)

From Coq Require Import ZArith List String.
From Loopwright Require Import Loop.
Import ListNotations.
Open Scope Z_scope.

Fixpoint all (l : list Prop) : Prop :=
  match l with
  | [] => True
  | [a] => a
  | a :: l' => a /\ all l'
  end.

Fixpoint any (l : list Prop) : Prop :=
  match l with
  | [] => False
  | a :: l' => a \/ any l'
  end.

(** The test [t] as a formula. *)
Fixpoint holds (e : env) (t : test) : Prop :=
  match t with
  | Compare EQ a b => eval e a = eval e b
  | Compare NE a b => eval e a <> eval e b
  | Compare LE a b => eval e a <= eval e b
  | Compare LT a b => eval e a < eval e b
  | Compare GE a b => eval e b <= eval e a
  | Compare GT a b => eval e b < eval e a
  | And l => all (map (holds e) l)
  | Or l => any (map (holds e) l)
  | Not u => ~ holds e u
  end.

(** [v] is [first] or a whole number of steps after it. *)
Definition strided (first : Z) (s : positive) (v : Z) : Prop :=
  match s with
  | 1%positive => first <= v
  | _ => first <= v /\ (v - first) mod Z.pos s = 0
  end.

(** The event [ev] is executed by [n].  Of a loop's test this only asks that
    it holds at the value itself, see [regular]. *)
Fixpoint reached (e : env) (n : node) (ev : event) : Prop :=
  match n with
  | Call f args hint => ev = Event f (map (eval e) args) (map (eval e) hint)
  | Block cs => any (map (fun c => reached e c ev) cs)
  | If c a b => (holds e c /\ reached e a ev) \/ (~ holds e c /\ reached e b ev)
  | For x a c s b => exists v,
      strided (eval e a) s v /\ holds ((x, v) :: e) c /\ reached ((x, v) :: e) b ev
  | Let x a b => reached ((x, eval e a) :: e) b ev
  | Mark _ b => reached e b ev
  end.

(** Every loop of [n] is regular: where its test holds it holds at all earlier
    values, so that the first failure is the last; and the values for which it
    holds are bounded, so that there is a first failure. *)
Fixpoint regular (e : env) (n : node) : Prop :=
  match n with
  | Call _ _ _ => True
  | Block cs => all (map (regular e) cs)
  | If c a b => (holds e c -> regular e a) /\ (~ holds e c -> regular e b)
  | For x a c s b =>
      (forall v w, strided (eval e a) s v -> strided (eval e a) s w -> v <= w ->
         holds ((x, w) :: e) c -> holds ((x, v) :: e) c) /\
      (exists last, forall v, holds ((x, v) :: e) c -> v <= last) /\
      (forall v, strided (eval e a) s v -> holds ((x, v) :: e) c -> regular ((x, v) :: e) b)
  | Let x a b => regular ((x, eval e a) :: e) b
  | Mark _ b => regular e b
  end.

(** Whenever [n] executes [a] and later [b], [R a b].  One formula for each
    two siblings of a block and one for each two iterations of a loop: the
    pairs are compared where their ways part, with the iterators of all outer
    loops in common. *)
Fixpoint ordered (R : event -> event -> Prop) (e : env) (n : node) : Prop :=
  match n with
  | Call _ _ _ => True
  | Block cs =>
      (fix siblings (cs : list node) : Prop :=
         match cs with
         | [] => True
         | c :: cs' =>
             ordered R e c /\
             (forall a b, reached e c a -> any (map (fun d => reached e d b) cs') -> R a b) /\
             siblings cs'
         end) cs
  | If c a b => (holds e c -> ordered R e a) /\ (~ holds e c -> ordered R e b)
  | For x i c s n' =>
      (forall v, strided (eval e i) s v -> holds ((x, v) :: e) c -> ordered R ((x, v) :: e) n') /\
      (forall v w,
         strided (eval e i) s v -> holds ((x, v) :: e) c ->
         strided (eval e i) s w -> holds ((x, w) :: e) c -> v < w ->
         forall a b, reached ((x, v) :: e) n' a -> reached ((x, w) :: e) n' b -> R a b)
  | Let x a n' => ordered R ((x, eval e a) :: e) n'
  | Mark _ n' => ordered R e n'
  end.
