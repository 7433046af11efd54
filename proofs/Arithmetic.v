(** * Linear arithmetic with division by constants

    [lia] decides linear arithmetic; this file brings formulas into the shape
    it is fastest with: no division, no minimum or maximum where a conjunction
    will do, no conditional, and lexicographic comparisons one place at a
    time. *)

From Coq Require Import ZArith List Lia.
From Loopwright Require Import Loop Formulas Reduction.
Import ListNotations.
Open Scope Z_scope.

(** ** Division *)

Lemma floor_bounds : forall a d,
  Z.pos d * (a / Z.pos d) <= a <= Z.pos d * (a / Z.pos d) + (Z.pos d - 1).
Proof.
  intros a d. pose proof (Z.div_mod a (Z.pos d) ltac:(lia)).
  pose proof (Z.mod_pos_bound a (Z.pos d) ltac:(lia)). lia.
Qed.

Lemma modulo_by_floor : forall a d, a mod Z.pos d = a - Z.pos d * (a / Z.pos d).
Proof. intros a d. apply Z.mod_eq. lia. Qed.

Lemma quotient_bounds : forall a d,
  (0 <= a /\ Z.pos d * (Z.quot a (Z.pos d)) <= a <= Z.pos d * (Z.quot a (Z.pos d)) + (Z.pos d - 1)) \/
  (a < 0 /\ Z.pos d * (Z.quot a (Z.pos d)) - (Z.pos d - 1) <= a <= Z.pos d * (Z.quot a (Z.pos d))).
Proof.
  intros a d. pose proof (Z.quot_rem' a (Z.pos d)) as H.
  destruct (Z.lt_ge_cases a 0) as [Ha | Ha].
  - right. pose proof (Z.rem_bound_pos (- a) (Z.pos d) ltac:(lia) ltac:(lia)) as Hr.
    rewrite Z.rem_opp_l in Hr by lia. lia.
  - left. pose proof (Z.rem_bound_pos a (Z.pos d) ltac:(lia) ltac:(lia)). lia.
Qed.

Lemma quotient_of_natural : forall a d, 0 <= a ->
  Z.pos d * (Z.quot a (Z.pos d)) <= a <= Z.pos d * (Z.quot a (Z.pos d)) + (Z.pos d - 1).
Proof. intros a d Ha. pose proof (quotient_bounds a d). lia. Qed.

Lemma remainder_by_quotient : forall a d, Z.rem a (Z.pos d) = a - Z.pos d * (Z.quot a (Z.pos d)).
Proof. intros a d. pose proof (Z.quot_rem' a (Z.pos d)). lia. Qed.

Ltac name_quotient q spec :=
  let x := fresh "q" in pose proof spec; set (x := q) in *; clearbody x.

(** C's quotient is that of [/] where the dividend is known not to be negative,
    as it mostly is; otherwise there are two cases. *)
Ltac name_c_quotient a d :=
  first [ let H := fresh "H" in
          assert (H : 0 <= a) by lia;
          name_quotient (Z.quot a (Z.pos d)) (quotient_of_natural a d H); clear H
        | name_quotient (Z.quot a (Z.pos d)) (quotient_bounds a d) ].

(** Every quotient becomes a variable between its bounds. *)
Ltac eliminate_division :=
  repeat match goal with
  | |- context [?a mod Z.pos ?d] => rewrite (modulo_by_floor a d)
  | H : context [?a mod Z.pos ?d] |- _ => rewrite (modulo_by_floor a d) in H
  | |- context [Z.rem ?a (Z.pos ?d)] => rewrite (remainder_by_quotient a d)
  | H : context [Z.rem ?a (Z.pos ?d)] |- _ => rewrite (remainder_by_quotient a d) in H
  end;
  repeat match goal with
  | |- context [?a / Z.pos ?d] => name_quotient (a / Z.pos d) (floor_bounds a d)
  | H : context [?a / Z.pos ?d] |- _ => name_quotient (a / Z.pos d) (floor_bounds a d)
  | |- context [Z.quot ?a (Z.pos ?d)] => name_c_quotient a d
  | H : context [Z.quot ?a (Z.pos ?d)] |- _ => name_c_quotient a d
  end.

(** ** Minimum and maximum on the convenient side *)

Ltac split_bounds :=
  repeat match goal with
  | H : _ <= Z.min _ _ |- _ => apply Z.min_glb_iff in H
  | H : _ < Z.min _ _ |- _ => apply Z.min_glb_lt_iff in H
  | H : Z.max _ _ <= _ |- _ => apply Z.max_lub_iff in H
  | H : Z.max _ _ < _ |- _ => apply Z.max_lub_lt_iff in H
  | H : _ /\ _ |- _ => destruct H
  end.

(** ** Conditionals *)

Ltac split_condition e t :=
  let H := fresh "Hc" in
  destruct (decide e t) eqn:H;
  [apply decide_holds in H | apply decide_fails in H];
  cbn [holds eval lookup String.eqb Ascii.eqb Bool.eqb all any map sum minimum maximum fold_left] in H.

Ltac split_conditions :=
  repeat match goal with
  | |- context [if decide ?e ?t then _ else _] => split_condition e t
  | H : context [if decide ?e ?t then _ else _] |- _ => split_condition e t
  | |- context [if ?a <? ?b then _ else _] => destruct (Z.ltb_spec a b)
  | H : context [if ?a <? ?b then _ else _] |- _ => destruct (Z.ltb_spec a b)
  | |- context [if ?a <=? ?b then _ else _] => destruct (Z.leb_spec a b)
  | H : context [if ?a <=? ?b then _ else _] |- _ => destruct (Z.leb_spec a b)
  | |- context [if ?a =? ?b then _ else _] => destruct (Z.eqb_spec a b)
  | H : context [if ?a =? ?b then _ else _] |- _ => destruct (Z.eqb_spec a b)
  end.

Ltac prepare := split_conditions; split_bounds; eliminate_division.

(** Prove or refute a formula of linear arithmetic. *)
Ltac arithmetic := prepare; lia.

(** ** Lexicographic order, one place at a time *)

Lemma earlier_here_or_later : forall a b (rest : Prop),
  a <= b -> (a = b -> rest) -> a < b \/ (a = b /\ rest).
Proof. intros a b rest Hle H. destruct (Z.eq_dec a b); [right; auto | left; lia]. Qed.

Lemma not_later_here_nor_after : forall a b (rest : Prop),
  a <= b -> (a = b -> ~ rest) -> ~ (b < a \/ (b = a /\ rest)).
Proof. intros a b rest Hle H [Hlt | [-> Hr]]; [lia | exact (H eq_refl Hr)]. Qed.

Lemma not_later_same : forall a (rest : Prop), ~ rest -> ~ (a < a \/ (a = a /\ rest)).
Proof. intros a rest H [Hlt | [_ Hr]]; [exact (Z.lt_irrefl a Hlt) | exact (H Hr)]. Qed.

Lemma not_later_numbers : forall a b (rest : Prop), (a ?= b) = Lt -> ~ (b < a \/ (b = a /\ rest)).
Proof. intros a b rest H. change (a < b) in H. intros [Hlt | [Heq _]]; lia. Qed.

Ltac lexicographic_places :=
  match goal with
  | |- True => exact I
  | |- ?a < ?a \/ (?a = ?a /\ _) => right; split; [reflexivity | lexicographic_places]
  | |- _ < _ \/ (_ = _ /\ _) =>
      apply earlier_here_or_later; [lia | intro; lexicographic_places]
  | |- ~ (_ < _ \/ (_ = _ /\ _)) =>
      apply not_later_here_nor_after; [lia | intro; lexicographic_places]
  | |- _ => lia
  end.

(** Places at which two times are the same expression, or different numbers,
    need no arithmetic. *)
Ltac lexicographic_constants :=
  match goal with
  | |- ?a < ?a \/ (?a = ?a /\ _) => right; split; [reflexivity | lexicographic_constants]
  | |- _ < _ \/ _ => left; exact (@eq_refl comparison Lt)
  | |- ~ False => exact (fun H => H)
  | |- ~ (?a < ?a \/ (?a = ?a /\ _)) => apply not_later_same; lexicographic_constants
  | |- ~ (_ < _ \/ (_ = _ /\ _)) => exact (not_later_numbers _ _ _ (@eq_refl comparison Lt))
  | |- _ => idtac
  end.

(** Prove that one time is before another, or not after it. *)
Ltac lexicographic := lexicographic_constants; prepare; lexicographic_places.
