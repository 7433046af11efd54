(** * Tactics for a transformation: [forall p, context p -> legal (A p) P P'] *)

From Coq Require Import ZArith List String Lia.
From Loopwright Require Import Loop Lexicographic Poly Transformation Formulas Reduction Legality Arithmetic.
From Loopwright Require Import Unfolding ProgramTactics.
Import ListNotations.
Open Scope Z_scope.

(** The same instances before and after. *)
Ltac prove_same_instances :=
  let ev := fresh "ev" in
  intros ev; split; revert ev; apply for_each_statement; compute_formula;
  repeat match goal with |- _ /\ _ => split end;
  introduce; open_vectors; take_apart; formula_holds.

(** The old order of a pair, as far as numbers decide it. *)
Ltac old_order H :=
  match type of H with
  | ?a < ?a \/ (?a = ?a /\ ?R) =>
      let H' := fresh "H" in
      assert (H' : R) by (destruct H as [H | [_ H]]; [destruct (Z.lt_irrefl _ H) | exact H]);
      clear H; rename H' into H; old_order H
  | ?a < ?b \/ _ =>
      let c := eval cbv in (Z.compare a b) in
      match c with
      | Lt => clear H
      | Gt => exfalso; destruct H as [H | [H _]]; discriminate H
      end
  | _ => idtac
  end.

Ltac conflicts_ordered_pair :=
  let H := fresh "H" in intro H; compute_formula_in H;
  first [discriminate H | take_apart; first [arrive | exfalso; arithmetic]].

Ltac conflicts_kept_pair :=
  let H := fresh "H" in compute_formula; intro H; old_order H;
  lexicographic_constants; take_apart; lexicographic.

(** All pairs of statements, and of their accesses to the same array. *)
Ltac meeting_pairs L Q Q' :=
  compute_pairs;
  repeat match goal with |- _ /\ _ => split | |- True => exact I end;
  let x := fresh "x" in let h := fresh "h" in let Hx := fresh "Hdomain" in
  intros x h Hx; open_vectors;
  repeat match goal with |- _ /\ _ => split end;
  let y := fresh "y" in let k := fresh "h" in let Hy := fresh "Hdomain" in
  let Hm := fresh "Hmeet" in
  intros y k Hy; open_vectors; intro Hm; subst L; compute_formula_in Hm; take_apart; subst Q Q'.

Ltac prove_legal :=
  known_parameters;
  let A := match goal with |- legal ?A _ _ => A end in
  let A' := match A with
            | ?f _ => let B := eval unfold f in A in eval cbv beta iota in B
            | _ => A
            end in
  let l := match A' with accesses_of ?l => l end in
  let P := match goal with |- legal _ ?P _ => P end in
  let P' := match goal with |- legal _ _ ?P' => P' end in
  change A with A';
  let L := fresh "L" in let HL := fresh "HL" in remember l as L eqn:HL;
  let Q := fresh "P" in let HQ := fresh "HP" in remember P as Q eqn:HQ;
  let Q' := fresh "P" in let HQ' := fresh "HP" in remember P' as Q' eqn:HQ';
  rewrite HL, HQ, HQ';
  apply (legal_by_pairs l L P P' Q Q' HL HQ HQ');
  [ clear L HL Q HQ Q' HQ'; prove_same_instances
  | meeting_pairs L Q Q'; (split; [conflicts_ordered_pair | conflicts_kept_pair]) ].
