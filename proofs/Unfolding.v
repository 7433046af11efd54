(** * From definitions to formulas

    Tactics that compute what the definitions of [Formulas.v] say about one
    program, and take the result apart until only arithmetic is left. *)

From Coq Require Import ZArith List String Lia.
From Loopwright Require Import Loop Lexicographic Poly Transformation Formulas Reduction Ordering Legality Outline Arithmetic.
Import ListNotations.
Open Scope Z_scope.

(** ** Computing *)

(** All definitions are unfolded but those of arithmetic. *)
Declare Reduction formula := cbv -[
  Z.add Z.sub Z.mul Z.opp Z.div Z.modulo Z.quot Z.rem Z.min Z.max Z.abs
  Z.le Z.lt Z.ge Z.gt Z.leb Z.ltb Z.eqb not decide].

(** The same, but what is said about events that are not known yet stays. *)
Declare Reduction formula_of_program := cbv -[
  Z.add Z.sub Z.mul Z.opp Z.div Z.modulo Z.quot Z.rem Z.min Z.max Z.abs
  Z.le Z.lt Z.ge Z.gt Z.leb Z.ltb Z.eqb not decide
  scheduled time_of lex_lt after sooner starts_with].

(** The same, but the program stays, to be walked. *)
Declare Reduction formula_of_domain := cbv -[
  Z.add Z.sub Z.mul Z.opp Z.div Z.modulo Z.quot Z.rem Z.min Z.max Z.abs
  Z.le Z.lt Z.ge Z.gt Z.leb Z.ltb Z.eqb not decide reached].

(** The same, but accesses and times stay until the statements are known. *)
Declare Reduction formula_of_pairs := cbv -[
  Z.add Z.sub Z.mul Z.opp Z.div Z.modulo Z.quot Z.rem Z.min Z.max Z.abs
  Z.le Z.lt Z.ge Z.gt Z.leb Z.ltb Z.eqb not decide meeting kept_apart].

Ltac compute_pairs :=
  match goal with |- ?G => let G' := eval formula_of_pairs in G in change G' end.
Ltac compute_covers :=
  match goal with |- ?G => let G' := eval formula_of_domain in G in change G' end.
Ltac compute_formula :=
  match goal with |- ?G => let G' := eval formula in G in change G' end.
Ltac compute_program :=
  match goal with |- ?G => let G' := eval formula_of_program in G in change G' end.
Ltac compute_formula_in H :=
  let T := type of H in let T' := eval formula in T in change T' in H.

(** ** Taking apart *)

Lemma cons_inv : forall (a b : Z) l m, a :: l = b :: m -> a = b /\ l = m.
Proof. intros a b l m H. injection H. auto. Qed.

Lemma pair_inv : forall (a b : string) (l m : list Z), (a, l) = (b, m) -> a = b /\ l = m.
Proof. intros a b l m H. injection H. auto. Qed.

Lemma event_inv : forall f g x y h k, Event f x h = Event g y k -> f = g /\ x = y /\ h = k.
Proof. intros f g x y h k H. injection H. auto. Qed.

(** Vectors get their length. *)
Ltac open_vectors :=
  repeat match goal with
  | H : False |- _ => destruct H
  | H : False /\ _ |- _ => destruct H as [[] _]
  | H : _ /\ False |- _ => destruct H as [_ []]
  | H : context [match ?x with [] => _ | _ :: _ => _ end] |- _ => is_var x; destruct x
  | H : _ /\ ?x = [] |- _ => is_var x; destruct H as [H ->]
  end.

(** Hypotheses are taken apart, vectors given their length, events their name. *)
Ltac take_apart :=
  repeat match goal with
  | H : False |- _ => destruct H
  | H : True |- _ => clear H
  | H : _ /\ _ |- _ => destruct H
  | H : exists _, _ |- _ => destruct H
  | H : _ \/ _ |- _ => destruct H
  | H : context [match ?x with [] => _ | _ :: _ => _ end] |- _ => is_var x; destruct x
  | H : ?x = Event _ _ _ |- _ => is_var x; subst x
  | H : ?x = [] |- _ => is_var x; subst x
  | H : [] = [] |- _ => clear H
  | H : ?x = (_, _) |- _ => is_var x; subst x
  | H : _ :: _ = _ :: _ |- _ => apply cons_inv in H
  | H : (_, _) = (_, _) |- _ => apply pair_inv in H
  | H : _ :: _ = [] |- _ => discriminate H
  | H : [] = _ :: _ |- _ => discriminate H
  | H : String _ _ = String _ _ |- _ => first [discriminate H | clear H]
  | H : ?x = ?x |- _ => clear H
  end.

Ltac split_goal :=
  repeat match goal with
  | |- _ /\ _ => split
  | |- [] = [] => reflexivity
  | |- True => exact I
  end.

Ltac formula_holds := compute_formula; split_goal; arithmetic.

Ltac introduce := repeat match goal with |- forall _, _ => intro end.

Lemma same_event : forall f x y h k, x = y -> h = k -> Event f x h = Event f y k.
Proof. congruence. Qed.

Lemma same_cons : forall (a b : Z) l m, a = b -> l = m -> a :: l = b :: m.
Proof. congruence. Qed.

(** Parameters get their names, and the context is known. *)
Ltac known_parameters :=
  let p := fresh "p" in let Hp := fresh "Hp" in
  intros p Hp; compute_formula_in Hp; open_vectors.

(** Parameters and context back into the goal, [forall parameters, context -> ...],
    to be introduced under names of one's own. *)
Ltac for_all_parameters := repeat match goal with H : _ |- _ => revert H end.
