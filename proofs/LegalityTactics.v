(** * Tactics for a transformation: [forall p, context p -> legal (A p) P P'] *)

From Coq Require Import ZArith List String Lia.
From Loopwright Require Import Loop Lexicographic Poly Transformation Formulas Reduction Legality Outline Arithmetic.
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

Ltac events_equal :=
  compute_formula;
  repeat match goal with
  | |- Event _ _ _ = Event _ _ _ => apply same_event
  | |- _ :: _ = _ :: _ => apply same_cons
  | |- [] = [] => reflexivity
  end; arithmetic.

Ltac conflicts_ordered_pair :=
  let H := fresh "H" in intro H; compute_formula_in H;
  first [discriminate H | take_apart; first [events_equal | exfalso; arithmetic]].

(** Equal iterators are one, so that places of the new time are seen to be the same. *)
Ltac conflicts_kept_pair :=
  let H := fresh "H" in compute_formula; intro H; old_order H;
  lexicographic_constants; take_apart; subst;
  first [match goal with H : ?a < ?a |- _ => destruct (Z.lt_irrefl a H) end | lexicographic].

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

(** ** Legality by outlines

    [by_outlines l], with the outline of each statement, leaves one goal that
    all times of the original are different, and one for each pair of
    statements that their outlines do not decide, closed by [kept_by lemma],
    where the lemma is proved by [prove_kept]. *)
Ltac prove_truthful :=
  constructor;
  [ let x := fresh "x" in let h := fresh "h" in
    intros x h; first [reflexivity | compute_formula; split; intro; open_vectors; take_apart; formula_holds]
  | let H := fresh "H" in intros ? ? H; compute_formula_in H; open_vectors; split; reflexivity
  | compute_formula; introduce; split_conditions; repeat split ].

Ltac by_outlines l :=
  change (legal (accesses_of (map use l)) (map old l) (map new l));
  let pairs := eval vm_compute in (undecided l) in
  apply (legal_by_outlines l pairs);
  [ reflexivity
  | cbn [map all]; repeat match goal with |- _ /\ _ => split end; prove_truthful
  |
  | vm_cast_no_check (eq_refl pairs)
  | cbv beta iota delta [map all pair_kept nth_error fst snd];
    repeat match goal with |- _ /\ _ => split | |- True => exact I end ].

Ltac open_cells :=
  repeat match goal with
  | H : _ \/ _ |- _ => destruct H
  | H : _ :: _ = _ :: _ |- _ => apply cons_inv in H; destruct H
  | H : [] = [] |- _ => clear H
  | H : [] = _ :: _ |- _ => discriminate H
  | H : _ :: _ = [] |- _ => discriminate H
  end.

(** [forall parameters, context -> forall arguments, domain ->
    forall arguments', domain' -> cells in common -> old order -> new order]. *)
Ltac prove_kept :=
  introduce;
  match goal with H : lex_lt _ _ |- _ => revert H end;
  open_cells; subst;
  repeat match goal with
  | H : ?T |- _ => let T' := eval formula in T in progress change T' in H
  end;
  conflicts_kept_pair.

(** The lemma says of these statements what is asked for; it names each pair of cells once. *)
Ltac pick H := first [exact H | left; exact H | right; pick H].
Ltac kept_by lemma :=
  let a := fresh "a" in intro a;
  lazymatch type of a with
  | Z => kept_by constr:(lemma a)
  | domain _ _ _ => destruct a as [a _]; kept_by constr:(lemma a)
  | touched_by_both _ _ _ _ =>
      let L := fresh "H" in
      intro L; refine (lemma _ L); clear L; compute_formula_in a;
      repeat match type of a with
      | False => destruct a
      | _ \/ _ => destruct a as [a | a]; [pick a|]
      end
  end.
