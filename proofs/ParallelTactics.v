(** * A tactic for parallel loops:
    [forall p, context p -> independent (conflicting (A p)) e n] *)

From Coq Require Import ZArith List String Lia.
From Loopwright Require Import Loop Transformation Formulas Reduction Legality Parallel Arithmetic Unfolding ProgramTactics.
Import ListNotations.
Open Scope Z_scope.

(** All pairs of calls in two iterations of a marked loop, and of their accesses to the same array. *)
Ltac prove_independent :=
  known_parameters;
  let A := match goal with |- independent (conflicting ?A) _ _ => A end in
  let A' := match A with
            | ?f _ => let B := eval unfold f in A in eval cbv beta iota in B
            | _ => A
            end in
  let l := match A' with accesses_of ?l => l end in
  change A with A'; apply (independent_by_cells l);
  let L := fresh "L" in let HL := fresh "HL" in remember l as L eqn:HL;
  compute_pairs;
  repeat match goal with
  | |- _ /\ _ => split
  | |- True => exact I
  | |- forall _, _ => intro
  end;
  let Hm := fresh "Hmeet" in
  intro Hm; take_apart; subst L; compute_formula_in Hm; take_apart; arithmetic.
